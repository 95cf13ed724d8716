//! What observers saw, in the snapshots of a run on real threads and in what it leaves behind.

use std::rc::Rc;
use std::sync::Arc;

use hammer_core::dispatch::LoadedWorkload;
use hammer_core::observe::{ObservationSink, Observer};
use hammer_core::run::{RunSpec, StopRule, control, run};
use hammer_core::runtime::{Clock, LocalFuture};
use hammer_core::supply::SupplyBounds;
use hammer_measure::snapshot::{FirstSight, Observation};
use hammer_measure::{Nanos, Reporter, RunEvent};

use crate::harness::{MILLI, SECOND, Scripted, at_rate};

/// A tree that it sees at these sizes, a nanosecond after each other.
struct Tree(&'static [f64]);

impl Observer for Tree {
    fn observe(
        self: Box<Self>,
        sink: ObservationSink,
        _clock: Rc<dyn Clock>,
        _ending: LocalFuture<()>,
    ) -> LocalFuture<()> {
        (1..).zip(self.0).for_each(|(at, size)| sink.observed("tree_size", Nanos(at), *size));
        Box::pin(async {})
    }
}

/// What the last snapshot of a run had seen.
#[derive(Default)]
struct LastSeen(Vec<Observation>);

impl Reporter for LastSeen {
    fn event(&mut self, event: &RunEvent) {
        if let RunEvent::Interval(snapshot) = event {
            self.0 = snapshot.observations.clone();
        }
    }
}

#[test]
fn what_was_seen_first_is_kept_when_more_is_seen_within_the_first_interval() {
    let lane = LoadedWorkload {
        name: "scripted".to_owned(),
        workload: Arc::new(Scripted::answering_after(MILLI)),
        load: at_rate(100.0, 10, 10),
        timeout: SECOND,
        supply: SupplyBounds::default(),
    };
    let (_control, inbox) = control();
    let spec = RunSpec {
        measurement: Some(SECOND * 60),
        interval: SECOND * 30,
        observers: vec![Box::new(Tree(&[40.0, 60.0, 73.0]))],
        // The snapshot that follows has therefore seen all three.
        stops: vec![StopRule::grown("tree_size", 33.0)],
        ..RunSpec::new(vec![Arc::new(lane)])
    };
    let mut last_seen = LastSeen::default();
    let result = run(spec, inbox, &mut [&mut last_seen]).unwrap();
    assert_eq!(result.stopped, "tree_size grew by 33 from 40");
    let first = FirstSight { at: Nanos(1), value: 40.0 };
    let tree = Observation { name: "tree_size".to_owned(), at: Nanos(3), value: 73.0, first };
    assert_eq!((&last_seen.0, &result.observations), (&vec![tree.clone()], &vec![tree]));
}
