use hammer_measure::{Detail, Nanos, Outcome, Phase};
use proptest::prelude::*;

use super::*;
use crate::fixture::any::{any_run, events};
use crate::fixture::{Story, disaster, operation, quickstart, report_of};
use crate::verdict::{Reason, ReasonKind, Standing};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn nothing_in_it_is_nested(chapters in any_run()) {
        let flat = serde_json::to_value(FlatSummary::of(&report_of(&events(&chapters)))).unwrap();
        prop_assert!(flat.as_object().unwrap().values().all(|value| !value.is_object() && !value.is_array()), "{flat}");
    }
}

#[test]
fn its_times_are_of_one_histogram_of_all_operations() {
    let mut story = Story::new(vec![operation("slow", "get"), operation("fast", "get")]);
    let accepted = (Outcome::Accepted, Detail::None);
    story.end((0, Phase::Measurement), 10, Nanos::from_millis(100), accepted);
    story.end((1, Phase::Measurement), 90, Nanos::from_millis(1), accepted);
    story.interval(Phase::Measurement);
    let report = report_of(&story.finish(|_| {}));
    let flat = report.summary.unwrap();
    assert_eq!((flat.offered, flat.accepted, flat.response_times), (100, 100, 100));
    let of = |path: &str| {
        let series = report.series.iter().find(|series| series.path == path).unwrap();
        series.measurement.durations.response_time.as_ref().unwrap().distribution().unwrap()
    };
    let mut all = of("fast/get");
    all.merge(&of("slow/get"));
    let all = Durations::of(&all).unwrap();
    assert_eq!(flat.p50_ns.map(Nanoseconds::At), Some(all.p50_ns));
    assert_eq!(
        (flat.p99_ns.map(Nanoseconds::At), flat.max_ns.map(Nanoseconds::At)),
        (Some(all.p99_ns), Some(all.max_ns))
    );
    // A mean of percentiles would lie between those of both.
    let of_fast = Durations::of(&of("fast/get")).unwrap();
    assert!(
        flat.p99_ns > Some(of_fast.max_ns.least()) && flat.p50_ns < Some(of_fast.max_ns.least()),
        "{flat:?}"
    );
}

#[test]
fn its_counts_are_those_of_measurement_and_its_promises_of_the_run() {
    let report = report_of(&quickstart());
    let flat = report.summary.as_ref().unwrap();
    assert_eq!((flat.offered, flat.accepted, flat.failed), (7_000, 7_000, 0));
    assert_eq!((flat.promises_made, flat.promises_kept), (5_080, 5_080));
    assert_eq!((flat.thresholds, flat.thresholds_failed, flat.exit_code), (1, 0, 0));
    assert_eq!((flat.verdict, flat.version.as_str()), (report.verdict.standing, "1.2.3"));
    let offered = report.operations().filter_map(|series| series.measurement.rates);
    let offered: f64 = offered.map(|rates| rates.offered_per_s).sum();
    assert_eq!(flat.offered_per_s, Some(offered));
}

#[test]
fn a_time_beyond_what_ended_is_null_and_the_flag_says_so() {
    let flat = report_of(&disaster()).summary.unwrap();
    assert!(flat.beyond && flat.never_ended == 1_810, "{flat:?}");
    assert_eq!((flat.max_ns, flat.mean_ns, flat.p99_ns), (None, None, None));
    assert!(flat.p50_ns.is_some(), "{flat:?}");
    let flat = report_of(&quickstart()).summary.unwrap();
    assert!(!flat.beyond && flat.max_ns.is_some(), "{flat:?}");
}

#[test]
fn what_is_said_against_a_run_later_is_in_its_summary() {
    let mut report = report_of(&quickstart());
    report.add_reason(Reason::new(ReasonKind::ReportUnwritten, "no room"));
    assert_eq!(
        report.summary.as_ref().map(|flat| (flat.exit_code, flat.verdict)),
        Some((6, Standing::Failed))
    );
    assert_eq!(report.check(), Vec::<String>::new());
}
