//! Control groups of this machine, over a run.

use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use hammer_core::observe::ObservationSink;
use hammer_core::runtime::Clock;
use hammer_measure::Nanos;

use super::cgroup::{CgroupSelector, CgroupUse, FollowedCgroup};
use super::gauge::Gauge;
use super::meter::{Stage, UsageMeter};
use super::presence::ToldPresence;
use super::usage::{tell, tell_held_back, tell_saturation};

/// A component that is a group.
#[derive(Clone, Debug)]
pub(super) struct CgroupComponent {
    pub(super) name: String,
    pub(super) selector: CgroupSelector,
    pub(super) meter: Arc<Mutex<UsageMeter>>,
}

/// Looks at one group.
pub(super) struct CgroupGauge {
    component: CgroupComponent,
    group: FollowedCgroup,
    clock: Rc<dyn Clock>,
    /// The last look, if it was there.
    last: Option<(Nanos, f64)>,
    presence: ToldPresence,
}

impl CgroupGauge {
    pub(super) fn new(component: CgroupComponent, clock: Rc<dyn Clock>) -> Self {
        let group = FollowedCgroup::new(component.selector.clone());
        Self { component, group, clock, last: None, presence: ToldPresence::new("cgroup") }
    }
}

impl Gauge for CgroupGauge {
    async fn look(&mut self, stage: Stage, sink: Option<&ObservationSink>) {
        let read = self.group.look();
        let now = self.clock.now();
        self.presence.tell(&self.component.name, now, read.is_some(), sink);
        let mut meter = self.component.meter.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(CgroupUse { cpu, held_back, memory }) = read else {
            self.last = None;
            return meter.absent(stage, now, None);
        };
        meter.sample(stage, now, cpu, memory);
        meter.hold_back(stage, now, held_back);
        tell_saturation(&self.component.name, now, &meter, sink);
        drop(meter);
        let last = self.last.replace((now, cpu));
        if let Some(sink) = sink {
            tell(&self.component.name, last, (now, cpu), memory, sink);
            tell_held_back(&self.component.name, (now, held_back), sink);
        }
    }
}
