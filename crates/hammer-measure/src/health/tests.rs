use super::*;
use crate::fixture::{Parts, carry_out, completion};
use crate::histogram::Distribution;
use crate::outcome::{Detail, Outcome};
use crate::recorder::{Completion, HeldUp, HeldUpBy, Interval, Recorder};

const MILLI: Nanos = Nanos::from_millis(1);

/// So many operations of 2 ms, each held up for so long where that is more than nothing.
fn operations(count: u64, held_up: Nanos) -> [SeriesRecord; 2] {
    let mut recorder = Recorder::new(1);
    let held_up = (held_up > Nanos::ZERO).then_some(HeldUp { time: held_up, by: HeldUpBy::Standstill });
    let accepted = completion(Outcome::Accepted, Detail::None);
    let end = Completion { held_up, read_lag: None, ..accepted };
    (0..count).for_each(|_| carry_out(&mut recorder, Parts::of_service(MILLI * 2), &end));
    recorder.swap(Nanos(1), Interval::with_series(1)).series.remove(0)
}

fn late(count: u64, late: Nanos) -> [SeriesRecord; 2] {
    let mut phases = operations(count, Nanos::ZERO);
    phases[1].dispatch_lag = Distribution::default();
    (0..count).for_each(|_| phases[1].dispatch_lag.record(late));
    phases
}

fn used(share: f64) -> CpuEvidence {
    CpuEvidence { share, seconds: 10.0, ..CpuEvidence::default() }
}

fn evidence(phases: &[SeriesRecord; 2], closed_loop: bool) -> HealthEvidence<'_> {
    let series = vec![SeriesEvidence { path: "web/get".to_owned(), closed_loop, phases }];
    HealthEvidence { series, cpu: used(0.0), ..HealthEvidence::default() }
}

#[test]
fn a_standstill_from_warm_up_into_measurement_is_told_of_users_who_wait() {
    let [_, mut warm_up] = operations(100, Nanos::ZERO);
    warm_up.merge(&operations(5, MILLI * 500)[1]);
    let [_, measured] = operations(300, Nanos::ZERO);
    let phases = [warm_up, measured];
    let found = |closed_loop, latest_alarm| {
        Health::judge(&HealthEvidence { latest_alarm, ..evidence(&phases, closed_loop) }).findings
    };
    let [Finding::Standstill(standstill)] = &found(true, MILLI * 500)[..] else { panic!() };
    assert_eq!((standstill.count, standstill.of), (5, 105));
    // An open loop has operations of its own that were due; and what was over in warm-up is in no figure.
    assert_eq!(found(false, MILLI * 500), []);
    assert_eq!(found(true, MILLI * 9), []);
}

#[test]
fn each_other_bound_is_held_at_its_edge() {
    let nothing = operations(1, Nanos::ZERO);
    let findings = |change: &dyn Fn(&mut HealthEvidence<'_>)| {
        let mut evidence = evidence(&nothing, false);
        change(&mut evidence);
        Health::judge(&evidence).findings
    };
    assert_eq!(findings(&|evidence| evidence.cpu.share = 0.9), []);
    assert_eq!(findings(&|evidence| evidence.cpu.share = f64::NAN), []);
    assert_eq!(findings(&|evidence| evidence.cpu.share = 0.900_001), [Finding::Cpu { share: 0.900_001 }]);
    let full = [Finding::FullShard { share: 0.95 }];
    assert_eq!(findings(&|evidence| evidence.cpu.busiest_shard = 0.95), full, "one full shard of many cores");
    assert_eq!(findings(&|evidence| evidence.exhausted = Some((0, "descriptors"))), []);
    let exhausted = Finding::Exhausted { count: 1, what: "local ports".to_owned() };
    assert_eq!(findings(&|evidence| evidence.exhausted = Some((1, "local ports"))), [exhausted]);
}

#[test]
fn each_fault_of_our_own_is_a_finding_and_says_what_to_do() {
    let mut phases = late(1_000, MILLI * 4);
    phases[1].fates[Fate::Starved as usize] = 3;
    let evidence = HealthEvidence {
        cpu: CpuEvidence { stolen: 0.2, ..used(0.95) },
        exhausted: Some((2, "descriptors")),
        ..evidence(&phases, false)
    };
    let health = Health::judge(&evidence);
    assert_eq!(health.findings.len(), 4);
    assert_eq!(health.causes, [HealthCause::Stolen { share: 0.2 }]);
    assert_eq!(
        health.to_string(),
        "3 operations were due before they were prepared; dispatch lag p99 of web/get is 4.00ms, over its bound of \
         1.00ms; the generator used 95 % of its cores; 2 operations failed since descriptors ran out"
    );
    assert!(health.findings.iter().all(|finding| !finding.remedy().is_empty()));
    let sound = Health::judge(&HealthEvidence::default());
    assert_eq!((sound.is_healthy(), sound.to_string().as_str()), (true, "ok"));
}

#[test]
fn too_few_to_judge_are_a_note_which_excuses_no_standstill() {
    let mut phases = late(100, MILLI * 3);
    let health = Health::judge(&evidence(&phases, false));
    assert!(health.is_healthy());
    let [HealthNote::TooFew(_)] = &health.notes[..] else { panic!("{health:?}") };
    assert_eq!(
        health.notes[0].to_string(),
        "dispatch lag p99 of web/get is 3.00ms, over its bound of 1.00ms, which of 100 operations are too few to judge \
         by"
    );
    phases[1].held_up = operations(20, MILLI * 150)[1].held_up.clone();
    let health = Health::judge(&evidence(&phases, false));
    assert!(matches!(health.findings[..], [Finding::Standstill(_)]), "{health:?}");
}

#[test]
fn a_closed_loop_that_fills_its_cores_was_limited_by_hammer_and_nothing_is_wrong() {
    let phases = late(5_000, MILLI * 4);
    let of = |closed_loop, share| {
        Health::judge(&HealthEvidence { cpu: used(share), ..evidence(&phases, closed_loop) })
    };
    let limited = of(true, 0.97);
    assert!(limited.is_healthy(), "{limited}");
    let limit = Limit { series: "web/get".to_owned(), per_s: 500.0 };
    assert_eq!(limited.notes, [HealthNote::Limit(limit)]);
    assert_eq!(limited.notes[0].to_string(), "hammer was the limit of web/get: at least 500/s");
    assert_eq!(of(false, 0.97).findings.len(), 2, "an open loop asks for its arrivals in time");
    assert!(!of(true, 0.5).is_healthy() && of(true, 0.5).notes.is_empty());
}

#[test]
fn a_full_core_excuses_slices_and_no_standstill_of_a_closed_loop() {
    let of = |held_up| {
        let mut phases = operations(1_000, Nanos::ZERO);
        phases[1].merge(&operations(100, held_up)[1]);
        Health::judge(&HealthEvidence { cpu: used(0.97), ..evidence(&phases, true) })
    };
    assert!(of(MILLI * 20).is_healthy());
    assert!(matches!(of(MILLI * 80).findings[..], [Finding::Standstill(_)]));
}

#[test]
fn what_the_plan_says_stands_with_what_was_found() {
    let policy = HealthPolicy { dispatch_lag_p99: Some(MILLI * 5), on_fail: OnFail::Warn };
    let phases = late(1_000, MILLI * 4);
    let health = Health::judge(&HealthEvidence { policy, ..evidence(&phases, false) });
    assert_eq!((health.is_healthy(), health.policy), (true, policy));
}
