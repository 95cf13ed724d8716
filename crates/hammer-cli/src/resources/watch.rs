//! The samples of a run's servers and of their machine: before the load, over the run, and what they come to.

use std::io;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use hammer_core::clock::MonotonicClock;
use hammer_core::observe::Observer;
use hammer_core::run::StopRule;
use hammer_core::runtime::Clock;
use hammer_measure::{Nanos, Now as _, Phase, Reporter, RunEvent};
use hammer_report::Report;
use hammer_report::report::servers::{
    ComponentResources, ComponentSource, CpuFigures, MachineResources, MachineUse, RemoteMachineResources,
    ServerResources,
};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::LocalSet;

use super::cgroup::CgroupSelector;
use super::cgroup_gauge::{CgroupComponent, CgroupGauge};
use super::gauge::{Gauge, GaugeObserver, look_until};
use super::machine_gauge::{MachineGauge, ProcessComponent};
use super::meter::{MachineMeter, MachineShares, UsageMeter};
use super::process::ProcReader;
use super::processes::ProcessSelector;
use super::remote_machine::{RemoteMachine, RemoteMachineGauge};
use super::saturation::SaturationWatch;
use super::told_gauge::{ToldComponent, ToldGauge};
use super::told_use::ToldBy;
use crate::plan::Plan;
use crate::plan::error::{PlanError, PlanFault};
use crate::plan::path::PlanPath;
use crate::plan::resources::{CgroupPlan, ProcessPlan, ResourcesPlan};
use crate::scrape::PageSource;
use crate::signals::EndSignals;

/// What a plan wants to know of its servers, and what is known so far.
pub(crate) struct ResourceWatch {
    clock: MonotonicClock,
    every: Nanos,
    window: Nanos,
    idle: Nanos,
    saturation: Option<SaturationWatch>,
    processes: Vec<ProcessComponent>,
    cgroups: Vec<CgroupComponent>,
    told: Vec<(ToldComponent, ComponentSource)>,
    machine: Arc<Mutex<MachineMeter>>,
    machines: Vec<RemoteMachine>,
    /// To every observer.
    phases: Vec<UnboundedSender<Phase>>,
}

impl ResourceWatch {
    /// Whatever the plan names; `authorized` says who allowed peers that are neither loopback nor private.
    ///
    /// # Errors
    /// A token that cannot be read, or roots, where they stand; a server of which nobody knows how many cores it may use.
    pub(crate) fn new(
        plan: &ResourcesPlan,
        authorized: Option<&String>,
        clock: MonotonicClock,
    ) -> Result<Self, PlanError> {
        let window = Nanos::from(plan.window.duration());
        let saturation = SaturationWatch::of(plan)?;
        let meter = |name: &str| {
            let meter = UsageMeter::new(window);
            let asked = saturation.as_ref().filter(|asked| asked.component == name);
            Arc::new(Mutex::new(match asked {
                Some(asked) => meter.watching(asked.meter()),
                None => meter,
            }))
        };
        let processes = plan.processes.iter().map(|process| ProcessComponent {
            name: process.name.to_string(),
            selector: selector(process),
            meter: meter(process.name.as_str()),
        });
        let cgroups = plan.cgroups.iter().map(|group| CgroupComponent {
            name: group.name.to_string(),
            selector: cgroup(group),
            meter: meter(group.name.as_str()),
        });
        let told = told_by(plan, authorized)?.into_iter();
        let told = told.map(|(name, by, source)| {
            let meter = meter(&name);
            (ToldComponent { name, by, meter }, source)
        });
        let machines = plan.machines.iter().map(|machine| RemoteMachine {
            name: machine.name.to_string(),
            page: PageSource::open(machine.url.url().clone(), authorized.cloned()),
            meter: Arc::new(Mutex::new(MachineMeter::new())),
        });
        Ok(Self {
            clock,
            every: plan.every.duration().into(),
            window,
            idle: plan.idle.duration().into(),
            saturation: saturation.clone(),
            processes: processes.collect(),
            cgroups: cgroups.collect(),
            told: told.collect(),
            machine: Arc::new(Mutex::new(MachineMeter::new())),
            machines: machines.collect(),
            phases: Vec::new(),
        })
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
            for group in &self.cgroups {
                self.rests(CgroupGauge::new(group.clone(), clock()), clock(), until);
            }
            for (component, _) in &self.told {
                self.rests(ToldGauge::new(component.clone(), self.patience(), clock()), clock(), until);
            }
            for machine in &self.machines {
                self.rests(
                    RemoteMachineGauge::new(machine.clone(), self.patience(), clock()),
                    clock(),
                    until,
                );
            }
            let gauge = MachineGauge::new(self.processes.clone(), self.machine.clone(), clock());
            tokio::select! {
                () = look_until(gauge, self.every, clock(), until) => {}
                () = signals.arrived() => {}
            }
            Ok(())
        })
    }

    /// Looks beside others, before the load.
    fn rests(&self, gauge: impl Gauge, clock: Rc<dyn Clock>, until: Nanos) {
        tokio::task::spawn_local(look_until(gauge, self.every, clock, until));
    }

    /// Who looks over the run. The machine and whoever is asked have one of their own, so that a server that hangs holds up no other sample.
    pub(crate) fn observers(&mut self) -> Vec<Box<dyn Observer>> {
        let (processes, machine) = (self.processes.clone(), self.machine.clone());
        let (every, within) = (self.every, self.patience());
        let make = move |clock| MachineGauge::new(processes, machine, clock);
        let mut observers: Vec<Box<dyn Observer>> =
            vec![Box::new(GaugeObserver { make, every, phases: self.subscribe() })];
        for group in self.cgroups.clone() {
            let make = move |clock| CgroupGauge::new(group, clock);
            observers.push(Box::new(GaugeObserver { make, every, phases: self.subscribe() }));
        }
        for (component, _) in self.told.clone() {
            let make = move |clock| ToldGauge::new(component, within, clock);
            observers.push(Box::new(GaugeObserver { make, every, phases: self.subscribe() }));
        }
        for machine in self.machines.clone() {
            let make = move |clock| RemoteMachineGauge::new(machine, within, clock);
            observers.push(Box::new(GaugeObserver { make, every, phases: self.subscribe() }));
        }
        observers
    }

    fn subscribe(&mut self) -> UnboundedReceiver<Phase> {
        let (sender, phases) = unbounded_channel();
        self.phases.push(sender);
        phases
    }

    /// How long an answer may take.
    fn patience(&self) -> Nanos {
        self.every.clamp(LEAST_PATIENCE, MOST_PATIENCE)
    }

    /// What ends the arrivals once a server is saturated, where the plan says so.
    pub(crate) fn stop(&self) -> Option<StopRule> {
        self.saturation.as_ref().and_then(SaturationWatch::stop)
    }

    /// What all samples come to, for the report of the run.
    pub(crate) fn of_run(&self, plan: &Plan, report: &Report) -> ServerResources {
        let figures = self.figures(report.totals.measurement.completed);
        let saturation = self.saturation.as_ref().and_then(|asked| {
            let processes = self.processes.iter().map(|component| (&component.name, &component.meter));
            let cgroups = self.cgroups.iter().map(|component| (&component.name, &component.meter));
            let told = self.told.iter().map(|(component, _)| (&component.name, &component.meter));
            let (_, meter) =
                processes.chain(cgroups).chain(told).find(|(name, _)| **name == asked.component)?;
            Some(asked.figures(meter, plan, (&figures, report)))
        });
        ServerResources { saturation, ..figures }
    }

    /// What all samples come to, where so many operations were completed over measurement.
    fn figures(&self, completed: u64) -> ServerResources {
        let of = |name: &str, source, meter: &Mutex<UsageMeter>| {
            let meter = meter.lock().unwrap_or_else(PoisonError::into_inner);
            component(name, source, &meter, completed)
        };
        let processes = self.processes.iter();
        let processes =
            processes.map(|component| of(&component.name, ComponentSource::Processes, &component.meter));
        let cgroups = self.cgroups.iter();
        let cgroups = cgroups.map(|component| of(&component.name, ComponentSource::Cgroup, &component.meter));
        let told = self.told.iter();
        let told = told.map(|(component, source)| of(&component.name, *source, &component.meter));
        let machines = self.machines.iter().map(|remote| {
            let meter = remote.meter.lock().unwrap_or_else(PoisonError::into_inner);
            let (name, samples, gaps) = (remote.name.clone(), meter.samples, meter.gaps);
            RemoteMachineResources { name, figures: machine(&meter), samples, gaps }
        });
        ServerResources {
            every_ns: self.every.0,
            window_ns: self.window.0,
            idle_ns: self.idle.0,
            components: processes.chain(cgroups).chain(told).collect(),
            saturation: None,
            machine: machine(&self.machine.lock().unwrap_or_else(PoisonError::into_inner)),
            machines: machines.collect(),
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

/// Who tells of the components that nobody on this machine can look at, by their names.
///
/// # Errors
/// A token that cannot be read, or roots, where they stand.
pub(crate) fn told_by(
    plan: &ResourcesPlan,
    authorized: Option<&String>,
) -> Result<Vec<(String, ToldBy, ComponentSource)>, PlanError> {
    let pages = plan.metrics.iter().map(|page| {
        let (source, labels) =
            (PageSource::open(page.url.url().clone(), authorized.cloned()), page.labels.clone());
        Ok((page.name.to_string(), ToldBy::Page { page: source, labels }, ComponentSource::Metrics))
    });
    let queried = plan.promql.iter().enumerate().map(|(place, queried)| {
        let at = PlanPath::of("resources").key("promql").item(place);
        let source = |query: &String| {
            let access = (queried.token.as_ref(), queried.roots.as_slice());
            PageSource::promql((&queried.url, query), access, authorized.cloned(), &at)
        };
        let (cpu, memory) = (source(&queried.cpu)?, queried.memory.as_ref().map(source).transpose()?);
        Ok((queried.name.to_string(), ToldBy::Queries { cpu, memory }, ComponentSource::Promql))
    });
    pages.chain(queried).collect()
}

/// Finds every process that the plan has by its number: nobody else will have that number who is meant.
///
/// # Errors
/// The first that is not there, where it stands.
pub(crate) fn expect_processes(plan: &ResourcesPlan) -> Result<(), PlanError> {
    let at = |list: &str, place| PlanPath::of("resources").key(list).item(place).key("pid");
    let processes = plan.processes.iter().enumerate();
    let processes = processes.filter_map(|(place, process)| Some((process.pid?, at("processes", place))));
    let cgroups = plan.cgroups.iter().enumerate();
    let cgroups = cgroups.filter_map(|(place, group)| Some((group.pid?, at("cgroups", place))));
    match processes.chain(cgroups).find(|(pid, _)| !ProcReader::default().is_there(*pid)) {
        Some((pid, at)) => Err(PlanFault::Misfit(format!("there is no process {pid}")).at(at)),
        None => Ok(()),
    }
}

pub(super) fn selector(process: &ProcessPlan) -> ProcessSelector {
    match (process.pid, &process.command) {
        (Some(pid), _) => ProcessSelector::Pid(pid),
        (None, command) => ProcessSelector::Command(command.clone().unwrap_or_default()),
    }
}

pub(super) fn cgroup(group: &CgroupPlan) -> CgroupSelector {
    match (&group.path, group.pid) {
        (Some(path), _) => CgroupSelector::Folder(path.clone()),
        (None, Some(pid)) => CgroupSelector::Pid(pid),
        (None, None) => CgroupSelector::Unit(group.unit.clone().unwrap_or_default()),
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
        held_back_s: meter.held_back(),
        cpu_ns_per_completed: None,
        completed_per_core_s: None,
        samples: meter.samples,
        gaps: meter.gaps,
        absent_s: meter.absent_for().as_secs_f64(),
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

/// However often is looked, an answer has so long, and no longer.
const LEAST_PATIENCE: Nanos = Nanos::from_secs(1);
const MOST_PATIENCE: Nanos = Nanos::from_secs(10);
