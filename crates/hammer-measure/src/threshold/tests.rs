use super::*;
use crate::outcome::{Detail, Outcome};
use crate::recorder::{Completion, Interval, Recorder};
use crate::series::Phase;
use crate::timing::Timing;

fn record(accepted: u64, shed: u64) -> SeriesRecord {
    let mut recorder = Recorder::new(1);
    for index in 0..accepted {
        recorder.offer(0, Phase::Measurement);
        recorder.queue(0, Phase::Measurement);
        let timing = Timing::new(Nanos(0), Nanos(0))
            .started(Nanos(0))
            .finished(Nanos(0), Nanos::from_millis(index + 1));
        recorder.start(0, Phase::Measurement, &timing);
        let completion = Completion {
            outcome: Outcome::Accepted,
            detail: Detail::None,
            sent: true,
            retried: false,
            bytes_out: 0,
            bytes_in: 0,
        };
        recorder.finish(0, Phase::Measurement, &timing, &completion);
    }
    for _ in 0..shed {
        recorder.offer(0, Phase::Measurement);
        recorder.shed(0, Phase::Measurement);
    }
    recorder.swap(Nanos(1), Interval::with_series(1)).series[0][1].clone()
}

fn judge(text: &str, record: &SeriesRecord) -> Verdict {
    let promises = Ledger { made: 100, kept: 99, broken: 1, pending: 0, unchecked: 0 };
    let threshold: Threshold = text.parse().unwrap();
    threshold.judge("w/s", &Figures { record, promises: &promises, seconds: 10.0 })
}

#[test]
fn thresholds_of_each_form_are_judged() {
    let record = record(100, 0);
    for (text, holds, found) in [
        ("p99(response) < 100ms", true, "99.0ms"),
        ("p99(response) < 50ms", false, "99.0ms"),
        ("p50(service)<=51ms", true, "50.0ms"),
        ("mean(response.accepted) > 40ms", true, "50.5ms"),
        ("rate(accepted) > 9/s", true, "10.0/s"),
        ("rate(accepted) >= 11/s", false, "10.0/s"),
        ("share(shed) < 0.1%", true, "0.000%"),
        ("share(broken) < 0.1%", false, "1.000%"),
        ("count(kept) == 99", true, "99"),
        ("p99(response.refused) < 1s", false, "none"),
    ] {
        let verdict = judge(text, &record);
        assert_eq!((verdict.holds, verdict.found.as_str()), (holds, found), "{text}");
    }
}

#[test]
fn shed_arrivals_fail_a_percentile_that_falls_on_them() {
    let record = record(90, 10);
    let verdict = judge("p99(response) < 1h", &record);
    assert!(!verdict.holds);
    assert!(verdict.found.starts_with("> "), "{}", verdict.found);
    assert!(judge("p50(response) < 1h", &record).holds);
    assert!(!judge("max(response) < 1h", &record).holds);
}

#[test]
fn bad_text_is_refused_with_what_was_expected() {
    for (text, message) in [
        ("p99 < 5ms", "expected `function(measure) < bound`"),
        ("p99(response) 5ms", "expected `function(measure) < bound`"),
        ("p100(response) < 5ms", "`p100` is none of"),
        ("median(response) < 5ms", "`median` is none of"),
        ("p99(latency) < 5ms", "cannot be taken of `latency`"),
        ("rate(lost) > 5/s", "cannot be taken of `lost`"),
        ("p99(response) < 5", "`5` is no duration"),
        ("rate(accepted) > 5", "`5` is no rate"),
        ("share(shed) < 5", "`5` is no share"),
        ("count(shed) < -1", "`-1` is no count"),
    ] {
        let error = text.parse::<Threshold>().unwrap_err().to_string();
        assert!(error.contains(message), "{text}: {error}");
    }
}

#[test]
fn the_shortest_of_what_never_ended_has_no_end_either() {
    let verdict = judge("min(response) < 1h", &record(0, 3));
    assert_eq!((verdict.holds, verdict.found.as_str()), (false, "> 0s"));
    assert!(judge("min(response) < 1h", &record(1, 3)).holds);
}
