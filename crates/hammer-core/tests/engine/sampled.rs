//! Which operations a run keeps one by one: with what instants, and how many operations each stands for.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use hammer_core::dispatch::{Closed, Iterations, Load, OperationSampling, Stages, Think};
use hammer_core::phase::Phases;
use hammer_measure::recorder::Interval;
use hammer_measure::{Detail, Fate, Nanos, OperationSample, SampleSizes, SeriesSamples};

use crate::harness::{MILLI, SECOND, Scripted, Simulated, at_rate};

const SIZES: SampleSizes = SampleSizes { slowest: 3, uniform: 10 };

fn sampling(length: Nanos) -> Simulated {
    let sampling = Some(OperationSampling { sizes: SIZES, seed: 7 });
    Simulated { sampling, ..Simulated::measuring(length) }
}

/// The run's total, and its intervals.
fn intervals(run: &Simulated, workload: Scripted, load: Load) -> (Interval, Vec<Interval>) {
    let told: Rc<RefCell<Vec<Interval>>> = Rc::default();
    let keep = told.clone();
    let tell = move |interval: Interval, _| keep.borrow_mut().push(interval);
    let total = run.run_telling(Arc::new(workload), load, |_, _| None, tell);
    let intervals = told.borrow().clone();
    (total, intervals)
}

/// What is kept of the operations that were intended in a phase, by interval.
fn of_phase(intervals: &[Interval], phase: usize) -> impl Iterator<Item = &SeriesSamples> {
    intervals.iter().filter_map(move |interval| Some(&interval.samples.first()?[phase]))
}

fn population(intervals: &[Interval], phase: usize) -> u64 {
    of_phase(intervals, phase).map(SeriesSamples::population).sum()
}

fn weights(intervals: &[Interval], phase: usize) -> u64 {
    of_phase(intervals, phase).flat_map(SeriesSamples::uniform).map(|(_, weight)| weight).sum()
}

fn slowest(intervals: &[Interval]) -> Vec<OperationSample> {
    of_phase(intervals, 1).flat_map(SeriesSamples::slowest).cloned().collect()
}

fn users(count: usize, operations: u64) -> Load {
    let (stages, think) = (Stages::constant(count), Think::Constant(MILLI * 3));
    let iterations = Iterations::Shared(operations);
    Load::Closed(Closed { stages, spawn_rate: None, think, iterations, seed: 1 })
}

#[test]
fn weights_are_all_operations_of_each_phase_over_several_shards_in_either_loop() {
    for load in [at_rate(700.0, 50, 1_000), users(8, 3_000)] {
        let run = sampling(SECOND * 3).over(3);
        let run = Simulated { phases: Phases { warm_up: SECOND, ..run.phases }, ..run };
        let (total, intervals) = intervals(&run, Scripted::answering_after(MILLI * 5), load);
        for phase in [0, 1] {
            let offered = total.series[0][phase].offered;
            assert!(offered > 100, "{offered}");
            assert_eq!(weights(&intervals, phase), offered);
            assert_eq!(population(&intervals, phase), offered);
        }
        let kept = of_phase(&intervals, 1).map(|samples| (samples.slowest().len(), samples.uniform().len()));
        assert!(kept.into_iter().all(|(slowest, uniform)| slowest <= 3 && uniform <= 10));
    }
}

#[test]
fn who_meets_a_stall_is_kept_as_the_slowest_with_all_its_instants() {
    let from = SECOND + MILLI * 300;
    let workload = Scripted::answering_after(MILLI * 2).stalled(from, MILLI * 50);
    let received = workload.received.clone();
    let (_, intervals) = intervals(&sampling(SECOND), workload, at_rate(100.0, 100, 10));
    let kept = slowest(&intervals);
    let first = &kept[0];
    assert_eq!(first.intended, SECOND + MILLI * 300);
    assert_eq!(received.lock().unwrap()[&first.seq].0, first.intended, "as the server saw it");
    assert_eq!((first.response_time(), first.ended), (Some(MILLI * 50), SECOND + MILLI * 350));
    assert_eq!((first.wire.sent, first.wire.bytes_out, first.wire.bytes_in), (Some(first.intended), 8, 2));
    assert_eq!((first.fate, first.detail), (Fate::Accepted, Detail::Status(200)));
    let times: Vec<u64> = kept[..3].iter().map(|sample| sample.response_time().unwrap().0).collect();
    assert_eq!(times, [50, 40, 30].map(|time| (MILLI * time).0));
}

#[test]
fn what_was_shed_or_waited_until_the_end_is_slower_than_all_that_ended() {
    let mut run = sampling(SECOND);
    run.phases.drain = SECOND;
    // It hangs from the start: five are under way, ten wait, and all others are shed.
    let workload = Scripted::answering_after(MILLI).stalled(Nanos::ZERO, SECOND * 100);
    let (total, intervals) = intervals(&run, workload, at_rate(100.0, 5, 10));
    let record = &total.series[0][1];
    assert_eq!((record.fate(Fate::Shed), record.fate(Fate::Abandoned)), (85, 15));
    assert_eq!(weights(&intervals, 1), 100);
    let kept = slowest(&intervals);
    assert!(kept.iter().all(|sample| sample.response_time().is_none()));
    let shed: Vec<u64> = kept.iter().filter(|one| one.fate == Fate::Shed).map(|one| one.seq).collect();
    assert_eq!(shed, [15, 16, 17], "the first of the interval");
    let uniform: Vec<_> = of_phase(&intervals, 1).flat_map(SeriesSamples::uniform).collect();
    let queued = uniform.iter().find(|(sample, _)| sample.timing.is_none() && sample.fate == Fate::Abandoned);
    assert_eq!(queued.unwrap().0.detail, Detail::Failure("end of drain, never sent"));
    let cut_off = uniform.iter().find(|(sample, _)| sample.timing.is_some());
    assert_eq!(cut_off.unwrap().0.detail, Detail::Failure("end of drain"));
}

#[test]
fn a_flow_has_its_steps_and_no_step_is_sampled_for_itself() {
    let workload = Scripted { steps: 2, pause: MILLI * 4, ..Scripted::answering_after(MILLI * 2) };
    let (_, intervals) = intervals(&sampling(SECOND), workload, at_rate(10.0, 10, 10));
    let kept = slowest(&intervals);
    assert!(kept.len() >= 3, "{}", kept.len());
    for sample in kept {
        assert_eq!(sample.steps.iter().map(|step| step.series).collect::<Vec<_>>(), [1, 2]);
        let start = sample.intended;
        let instants: Vec<(Nanos, Nanos)> =
            sample.steps.iter().map(|step| (step.started, step.done)).collect();
        assert_eq!(instants, [(start, start + MILLI * 2), (start + MILLI * 6, start + MILLI * 8)]);
        assert!(sample.steps.iter().all(|step| step.fate == Fate::Accepted && step.wire.bytes_out == 8));
    }
    let mut of_steps = intervals.iter().flat_map(|interval| interval.samples.iter().skip(1)).flatten();
    assert!(of_steps.all(|samples| samples.population() == 0));
}

#[test]
fn the_same_operations_are_drawn_over_any_number_of_shards() {
    let drawn = |shards: usize| {
        let workload = Scripted::answering_after(MILLI);
        let (_, intervals) = intervals(&sampling(SECOND).over(shards), workload, at_rate(400.0, 50, 1_000));
        let seqs = of_phase(&intervals, 1).flat_map(SeriesSamples::uniform).map(|(sample, _)| sample.seq);
        seqs.collect::<Vec<u64>>()
    };
    assert_eq!(drawn(1), drawn(4));
}

#[test]
fn nothing_is_kept_where_nobody_asks_for_it() {
    let run = Simulated::measuring(SECOND);
    let (_, intervals) = intervals(&run, Scripted::answering_after(MILLI), at_rate(100.0, 10, 10));
    assert!(intervals.iter().all(|interval| interval.samples.is_empty()));
}
