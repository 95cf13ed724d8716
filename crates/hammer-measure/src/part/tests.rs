use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::fixture::{Parts, any_completion, any_parts, carry_out, completion};
use crate::outcome::{Detail, Fate, Outcome};
use crate::promise::add_kind;
use crate::recorder::{Completion, LateAlarm, Recorder, SeriesRecord, UserGroup};
use crate::series::Phase;
use crate::snapshot::add_observation;
use crate::timing::Nanos;

const SERIES: usize = 2;
const PARTS: usize = 3;

/// What happens to an arrival of a shard.
#[derive(Clone, Debug)]
enum Act {
    /// It is carried out.
    Ends(Parts, Completion),
    /// It is a step of the second series, which waited so long to be computed.
    Step(Parts, Completion, Nanos),
    Shed,
    /// It is shed so late, and so late was an alarm.
    ShedLate(Nanos),
    /// It waits for a slot, for good.
    Queue,
    /// It is under way, for good.
    Start(Parts),
}

fn any_act() -> impl Strategy<Value = Act> {
    prop_oneof![
        4 => (any_parts(), any_completion()).prop_map(|(parts, end)| Act::Ends(parts, end)),
        2 => (any_parts(), any_completion(), any_parts())
            .prop_map(|(parts, end, waited)| Act::Step(parts, end, waited.service)),
        1 => Just(Act::Shed),
        1 => any_parts().prop_map(|parts| Act::ShedLate(parts.lag)),
        1 => Just(Act::Queue),
        1 => any_parts().prop_map(Act::Start),
    ]
}

fn tell(recorder: &mut Recorder, act: &Act) {
    const PHASE: Phase = Phase::Measurement;
    match act {
        Act::Ends(parts, completion) => carry_out(recorder, *parts, completion),
        Act::Step(parts, completion, waited) => {
            let timing = parts.timing(Nanos::ZERO);
            recorder.step(1, Phase::WarmUp, &timing, completion);
            let cause = (Fate::from(completion.outcome), completion.detail);
            recorder.answered(1, Phase::WarmUp, cause, *waited, "a server's words");
            recorder.computed(1, Phase::WarmUp, *waited);
            recorder.present(0, PHASE, *waited);
            let group = UserGroup { place: (waited.0 % 3) as usize, of: 3 };
            recorder.ended_in_group(0, PHASE, group, &timing, completion.outcome);
        }
        Act::ShedLate(late) => {
            recorder.offer(0, PHASE);
            recorder.shed_late(0, PHASE, *late);
            recorder.alarm(PHASE, LateAlarm { late: *late, stood: *late });
        }
        Act::Shed | Act::Queue | Act::Start(_) => {
            recorder.offer(0, PHASE);
            match act {
                Act::Shed => recorder.shed(0, PHASE),
                _ => recorder.queue(0, PHASE),
            }
            if let Act::Start(parts) = act {
                recorder.start(0, PHASE, &parts.timing(Nanos::ZERO));
            }
        }
    }
}

fn swap(recorder: &mut Recorder, at: u64) -> Interval {
    recorder.swap(Nanos(at), Interval::with_series(SERIES))
}

fn part(interval: Interval) -> PartInterval {
    PartInterval::new((7, false), interval, Vec::new(), Vec::new())
}

/// The part on the other side of the wire.
fn sent(part: &PartInterval) -> PartInterval {
    PartInterval::from_bytes(&part.to_bytes(), SERIES).unwrap()
}

/// One operation that was accepted, one that was refused and one that was shed.
fn three() -> PartInterval {
    let mut recorder = Recorder::new(SERIES);
    let parts = Parts::of_service(Nanos::from_millis(5));
    for (outcome, detail) in [(Outcome::Accepted, Detail::None), (Outcome::Refused, Detail::Status(400))] {
        carry_out(&mut recorder, parts, &completion(outcome, detail));
    }
    tell(&mut recorder, &Act::Shed);
    let refused = (Fate::Refused, Detail::Status(400));
    recorder.answered(0, Phase::Measurement, refused, Nanos(9), "no token");
    let ledger = Ledger { made: 3, kept: 1, broken: 1, pending: 1, unchecked: 0 };
    let kind = KindLedger { workload: "submit".into(), kind: "sct".into(), ledger };
    let mut observations = vec![Observation::new("tree_size", Nanos(4), 2.5)];
    add_observation(&mut observations, Observation::new("tree_size", Nanos(9), 12.5));
    PartInterval::new((3, true), swap(&mut recorder, 10), vec![kind], observations)
}

/// The message of JSON that says the same but for one value.
fn altered(pointer: &str, value: serde_json::Value) -> String {
    let mut json = serde_json::to_value(three()).unwrap();
    *json.pointer_mut(pointer).unwrap_or_else(|| panic!("{pointer}")) = value;
    serde_json::from_value::<PartInterval>(json).unwrap_err().to_string()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn merged_parts_that_were_sent_are_the_interval_of_one_run(
        acts in vec((0..PARTS, any_act()), 0..60), cut in 0..60usize,
    ) {
        let mut whole = Recorder::new(SERIES);
        let mut parts: Vec<Recorder> = (0..PARTS).map(|_| Recorder::new(SERIES)).collect();
        let cut = cut.min(acts.len());
        for (index, acts) in [&acts[..cut], &acts[cut..]].into_iter().enumerate() {
            for (part, act) in acts {
                tell(&mut whole, act);
                tell(&mut parts[*part], act);
            }
            let mut merged = Interval::with_series(SERIES);
            for recorder in &mut parts {
                merged.merge(&sent(&part(swap(recorder, index as u64))).interval);
            }
            prop_assert_eq!(merged, swap(&mut whole, index as u64));
        }
    }
}

#[test]
fn a_part_comes_back_as_it_was_sent() {
    let three = three();
    assert_eq!(sent(&three), three);
    let json = serde_json::to_string(&three).unwrap();
    assert!(json.starts_with("{\"version\":11,\"index\":3,"), "{json}");
    assert_eq!(serde_json::from_str::<PartInterval>(&json).unwrap(), three);
    assert_eq!(three.to_bytes()[0], VERSION);
}

#[test]
fn what_was_observed_comes_back_from_json_to_the_last_bit() {
    let seen = Observation::new("tree_size", Nanos(4), 12.501_953_124_999_545);
    let part = PartInterval::new((3, true), Interval::with_series(SERIES), Vec::new(), vec![seen]);
    let json = serde_json::to_string(&part).unwrap();
    assert_eq!(serde_json::from_str::<PartInterval>(&json).unwrap(), part);
}

#[test]
fn an_interval_in_which_nothing_happened_is_small() {
    let bytes = part(Interval::with_series(SERIES)).to_bytes().len();
    assert!(bytes < 94 * 2 * SERIES, "{bytes} bytes");
}

#[test]
fn ledgers_of_parts_add_up_by_workload_and_kind() {
    let kind = |workload: &str, kind: &str, kept| KindLedger {
        workload: workload.into(),
        kind: kind.into(),
        ledger: Ledger { made: kept, kept, ..Ledger::default() },
    };
    let mut all = vec![kind("submit", "sct", 2)];
    for more in [kind("submit", "inclusion", 3), kind("submit", "sct", 5), kind("read", "sct", 7)] {
        add_kind(&mut all, &more);
    }
    assert_eq!(all, [kind("submit", "sct", 7), kind("submit", "inclusion", 3), kind("read", "sct", 7)]);
}

#[test]
fn of_what_several_parts_observed_the_earliest_is_the_first_and_the_latest_the_last() {
    let of = |points: &[(u64, f64)]| {
        let mut all = Vec::new();
        let seen = points.iter().map(|(at, value)| Observation::new("tree_size", Nanos(*at), *value));
        seen.for_each(|seen| add_observation(&mut all, seen));
        all
    };
    let (early, late) = (of(&[(2, 40.0), (6, 70.0)]), of(&[(4, 50.0), (8, 73.0), (5, 60.0)]));
    for (one, other) in [(&early, &late), (&late, &early)] {
        let mut merged = one.clone();
        other.iter().for_each(|more| add_observation(&mut merged, more.clone()));
        assert_eq!(merged, of(&[(2, 40.0), (8, 73.0)]));
    }
    let mut two = early.clone();
    add_observation(&mut two, Observation::new("audited", Nanos(1), 0.0));
    assert_eq!((two.len(), &two[0]), (2, &early[0]), "each name has its own");
    let after_none = &of(&[(1, f64::NAN), (3, 5.0)])[0];
    assert_eq!(
        after_none,
        &Observation::new("tree_size", Nanos(3), 5.0),
        "nothing grows from what is no number"
    );
}

#[test]
fn bytes_that_are_none_say_why() {
    let bytes = three().to_bytes();
    let message = |bytes: &[u8], series| PartInterval::from_bytes(bytes, series).unwrap_err().to_string();
    let other = [&[1], &bytes[1..]].concat();
    assert!(message(&other, SERIES).ends_with("it is written in format 1, and format 11 is read"));
    let longer = [&bytes[..], &[0]].concat();
    assert!(message(&longer, SERIES).ends_with("1 more bytes follow it"));
    assert!(message(&bytes, 3).ends_with("it has 2 series, and the run has 3"));
    for length in 0..bytes.len() {
        assert!(PartInterval::from_bytes(&bytes[..length], SERIES).is_err(), "{length} bytes");
    }
}

#[test]
fn figures_that_contradict_each_other_are_refused() {
    let record = "/interval/series/0/1";
    let of = |field: &str, value: u64| altered(&format!("{record}/{field}"), value.into());
    assert!(of("offered", 4).contains("not the sum of its fates"));
    assert!(of("in_flight", 1).contains("not the sum of its fates"));
    assert!(of("offered", u64::MAX).contains("more than any run"));
    assert!(of("user_time", u64::MAX).contains("more than any run"));
    assert!(of("response_time/0/infinite", 1).contains("more or fewer response times"));
    assert!(of("ended/1/0", 2).contains("more ends within the phases"), "one was accepted");
    assert!(of("ended/0/0", 1).contains("more ends within the phases"), "and within one phase");
    assert!(of("ended/1/8", 1).contains("more ends within the phases"), "what is shed has no end");
    assert!(of("ended/0/0", u64::MAX).contains("more than any run"));
    assert!(of("dispatch_lag/infinite", 1).contains("got a slot"));
    assert!(of("service_time/infinite", 1).contains("than operations ended"));
    assert!(of("read_lag/infinite", 4).contains("than operations ended"));
    assert!(of("held_up/shed", 1).contains("held up"), "none was shed late");
    assert!(of("held_up/by_reading", u64::MAX).contains("held up"));
    assert!(of("held_up/response_time/infinite", 1).contains("held up"));
    assert!(of("causes/0/2", 2).contains("causes"), "one was refused, and not two");
    let other = altered(&format!("{record}/answers/0/detail/status"), 401.into());
    assert!(other.contains("answers"), "nothing was refused so");
    let long = altered(&format!("{record}/answers/0/text"), "long ".repeat(100).into());
    assert!(long.contains("answers"), "longer than any recorder keeps");
    assert!(of("response_time/0/infinite", u64::MAX).contains("HDR"));
    assert!(altered("/promises/0/ledger/kept", 2.into()).contains("promises"));
    assert!(altered("/promises/0/ledger/made", u64::MAX.into()).contains("promises"));
    assert!(altered("/index", u64::MAX.into()).contains("more intervals than any run"));
    assert!(altered("/version", 1.into()).contains("format 1"));
    assert!(altered("/observations/0/first/at", 10.into()).contains("seen last before"));
    let (mut never, mut not_at_first) = (three(), three());
    never.observations[0].value = f64::NAN;
    not_at_first.observations[0].first.value = f64::INFINITY;
    for unseen in [never, not_at_first] {
        assert_eq!(PartInterval::from_bytes(&unseen.to_bytes(), SERIES), Err(PartError::Contradiction));
    }
}

#[test]
fn a_name_of_a_failure_that_another_process_told_is_the_same_as_ours() {
    let of = |name: &str| {
        let causes = serde_json::json!([["unreachable", { "failure": name }, 1]]);
        let mut json = serde_json::to_value(failed()).unwrap();
        *json.pointer_mut("/interval/series/0/1/causes").unwrap() = causes;
        serde_json::from_value::<PartInterval>(json)
    };
    assert_eq!(of("connection reset").unwrap(), failed());
    assert_ne!(of("connection closed").unwrap(), failed());
    for name in ["a line\nand another".to_owned(), "long".repeat(40)] {
        assert!(of(&name).unwrap_err().to_string().contains("a failure has a name"));
    }
}

fn failed() -> PartInterval {
    let mut recorder = Recorder::new(SERIES);
    let reset = completion(Outcome::Unreachable, Detail::Failure("connection reset"));
    carry_out(&mut recorder, Parts::default(), &reset);
    part(swap(&mut recorder, 1))
}

#[test]
fn more_histograms_than_a_run_has_memory_for_are_refused() {
    let mut record = SeriesRecord { offered: 10, ..SeriesRecord::default() };
    for fate in Fate::ALL {
        record.fates[fate as usize] = 1;
        record.response_time[fate as usize].record(Nanos::MAX);
    }
    (0..7).for_each(|_| record.connection_wait.record(Nanos::MAX));
    let pair = postcard::to_stdvec(&[record.clone(), record]).unwrap();
    let of = |series: u8| {
        let (head, tail) = ([VERSION, 7, 0, 1, series], [0; 11]);
        let bytes = [&head, pair.repeat(series.into()).as_slice(), &tail].concat();
        assert!(bytes.len() < 100_000, "{} bytes", bytes.len());
        PartInterval::from_bytes(&bytes, series.into())
    };
    assert_eq!(of(2).map(|part| part.interval.series.len()), Ok(2));
    assert_eq!(of(60), Err(PartError::Contradiction));
}
