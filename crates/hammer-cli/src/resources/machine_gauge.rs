//! Processes and the machine, from `/proc`.

use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use hammer_core::observe::ObservationSink;
use hammer_core::runtime::Clock;
use hammer_measure::Nanos;
use rustix::param::page_size;

use super::gauge::Gauge;
use super::machine::{MachineLook, MachineTicks};
use super::meter::{MachineMeter, MachineShares, Stage, UsageMeter};
use super::process::{ProcReader, ProcessStat, ProgramName, TICKS_PER_SECOND};
use super::process_tree::{TreeAccount, members};

/// Which processes are a component, with all that they start.
#[derive(Clone, Debug)]
pub(super) enum ProcessSelector {
    /// The process that has this number when it is looked for first.
    Pid(u32),
    /// Those whose command line holds this text, but hammer itself and the shells of its hooks.
    Command(String),
}

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
    components: Vec<FollowedProcesses>,
    machine: Arc<Mutex<MachineMeter>>,
    /// The last look, from which shares are told.
    last: Option<MachineTicks>,
    all: Vec<ProcessStat>,
}

/// A component as it was found so far.
struct FollowedProcesses {
    component: ProcessComponent,
    account: TreeAccount,
    /// By number: a process that was given by its number, or all of the machine, since their command lines are known.
    roots: Vec<KnownRoot>,
    /// Whether any was there at the last look; `None` before the first.
    was_there: Option<bool>,
    last: Option<(Nanos, f64)>,
    members: Vec<ProcessStat>,
}

/// Whether a process is one of those that were asked for.
#[derive(Clone, Copy)]
struct KnownRoot {
    pid: u32,
    started: u64,
    name: ProgramName,
    is_root: bool,
}

impl MachineGauge {
    pub(super) fn new(
        components: Vec<ProcessComponent>,
        machine: Arc<Mutex<MachineMeter>>,
        clock: Rc<dyn Clock>,
    ) -> Self {
        let followed = |component| FollowedProcesses {
            component,
            account: TreeAccount::default(),
            roots: Vec::new(),
            was_there: None,
            last: None,
            members: Vec::new(),
        };
        let components = components.into_iter().map(followed).collect();
        Self { clock, reader: ProcReader::default(), components, machine, last: None, all: Vec::new() }
    }

    fn look_at_machine(&mut self, stage: Stage, sink: Option<&ObservationSink>) {
        let (look, now) = (MachineLook::now(&mut self.reader), self.clock.now());
        self.machine.lock().unwrap_or_else(PoisonError::into_inner).sample(stage, now, &look);
        let last = self.last.replace(look.ticks);
        let Some(sink) = sink else { return };
        if let Some(shares) = last.and_then(|last| MachineShares::between(&last, &look.ticks)) {
            let MachineShares { user, system, iowait, steal } = shares;
            for (name, share) in [("user", user), ("system", system), ("iowait", iowait), ("steal", steal)] {
                sink.observed(&format!("resources/machine/{name}"), now, share);
            }
        }
        sink.observed("resources/machine/load", now, look.load);
        sink.observed("resources/machine/memory_available", now, look.available_bytes as f64);
    }
}

impl Gauge for MachineGauge {
    async fn look(&mut self, stage: Stage, sink: Option<&ObservationSink>) {
        self.look_at_machine(stage, sink);
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

impl FollowedProcesses {
    fn look(
        &mut self,
        stage: Stage,
        now: Nanos,
        all: &[ProcessStat],
        reader: &mut ProcReader,
        sink: Option<&ObservationSink>,
    ) {
        self.find_roots(all, reader);
        let roots = &self.roots;
        members(all, &mut self.members, |process| known(roots, process).is_some_and(|root| root.is_root));
        let cpu = self.account.look(&self.members, all) as f64 / TICKS_PER_SECOND;
        let pages: u64 = self.members.iter().map(|process| process.resident_pages).sum();
        let memory = pages * page_size() as u64;
        let mut meter = self.component.meter.lock().unwrap_or_else(PoisonError::into_inner);
        meter.sample(stage, now, cpu, Some(memory));
        drop(meter);
        let last = self.last.replace((now, cpu));
        if let Some(sink) = sink {
            tell(&self.component.name, last, (now, cpu), Some(memory), sink);
            self.tell_presence(now, sink);
        }
    }

    fn find_roots(&mut self, all: &[ProcessStat], reader: &mut ProcReader) {
        match &self.component.selector {
            ProcessSelector::Pid(pid) => {
                let found = all.iter().find(|process| process.pid == *pid);
                if let Some(process) = found.filter(|_| self.roots.is_empty()) {
                    self.roots.push(KnownRoot::of(process, true));
                }
            }
            ProcessSelector::Command(text) => {
                let own = std::process::id();
                let before = std::mem::take(&mut self.roots);
                self.roots.extend(all.iter().map(|process| {
                    // A command line is read once, and again where the process has become another program.
                    match known(&before, process).filter(|root| root.name == process.name) {
                        Some(root) => *root,
                        None => {
                            let is_other = process.pid != own && process.parent != own;
                            let is_root = is_other && reader.command_line_holds(process.pid, text);
                            KnownRoot::of(process, is_root)
                        }
                    }
                }));
            }
        }
    }

    /// Says once that they are not there, and once that they are there again.
    fn tell_presence(&mut self, now: Nanos, sink: &ObservationSink) {
        let is_there = !self.members.is_empty();
        let name = &self.component.name;
        let text = match (self.was_there.replace(is_there), is_there) {
            (None, false) => format!("resources of {name}: there is no such process"),
            (Some(true), false) => format!("resources of {name}: its processes have gone"),
            (Some(false), true) => format!("resources of {name}: a process is there"),
            _ => return,
        };
        sink.note(now, text);
    }
}

impl KnownRoot {
    const fn of(process: &ProcessStat, is_root: bool) -> Self {
        Self { pid: process.pid, started: process.started, name: process.name, is_root }
    }
}

/// What is known of that very process; `roots` are sorted by number.
fn known<'a>(roots: &'a [KnownRoot], process: &ProcessStat) -> Option<&'a KnownRoot> {
    let place = roots.binary_search_by_key(&process.pid, |root| root.pid).ok()?;
    Some(&roots[place]).filter(|root| root.started == process.started)
}

/// Tells the cores that were in use since the last look, and the memory now.
pub(super) fn tell(
    name: &str,
    last: Option<(Nanos, f64)>,
    (now, cpu): (Nanos, f64),
    memory: Option<u64>,
    sink: &ObservationSink,
) {
    if let Some((before, used)) = last.filter(|(before, _)| *before < now) {
        let cores = (cpu - used) / now.since(before).as_secs_f64();
        sink.observed(&format!("resources/{name}/cpu"), now, cores);
    }
    if let Some(bytes) = memory {
        sink.observed(&format!("resources/{name}/memory"), now, bytes as f64);
    }
}
