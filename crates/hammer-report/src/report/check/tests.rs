use hammer_measure::{Nanos, Phase};
use proptest::prelude::*;

use super::*;
use crate::fixture::any::{any_run, events};
use crate::fixture::{PEER, Story, disaster, operation, quickstart, report_of};

type Alteration = fn(&mut Report);

fn altered(sound: &Report, alter: Alteration) -> Vec<String> {
    let mut report = sound.clone();
    alter(&mut report);
    problems(&report)
}

#[test]
fn what_a_run_made_does_not_contradict_itself() {
    for events in [quickstart(), disaster()] {
        assert_eq!(problems(&report_of(&events)), Vec::<String>::new());
    }
}

#[test]
fn a_contradiction_is_told_with_its_place_and_its_figures() {
    let sound = report_of(&disaster());
    let cases: [(Alteration, &[&str]); 9] = [
        (
            |report| report.series[0].measurement.counts.offered += 1,
            &[
                "submit/add-chain measurement: 14430 offered, but the fates add up to 14429",
                "totals.all is not the sum of the operation series",
                "totals.measurement is not the sum of the operation series",
            ],
        ),
        (
            |report| report.series[0].in_drain.completed = 2,
            &[
                "submit/add-chain: 12619 completed and 12000 accepted, but 12621 and 12000 ended within the phases",
            ],
        ),
        (
            |report| report.totals.warm_up.fates.shed = 1,
            &[
                "totals.warm_up: 0 offered, but the fates add up to 1",
                "totals.warm_up is not the sum of the operation series",
            ],
        ),
        (
            |report| report.series[0].measurement.durations.response_time = None,
            &["submit/add-chain measurement: 14429 ended, but 0 have a response time"],
        ),
        (
            |report| {
                let by_fate = &mut report.series[0].measurement.durations.response_time_by_fate;
                by_fate.get_mut("refused").unwrap().count = 7;
            },
            &["submit/add-chain measurement refused: count is 7, the hdr payload has 300"],
        ),
        (
            |report| report.promises.by_workload[0].promises = PromiseCounts::default(),
            &[
                "promises of submit are not the sum of their kinds",
                "promises are not the sum of those of the workloads",
            ],
        ),
        (
            |report| report.promises.by_kind[0].promises.kept += 1,
            &["promises of submit are not the sum of their kinds"],
        ),
        (
            |report| {
                report.promises.all.pending += 1;
                report.promises.by_workload[0].promises.pending += 1;
            },
            &[
                "promises of submit do not add up",
                "promises of submit are not the sum of their kinds",
                "promises do not add up",
            ],
        ),
        (|report| report.health.findings.clear(), &["healthy does not follow from its findings"]),
    ];
    for (alter, expected) in cases {
        assert_eq!(altered(&sound, alter), expected);
    }
}

#[test]
fn connections_that_contradict_themselves_are_told() {
    let mut story = Story::new(vec![operation("http", "get")]);
    drop(story.connections("shop").dialled(PEER, Nanos(1_000)));
    story.interval(Phase::Measurement);
    let sound = report_of(&story.finish(|_| {}));
    assert_eq!(problems(&sound), Vec::<String>::new());
    let found = altered(&sound, |report| report.connections[0].dials += 1);
    let expected = [
        "connections of shop: 2 dials, but 1 of its peers",
        "connections of shop: 2 connected, but 1 have a time",
    ];
    assert_eq!(found, expected);
    let found = altered(&sound, |report| report.connections[0].peers[0].requests = 3);
    assert_eq!(found, ["connections of shop, 127.0.0.1:80: 3 requests, but 0 answers and 0 failures"]);
    let found = altered(&sound, |report| report.connections[0].dial.as_mut().unwrap().count = 7);
    assert_eq!(found[0], "connections of shop dial: count is 7, the hdr payload has 1");
}

#[test]
fn a_run_whose_promises_have_no_workload_is_held_to_their_sum_alone() {
    let found = altered(&report_of(&disaster()), |report| report.promises.by_workload.clear());
    assert_eq!(found, Vec::<String>::new());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn one_arrival_more_or_less_never_goes_unseen(chapters in any_run(), series in 0..3usize, place in 0..4usize) {
        let sound = report_of(&events(&chapters));
        prop_assert_eq!(problems(&sound), Vec::<String>::new());
        let mut report = sound;
        let figures = &mut report.series[series].measurement;
        match place {
            0 => figures.counts.offered += 1,
            1 => figures.counts.fates.accepted += 1,
            2 => figures.counts.fates.backlog -= 1,
            _ => report.intervals.last_mut().unwrap().series[series].fates.in_flight += 1,
        }
        prop_assert!(!problems(&report).is_empty(), "place {place} of series {series}");
    }
}
