//! Can these numbers be believed? The generator judges itself.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::histogram::{Distribution, Quantile};
use crate::timing::Nanos;

mod standstill;

pub use standstill::{Standstill, StandstillCause};

/// The findings against the generator itself; healthy when there is none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Health {
    /// What is wrong, worst first.
    pub findings: Vec<Finding>,
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
    /// Arrivals released too late.
    DispatchLag {
        /// The 99th percentile of released − intended.
        p99: Nanos,
        /// What it may be at most: the larger of 1 ms and 5 % of the median service time.
        bound: Nanos,
    },
    /// Answers were read too long after the kernel had them.
    ReadLag {
        /// Its 99th percentile.
        p99: Nanos,
        /// The longest that it may be.
        bound: Nanos,
    },
    /// Computing in the middle of flows waited too long for a thread of the crew.
    ComputeWait {
        /// The 99th percentile of the wait.
        p99: Nanos,
        /// What it may be at most: the larger of 1 ms and 5 % of the median service time.
        bound: Nanos,
    },
    /// The process used up its cores.
    Cpu {
        /// The share of all its cores, 0 to 1.
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

/// What health is judged by, over the measurement phase.
#[derive(Clone, Debug, Default)]
pub struct HealthEvidence<'a> {
    /// Operations that were due and not prepared.
    pub starved: u64,
    /// The series of which figures are spoiled by what the generator held up.
    pub standstills: Vec<Standstill>,
    /// Released − intended of all operations; `None` when nothing was released.
    pub dispatch_lag: Option<&'a Distribution>,
    /// How much later than the kernel had them answers of all operations were read; `None` when none was.
    pub read_lag: Option<&'a Distribution>,
    /// How long an answer may lie unread by plan, since nothing waits for it: so much read lag is meant, and no lateness.
    pub unread_at_most: Nanos,
    /// How long computing in the middle of flows waited for a thread; `None` when none did.
    pub compute_wait: Option<&'a Distribution>,
    /// Done − sent of all operations.
    pub service_time: Option<&'a Distribution>,
    /// CPU seconds used per second and core, 0 to 1.
    pub cpu_share: f64,
    /// Operations that failed since descriptors or local ports ran out, and which.
    pub exhausted: Option<(u64, &'a str)>,
}

impl Health {
    /// Judges the evidence.
    pub fn judge(evidence: &HealthEvidence<'_>) -> Self {
        let mut findings = Vec::new();
        if evidence.starved > 0 {
            findings.push(Finding::Starved { count: evidence.starved });
        }
        findings.extend(evidence.standstills.iter().cloned().map(Finding::Standstill));
        let late = |lateness, meant| late(lateness, meant, evidence);
        findings.extend(
            late(evidence.dispatch_lag, Nanos::ZERO).map(|(p99, bound)| Finding::DispatchLag { p99, bound }),
        );
        // No part of response time: one answer of few that was read late spoils nothing.
        let read_lag = evidence.read_lag.filter(|lag| !is_one_of_few(lag));
        findings.extend(
            late(read_lag, evidence.unread_at_most).map(|(p99, bound)| Finding::ReadLag { p99, bound }),
        );
        findings.extend(
            late(evidence.compute_wait, Nanos::ZERO).map(|(p99, bound)| Finding::ComputeWait { p99, bound }),
        );
        if evidence.cpu_share > MAX_CPU_SHARE {
            findings.push(Finding::Cpu { share: evidence.cpu_share });
        }
        if let Some((count, what)) = evidence.exhausted.filter(|(count, _)| *count > 0) {
            findings.push(Finding::Exhausted { count, what: what.to_owned() });
        }
        Self { findings }
    }

    /// Whether the figures can be believed.
    pub fn is_healthy(&self) -> bool {
        self.findings.is_empty()
    }
}

/// Whether the 99th percentile is that of the latest alone, since there are fewer than a hundred, and no other is as late as the
/// least bound.
fn is_one_of_few(lateness: &Distribution) -> bool {
    let count = lateness.count();
    let others = count.saturating_sub(1) as f64 / count.max(1) as f64;
    let second = if count > 1 { lateness.quantile(others) } else { Some(Quantile::At(Nanos::ZERO)) };
    count < 100 && matches!(second, Some(Quantile::At(second)) if second <= MIN_LAG_BOUND)
}

/// The 99th percentile of a lateness of the generator's own and its bound, where it is above that. So much of it is `meant`.
fn late(
    lateness: Option<&Distribution>,
    meant: Nanos,
    evidence: &HealthEvidence<'_>,
) -> Option<(Nanos, Nanos)> {
    let Quantile::At(p99) = lateness?.quantile(0.99)? else { return None };
    let median = evidence.service_time.and_then(|service| service.quantile(0.5));
    let bound = match median {
        Some(Quantile::At(median)) => MIN_LAG_BOUND.max(Nanos(median.0 / 20)),
        _ => MIN_LAG_BOUND,
    };
    let bound = bound + meant;
    (p99 > bound).then_some((p99, bound))
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Starved { count } => write!(f, "{count} operations were due before they were prepared"),
            Self::Standstill(standstill) => standstill.fmt(f),
            Self::DispatchLag { p99, bound } => {
                write!(f, "dispatch lag p99 is {p99}, over its bound of {bound}")
            }
            Self::ReadLag { p99, bound } => {
                write!(f, "read lag p99 is {p99}, over its bound of {bound}")
            }
            Self::ComputeWait { p99, bound } => {
                write!(f, "computing in flows waited p99 {p99} for a thread, over its bound of {bound}")
            }
            Self::Cpu { share } => write!(f, "the generator used {:.0} % of its cores", share * 100.0),
            Self::Exhausted { count, what } => write!(f, "{count} operations failed since {what} ran out"),
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

const MAX_CPU_SHARE: f64 = 0.9;
const MIN_LAG_BOUND: Nanos = Nanos::from_millis(1);

#[cfg(test)]
mod tests;
