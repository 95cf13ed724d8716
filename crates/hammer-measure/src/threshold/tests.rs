use proptest::prelude::*;

use super::*;
use crate::fixture::{Parts, carry_out, completion};
use crate::outcome::{Detail, Outcome};
use crate::recorder::{Completion, Interval, Recorder};
use crate::series::Phase;

const SECONDS: f64 = 10.0;

fn recorded(tell: impl FnOnce(&mut Recorder)) -> SeriesRecord {
    let mut recorder = Recorder::new(1);
    tell(&mut recorder);
    recorder.swap(Nanos(1), Interval::with_series(1)).series[0][1].clone()
}

/// `count` arrivals that ended so, after a lag of 1 ms, 2 ms in the backlog, 3 ms until sent and this service time.
fn end(recorder: &mut Recorder, count: u64, outcome: Outcome, service_ms: u64) {
    let parts = Parts::of_service(Nanos::from_millis(service_ms));
    (0..count).for_each(|_| carry_out(recorder, parts, &completion(outcome, Detail::None)));
}

fn shed(recorder: &mut Recorder, count: u64) {
    for _ in 0..count {
        recorder.offer(0, Phase::Measurement);
        recorder.shed(0, Phase::Measurement);
    }
}

/// Accepted after 1, 2, 3 ... ms of nothing but service, and arrivals that were shed.
fn rising(accepted: u64, shed_besides: u64) -> SeriesRecord {
    recorded(|recorder| {
        for millis in 1..=accepted {
            let parts = Parts { service: Nanos::from_millis(millis), ..Parts::default() };
            carry_out(recorder, parts, &completion(Outcome::Accepted, Detail::None));
        }
        shed(recorder, shed_besides);
    })
}

/// Every fate and every open state, 24 arrivals in all.
fn known() -> SeriesRecord {
    recorded(|recorder| {
        (1..=6).for_each(|tens| end(recorder, 1, Outcome::Accepted, 10 * tens));
        for client in [5, 15].map(Nanos::from_millis) {
            let parts = Parts { client: Some(client), ..Parts::of_service(Nanos::from_millis(200)) };
            carry_out(recorder, parts, &completion(Outcome::Refused, Detail::None));
        }
        end(recorder, 3, Outcome::Pushback, 300);
        end(recorder, 1, Outcome::ServerError, 400);
        end(recorder, 2, Outcome::Malformed, 500);
        end(recorder, 1, Outcome::TimedOut, 1_000);
        let unsent = Completion { sent: false, ..completion(Outcome::Unreachable, Detail::None) };
        let again =
            Completion { resent: true, redialled: true, ..completion(Outcome::Accepted, Detail::None) };
        carry_out(recorder, Parts::of_service(Nanos::from_millis(20)), &unsent);
        carry_out(recorder, Parts::of_service(Nanos::from_millis(70)), &again);
        shed(recorder, 2);
        recorder.offer(0, Phase::Measurement);
        recorder.starve(0, Phase::Measurement);
        (0..4).for_each(|_| recorder.offer(0, Phase::Measurement));
        (0..4).for_each(|_| recorder.queue(0, Phase::Measurement));
        let parts = Parts::of_service(Nanos::ZERO).timing(Nanos::ZERO);
        (0..2).for_each(|_| recorder.start(0, Phase::Measurement, &parts));
        recorder.abandon_in_flight(0, Phase::Measurement);
    })
}

/// What each measure that counts comes to in [`known`] and [`promises`].
const COUNTED: [(&str, f64); 20] = [
    ("offered", 24.0),
    ("dispatched", 19.0),
    ("completed", 17.0),
    ("resent", 1.0),
    ("redialled", 1.0),
    ("accepted", 7.0),
    ("refused", 2.0),
    ("pushback", 3.0),
    ("server_error", 1.0),
    ("malformed", 2.0),
    ("unreachable", 1.0),
    ("timed_out", 1.0),
    ("abandoned", 1.0),
    ("shed", 2.0),
    ("starved", 1.0),
    ("made", 50.0),
    ("kept", 20.0),
    ("broken", 5.0),
    ("pending", 15.0),
    ("unchecked", 10.0),
];

fn promises() -> Ledger {
    Ledger { made: 50, kept: 20, broken: 5, pending: 15, unchecked: 10 }
}

/// All of it ended within measurement.
fn figures<'a>(
    record: &'a SeriesRecord,
    response: &'a Distribution,
    promises: &'a Ledger,
) -> ThresholdFigures<'a> {
    ThresholdFigures { record, ended: record.ended[1], response, promises, seconds: SECONDS }
}

fn threshold(text: &str) -> Threshold {
    text.parse().unwrap_or_else(|error: ParseError| panic!("{error}"))
}

fn judge(text: &str, record: &SeriesRecord) -> Verdict {
    let response = record.response_time_where_served(false);
    threshold(text).judge("w/s", &figures(record, &response, &promises()))
}

fn found(text: &str, record: &SeriesRecord) -> Found {
    let response = record.response_time_where_served(false);
    threshold(text).measure.of(&figures(record, &response, &promises()))
}

#[test]
fn thresholds_of_each_form_are_judged() {
    let record = rising(100, 0);
    for (text, holds, found) in [
        ("p99(response) < 100ms", true, "99.0ms"),
        ("p99(response) < 50ms", false, "99.0ms"),
        ("p50(service)<=51ms", true, "50.0ms"),
        ("mean(response.accepted) > 40ms", true, "50.5ms"),
        ("rate(accepted) > 9/s", true, "10.0/s"),
        ("rate(accepted) >= 11/s", false, "10.0/s"),
        ("share(shed) < 0.1%", true, "0.000%"),
        ("share(broken) < 0.1%", false, "10.000%"),
        ("count(kept) == 20", true, "20"),
        ("p99(response.refused) < 1s", false, "none"),
    ] {
        let verdict = judge(text, &record);
        assert_eq!((verdict.holds, verdict.found.as_str()), (holds, found), "{text}");
        assert_eq!(
            (verdict.series.as_str(), verdict.threshold.as_str(), verdict.aborted),
            ("w/s", text, false)
        );
    }
}

#[test]
fn what_is_found_and_its_bound_are_numbers_of_one_unit() {
    use ThresholdUnit::{Count, Nanoseconds, PerSecond, Share};
    let record = rising(100, 0);
    for (text, unit, found, bound) in [
        ("p50(service) < 100ms", Nanoseconds, Some(50e6), 100e6),
        ("rate(accepted) > 540/m", PerSecond, Some(10.0), 9.0),
        ("share(broken) < 0.1%", Share, Some(0.1), 0.001),
        ("count(kept) == 20", Count, Some(20.0), 20.0),
        ("p99(response.refused) < 1s", Nanoseconds, None, 1e9),
    ] {
        let numbers = judge(text, &record).numbers.unwrap();
        assert_eq!((numbers.unit, numbers.is_beyond), (unit, false), "{text}");
        assert!((numbers.bound - bound).abs() <= bound * 1e-9, "{text}: {numbers:?}");
        let is_near = |found: f64, expected: f64| (found - expected).abs() <= expected * 0.01;
        assert!(numbers.found.zip(found).is_none_or(|(found, expected)| is_near(found, expected)), "{text}");
        assert_eq!(numbers.found.is_some(), found.is_some(), "{text}");
    }
    let never = judge("p99(response) < 1s", &rising(1, 9)).numbers.unwrap();
    assert_eq!((never.found, never.is_beyond), (None, true));
}

#[test]
fn every_count_rate_and_share_is_that_of_the_record() {
    let record = known();
    assert!(record.balances());
    for (name, count) in COUNTED {
        assert_eq!(found(&format!("count({name}) < 1"), &record), Found::Number(count), "{name}");
        assert_eq!(found(&format!("rate({name}) < 1/s"), &record), Found::Number(count / SECONDS), "{name}");
        let promised = ["made", "kept", "broken", "pending", "unchecked"].contains(&name);
        let whole = if promised { 50.0 } else { 24.0 };
        assert_eq!(found(&format!("share({name}) < 1%"), &record), Found::Number(count / whole), "{name}");
        let verdict = judge(&format!("count({name}) == {count}"), &record);
        assert_eq!((verdict.holds, verdict.found), (true, count.to_string()), "{name}");
    }
}

/// Service times sent, sorted, ms: 10 20 30 40 50 60 70 200 200 300 300 300 400 500 500 1000, sum 3,980.
/// Responses are 6 ms longer, those of the two flows of 200 ms 5 and 15 ms more; the unsent one of 26 ms and four without
/// an end are among them.
#[test]
fn every_duration_is_that_of_the_record() {
    let record = known();
    for (measure, millis) in [
        ("p50(service)", 200.0),
        ("p75(service)", 300.0),
        ("p93.75(service)", 500.0),
        ("p93.76(service)", 1_000.0),
        ("mean(service)", 3_980.0 / 16.0),
        ("min(service)", 10.0),
        ("max(service)", 1_000.0),
        ("p1(response)", 16.0),
        ("p33(response)", 76.0),
        ("p50(response.pushback)", 306.0),
        ("min(response)", 16.0),
        ("p50(response.accepted)", 46.0),
        ("max(response.accepted)", 76.0),
        ("mean(response.accepted)", 46.0),
        ("max(response.unreachable)", 26.0),
        ("max(response.refused)", 221.0),
        ("max(response.timed_out)", 1_006.0),
        ("p99.9(dispatch_lag)", 1.0),
        ("mean(backlog_wait)", 2.0),
        ("p50(connection_wait)", 3.0),
        ("max(connection_wait)", 23.0),
        ("min(client_time)", 5.0),
        ("max(client_time)", 15.0),
        ("mean(client_time)", 10.0),
        ("p50(read_lag)", 4.0),
    ] {
        let Found::Duration(nanos) = found(&format!("{measure} < 1h"), &record) else {
            panic!("{measure} is no duration")
        };
        assert!((nanos / 1e6 / millis - 1.0).abs() <= 0.001, "{measure}: {nanos} ns, not {millis} ms");
    }
}

#[test]
fn what_never_ended_is_longer_than_every_bound() {
    let record = known();
    for measure in
        ["p99(response)", "max(response)", "mean(response)", "p50(response.shed)", "min(response.shed)"]
    {
        assert!(matches!(found(&format!("{measure} < 1h"), &record), Found::Beyond(..)), "{measure}");
        assert!(!judge(&format!("{measure} < 1h"), &record).holds, "{measure}");
        assert!(judge(&format!("{measure} > 1h"), &record).holds, "{measure}");
    }
    assert_eq!(
        judge("p99(response) < 1h", &record).found,
        "> 76.0ms (14 of 21 not accepted)",
        "of those that were served"
    );
    assert!(matches!(found("p34(response) < 1h", &record), Found::Beyond(..)), "7 of 21 were served");
}

#[test]
fn shed_arrivals_fail_a_percentile_that_falls_on_them() {
    let record = rising(90, 10);
    assert!(!judge("p99(response) < 1h", &record).holds);
    assert!(!judge("max(response) < 1h", &record).holds);
    assert!(judge("p90(response) < 1h", &record).holds, "the 90th of 100 ended");
    let record = rising(999, 1);
    assert!(judge("p99.9(response) <= 1s", &record).holds, "the 999th of 1,000 ended");
    assert!(!judge("p99.91(response) <= 1h", &record).holds);
}

#[test]
fn nothing_holds_no_expectation() {
    let nothing = SeriesRecord::default();
    for kind in [
        "response",
        "response.accepted",
        "service",
        "dispatch_lag",
        "backlog_wait",
        "connection_wait",
        "client_time",
        "read_lag",
    ] {
        for text in [format!("p99({kind}) < 1h"), format!("mean({kind}) >= 0s"), format!("max({kind}) == 0s")]
        {
            let verdict = judge(&text, &nothing);
            assert_eq!((verdict.holds, verdict.found.as_str()), (false, "none"), "{text}");
        }
    }
    for (name, _) in COUNTED {
        let (response, promises) = (Distribution::default(), Ledger::default());
        let figures = figures(&nothing, &response, &promises);
        for text in [format!("share({name}) < 1%"), format!("count({name}) == 0")] {
            let verdict = threshold(&text).judge("w/s", &figures);
            assert_eq!((verdict.holds, verdict.found.as_str()), (false, "none"), "{text}");
        }
    }
    let (response, promises) = (Distribution::default(), Ledger::default());
    let figures = ThresholdFigures { seconds: 0.0, ..figures(&nothing, &response, &promises) };
    let unmeasured = threshold("rate(accepted) >= 0/s").judge("w/s", &figures);
    assert_eq!((unmeasured.holds, unmeasured.found.as_str()), (false, "none"), "no time has no rate");
}

#[test]
fn what_became_of_promises_is_counted_among_those_made_and_these_among_operations() {
    let (record, promises) = (rising(5, 0), Ledger::default());
    let response = record.response_time_where_served(false);
    let figures = figures(&record, &response, &promises);
    let judge = |text: &str| threshold(text).judge("w/s", &figures);
    assert!(judge("count(made) == 0").holds, "5 operations made none");
    for text in ["count(broken) == 0", "share(broken) < 1%", "share(made) <= 100%"] {
        assert_eq!((judge(text).holds, judge(text).found.as_str()), (false, "none"), "{text}");
    }
}

#[test]
fn failures_are_served_never_and_refusals_are_where_they_are_meant() {
    let record = recorded(|recorder| {
        end(recorder, 98, Outcome::Accepted, 10);
        end(recorder, 2, Outcome::Refused, 1);
    });
    let judge = |text: &str, refusals_meant: bool| {
        let response = record.response_time_where_served(refusals_meant);
        threshold(text).judge("w/s", &figures(&record, &response, &promises()))
    };
    // A server that fails fast is no fast one.
    let fast = judge("p99(response) < 1s", false);
    assert_eq!((fast.holds, fast.found.as_str()), (false, "> 16.0ms (2 of 100 not accepted)"));
    assert!(judge("p98(response) < 1s", false).holds);
    assert!(!judge("mean(response) < 1s", false).holds && !judge("max(response) < 1s", false).holds);
    assert!(judge("p99(response) < 1s", true).holds && judge("mean(response) < 1s", true).holds);
    for refusals_meant in [true, false] {
        assert!(judge("p99(response.accepted) < 1s", refusals_meant).holds);
        assert!(judge("p99(response.refused) < 8ms", refusals_meant).holds);
    }
}

#[test]
fn nothing_ends_a_run_before_there_is_something_to_judge() {
    let (nothing, shed) = (SeriesRecord::default(), rising(0, 3));
    let waiting = recorded(|recorder| {
        recorder.offer(0, Phase::Measurement);
        recorder.queue(0, Phase::Measurement);
    });
    let fails = |text: &str, record: &SeriesRecord, promises: Ledger| {
        threshold(text).fails_midway(&figures(record, &record.response_time_where_served(false), &promises))
    };
    let none = Ledger::default();
    for text in ["share(accepted) > 50%", "rate(accepted) > 1/s", "count(accepted) > 1", "p99(response) < 1s"]
    {
        assert!(!fails(text, &nothing, none) && !fails(text, &waiting, none), "{text}");
        assert!(fails(text, &shed, none), "{text}");
    }
    let pending = Ledger { made: 5, pending: 5, ..none };
    for text in ["share(kept) == 100%", "count(broken) == 0", "count(kept) > 9"] {
        assert!(!fails(text, &nothing, pending) && !fails(text, &shed, none), "{text}");
    }
    assert!(!fails("share(kept) == 100%", &shed, Ledger { made: 5, kept: 4, pending: 1, ..none }));
    assert!(fails("share(kept) == 100%", &shed, Ledger { made: 5, kept: 3, broken: 1, pending: 1, ..none }));
    assert!(fails("share(pending) < 10%", &shed, pending) && fails("count(pending) < 5", &shed, pending));
}

#[test]
fn a_rate_is_of_what_ended_in_measurement_and_a_count_of_what_was_intended_in_it() {
    let record = rising(20, 10);
    let (response, promises) = (record.response_time(), Ledger::default());
    let mut figures = figures(&record, &response, &promises);
    // Half of it ended in drain, and one of warm-up failed meanwhile.
    figures.ended[Fate::Accepted as usize] = 10;
    figures.ended[Fate::Refused as usize] = 1;
    let judged = |text: &str| threshold(text).judge("w/s", &figures).found;
    assert_eq!(judged("rate(accepted) > 0/s"), "1.0/s");
    assert_eq!(judged("rate(completed) > 0/s"), "1.1/s");
    assert_eq!(judged("rate(refused) > 0/s"), "0.1/s");
    assert_eq!(judged("rate(offered) > 0/s"), "3.0/s");
    assert_eq!(judged("rate(shed) > 0/s"), "1.0/s", "what is shed is so when it arrives");
    assert_eq!((judged("count(accepted) > 0"), judged("count(refused) > 0")), ("20".into(), "0".into()));
}

#[test]
fn each_comparison_has_its_side_of_the_bound() {
    let record = known();
    for (symbol, below, equal, above) in [
        ("<", true, false, false),
        ("<=", true, true, false),
        (">", false, false, true),
        (">=", false, true, true),
        ("==", false, true, false),
    ] {
        let holds = |bound: u64| judge(&format!("count(accepted) {symbol} {bound}"), &record).holds;
        assert_eq!((holds(8), holds(7), holds(6)), (below, equal, above), "7 {symbol}");
    }
}

#[test]
fn bounds_say_their_unit() {
    for (text, bound) in [
        ("max(service) < 7ns", 7.0),
        ("max(service) < 7us", 7e3),
        ("max(service) < 7ms", 7e6),
        ("max(service) < 7s", 7e9),
        ("max(service) < 7m", 420e9),
        ("max(service) < 7 h", 25_200e9),
        ("max(service) < 0.5s", 5e8),
        ("rate(offered) < 290.5/s", 290.5),
        ("max(service) < 1m30s", 90e9),
        ("max(service) < 1d", 86_400e9),
        ("rate(offered) < 30/min", 0.5),
        ("share(shed) < 25%", 0.25),
        ("share(shed) < 0.25", 0.25),
        ("count(shed) < 1e3", 1_000.0),
    ] {
        assert_eq!(threshold(text).bound, bound, "{text}");
    }
}

#[test]
fn bad_text_is_refused_with_what_was_expected() {
    const FORM: &str = "expected `function(measure) < bound`, like `p99(response) < 500ms`";
    const FUNCTION: &str = "is none of p50 to p99.99, mean, min, max, rate, share, count";
    const DURATION: &str = "is no time (like 250ms, 1.5s, 1m30s, 12h)";
    for (text, message) in [
        ("", FORM),
        ("p99 < 5ms", FORM),
        ("p99(response", FORM),
        ("p99(response) 5ms", FORM),
        ("p99(response) = 5ms", FORM),
        ("p99(response) != 5ms", FORM),
        ("p0(response) < 5ms", &format!("`p0` {FUNCTION}")),
        ("p100(response) < 5ms", &format!("`p100` {FUNCTION}")),
        ("pinf(response) < 5ms", &format!("`pinf` {FUNCTION}")),
        ("median(response) < 5ms", &format!("`median` {FUNCTION}")),
        ("P99(response) < 5ms", &format!("`P99` {FUNCTION}")),
        (
            "p99(latency) < 5ms",
            "`p99` cannot be taken of `latency`; it takes response, response.<fate>, service",
        ),
        ("p99(service.accepted) < 5ms", "`p99` cannot be taken of `service.accepted`"),
        ("p99(response.lost) < 5ms", "`p99` cannot be taken of `response.lost`"),
        ("mean(accepted) < 5ms", "`mean` cannot be taken of `accepted`"),
        (
            "rate(lost) > 5/s",
            "`rate` cannot be taken of `lost`; it takes offered, dispatched, completed, resent, redialled",
        ),
        ("count(response) > 5", "`count` cannot be taken of `response`"),
        ("p99(response) < 5", &format!("`5` {DURATION}")),
        ("p99(response) < -5ms", &format!("`-5ms` {DURATION}")),
        ("p99(response) < infs", &format!("`infs` {DURATION}")),
        ("p99(response) < ", &format!("`` {DURATION}")),
        ("rate(accepted) > 5", "`5` is no rate (like 500/s, 30/min, 10/h)"),
        ("share(shed) < 5", "`5` is no share (0 to 1, like 0.01 or 1%)"),
        ("share(shed) < 101%", "`101%` is no share"),
        ("count(shed) < -1", "`-1` is no count"),
        ("count(shed) < NaN", "`NaN` is no count"),
    ] {
        let error = text.parse::<Threshold>().unwrap_err().to_string();
        assert!(error.starts_with(&format!("read `{text}`: ")), "{error}");
        assert!(error.contains(message), "{text}: {error}");
    }
}

fn any_name() -> impl Strategy<Value = String> {
    let duration = |statistic: String| {
        let kinds = [
            "response",
            "response.accepted",
            "response.timed_out",
            "service",
            "client_time",
            "read_lag",
            "dispatch_lag",
            "backlog_wait",
        ];
        prop::sample::select(kinds.to_vec()).prop_map(move |kind| format!("{statistic}({kind})"))
    };
    let statistic = prop_oneof![
        (1..10_000u32).prop_map(|hundredths| format!("p{}", f64::from(hundredths) / 100.0)),
        prop::sample::select(vec!["mean", "min", "max"]).prop_map(str::to_owned),
    ];
    let counted =
        (prop::sample::select(vec!["rate", "share", "count"]), prop::sample::select(COUNTED.to_vec()))
            .prop_map(|(function, (name, _))| format!("{function}({name})"));
    prop_oneof![statistic.prop_flat_map(duration), counted]
}

/// The unit of a bound of this measure.
fn unit(name: &str) -> &'static str {
    match name.split_once('(').unwrap().0 {
        "rate" => "/s",
        "share" => "%",
        "count" => "",
        _ => "ms",
    }
}

proptest! {
    #[test]
    fn a_threshold_reads_back_from_what_it_prints(
        name in any_name(), symbol in prop::sample::select(vec!["<", "<=", ">", ">=", "=="]), bound in 0..10_000u32,
        space in prop::sample::select(vec!["", " ", "  \t"]),
    ) {
        // A share is 100 % at most.
        let bound = if name.starts_with("share") { bound / 100 } else { bound };
        let text = format!("{name}{space}{symbol}{space}{bound}{}", unit(&name));
        let read = threshold(&format!("{space}{text}{space}"));
        prop_assert_eq!(read.to_string(), text);
        prop_assert_eq!(&threshold(&read.to_string()), &read);
        let spaced = threshold(&format!("{} {symbol} {bound}{}", name.replace('(', " ( ").replace(')', " )"), unit(&name)));
        prop_assert_eq!((spaced.measure, spaced.comparison, spaced.bound), (read.measure, read.comparison, read.bound));
    }

    #[test]
    fn comparisons_agree_with_one_another(value in 0..1_000u32, bound in 0..1_000u32) {
        let (found, bound) = (Found::Number(f64::from(value)), f64::from(bound));
        let holds = |comparison: Comparison| comparison.holds(found, bound);
        prop_assert_eq!(holds(Comparison::AtMost), !holds(Comparison::Above));
        prop_assert_eq!(holds(Comparison::AtLeast), !holds(Comparison::Below));
        prop_assert_eq!(holds(Comparison::Equal), holds(Comparison::AtMost) && holds(Comparison::AtLeast));
    }

    #[test]
    fn a_verdict_is_what_a_comparison_of_the_printed_count_says(accepted in 1..40u64, bound in 0..40u64) {
        let record = rising(accepted, 0);
        let verdict = judge(&format!("count(accepted) <= {bound}"), &record);
        prop_assert_eq!(verdict.found, accepted.to_string());
        prop_assert_eq!(verdict.holds, accepted <= bound);
    }

    #[test]
    fn no_text_is_worse_than_refused(text in "\\PC{0,40}", name in any_name(), tail in "[<>= 0-9.a-z/%-]{0,12}") {
        let _ = text.parse::<Threshold>();
        if let Ok(read) = format!("{name}{tail}").parse::<Threshold>() {
            prop_assert!(read.bound.is_finite() && read.bound >= 0.0, "{read} is {}", read.bound);
        }
    }
}
