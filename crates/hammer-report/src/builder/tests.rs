use std::collections::BTreeMap;

use hammer_measure::health::Finding;
use hammer_measure::recorder::SeriesRecord;
use hammer_measure::snapshot::Observation;
use hammer_measure::{CommandId, Distribution, Fate, Ledger, Nanos};
use proptest::prelude::*;

use super::*;
use crate::fixture::any::{any_run, told};
use crate::fixture::{Story, build, disaster, operation, quickstart, report_of};
use crate::report::{Counts, DurationTable, EndCounts, Fates, Nanoseconds, series::CLOSED_LOOP};
use crate::text;
use crate::verdict::{ReasonKind, Standing};

fn json(report: &Report) -> Value {
    let mut bytes = Vec::new();
    report.write(&mut bytes).unwrap();
    serde_json::from_slice(&bytes).unwrap()
}

#[test]
fn a_report_comes_back_from_its_json_whole() {
    for events in [quickstart(), disaster()] {
        let report = report_of(&events);
        let mut bytes = Vec::new();
        report.write(&mut bytes).unwrap();
        let back = Report::parse(std::str::from_utf8(&bytes).unwrap()).unwrap();
        assert_eq!(back, report);
        assert_eq!(back.check(), Vec::<String>::new());
        assert_eq!(text::render(&back), text::render(&report));
    }
}

#[test]
fn what_is_no_report_of_this_schema_is_not_read() {
    let mut value = json(&report_of(&quickstart()));
    value["schema"] = "hammer.report/2".into();
    let error = Report::parse(&value.to_string()).unwrap_err();
    assert_eq!(error.to_string(), "read a report: its schema is `hammer.report/2`, not `hammer.report/1`");
    assert!(Report::parse("{}").is_err());
}

#[test]
fn totals_count_operations_and_leave_out_steps() {
    let report = report_of(&quickstart());
    assert_eq!(report.totals.all.offered, 100 + 5_000 + 2_000);
    assert_eq!(report.totals.measurement.offered, 7_000);
    assert_eq!(report.totals.warm_up.fates.unreachable, 20);
    assert_eq!(report.series[1].measurement.counts.offered, 5_000, "the step has its own series");
    let rates = report.series[0].measurement.rates.unwrap();
    assert_eq!((rates.offered_per_s, rates.accepted_per_s), (500.0, 500.0));
}

#[test]
fn the_json_says_instants_units_and_the_seed_without_loss() {
    let json = json(&report_of(&quickstart()));
    assert_eq!(json["run"]["seed"], "18446744073709551615");
    assert_eq!(json["run"]["epoch"], "2026-09-21T14:13:20.123Z");
    assert_eq!(json["phases"][2]["begin_ns"], 11_000_000_000_u64);
    assert_eq!(json["tree_size"]["grown"], 5_080.0);
    assert_eq!(json["plan"]["target"]["lab"], "ct");
    let offered = json["series"][0]["measurement"]["offered"].as_i64();
    let fates = json["series"][0]["measurement"]["fates"].as_object().unwrap();
    assert_eq!(fates.len(), 12);
    assert_eq!(offered, Some(fates.values().map(|count| count.as_i64().unwrap()).sum()));
}

#[test]
fn a_percentile_that_falls_on_shed_arrivals_is_never_a_bare_number() {
    let json = json(&report_of(&disaster()));
    let response = &json["series"][0]["measurement"]["durations"]["response_time"];
    assert!(response["p50_ns"].is_u64());
    for name in ["p90_ns", "p95_ns", "p99_ns", "p99_9_ns", "max_ns", "mean_ns"] {
        assert!(response[name]["beyond_ns"].is_u64(), "{name}: {}", response[name]);
    }
    assert_eq!(response["infinite"], 1_810);
    assert!(json["series"][0]["measurement"]["durations"]["service_time"]["p99_ns"].is_u64());
}

#[test]
fn payloads_merge_without_loss() {
    let report = report_of(&disaster());
    let table = &report.series[0].measurement.durations;
    let mut merged = Distribution::default();
    table.response_time_by_fate.values().for_each(|d| merged.merge(&d.distribution().unwrap()));
    let whole = table.response_time.as_ref().unwrap();
    assert_eq!(merged.summary(), whole.distribution().unwrap().summary());
    assert_eq!(merged.count(), report.totals.all.offered);
    let merged = crate::report::Durations::of(&merged).unwrap();
    assert_eq!((merged.p50_ns, merged.p99_ns), (whole.p50_ns, whole.p99_ns));
}

#[test]
fn every_reason_is_listed_and_the_first_in_order_takes_the_exit_code() {
    let report = report_of(&disaster());
    let kinds: Vec<_> = report.verdict.reasons.iter().map(|reason| reason.exit_code).collect();
    assert_eq!((report.verdict.exit_code, kinds), (4, vec![4, 5, 1, 130]));
    let passed = report_of(&quickstart()).verdict;
    assert_eq!((passed.exit_code, passed.standing), (0, Standing::Passed));
}

#[test]
fn unchecked_promises_alone_forbid_exit_zero() {
    let mut story = Story::new(vec![operation("submit", "add-chain")]);
    story.accept(0, Phase::Measurement, 3, Nanos(10));
    story.promises = Ledger { made: 3, kept: 2, unchecked: 1, ..Ledger::default() };
    story.interval(Phase::Measurement);
    let report = report_of(&story.finish(|_| {}));
    assert_eq!(report.verdict.to_string(), "FAIL, exit 5: not to be believed for 1 promise unchecked");
}

#[test]
fn what_the_caller_knows_joins_the_reasons() {
    let mut builder = ReportBuilder::new();
    quickstart().iter().for_each(|event| builder.event(event));
    let also = [Reason::new(ReasonKind::Usage, "a hook failed")];
    let mut report = builder.build(Value::Null, &also).unwrap();
    report.add_reason(Reason::new(ReasonKind::ReportUnwritten, "write /dev/full"));
    assert_eq!(report.verdict.exit_code, 2);
    assert_eq!(report.check(), Vec::<String>::new());
}

#[test]
fn a_run_that_never_ended_leaves_no_report() {
    let mut builder = ReportBuilder::new();
    assert_eq!(builder.build(Value::Null, &[]), Err(BuildError::NotStarted));
    builder.event(&quickstart()[0]);
    assert_eq!(builder.build(Value::Null, &[]), Err(BuildError::NotFinished));
}

#[test]
fn a_check_finds_what_was_altered() {
    let sound = report_of(&disaster());
    let altered = |alter: fn(&mut Report)| {
        let mut report = sound.clone();
        alter(&mut report);
        report.check().join("\n")
    };
    let cases: BTreeMap<&str, fn(&mut Report)> = BTreeMap::from([
        ("the fates add up to", (|r| r.series[0].measurement.counts.fates.shed -= 1) as fn(&mut Report)),
        ("have a response time", |r| r.series[0].measurement.durations.response_time = None),
        ("is not the sum of the operation series", |r| r.totals.all.bytes_in += 1),
        ("promises do not add up", |r| r.promises.all.kept += 1),
        ("promises of submit do not add up", |r| r.promises.by_workload[0].promises.made -= 1),
        ("promises of submit are not the sum of their kinds", |r| r.promises.by_kind[0].promises.kept -= 1),
        ("the hdr payload cannot be read", |r| {
            r.series[0].measurement.durations.service_time.as_mut().unwrap().hdr = None;
        }),
        ("the hdr payload has", |r| {
            r.series[0].measurement.durations.service_time.as_mut().unwrap().count += 1;
        }),
        ("at 1000000000 ns", |r| r.intervals[0].series[0].offered += 1),
        ("does not follow from its reasons", |r| r.verdict.exit_code = 0),
        ("standing does not follow", |r| r.verdict.standing = Standing::Passed),
        ("healthy does not follow", |r| r.health.healthy = true),
        ("schema is `x`", |r| r.schema = "x".to_owned()),
    ]);
    for (problem, alter) in cases {
        let found = altered(alter);
        assert!(found.contains(problem), "{problem}: {found}");
    }
}

#[test]
fn notes_are_bounded_and_counted_while_commands_are_always_kept() {
    let mut story = Story::new(vec![operation("get", "get")]);
    story.accept(0, Phase::Measurement, 1, Nanos(1));
    story.interval(Phase::Measurement);
    for second in 0..MOST_EVENTS + 5 {
        story.events.push(RunEvent::Note { at: Nanos(second), text: "again".to_owned() });
    }
    // However many commands there are, before and behind the notes.
    for id in 1..=MOST_EVENTS + 200 {
        let (id, command) = (CommandId(id), hammer_measure::Command::Pause);
        story.events.push(RunEvent::Command { id, at: Nanos(1), command, refused: Vec::new() });
    }
    story.events.push(RunEvent::Note { at: Nanos(1), text: "again".to_owned() });
    let report = report_of(&story.finish(|_| {}));
    assert_eq!((report.events.len() as u64, report.events_left_out), (2 * MOST_EVENTS + 200, 6));
}

#[test]
fn a_closed_loop_says_so_and_has_users_over_rate() {
    let closed = |name| SeriesInfo { closed_loop: true, ..operation("get", name) };
    let mut story = Story::new(vec![closed("index"), closed("page"), operation("other", "open")]);
    story.accept(0, Phase::Measurement, 150, Nanos::from_micros(10));
    story.accept(1, Phase::Measurement, 50, Nanos::from_micros(10));
    story.users(0, 4);
    story.interval(Phase::Measurement);
    let report = build(ReportBuilder::new(), &story.finish(|_| {}));
    for series in &report.series[..2] {
        assert_eq!(series.notes, [CLOSED_LOOP]);
        let users = series.users_over_rate.unwrap();
        assert_eq!((users.users, users.completed_per_s, users.mean_cycle_ns), (4.0, 20.0, 200_000_000));
    }
    assert_eq!((report.series[2].notes.len(), report.series[2].users_over_rate), (0, None));
}

#[test]
fn figures_that_contradict_each_other_are_not_believed() {
    let mut story = Story::new(vec![operation("get", "get")]);
    story.accept(0, Phase::Measurement, 5, Nanos(1));
    story.interval(Phase::Measurement);
    let report = report_of(&story.finish(|result| result.total.series[0][1].offered += 1));
    assert_eq!(report.verdict.exit_code, 5);
    let said = &report.verdict.reasons[0].text;
    assert!(said.starts_with("the report contradicts itself: get/get measurement: 6 offered"), "{said}");
}

#[test]
fn numbers_that_json_cannot_say_do_not_enter_it() {
    let mut story = Story::new(vec![operation("get", "get")]);
    story.accept(0, Phase::Measurement, 1, Nanos(1));
    story.observe("ratio", f64::NAN);
    story.interval(Phase::Measurement);
    story.health.findings.push(Finding::Cpu { share: f64::INFINITY });
    let report = report_of(&story.finish(|result| result.resources.cpu_user = f64::NAN));
    assert!(report.observations.is_empty());
    assert_eq!(Report::parse(&json(&report).to_string()).unwrap(), report);
}

#[test]
fn only_shed_arrivals_leave_a_report_that_holds() {
    let mut story = Story::new(vec![operation("get", "get")]);
    story.never(0, Fate::Shed, 3);
    story.interval(Phase::Measurement);
    let report = report_of(&story.finish(|_| {}));
    let response = report.series[0].measurement.durations.response_time.as_ref().unwrap();
    assert_eq!(response.min_ns, Nanoseconds::Beyond { beyond_ns: 0 });
    assert_eq!((response.infinite, &response.hdr), (3, &None));
    assert_eq!(Report::parse(&json(&report).to_string()).unwrap(), report);
}

/// Whether all operations came before measurement.
fn is_unmeasured(report: &Report) -> bool {
    let is_early = report.operations().any(|series| series.warm_up.counts.offered > 0);
    is_early && report.operations().all(|series| series.measurement.counts.offered == 0)
}

/// Whether operations of a series were sent, and not cut off by a signal, and none of them ended as it means them to.
fn is_without_success(report: &Report) -> bool {
    report.operations().any(|series| {
        let Fates { accepted, refused, shed, starved, abandoned, .. } = series.measurement.counts.fates;
        let cut_off = if report.run.interrupted { abandoned } else { 0 };
        let is_served = accepted > 0 || series.name == "invalid" && refused > 0;
        !is_served && series.measurement.counts.fates.failed() > shed + starved + cut_off
    })
}

/// Whether no operation failed but those that were never sent, or were under way at the signal.
fn is_cut_off(report: &Report) -> bool {
    let Fates { shed, starved, abandoned, .. } = report.totals.all.fates;
    report.totals.all.fates.failed() == shed + starved + abandoned
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_report_has_exactly_the_figures_of_the_run(chapters in any_run()) {
        let story = told(&chapters);
        let result = story.result();
        let report = report_of(&story.finish(|_| {}));
        let (mut warm_up, mut measurement) = (Counts::default(), Counts::default());
        for (series, records) in report.series.iter().zip(&result.total.series) {
            for (figures, record) in [&series.warm_up, &series.measurement].into_iter().zip(records) {
                prop_assert_eq!(figures.counts, Counts::of(record));
                prop_assert_eq!(&figures.durations, &DurationTable::of(record));
            }
            let crossed = Phase::WITH_ARRIVALS.map(|phase| SeriesRecord::crossed_within(records, phase));
            let phases = [(&series.warm_up, crossed[0], 1.0), (&series.measurement, crossed[1], 10.0)];
            for (figures, crossed, seconds) in phases {
                prop_assert_eq!(figures.rates, figures.counts.rates(figures.ended, crossed, seconds));
            }
            let [before, within] = Phase::WITH_ARRIVALS.map(|phase| SeriesRecord::ended_within(records, phase));
            prop_assert_eq!(series.warm_up.ended, EndCounts::of(&before));
            prop_assert_eq!(series.measurement.ended, EndCounts::of(&within));
            if series.kind == SeriesKind::Operation {
                warm_up.add(&series.warm_up.counts);
                measurement.add(&series.measurement.counts);
            }
        }
        prop_assert_eq!((report.totals.warm_up, report.totals.measurement), (warm_up, measurement));
        prop_assert_eq!(Ledger::from(report.promises.all), result.promises);
        prop_assert_eq!(report.resources, Resources::of(&result.resources, report.totals.all.completed));
    }

    #[test]
    fn the_exit_code_follows_from_what_happened(chapters in any_run(), interrupted in any::<bool>()) {
        let story = told(&chapters);
        let result = story.result();
        let report = report_of(&story.finish(|result| result.interrupted = interrupted));
        let answered: u64 = result.total.series.iter().flatten().map(SeriesRecord::answered).sum();
        let is_exhausted = |finding: &Finding| matches!(finding, Finding::Exhausted { .. });
        let is_of_our_own = result.health.findings.iter().any(is_exhausted);
        let is_excused = is_of_our_own || interrupted && is_cut_off(&report);
        let is_fruitless = is_without_success(&report) || !interrupted && is_unmeasured(&report);
        let against = [
            (answered == 0 && !is_excused, ReasonKind::NoAnswer),
            (result.promises.broken > 0, ReasonKind::PromiseBroken),
            (result.promises.unchecked > 0 || !result.health.is_healthy(), ReasonKind::NotBelievable),
            (answered > 0 && is_fruitless, ReasonKind::NothingAccepted),
            (interrupted, ReasonKind::Interrupted),
        ];
        let expected: Vec<ReasonKind> = against.iter().filter(|(holds, _)| *holds).map(|(_, kind)| *kind).collect();
        let found: Vec<ReasonKind> = report.verdict.reasons.iter().map(|reason| reason.reason).collect();
        prop_assert_eq!(found, expected);
    }
}

proptest! {
    #[test]
    fn an_instant_has_milliseconds_whatever_they_are(unix_ms in 0..253_402_300_800_000u64) {
        let text = rfc3339(unix_ms);
        prop_assert_eq!(text.len(), "2026-09-21T14:13:20.123Z".len(), "{}", text);
        prop_assert_eq!(text[20..23].parse::<u64>().unwrap(), unix_ms % 1_000);
        prop_assert_eq!(text[17..19].parse::<u64>().unwrap(), unix_ms / 1_000 % 60);
        prop_assert_eq!(text[14..16].parse::<u64>().unwrap(), unix_ms / 60_000 % 60);
        prop_assert_eq!(text[11..13].parse::<u64>().unwrap(), unix_ms / 3_600_000 % 24);
    }
}

/// RFC 3339, section 5.8, and the days around the leaps of the Gregorian calendar.
#[test]
fn instants_are_those_of_rfc_3339() {
    for (unix_ms, text) in [
        (0, "1970-01-01T00:00:00.000Z"),
        (482_196_050_520, "1985-04-12T23:20:50.520Z"),
        (951_782_400_000, "2000-02-29T00:00:00.000Z"),
        (1_709_251_199_999, "2024-02-29T23:59:59.999Z"),
        (1_790_000_000_100, "2026-09-21T14:13:20.100Z"),
        (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
    ] {
        assert_eq!(rfc3339(unix_ms), text);
    }
    assert_eq!(rfc3339(u64::MAX), "18446744073709551615 ms since the Unix epoch");
}

#[test]
fn the_run_is_told_as_it_was_set_up_and_as_it_ended() {
    let report = report_of(&quickstart());
    let run = serde_json::to_value(&report.run).unwrap();
    assert_eq!(
        run,
        serde_json::json!({
            "seed": "18446744073709551615", "shards": 2, "epoch": "2026-09-21T14:13:20.123Z", "cores": 2,
            "warm_up_ns": 1_000_000_000, "measurement_ns": 10_000_000_000u64, "measured_seconds": 10.0,
            "stopped": "the planned time was over", "interrupted": false,
        })
    );
    assert_eq!((report.schema.as_str(), report.tool.name.as_str()), ("hammer.report/1", "hammer"));
}

#[test]
fn a_tree_has_grown_only_where_there_is_one() {
    let grown = |names: &[&str]| {
        let mut story = Story::new(vec![operation("get", "get")]);
        story.accept(0, Phase::Measurement, 1, Nanos(1));
        for second in 1..=3u64 {
            let seen = |name: &&str| Observation::new(*name, Nanos(second), 10.0 * second as f64);
            story.observations = names.iter().map(seen).collect();
            story.interval(Phase::Measurement);
        }
        report_of(&story.finish(|_| {})).tree_size.map(|tree| (tree.first, tree.last, tree.grown))
    };
    assert_eq!(grown(&[]), None);
    assert_eq!(grown(&["tree_size"]), Some((10.0, 30.0, 20.0)));
    assert_eq!(grown(&["log/tree_size", "ratio", "subtree_size"]), Some((10.0, 30.0, 20.0)));
    assert_eq!(grown(&["a/tree_size", "b/tree_size"]), None, "of two trees neither is the tree");
}

#[test]
fn what_was_seen_after_the_last_interval_is_in_the_report() {
    let mut story = Story::new(vec![operation("get", "get")]);
    story.accept(0, Phase::Measurement, 1, Nanos(1));
    story.observe("tree_size", 100.0);
    story.interval(Phase::Measurement);
    let report = report_of(&story.finish(|result| {
        result.observations = vec![Observation::new("tree_size", Nanos::from_secs(9), 150.0)];
    }));
    assert_eq!(report.observations[0].points.len(), 2);
    assert_eq!(report.tree_size.unwrap().grown, 50.0);
}

#[test]
fn reasons_say_how_many_and_which_came_first() {
    let mut story = Story::new(vec![operation("submit", "add-chain")]);
    story.accept(0, Phase::Measurement, 1, Nanos(1));
    story.promises = Ledger { made: 1_003, broken: 1, unchecked: 1_002, ..Ledger::default() };
    story.health.findings.push(Finding::Starved { count: 1 });
    story.interval(Phase::Measurement);
    let report = report_of(&story.finish(|result| {
        let verdict = |found: &str, holds| crate::fixture::verdict("p99(response) < 1ms", found, holds);
        result.verdicts = vec![verdict("0.50ms", true), verdict("2.00ms", false), verdict("3.00ms", false)];
    }));
    let texts: Vec<&str> = report.verdict.reasons.iter().map(|reason| reason.text.as_str()).collect();
    assert_eq!(
        texts,
        [
            "1 promise broken",
            "not to be believed for 1,002 promises unchecked and 1 health finding",
            "2 of 3 thresholds failed, first p99(response) < 1ms on submit/add-chain (found 2.00ms)",
        ]
    );
}

#[test]
fn users_are_those_that_were_there_and_of_their_own_workload() {
    let closed = SeriesInfo { closed_loop: true, ..operation("get", "index") };
    let step = SeriesInfo { operation: false, ..closed.clone() };
    let other = SeriesInfo { closed_loop: true, ..operation("other", "index") };
    let mut story = Story::new(vec![closed, step, other]);
    story.accept(0, Phase::Measurement, 100, Nanos::from_micros(10));
    (0..100).for_each(|_| story.step(1, Nanos(1)));
    story.accept(2, Phase::Measurement, 100, Nanos::from_micros(10));
    story.users(0, 5);
    story.interval(Phase::Measurement);
    let report = build(ReportBuilder::new(), &story.finish(|_| {}));
    let users = |series: usize| report.series[series].users_over_rate.map(|users| users.mean_cycle_ns);
    assert_eq!([users(0), users(1)], [Some(500_000_000), None], "5 users at 10/s; a step has none");
    assert_eq!(users(2), None, "nobody was there");
}

#[test]
fn a_run_that_goes_on_has_the_report_of_its_last_interval() {
    let mut story = Story::new(vec![operation("get", "hot")]);
    story.phase(Phase::WarmUp);
    story.accept(0, Phase::WarmUp, 5, Nanos::from_millis(1));
    story.interval(Phase::WarmUp);
    story.phase(Phase::Measurement);
    story.accept(0, Phase::Measurement, 40, Nanos::from_millis(2));
    story.interval(Phase::Measurement);
    let events = story.finish(|_| {});
    let mut builder = ReportBuilder::new();
    assert_eq!(builder.so_far(Value::Null), None);
    events
        .iter()
        .filter(|event| !matches!(event, RunEvent::Finished(_)))
        .for_each(|event| builder.event(event));
    let (mut so_far, whole) = (builder.so_far(Value::Null).unwrap(), report_of(&events));
    so_far.add_curves();
    assert_eq!(so_far.totals.all, whole.totals.all);
    assert_eq!(so_far.intervals, whole.intervals);
    assert_eq!(so_far.response_times, whole.response_times);
    assert_eq!(so_far.phases.iter().map(|span| span.phase).collect::<Vec<_>>(), {
        whole.phases.iter().map(|span| span.phase).take(so_far.phases.len()).collect::<Vec<_>>()
    });
    let times = |report: &Report| report.series[0].measurement.durations.response_time.clone().unwrap();
    let (found, expected) = (times(&so_far), times(&whole));
    assert_eq!((found.count, found.p99_ns, found.max_ns), (40, expected.p99_ns, expected.max_ns));
    assert_eq!(found.distribution().unwrap().count(), 40, "what was warm-up is not in the curve");
}
