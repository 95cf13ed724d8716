//! An operation of a target that allocates nothing allocates nothing: what a run allocates does not grow with its
//! operations. Alone in its process, since the count is of all threads.

use std::alloc::System;
use std::rc::Rc;
use std::sync::Arc;

use hammer_core::dispatch::{Closed, Iterations, Load, LoadedWorkload, Open, Stages, Think};
use hammer_core::record::{Exchange, OperationRecord};
use hammer_core::run::{RunSpec, control, run};
use hammer_core::runtime::Clock;
use hammer_core::schedule::{Constant, Profile, Schedule};
use hammer_core::supply::SupplyBounds;
use hammer_core::workload::{Ended, FatalError, Preparation, SeriesSpec, ShardContext, Workload};
use hammer_measure::{Fate, Nanos, SampleSizes};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// A request of eight bytes, made once and used again, that is answered at once.
struct Null(Preparation);

impl Workload for Null {
    type Op = Vec<u8>;
    type Session = Rc<dyn Clock>;
    type User = ();
    type Scratch = ();

    fn series(&self) -> Vec<SeriesSpec> {
        vec![SeriesSpec::new("null", true)]
    }

    fn preparation(&self) -> Preparation {
        self.0
    }

    fn prepare(&self, (): &mut (), seq: u64, reuse: Option<Vec<u8>>) -> Vec<u8> {
        let mut op = reuse.unwrap_or_default();
        op.clear();
        op.extend_from_slice(&seq.to_be_bytes());
        op
    }

    async fn open(&self, context: ShardContext) -> Result<Self::Session, FatalError> {
        Ok(context.clock)
    }

    async fn execute(
        &self,
        clock: &Self::Session,
        (): &(),
        op: &mut Vec<u8>,
        record: &OperationRecord,
    ) -> Ended {
        assert_eq!(op.as_slice(), record.seq().to_be_bytes());
        let at = clock.now();
        let mut exchange = record.exchange();
        *exchange.wire() = Exchange { sent: Some(at), done: Some(at), ..Exchange::default() };
        exchange.end(Ended::accepted(200));
        Ended::accepted(200)
    }
}

fn open(operations: u64) -> Load {
    let schedule = Schedule::even(Profile::Constant(Constant { rate: 1e7 })).operations(operations);
    Load::Open(Open { schedule, in_flight: 64, backlog: operations as usize })
}

fn closed(operations: u64) -> Load {
    let (stages, think) = (Stages::constant(64), Think::Constant(Nanos::ZERO));
    Load::Closed(Closed {
        stages,
        spawn_rate: None,
        think,
        iterations: Iterations::Shared(operations),
        seed: 1,
    })
}

fn grouped(operations: u64) -> Load {
    let Load::Closed(load) = closed(operations) else { unreachable!("it is closed") };
    Load::Closed(Closed { stages: load.stages.in_groups(4), ..load })
}

/// Allocations of a whole run of so many operations.
fn allocations(
    load: fn(u64) -> Load,
    preparation: Preparation,
    samples: Option<SampleSizes>,
    operations: u64,
) -> usize {
    let lane = LoadedWorkload {
        name: "null".to_owned(),
        workload: Arc::new(Null(preparation)),
        load: load(operations),
        timeout: Nanos::from_secs(5),
        supply: SupplyBounds::default(),
    };
    let spec = RunSpec { samples, ..RunSpec::new(vec![Arc::new(lane)]) };
    let (_control, inbox) = control();
    let region = Region::new(ALLOCATOR);
    let result = run(spec, inbox, &mut []).unwrap();
    let stats = region.change();
    assert_eq!(result.total.series[0][1].fate(Fate::Accepted), operations);
    stats.allocations + stats.reallocations
}

#[test]
fn an_operation_allocates_nothing() {
    let sizes = SampleSizes { slowest: 3, uniform: 10 };
    for (name, load, preparation, samples) in [
        ("open", open as fn(u64) -> Load, Preparation::Inline, None),
        ("closed", closed, Preparation::Inline, None),
        ("closed", closed, Preparation::Ahead, None),
        ("grouped", grouped, Preparation::Inline, None),
        ("sampled", open, Preparation::Inline, Some(sizes)),
        ("sampled", closed, Preparation::Inline, Some(sizes)),
    ] {
        let few = allocations(load, preparation, samples, 20_000);
        let many = allocations(load, preparation, samples, 120_000);
        let grown = many.saturating_sub(few);
        assert!(
            grown < 1_000,
            "{name} {preparation:?}: {grown} allocations more for 100,000 operations more"
        );
    }
}
