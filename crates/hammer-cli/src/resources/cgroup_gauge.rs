//! Control groups of this machine, over a run.

use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use hammer_core::observe::ObservationSink;
use hammer_core::runtime::Clock;
use hammer_measure::Nanos;

use super::cgroup::{CgroupSelector, CgroupUse, FollowedCgroup};
use super::gauge::Gauge;
use super::meter::{Stage, UsageMeter};
use super::usage::{tell, tell_held_back};

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
    last: Option<(Nanos, f64)>,
    is_missing: bool,
}

impl CgroupGauge {
    pub(super) fn new(component: CgroupComponent, clock: Rc<dyn Clock>) -> Self {
        let group = FollowedCgroup::new(component.selector.clone());
        Self { component, group, clock, last: None, is_missing: false }
    }

    fn tell_presence(&mut self, is_missing: bool, sink: Option<&ObservationSink>) {
        if let Some(sink) = sink {
            let (name, now) = (&self.component.name, self.clock.now());
            match (std::mem::replace(&mut self.is_missing, is_missing), is_missing) {
                (false, true) => sink.note(now, format!("resources of {name}: there is no such cgroup")),
                (true, false) => sink.note(now, format!("resources of {name}: the cgroup is there")),
                _ => {}
            }
        }
    }
}

impl Gauge for CgroupGauge {
    async fn look(&mut self, stage: Stage, sink: Option<&ObservationSink>) {
        let read = self.group.look();
        let now = self.clock.now();
        self.tell_presence(read.is_none(), sink);
        let mut meter = self.component.meter.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(CgroupUse { cpu, held_back, memory }) = read else { return meter.gap() };
        meter.sample(stage, now, cpu, memory);
        meter.hold_back(stage, now, held_back);
        drop(meter);
        let last = self.last.replace((now, cpu));
        if let Some(sink) = sink {
            tell(&self.component.name, last, (now, cpu), memory, sink);
            tell_held_back(&self.component.name, (now, held_back), sink);
        }
    }
}
