//! The samples of a run's servers and of their machine: before the load, over the run, and what they come to.

use std::io;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use hammer_core::clock::MonotonicClock;
use hammer_core::observe::Observer;
use hammer_core::runtime::Clock;
use hammer_measure::{Nanos, Now as _, Phase, Reporter, RunEvent};
use hammer_report::report::servers::{
    ComponentResources, ComponentSource, CpuFigures, MachineResources, MachineUse, ServerResources,
};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::LocalSet;

use super::gauge::{GaugeObserver, look_until};
use super::machine_gauge::{MachineGauge, ProcessComponent, ProcessSelector};
use super::meter::{MachineMeter, MachineShares, UsageMeter};
use super::page_gauge::{PageComponent, PageGauge};
use crate::plan::resources::{ProcessPlan, ResourcesPlan};
use crate::signals::EndSignals;

/// What a plan wants to know of its servers, and what is known so far.
pub(crate) struct ResourceWatch {
    clock: MonotonicClock,
    every: Nanos,
    window: Nanos,
    idle: Nanos,
    processes: Vec<ProcessComponent>,
    pages: Vec<PageComponent>,
    machine: Arc<Mutex<MachineMeter>>,
    /// To every observer.
    phases: Vec<UnboundedSender<Phase>>,
}

impl ResourceWatch {
    /// Whatever the plan names; `authorized` says who allowed peers that are neither loopback nor private.
    pub(crate) fn new(plan: &ResourcesPlan, authorized: Option<&String>, clock: MonotonicClock) -> Self {
        let window = Nanos::from(plan.window.duration());
        let meter = || Arc::new(Mutex::new(UsageMeter::new(window)));
        let processes = plan.processes.iter().map(|process| ProcessComponent {
            name: process.name.to_string(),
            selector: selector(process),
            meter: meter(),
        });
        let pages = plan.metrics.iter().map(|page| PageComponent {
            name: page.name.to_string(),
            url: page.url.url().clone(),
            authorized: authorized.cloned(),
            meter: meter(),
        });
        Self {
            clock,
            every: plan.every.duration().into(),
            window,
            idle: plan.idle.duration().into(),
            processes: processes.collect(),
            pages: pages.collect(),
            machine: Arc::new(Mutex::new(MachineMeter::new())),
            phases: Vec::new(),
        }
    }

    /// Samples on this thread for as long as the plan wants to know what is used at rest, or until a signal comes.
    ///
    /// # Errors
    /// When there is no runtime for it.
    pub(crate) fn rest(&self) -> io::Result<()> {
        if self.idle == Nanos::ZERO {
            return Ok(());
        }
        tracing::info!(idle = %self.idle, "samples what servers use at rest");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        LocalSet::new().block_on(&runtime, async {
            let mut signals = EndSignals::listen()?;
            let until = self.clock.now().saturating_add(self.idle);
            let clock = || -> Rc<dyn Clock> { Rc::new(self.clock) };
            for page in &self.pages {
                let gauge = PageGauge::new(page.clone(), self.patience(), clock());
                tokio::task::spawn_local(look_until(gauge, self.every, self.clock, until));
            }
            let gauge = MachineGauge::new(self.processes.clone(), self.machine.clone(), clock());
            tokio::select! {
                () = look_until(gauge, self.every, self.clock, until) => {}
                () = signals.arrived() => {}
            }
            Ok(())
        })
    }

    /// Who looks over the run. The machine and each page have one of their own, so that a server that hangs holds up no other sample.
    pub(crate) fn observers(&mut self) -> Vec<Box<dyn Observer>> {
        let (processes, machine) = (self.processes.clone(), self.machine.clone());
        let (every, within) = (self.every, self.patience());
        let make = move |clock| MachineGauge::new(processes, machine, clock);
        let mut observers: Vec<Box<dyn Observer>> =
            vec![Box::new(GaugeObserver { make, every, phases: self.subscribe() })];
        for page in self.pages.clone() {
            let make = move |clock| PageGauge::new(page, within, clock);
            observers.push(Box::new(GaugeObserver { make, every, phases: self.subscribe() }));
        }
        observers
    }

    fn subscribe(&mut self) -> UnboundedReceiver<Phase> {
        let (sender, phases) = unbounded_channel();
        self.phases.push(sender);
        phases
    }

    /// How long a page may take.
    fn patience(&self) -> Nanos {
        self.every.clamp(LEAST_PATIENCE, MOST_PATIENCE)
    }

    /// What all samples come to, where so many operations were completed over measurement.
    pub(crate) fn figures(&self, completed: u64) -> ServerResources {
        let of = |name: &str, source, meter: &Mutex<UsageMeter>| {
            let meter = meter.lock().unwrap_or_else(PoisonError::into_inner);
            component(name, source, &meter, completed)
        };
        let processes = self.processes.iter();
        let processes =
            processes.map(|component| of(&component.name, ComponentSource::Processes, &component.meter));
        let pages = self.pages.iter();
        let pages = pages.map(|component| of(&component.name, ComponentSource::Metrics, &component.meter));
        ServerResources {
            every_ns: self.every.0,
            window_ns: self.window.0,
            idle_ns: self.idle.0,
            components: processes.chain(pages).collect(),
            machine: machine(&self.machine.lock().unwrap_or_else(PoisonError::into_inner)),
        }
    }
}

impl Reporter for ResourceWatch {
    fn event(&mut self, event: &RunEvent) {
        if let RunEvent::Phase { phase, .. } = event {
            for observer in &self.phases {
                // One that has ended needs to know nothing.
                let _ = observer.send(*phase);
            }
        }
    }
}

fn selector(process: &ProcessPlan) -> ProcessSelector {
    match (process.pid, &process.command) {
        (Some(pid), _) => ProcessSelector::Pid(pid),
        (None, command) => ProcessSelector::Command(command.clone().unwrap_or_default()),
    }
}

fn component(name: &str, source: ComponentSource, meter: &UsageMeter, completed: u64) -> ComponentResources {
    let cpu = meter.measured().map(|(used, seconds)| CpuFigures {
        used_s: used,
        mean_cores: used / seconds,
        max_cores: meter.most().unwrap_or(used / seconds),
    });
    ComponentResources {
        name: name.to_owned(),
        source,
        idle_mean_cores: meter.idle(),
        cpu,
        memory_max_bytes: meter.memory_most,
        cpu_ns_per_completed: None,
        completed_per_core_s: None,
        samples: meter.samples,
        gaps: meter.gaps,
    }
    .per_completed(completed)
}

fn machine(meter: &MachineMeter) -> MachineResources {
    let shares = |shares: MachineShares| {
        let MachineShares { user, system, iowait, steal } = shares;
        MachineUse { user, system, iowait, steal }
    };
    MachineResources {
        cores: meter.cores,
        idle: meter.idle().map(shares),
        measurement: meter.measured().map(shares),
        load_max: meter.load_most,
        memory_available_min_bytes: meter.available_least,
    }
}

/// However often is looked, a page has so long, and no longer.
const LEAST_PATIENCE: Nanos = Nanos::from_secs(1);
const MOST_PATIENCE: Nanos = Nanos::from_secs(10);
