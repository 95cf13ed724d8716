//! What is looked at again and again: before the load, and over a run.

use std::rc::Rc;

use hammer_core::observe::{ObservationSink, Observer};
use hammer_core::runtime::{Clock, LocalFuture};
use hammer_measure::{Nanos, Phase};
use tokio::sync::mpsc::UnboundedReceiver;

use super::meter::Stage;

/// Something whose use of the machine is sampled.
pub(super) trait Gauge: 'static {
    /// Looks once; in a run it tells what it saw.
    async fn look(&mut self, stage: Stage, sink: Option<&ObservationSink>);
}

/// Looks until that instant, before the load.
pub(super) async fn look_until(mut gauge: impl Gauge, every: Nanos, clock: Rc<dyn Clock>, until: Nanos) {
    let mut next = clock.now();
    loop {
        gauge.look(Stage::Idle, None).await;
        if next >= until {
            return;
        }
        next = next.saturating_add(every).min(until);
        clock.sleep_until(next).await;
    }
}

/// A gauge over a run; it is made on the observers' thread.
pub(super) struct GaugeObserver<M> {
    pub(super) make: M,
    pub(super) every: Nanos,
    pub(super) phases: UnboundedReceiver<Phase>,
}

impl<M, G> Observer for GaugeObserver<M>
where
    M: FnOnce(Rc<dyn Clock>) -> G + Send + 'static,
    G: Gauge,
{
    fn observe(
        self: Box<Self>,
        sink: ObservationSink,
        clock: Rc<dyn Clock>,
        ending: LocalFuture<()>,
    ) -> LocalFuture<()> {
        let Self { make, every, phases } = *self;
        Box::pin(over_run(make(clock.clone()), every, phases, sink, clock, ending))
    }
}

async fn over_run(
    mut gauge: impl Gauge,
    every: Nanos,
    mut phases: UnboundedReceiver<Phase>,
    sink: ObservationSink,
    clock: Rc<dyn Clock>,
    mut ending: LocalFuture<()>,
) {
    let (mut stage, mut next) = (Stage::Around, clock.now());
    loop {
        tokio::select! {
            biased;
            // A phase that starts has a sample of its own, so that measurement has no more and no less than its length.
            Some(phase) = phases.recv() => {
                if phase == Phase::Measurement {
                    stage = Stage::Measurement;
                }
                gauge.look(stage, Some(&sink)).await;
                if phase == Phase::Drain {
                    stage = Stage::Around;
                }
            }
            () = &mut ending => return,
            () = clock.sleep_until(next) => {
                gauge.look(stage, Some(&sink)).await;
                next = next.saturating_add(every).max(clock.now());
            }
        }
    }
}
