//! Can these numbers be believed? The generator judges itself.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::outcome::Fate;
use crate::recorder::{SeriesRecord, phase_index};
use crate::series::Phase;
use crate::timing::Nanos;

mod cpu;
mod lateness;
mod limit;
mod policy;
mod standstill;

pub use cpu::{CpuEvidence, HealthCause};
pub use lateness::{Lateness, LatenessKind};
pub use limit::Limit;
pub use policy::{HealthPolicy, OnFail};
pub use standstill::{Standstill, StandstillCause};

use cpu::FULL;
use lateness::Judged;

/// The findings against the generator itself; healthy when there is none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Health {
    /// What is wrong, worst first.
    pub findings: Vec<Finding>,
    /// What took processors from the generator meanwhile; none where nothing is wrong.
    pub causes: Vec<HealthCause>,
    /// What spoils no figure, and is to be known beside them.
    pub notes: Vec<HealthNote>,
    /// What the plan says of findings.
    pub policy: HealthPolicy,
}

/// One reason not to believe the figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finding {
    /// Operations that were due and not prepared.
    Starved {
        /// How many.
        count: u64,
    },
    /// It stood still, or was late, and held up operations of a series by that.
    Standstill(Standstill),
    /// It was late to operations of a series.
    Late(Lateness),
    /// The process used up its cores.
    Cpu {
        /// The share of all its cores, 0 to 1.
        share: f64,
    },
    /// A thread that sends used up its core.
    FullShard {
        /// The share of one core that the busiest of them used, 0 to 1.
        share: f64,
    },
    /// Descriptors or local ports ran out.
    Exhausted {
        /// How many operations failed for it.
        count: u64,
        /// Which of the two.
        what: String,
    },
}

/// Something to be known beside the figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HealthNote {
    /// A lateness was over its bound, of so few operations that nothing follows from it.
    TooFew(Lateness),
    /// A closed loop was as fast as the generator.
    Limit(Limit),
}

/// What health is judged by, over the measurement phase.
#[derive(Clone, Debug, Default)]
pub struct HealthEvidence<'a> {
    /// The operations, by series.
    pub series: Vec<SeriesEvidence<'a>>,
    /// The longest that an alarm of measurement was heard late.
    pub latest_alarm: Nanos,
    /// How long an answer may lie unread by plan, since nothing waits for it: so much read lag is meant, and no lateness.
    pub unread_at_most: Nanos,
    /// What it used of its processors.
    pub cpu: CpuEvidence,
    /// Operations that failed since descriptors or local ports ran out, and which.
    pub exhausted: Option<(u64, &'a str)>,
    /// What the plan says.
    pub policy: HealthPolicy,
}

/// One series of operations.
#[derive(Clone, Debug)]
pub struct SeriesEvidence<'a> {
    /// Its name, as `workload/name`.
    pub path: String,
    /// Whether its users wait for their answers.
    pub closed_loop: bool,
    /// What was recorded of it, by phase.
    pub phases: &'a [SeriesRecord; 2],
}

impl Health {
    /// Judges the evidence.
    pub fn judge(evidence: &HealthEvidence<'_>) -> Self {
        let mut health = Self { policy: evidence.policy, ..Self::default() };
        let starved = evidence.series.iter().map(|series| series.measured().fate(Fate::Starved)).sum();
        if starved > 0 {
            health.findings.push(Finding::Starved { count: starved });
        }
        let is_full = evidence.cpu.is_full();
        let (limited, others): (Vec<_>, Vec<_>) =
            evidence.series.iter().partition(|series| is_full && series.closed_loop);
        for series in &limited {
            // A full core makes its own users wait; nothing else but that is excused.
            health
                .findings
                .extend(Standstill::of(&series.path, series.measured(), LONG).map(Finding::Standstill));
            health.notes.extend(series.limit(evidence.cpu.seconds).map(HealthNote::Limit));
        }
        for series in &others {
            let standstill = Standstill::of(&series.path, series.measured(), SLICES);
            let standstill = standstill.or_else(|| series.across_warm_up(evidence.latest_alarm));
            health.findings.extend(standstill.map(Finding::Standstill));
        }
        others.iter().for_each(|series| health.judge_lateness(series, evidence));
        if is_full && !others.is_empty() {
            let CpuEvidence { share, busiest_shard, .. } = evidence.cpu;
            let is_of_all = share > FULL;
            health.findings.push(match is_of_all {
                true => Finding::Cpu { share },
                false => Finding::FullShard { share: busiest_shard },
            });
        }
        if let Some((count, what)) = evidence.exhausted.filter(|(count, _)| *count > 0) {
            health.findings.push(Finding::Exhausted { count, what: what.to_owned() });
        }
        if !health.is_healthy() {
            health.causes = evidence.cpu.causes();
        }
        health
    }

    fn judge_lateness(&mut self, series: &SeriesEvidence<'_>, evidence: &HealthEvidence<'_>) {
        let judged =
            Judged::of_series(&series.path, series.measured(), evidence.unread_at_most, &evidence.policy);
        for lateness in judged {
            match lateness {
                Judged::Spoiled(lateness) => self.findings.push(Finding::Late(lateness)),
                Judged::TooFew(lateness) => self.notes.push(HealthNote::TooFew(lateness)),
            }
        }
    }

    /// Whether the figures can be believed.
    pub fn is_healthy(&self) -> bool {
        self.findings.is_empty()
    }
}

impl SeriesEvidence<'_> {
    fn measured(&self) -> &SeriesRecord {
        &self.phases[phase_index(Phase::Measurement)]
    }

    /// A standstill that began in warm-up and was noticed in measurement. Whoever waits for an answer meant to send in neither: the operations
    /// that it held up are those of warm-up, and in measurement there is nothing but fewer of them.
    fn across_warm_up(&self, latest_alarm: Nanos) -> Option<Standstill> {
        let warm_up = &self.phases[phase_index(Phase::WarmUp)];
        let is_noticed = self.closed_loop && latest_alarm > LONG && warm_up.held_up.times.longest() > LONG;
        is_noticed.then(|| Standstill::of(&self.path, warm_up, SLICES))?
    }

    /// How much was done of it at least, where the generator was full.
    fn limit(&self, seconds: f64) -> Option<Limit> {
        let ended: u64 = SeriesRecord::ended_within(self.phases, Phase::Measurement).iter().sum();
        let is_told = ended > 0 && seconds > 0.0;
        is_told.then(|| Limit { series: self.path.clone(), per_s: ended as f64 / seconds })
    }
}

impl Finding {
    /// What whoever runs hammer can do about it, as a sentence without its full stop.
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::Starved { .. } => "raise threads.supply, or ask for fewer operations",
            Self::Standstill(standstill) => standstill.remedy(),
            Self::Late(lateness) => lateness.kind.remedy(),
            Self::Cpu { .. } => "give hammer more cores, or ask for less",
            Self::FullShard { .. } => "raise threads.shards, or ask for less",
            Self::Exhausted { .. } => {
                "raise the limit (ulimit -n), or bound connections and operations in flight"
            }
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Starved { count } => write!(f, "{count} operations were due before they were prepared"),
            Self::Standstill(standstill) => standstill.fmt(f),
            Self::Late(lateness) => lateness.fmt(f),
            Self::Cpu { share } => write!(f, "the generator used {:.0} % of its cores", share * 100.0),
            Self::FullShard { share } => {
                write!(f, "a thread that sends used {:.0} % of a core", share * 100.0)
            }
            Self::Exhausted { count, what } => write!(f, "{count} operations failed since {what} ran out"),
        }
    }
}

impl fmt::Display for HealthNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooFew(lateness) => {
                write!(f, "{lateness}, which of {} operations are too few to judge by", lateness.of)
            }
            Self::Limit(limit) => limit.fmt(f),
        }
    }
}

impl fmt::Display for Health {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_healthy() {
            return f.write_str("ok");
        }
        for (index, finding) in self.findings.iter().enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            write!(f, "{separator}{finding}")?;
        }
        Ok(())
    }
}

/// So many that they are no accident of one moment.
const FEWEST: u64 = 10;
/// With a busy loop on each core, operations wait for a processor until the end of a slice (4 ms, Linux 6.18, 250 ticks a second), some before
/// they are sent and again before their answer is read: so many of those are no standstill.
const SLICES: Nanos = Nanos::from_millis(10);
/// One that was held up for longer may be the maximum that a report is read for.
const LONG: Nanos = Nanos::from_millis(50);

#[cfg(test)]
mod tests;
