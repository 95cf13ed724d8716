//! The line a second that says how the run goes.

use std::fmt::Write as _;

use hammer_measure::snapshot::{RunInfo, SeriesFigures, SeriesSnapshot, Snapshot};
use hammer_measure::{Fate, Nanos, SeriesInfo, Summary};

use crate::report::{Finding, PhaseName};
use crate::text::number::{grouped, per_second, plural};

/// One line without its end, over the operations of all workloads: rates and percentiles of the interval, what is open
/// and promised so far. Percentiles are never merged from figures: of several series, those of the slowest are shown,
/// and it is named.
pub fn line(snapshot: &Snapshot, info: &RunInfo) -> String {
    let operations = || info.series.iter().zip(&snapshot.series).filter(|(series, _)| series.operation);
    let interval =
        |count: fn(&SeriesFigures) -> u64| operations().map(|(_, series)| count(&series.interval)).sum();
    let open = |count: fn(&SeriesFigures) -> i64| {
        operations().map(|(_, series)| count(&series.warm_up) + count(&series.measurement)).sum::<i64>()
    };
    let seconds = snapshot.span.as_secs_f64();
    let rate = |count: u64| if seconds > 0.0 { count as f64 / seconds } else { 0.0 };
    if let Some(filled) = filled(snapshot, info) {
        let tail = [slowest(operations()), promised(snapshot), health(snapshot)].concat();
        return format!("{filled}, failed {}{tail}", grouped(interval(failed)));
    }
    let mut line = format!(
        "{:>4.0}s {}: offered {}, accepted {}, failed {}",
        snapshot.at.as_secs_f64(),
        PhaseName::from(snapshot.phase).words(),
        per_second(rate(interval(|figures| figures.offered))),
        per_second(rate(interval(|figures| figures.fate(Fate::Accepted)))),
        grouped(interval(failed)),
    );
    line.push_str(&slowest(operations()));
    let _ = write!(
        line,
        ", {} in flight, {} waiting",
        grouped(open(|figures| figures.in_flight).unsigned_abs()),
        grouped(open(|figures| figures.backlog).unsigned_abs()),
    );
    line.push_str(&promised(snapshot));
    line.push_str(&health(snapshot));
    line
}

/// How far a fill has come, how fast it goes, and how long it takes at that rate; none of a run that is no fill.
pub fn filled(snapshot: &Snapshot, info: &RunInfo) -> Option<String> {
    let goal = info.goal?;
    let operations = || info.series.iter().zip(&snapshot.series).filter(|(series, _)| series.operation);
    let accepted = accepted(snapshot, info);
    let lately: u64 = operations().map(|(_, series)| series.interval.fate(Fate::Accepted)).sum();
    let seconds = snapshot.span.as_secs_f64();
    let rate = if seconds > 0.0 { lately as f64 / seconds } else { 0.0 };
    let left = goal.saturating_sub(accepted);
    let ends = match left {
        0 => String::new(),
        _ if rate > 0.0 => format!(", {} left", Nanos::from_secs((left as f64 / rate).ceil() as u64)),
        _ => ", none lately".to_owned(),
    };
    Some(format!("filled {} of {} at {}{ends}", grouped(accepted), grouped(goal), per_second(rate)))
}

/// What is waited for once every operation has ended: that many verdicts, until then at most.
pub fn judging(at: Nanos, awaited: u64, until: Nanos) -> String {
    // In whole seconds, since it is told once a second.
    let left = Nanos::from_secs(until.since(at).0.div_ceil(1_000_000_000));
    format!("drain, {left} left: {} pending", plural(awaited, "promise"))
}

/// How many operations were accepted so far.
pub fn accepted(snapshot: &Snapshot, info: &RunInfo) -> u64 {
    let operations = info.series.iter().zip(&snapshot.series).filter(|(series, _)| series.operation);
    let of_both = |series: &SeriesSnapshot| {
        [&series.warm_up, &series.measurement].map(|phase| phase.fate(Fate::Accepted))
    };
    operations.flat_map(|(_, series)| of_both(series)).sum()
}

fn failed(figures: &SeriesFigures) -> u64 {
    figures.fates.iter().sum::<u64>() - figures.fate(Fate::Accepted)
}

fn slowest<'a>(operations: impl Iterator<Item = (&'a SeriesInfo, &'a SeriesSnapshot)>) -> String {
    let responses: Vec<_> = operations
        .filter_map(|(info, series)| Some((info, series.interval.response_time.as_ref()?)))
        .collect();
    // What never ended is as long everywhere: there the longest that did tells them apart.
    let slowness = |(_, summary): &&(_, &Summary)| (summary.p99.nanos(), summary.max);
    let Some((info, summary)) = responses.iter().max_by_key(slowness) else {
        return ", no response".to_owned();
    };
    let of = if responses.len() > 1 { format!(" of {}", info.path()) } else { String::new() };
    format!(", response p50 {} p99 {}{of}", summary.p50, summary.p99)
}

fn promised(snapshot: &Snapshot) -> String {
    let promises = snapshot.promises;
    if promises.made == 0 {
        return String::new();
    }
    let mut text =
        format!(", promises {} kept {} pending", grouped(promises.kept), grouped(promises.pending));
    for (count, name) in [(promises.broken, "BROKEN"), (promises.unchecked, "UNCHECKED")] {
        if count > 0 {
            let _ = write!(text, " {} {name}", grouped(count));
        }
    }
    text
}

fn health(snapshot: &Snapshot) -> String {
    let mut findings: Vec<&str> =
        snapshot.health.findings.iter().map(|finding| Finding::from(finding).kind.words()).collect();
    // Several series may be late to the same.
    findings.dedup();
    if findings.is_empty() {
        ", health ok".to_owned()
    } else {
        format!(", UNHEALTHY: {}", findings.join(", "))
    }
}

#[cfg(test)]
mod tests;
