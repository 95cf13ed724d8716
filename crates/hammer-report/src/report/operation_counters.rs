//! Operations as a tool counts them that tells no more of each type than how many ended, how long they took on average and at most.

use std::collections::BTreeMap;

use hammer_measure::Fate;
use hammer_measure::histogram::Distribution;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::accounted_job::AccountedJob;
use super::figures::{Durations, EndCounts, Nanoseconds, finite};
use super::series::{Series, UsersOverRate};

/// The operations of one type that ended in measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OperationCounters {
    /// The type's name there.
    pub job: String,
    /// All that ended.
    pub operations: u64,
    /// Those that were accepted, whatever became of the promises that they came with.
    pub successes: u64,
    /// All others.
    pub errors: u64,
    /// Successes in a minute; `null` when no time was measured.
    pub successes_per_minute: Option<f64>,
    /// The mean response time of all that were intended in measurement; `null` where nothing ended.
    pub mean_ns: Option<Nanoseconds>,
    /// The mean of those that were accepted; `null` where none was.
    pub successes_mean_ns: Option<Nanoseconds>,
    /// The longest response time; `null` where nothing ended.
    pub max_ns: Option<Nanoseconds>,
    /// The median of the same response times, which such counters do not have.
    pub p50_ns: Option<Nanoseconds>,
    /// Their 99th percentile.
    pub p99_ns: Option<Nanoseconds>,
    /// Closed loops: the users of the type's workloads divided by the rate of all that these completed, to hold beside the mean; `null`
    /// where the loop is open.
    pub users_over_rate: Option<UsersOverRate>,
}

impl OperationCounters {
    /// The counters of a job over so many seconds of measurement, out of all series.
    pub(super) fn of(all: &[Series], measured_seconds: f64, job: &AccountedJob) -> Self {
        let series: Vec<&Series> =
            all.iter().filter(|series| job.operations.contains(&series.path)).collect();
        let ended = series.iter().map(|series| series.measurement.ended);
        let ended = ended.fold(EndCounts::default(), |sum, ended| sum + ended);
        let per_minute = finite(ended.accepted as f64 / measured_seconds * 60.0);
        let times = series.iter().filter_map(|series| series.measurement.durations.response_time.as_ref());
        let accepted = |series: &'_ &Series| {
            let by_fate = &series.measurement.durations.response_time_by_fate;
            by_fate.get(Fate::Accepted.name())?.distribution()
        };
        let times = together(times.filter_map(Durations::distribution));
        let accepted = together(series.iter().filter_map(accepted));
        let figure = |of: fn(&Durations) -> Nanoseconds| times.as_ref().map(of);
        Self {
            job: job.job.to_owned(),
            operations: ended.completed,
            successes: ended.accepted,
            errors: ended.failed(),
            successes_per_minute: (measured_seconds > 0.0).then_some(per_minute),
            mean_ns: figure(|times| times.mean_ns),
            successes_mean_ns: accepted.map(|times| times.mean_ns),
            max_ns: figure(|times| times.max_ns),
            p50_ns: figure(|times| times.p50_ns),
            p99_ns: figure(|times| times.p99_ns),
            users_over_rate: users_over_rate(&series),
        }
    }
}

fn together(distributions: impl Iterator<Item = Distribution>) -> Option<Durations> {
    let mut all = Distribution::default();
    distributions.for_each(|distribution| all.merge(&distribution));
    Durations::of(&all)
}

/// Of the workloads of these series, each counted once.
fn users_over_rate(series: &[&Series]) -> Option<UsersOverRate> {
    let by_workload: BTreeMap<&str, UsersOverRate> = series
        .iter()
        .filter_map(|series| Some((series.workload.as_str(), series.users_over_rate?)))
        .collect();
    let users = by_workload.values().map(|of| of.users).sum();
    UsersOverRate::new(users, by_workload.values().map(|of| of.completed_per_s).sum())
}

#[cfg(test)]
mod tests {
    use hammer_measure::{Nanos, Phase, SeriesInfo};

    use super::*;
    use crate::fixture::{Story, operation, report_of};
    use crate::report::Report;

    /// Two types of one closed loop of four users: 150 of the one that take 2 ms, of which the loop's other type has 50 of 4 ms.
    fn two_types() -> Report {
        let closed = |name| SeriesInfo { closed_loop: true, ..operation("sign", name) };
        let mut story =
            Story::new(vec![closed("cades"), closed("pades"), operation("login", "authenticate")]);
        story.accept(0, Phase::Measurement, 150, Nanos::from_millis(2));
        story.accept(1, Phase::Measurement, 50, Nanos::from_millis(4));
        story.users(0, 4);
        story.interval(Phase::Measurement);
        report_of(&story.finish(|_| {}))
    }

    fn counters(report: &Report, operations: &[&str]) -> OperationCounters {
        let operations = operations.iter().map(|path| (*path).to_owned()).collect();
        let job = AccountedJob { job: "CAdES", operations, requests: Vec::new(), not_sent: 0 };
        let accounting = report.accounted("rest-pki", &[job]);
        assert_eq!(accounting.jobs, [], "no request of a tool is counted that counts none");
        accounting.operations.into_iter().next().unwrap()
    }

    #[test]
    fn a_type_has_what_ended_of_it_and_its_own_times_beside_the_quotient_of_its_loop() {
        let report = two_types();
        let found = counters(&report, &["sign/cades"]);
        assert_eq!((found.operations, found.successes, found.errors), (150, 150, 0));
        let expected = 150.0 * 60.0 / report.run.measured_seconds;
        assert!((found.successes_per_minute.unwrap() - expected).abs() < 1e-9, "{found:?}");
        let times = report.series[0].measurement.durations.response_time.as_ref().unwrap();
        assert_eq!(
            (found.mean_ns, found.max_ns, found.p99_ns),
            (Some(times.mean_ns), Some(times.max_ns), Some(times.p99_ns))
        );
        assert_eq!(found.successes_mean_ns, found.mean_ns);
        assert_eq!(found.users_over_rate, report.series[0].users_over_rate);
    }

    #[test]
    fn types_of_one_workload_share_its_users_and_what_never_ran_has_no_figure() {
        let report = two_types();
        let both = counters(&report, &["sign/cades", "sign/pades"]);
        assert_eq!((both.operations, both.users_over_rate), (200, report.series[0].users_over_rate));
        let none = counters(&report, &["login/authenticate"]);
        assert_eq!((none.operations, none.mean_ns, none.users_over_rate), (0, None, None));
    }
}
