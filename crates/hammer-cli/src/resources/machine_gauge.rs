//! Processes and the machine, from `/proc`.

use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use hammer_core::observe::ObservationSink;
use hammer_core::runtime::Clock;
use hammer_measure::Nanos;
use hammer_pages::node::MachineLook;
use hammer_pages::proc::{MachineTicks, ProcessStat};

use super::gauge::Gauge;
use super::machine::MachineTexts;
use super::meter::{MachineMeter, MachineShares, Stage, UsageMeter};
use super::presence::ToldPresence;
use super::process::ProcReader;
use super::processes::{FollowedProcesses, ProcessSelector, ProcessesUse};
use super::usage::{tell, tell_saturation};

/// A component that is made of processes.
#[derive(Clone, Debug)]
pub(super) struct ProcessComponent {
    pub(super) name: String,
    pub(super) selector: ProcessSelector,
    pub(super) meter: Arc<Mutex<UsageMeter>>,
}

/// The processes of all components, and the machine.
pub(super) struct MachineGauge {
    clock: Rc<dyn Clock>,
    reader: ProcReader,
    components: Vec<WatchedProcesses>,
    machine: Arc<Mutex<MachineMeter>>,
    told: ToldMachine,
    all: Vec<ProcessStat>,
}

/// A component as it was found so far.
struct WatchedProcesses {
    component: ProcessComponent,
    processes: FollowedProcesses,
    presence: ToldPresence,
    /// The last look, if they were there.
    last: Option<(Nanos, f64)>,
}

/// Tells of a machine, look by look.
pub(super) struct ToldMachine {
    /// What stands before each of its observations.
    name: String,
    /// The last look, from which shares are told.
    last: Option<MachineTicks>,
}

impl MachineGauge {
    pub(super) fn new(
        components: Vec<ProcessComponent>,
        machine: Arc<Mutex<MachineMeter>>,
        clock: Rc<dyn Clock>,
    ) -> Self {
        let watched = |component: ProcessComponent| WatchedProcesses {
            processes: FollowedProcesses::new(component.selector.clone()),
            component,
            presence: ToldPresence::new("process"),
            last: None,
        };
        let components = components.into_iter().map(watched).collect();
        let (reader, told) = (ProcReader::default(), ToldMachine::new("machine"));
        Self { clock, reader, components, machine, told, all: Vec::new() }
    }
}

impl Gauge for MachineGauge {
    async fn look(&mut self, stage: Stage, sink: Option<&ObservationSink>) {
        let look = MachineTexts::read(&mut self.reader).files().look();
        let now = self.clock.now();
        self.machine.lock().unwrap_or_else(PoisonError::into_inner).sample(stage, now, &look);
        self.told.look(now, &look, sink);
        if self.components.is_empty() {
            return;
        }
        self.reader.processes(&mut self.all);
        let now = self.clock.now();
        for component in &mut self.components {
            component.look(stage, now, &self.all, &mut self.reader, sink);
        }
    }
}

impl WatchedProcesses {
    fn look(
        &mut self,
        stage: Stage,
        now: Nanos,
        all: &[ProcessStat],
        reader: &mut ProcReader,
        sink: Option<&ObservationSink>,
    ) {
        let ProcessesUse { cpu, memory, count } = self.processes.look(all, reader);
        let mut meter = self.component.meter.lock().unwrap_or_else(PoisonError::into_inner);
        match count {
            0 => meter.absent(stage, now, Some(cpu)),
            _ => meter.sample(stage, now, cpu, Some(memory)),
        }
        tell_saturation(&self.component.name, now, &meter, sink);
        drop(meter);
        self.presence.tell(&self.component.name, now, count > 0, sink);
        if count == 0 {
            self.last = None;
            return;
        }
        let last = self.last.replace((now, cpu));
        if let Some(sink) = sink {
            tell(&self.component.name, last, (now, cpu), Some(memory), sink);
        }
    }
}

impl ToldMachine {
    pub(super) fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), last: None }
    }

    /// Tells the shares since the last look, and what is so now.
    pub(super) fn look(&mut self, now: Nanos, look: &MachineLook, sink: Option<&ObservationSink>) {
        let last = self.last.replace(look.ticks);
        let Some(sink) = sink else { return };
        let name = &self.name;
        if let Some(shares) = last.and_then(|last| MachineShares::between(&last, &look.ticks)) {
            let MachineShares { user, system, iowait, steal } = shares;
            for (part, share) in [("user", user), ("system", system), ("iowait", iowait), ("steal", steal)] {
                sink.observed(&format!("resources/{name}/{part}"), now, share);
            }
        }
        sink.observed(&format!("resources/{name}/load"), now, look.load);
        sink.observed(&format!("resources/{name}/memory_available"), now, look.available_bytes as f64);
    }
}
