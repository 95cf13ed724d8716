use hammer_measure::threshold::{JudgedNumbers, ThresholdUnit as Unit};
use hammer_measure::{Ledger, Nanos, Phase};
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::fixture::any::{any_run, events};
use crate::fixture::schema::Schema;
use crate::fixture::{Story, disaster, operation, quickstart, report_of, written};

fn json(report: &Report) -> Value {
    serde_json::to_value(report).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_report_that_was_read_is_written_as_it_was(chapters in any_run()) {
        let report = report_of(&events(&chapters));
        let text = written(&report);
        prop_assert_eq!(text.matches('\n').count(), 1, "it is one line");
        let back = Report::parse(&text).unwrap();
        prop_assert_eq!(&back, &report);
        prop_assert_eq!(written(&back), text);
        prop_assert_eq!(back.check(), Vec::<String>::new());
    }

    #[test]
    fn every_report_is_as_its_schema_says(chapters in any_run()) {
        prop_assert_eq!(Schema::of::<Report>().hold(&json(&report_of(&events(&chapters)))), Ok(()));
    }
}

proptest! {
    #[test]
    fn numbers_come_back_to_the_last_digit(user in 0.0..1e6, seen in any::<f64>().prop_map(finite)) {
        let resources = Resources { cpu_user_s: user, ..Resources::default() };
        let text = serde_json::to_string(&resources).unwrap();
        prop_assert_eq!(serde_json::from_str::<Resources>(&text).unwrap(), resources);
        let tree = TreeSize { first: seen, last: user, grown: 0.0 };
        let text = serde_json::to_string(&tree).unwrap();
        prop_assert_eq!(serde_json::from_str::<TreeSize>(&text).unwrap(), tree);
    }

    #[test]
    fn promises_are_the_ledger_s(states in prop::array::uniform5(0..1_000_000u64)) {
        let [made, kept, broken, pending, unchecked] = states;
        let ledger = Ledger { made, kept, broken, pending, unchecked };
        let counts = PromiseCounts::from(ledger);
        prop_assert_eq!(Ledger::from(counts), ledger);
        prop_assert_eq!(counts.balances(), made == kept + broken + pending + unchecked);
        let json = serde_json::to_value(counts).unwrap();
        prop_assert_eq!(json, json!({
            "made": made, "kept": kept, "broken": broken, "pending": pending, "unchecked": unchecked,
        }));
    }
}

#[test]
fn what_is_not_as_the_schema_says_is_seen() {
    let schema = Schema::of::<Report>();
    let sound = json(&report_of(&disaster()));
    assert_eq!(schema.hold(&sound), Ok(()));
    type Alteration = fn(&mut Value);
    let alterations: [(&str, Alteration); 9] = [
        ("/verdict: ", |report| _ = report["verdict"].as_object_mut().unwrap().remove("reasons")),
        ("/run/shards: ", |report| report["run"]["shards"] = json!(-1)),
        ("/run/seed: ", |report| report["run"]["seed"] = json!(7)),
        ("/phases/0/phase: ", |report| report["phases"][0]["phase"] = json!("cool_down")),
        ("/verdict/exit_code: ", |report| report["verdict"]["exit_code"] = json!(256)),
        ("/run/extra is in no schema", |report| report["run"]["extra"] = json!(1)),
        ("/events/0: ", |report| report["events"][0]["event"] = json!("other")),
        ("/series/0/measurement/durations/service_time: ", |report| {
            report["series"][0]["measurement"]["durations"]["service_time"]["p99_ns"] = json!(1.5);
        }),
        ("/series/0/measurement/fates/other is in no schema", |report| {
            report["series"][0]["measurement"]["fates"]["other"] = json!(0);
        }),
    ];
    for (problem, alter) in alterations {
        let mut altered = sound.clone();
        alter(&mut altered);
        let found = schema.hold(&altered).unwrap_err();
        assert!(found.starts_with(problem), "{problem}: {found}");
    }
}

#[test]
fn what_is_no_report_says_why() {
    let message = |text: &str| Report::parse(text).unwrap_err().to_string();
    assert_eq!(message("{}"), "read a report: its schema is `none`, not `hammer.report/1`");
    assert_eq!(message(r#"{"schema":1}"#), "read a report: its schema is `none`, not `hammer.report/1`");
    assert!(message("").starts_with("read a report: EOF"), "{}", message(""));
    assert!(message(r#"{"schema":"hammer.report/1"}"#).starts_with("read a report: missing field"));
    let mut value = json(&report_of(&quickstart()));
    value["totals"]["all"]["offered"] = json!(-1);
    assert!(message(&value.to_string()).contains("-1"), "{}", message(&value.to_string()));
}

#[test]
fn a_report_that_cannot_be_written_says_so() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let error = report_of(&quickstart()).write(Full).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::StorageFull);
}

#[test]
fn a_phase_has_the_name_that_the_recorder_gives_it() {
    for (phase, words) in
        [(Phase::WarmUp, "warm-up"), (Phase::Measurement, "measurement"), (Phase::Drain, "drain")]
    {
        let name = PhaseName::from(phase);
        assert_eq!(serde_json::to_value(name).unwrap(), phase.name());
        assert_eq!(name.words(), words);
        let span = PhaseSpan::from(&(phase, Nanos(3), Nanos(8)));
        assert_eq!((span.phase, span.begin_ns, span.end_ns), (name, 3, 8));
    }
}

#[test]
fn resources_are_carried_over_and_divided_by_what_was_completed() {
    let used = snapshot::Resources {
        surroundings: snapshot::Surroundings::default(),
        cpu_user: 1.5,
        cpu_system: 0.5,
        rss_bytes: 3,
        max_rss_bytes: 4,
        descriptors: 5,
        descriptor_limit: 6,
        cores: 7,
    };
    let resources = Resources::of(&used, 1_000);
    assert_eq!(
        serde_json::to_value(resources).unwrap(),
        json!({
            "cpu_user_s": 1.5, "cpu_system_s": 0.5, "cpu_ns_per_completed": 2_000_000, "rss_bytes": 3,
            "max_rss_bytes": 4, "descriptors": 5, "descriptor_limit": 6, "cores": 7,
        })
    );
    assert_eq!(Resources::of(&used, 0).cpu_ns_per_completed, None, "nothing to divide by");
    let unknown = Resources::of(&snapshot::Resources { cpu_user: f64::NAN, ..used }, 1);
    assert_eq!((unknown.cpu_user_s, unknown.cpu_system_s), (0.0, 0.5));
    assert_eq!([1.5, f64::NAN, f64::INFINITY, f64::NEG_INFINITY].map(finite), [1.5, 0.0, 0.0, 0.0]);
}

#[test]
fn a_breach_and_a_threshold_are_carried_over_word_for_word() {
    let breach = crate::fixture::breach(41);
    assert_eq!(
        serde_json::to_value(Breach::from(&breach)).unwrap(),
        json!({
            "workload": "submit", "seq": 41, "kind": "leaf index", "index": 41,
            "detail": "index 41 holds another leaf at tree size 12,000",
        })
    );
    let to_everyone = hammer_measure::promise::Breach { seq: None, index: None, ..breach };
    let json = serde_json::to_value(Breach::from(&to_everyone)).unwrap();
    assert!(json["seq"].is_null() && json["index"].is_null(), "null, and not left out: {json}");
    let verdict = threshold::Verdict {
        aborted: true,
        numbers: Some(JudgedNumbers {
            unit: Unit::Nanoseconds,
            found: Some(2e6),
            is_beyond: false,
            bound: 1e6,
        }),
        ..crate::fixture::verdict("p99(response) < 1ms", "2.00ms", false)
    };
    assert_eq!(
        serde_json::to_value(Threshold::from(&verdict)).unwrap(),
        json!({
            "series": "submit/add-chain", "threshold": "p99(response) < 1ms", "found": "2.00ms", "holds": false,
            "aborted": true, "unit": "ns", "found_value": 2e6, "found_beyond": false, "bound_value": 1e6,
        })
    );
}

#[test]
fn operations_are_the_series_that_are_no_steps() {
    let step = hammer_measure::SeriesInfo { operation: false, ..operation("submit", "add-chain/post") };
    let mut story = Story::new(vec![operation("submit", "add-chain"), step, operation("reads", "tile")]);
    story.interval(Phase::Measurement);
    let report = report_of(&story.finish(|_| {}));
    let paths: Vec<&str> = report.operations().map(|series| series.path.as_str()).collect();
    assert_eq!(paths, ["submit/add-chain", "reads/tile"]);
}
