//! Collects the events of one run and builds its report.

use std::sync::Arc;

use hammer_measure::recorder::phase_index;
use hammer_measure::snapshot::{RunInfo, RunResult, Snapshot};
use hammer_measure::{Nanos, Phase, Reporter, RunEvent, SeriesInfo};
use serde_json::Value;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::report::groups::WorkloadGroups;
use crate::report::response_times::ResponseTimeline;
use crate::report::series::UsersOverRate;
use crate::report::timeline::Timeline;
use crate::report::{
    Burst, Disruption, Event, FlatSummary, HeadlineFigures, Health, KindPromises, ObservationSeries,
    PhaseSpan, Promises, RateLimit, Readiness, Report, Resources, Run, SCHEMA, Series, SeriesKind, Tool,
    Totals, TreeSize, WorkloadPromises,
};
use crate::verdict::{Reason, ReasonKind, Verdict};

mod failure;
mod notes;
mod reasons;
mod so_far;
pub mod standing;

/// Collects what a run tells. Bounded in memory whatever the run's length.
#[derive(Debug, Default)]
pub struct ReportBuilder {
    info: Option<Arc<RunInfo>>,
    paths: Vec<String>,
    timeline: Timeline,
    response_times: ResponseTimeline,
    events: Vec<Event>,
    events_left_out: u64,
    /// How many of the events are commands, and marks by one.
    by_hand: u64,
    /// What the last interval knew.
    last: Option<Arc<Snapshot>>,
    result: Option<Arc<RunResult>>,
}

/// A run that leaves no report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    /// It never started to send.
    #[error("build a report: the run never started")]
    NotStarted,
    /// It never ended.
    #[error("build a report: the run never finished")]
    NotFinished,
}

impl ReportBuilder {
    /// One that has heard nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The report of the run, which has ended. `also` says what only the caller knows against it.
    ///
    /// # Errors
    /// When the run never started or never finished.
    pub fn build(&self, plan: Value, also: &[Reason]) -> Result<Report, BuildError> {
        let info = self.info.as_deref().ok_or(BuildError::NotStarted)?;
        let result = self.result.as_deref().ok_or(BuildError::NotFinished)?;
        let series = self.series(info, result);
        let totals = totals(&series);
        let observations = self.observations(result);
        let headlines = HeadlineFigures::all(&info.headlines, &observations);
        let disruptions = Disruption::all(&series, self.timeline.intervals(), &self.events);
        let limits = RateLimit::all(&series, self.timeline.intervals());
        let bursts = Burst::all(&series, self.timeline.intervals(), &self.events);
        let mut report = Report {
            schema: SCHEMA.to_owned(),
            tool: tool(),
            verdict: Verdict::default(),
            health: Health::of_run(&result.health, &result.total.alarms[1]),
            summary: None,
            run: Run {
                stopped: result.stopped.clone(),
                interrupted: result.interrupted,
                ..run(info, result.resources.cores, seconds(result, Phase::Measurement))
            },
            phases: result.phases.iter().map(PhaseSpan::from).collect(),
            fill: None,
            resources: Resources::of(&result.resources, totals.all.completed),
            totals,
            link: None,
            series,
            groups: WorkloadGroups::all(info, result),
            connections: result.total.connections.iter().map(Into::into).collect(),
            promises: promises(result),
            breaches: result.breaches.iter().map(Into::into).collect(),
            thresholds: result.verdicts.iter().map(Into::into).collect(),
            tree_size: TreeSize::among(&headlines),
            headlines,
            readiness: Readiness::all(&observations, &self.events),
            observations,
            compat: None,
            server_resources: None,
            disruptions,
            bursts,
            limits,
            events: self.events.clone(),
            events_left_out: self.events_left_out,
            intervals: self.timeline.intervals().to_vec(),
            response_times: self.response_times.of_series(&self.paths),
            plan,
        };
        report.verdict =
            Verdict::of(reasons::against(&report).into_iter().chain(also.iter().cloned()).collect());
        if reasons::has_expectation(&report) {
            report.verdict.expect();
        }
        report.summary = Some(FlatSummary::of(&report));
        if let Some(text) = contradictions(&report.check()) {
            report.add_reason(Reason::new(ReasonKind::NotBelievable, text));
        }
        Ok(report)
    }

    fn series(&self, info: &RunInfo, result: &RunResult) -> Vec<Series> {
        let seconds = Phase::WITH_ARRIVALS.map(|phase| seconds(result, phase));
        let records = info.series.iter().zip(&result.total.series);
        let mut series: Vec<Series> =
            records.map(|(info, records)| Series::new(info, records, seconds)).collect();
        let measured = result.measured_seconds();
        for (workload, present) in user_time(info, result) {
            let rate = completed_per_s(&series, &workload);
            let users = if measured > 0.0 { present.as_secs_f64() / measured } else { 0.0 };
            let closed = series.iter_mut().filter(|series| {
                series.closed_loop && series.kind == SeriesKind::Operation && series.workload == workload
            });
            closed.for_each(|series| series.users_over_rate = UsersOverRate::new(users, rate));
        }
        for series in &mut series {
            series.notes.extend(notes::overload(series, self.timeline.intervals()));
            series.notes.extend(notes::in_drain(series));
        }
        series
    }

    fn observations(&self, result: &RunResult) -> Vec<ObservationSeries> {
        let mut all = self.timeline.observations().clone();
        result.observations.iter().for_each(|observation| all.push(observation));
        all.into_series()
    }

    fn keep(&mut self, event: Event) {
        let bounded = matches!(
            event,
            Event::Note { .. }
                | Event::Breach { .. }
                | Event::Mark { .. }
                | Event::NotReady { .. }
                | Event::ReadyAgain { .. }
                | Event::RecordHigh { .. }
                | Event::PeerJoined { .. }
                | Event::PeerSilent { .. }
                | Event::PeerBack { .. }
        );
        // What was done by hand is told, whatever else was.
        let is_by_hand = matches!(event, Event::Command { .. } | Event::Mark { id: Some(_), .. });
        let others = self.events.len() as u64 - self.by_hand;
        let is_beyond =
            if is_by_hand { self.by_hand >= MOST_BY_HAND } else { bounded && others >= MOST_EVENTS };
        if is_beyond {
            self.events_left_out += 1;
        } else {
            self.by_hand += u64::from(is_by_hand);
            self.events.push(event);
        }
    }
}

impl Reporter for ReportBuilder {
    fn event(&mut self, event: &RunEvent) {
        match event {
            RunEvent::Started(info) => {
                self.paths = info.series.iter().map(SeriesInfo::path).collect();
                self.info = Some(Arc::clone(info));
            }
            RunEvent::Interval(snapshot) => {
                self.timeline.push(&self.paths, snapshot);
                self.response_times.push(snapshot);
                self.last = Some(Arc::clone(snapshot));
            }
            RunEvent::Finished(result) => self.result = Some(Arc::clone(result)),
            _ => Event::of(event).into_iter().for_each(|event| self.keep(event)),
        }
    }
}

fn tool() -> Tool {
    Tool { name: "hammer".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() }
}

/// A run on so many cores that has measured for so long, and has not ended.
fn run(info: &RunInfo, cores: u32, measured_seconds: f64) -> Run {
    Run {
        seed: info.seed.to_string(),
        shards: info.shards as u64,
        epoch: rfc3339(info.epoch_unix_ms),
        cores,
        warm_up_ns: info.warm_up.0,
        measurement_ns: info.measurement.map(|measurement| measurement.0),
        measured_seconds,
        stopped: String::new(),
        interrupted: false,
    }
}

fn promises(result: &RunResult) -> Promises {
    let by_workload = result.promises_by_workload.iter().map(|(workload, ledger)| WorkloadPromises {
        workload: workload.clone(),
        promises: (*ledger).into(),
    });
    let received = result.promises_by_kind.iter().filter(|known| known.ledger.made > 0);
    let by_kind = received.map(|known| KindPromises {
        workload: known.workload.clone(),
        kind: known.kind.clone(),
        promises: known.ledger.into(),
    });
    let all = result.promises.into();
    Promises { all, by_workload: by_workload.collect(), by_kind: by_kind.collect() }
}

fn totals(series: &[Series]) -> Totals {
    let mut totals = Totals::default();
    for series in series.iter().filter(|series| series.kind == SeriesKind::Operation) {
        totals.warm_up.add(&series.warm_up.counts);
        totals.measurement.add(&series.measurement.counts);
        if let Some(rates) = series.measurement.rates {
            totals.bytes_out_per_s += rates.bytes_out_per_s;
            totals.bytes_in_per_s += rates.bytes_in_per_s;
        }
    }
    totals.all = totals.warm_up;
    totals.all.add(&totals.measurement);
    totals
}

fn completed_per_s(series: &[Series], workload: &str) -> f64 {
    let operations =
        series.iter().filter(|series| series.kind == SeriesKind::Operation && series.workload == workload);
    0.0 + operations.filter_map(|series| Some(series.measurement.rates?.completed_per_s)).sum::<f64>()
}

/// The time that the users of each closed loop were there over measurement, added up over them.
fn user_time(info: &RunInfo, result: &RunResult) -> Vec<(String, Nanos)> {
    let mut by_workload: Vec<(String, Nanos)> = Vec::new();
    for (series, [_, record]) in info.series.iter().zip(&result.total.series) {
        match by_workload.iter_mut().find(|(workload, _)| *workload == series.workload) {
            Some((_, time)) => *time += record.user_time,
            None => by_workload.push((series.workload.clone(), record.user_time)),
        }
    }
    by_workload
}

fn seconds(result: &RunResult, phase: Phase) -> f64 {
    let arrivals = result
        .phases
        .iter()
        .filter(|(other, ..)| *other != Phase::Drain && phase_index(*other) == phase_index(phase));
    // The sum of nothing is -0 in itself.
    0.0 + arrivals.map(|(_, start, end)| end.since(*start).as_secs_f64()).sum::<f64>()
}

/// RFC 3339 with milliseconds, UTC.
pub fn rfc3339(unix_ms: u64) -> String {
    // The well-known format of `time` leaves out the zeros at the end of a fraction, so that it is told beside it.
    let (seconds, millis) = (unix_ms / 1_000, unix_ms % 1_000);
    i64::try_from(seconds)
        .ok()
        .and_then(|seconds| OffsetDateTime::from_unix_timestamp(seconds).ok()?.format(&Rfc3339).ok())
        .map(|instant| format!("{}.{millis:03}Z", instant.trim_end_matches('Z')))
        .unwrap_or_else(|| format!("{unix_ms} ms since the Unix epoch"))
}

const MOST_EVENTS: u64 = 1_000;
/// Far more than a person gives.
const MOST_BY_HAND: u64 = 10_000;

/// That the figures of a report contradict each other, which no run may make them do: the fault is hammer's own.
fn contradictions(found: &[String]) -> Option<String> {
    let (first, more) = found.split_first()?;
    let more = if more.is_empty() { String::new() } else { format!(", and {} more", more.len()) };
    Some(format!("the report contradicts itself: {first}{more}"))
}

#[cfg(test)]
mod tests;
