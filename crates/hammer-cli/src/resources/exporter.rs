//! What this machine and components on it use, as a page of metrics for whoever loads them from another machine.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use hammer_pages::exposition::{CPU, HELD_BACK, MEMORY, UP, WrittenPage};
use hammer_pages::proc::ProcessStat;

use crate::page_server::ServedPage;

use super::cgroup::{CgroupSelector, CgroupUse, FollowedCgroup};
use super::machine::MachineTexts;
use super::process::ProcReader;
use super::processes::{FollowedProcesses, ProcessSelector, ProcessesUse};

/// Which part of this machine is a component.
#[derive(Clone, Debug)]
pub(crate) enum ComponentSelector {
    /// Processes, with all that they start.
    Processes(ProcessSelector),
    /// A control group.
    Cgroup(CgroupSelector),
}

/// Looks at all of them.
#[derive(Debug)]
pub(crate) struct Exporter {
    reader: ProcReader,
    all: Vec<ProcessStat>,
    components: Vec<(String, FollowedComponent)>,
}

#[derive(Debug)]
enum FollowedComponent {
    Processes(FollowedProcesses),
    Cgroup(FollowedCgroup),
}

/// What a component uses now; of one that is not there nothing but that is known.
struct ExportedUse<'a> {
    name: &'a str,
    is_there: bool,
    cpu: Option<f64>,
    memory: Option<u64>,
    held_back: Option<f64>,
    processes: Option<usize>,
}

impl Exporter {
    /// These components, by their names.
    pub(crate) fn new(components: Vec<(String, ComponentSelector)>) -> Self {
        let followed = |selector| match selector {
            ComponentSelector::Processes(selector) => {
                FollowedComponent::Processes(FollowedProcesses::new(selector))
            }
            ComponentSelector::Cgroup(selector) => FollowedComponent::Cgroup(FollowedCgroup::new(selector)),
        };
        let components = components.into_iter().map(|(name, selector)| (name, followed(selector)));
        Self { reader: ProcReader::default(), all: Vec::new(), components: components.collect() }
    }

    /// Looks now; the page. CPU seconds are those since the first look; what is not there has a sample that says so, and none of its use.
    pub(crate) fn look(&mut self) -> String {
        let Self { reader, all, components } = self;
        reader.processes(all);
        let looked = components.iter_mut().map(|(name, component)| component.look(name, all, reader));
        let looked: Vec<ExportedUse<'_>> = looked.collect();
        let mut page = WrittenPage::default();
        let mut family = |name: &str,
                          kind: &str,
                          help: &str,
                          of: &dyn Fn(&ExportedUse<'_>) -> Option<f64>| {
            page.metric(name, kind, help);
            for component in &looked {
                let number = of(component);
                number.into_iter().for_each(|number| page.sample(name, &[("name", component.name)], number));
            }
        };
        family(
            UP,
            "gauge",
            "Whether the component is there; the others have no sample of one that is not.",
            &|used| Some(f64::from(u8::from(used.is_there))),
        );
        family(CPU, "counter", "CPU seconds used since it was looked at first.", &|used| used.cpu);
        family(MEMORY, "gauge", "Resident memory, bytes.", &|used| used.memory.map(|bytes| bytes as f64));
        family(HELD_BACK, "counter", "Seconds for which a limit of CPU held processes back.", &|used| {
            used.held_back
        });
        family(PROCESSES, "gauge", "Processes that are there.", &|used| {
            used.processes.map(|count| count as f64)
        });
        MachineTexts::read(reader).files().write(&mut page);
        page.into_text()
    }

    /// The name of this machine, empty where it says none.
    pub(crate) fn host(&mut self) -> String {
        self.reader.read("sys/kernel/hostname").unwrap_or_default().trim().to_owned()
    }

    /// Whether the machine has a process of that number.
    pub(crate) fn has_process(&mut self, pid: u32) -> bool {
        self.reader.is_there(pid)
    }
}

impl FollowedComponent {
    fn look<'a>(&mut self, name: &'a str, all: &[ProcessStat], reader: &mut ProcReader) -> ExportedUse<'a> {
        let (is_there, cpu, memory, held_back) = (false, None, None, None);
        let absent = ExportedUse { name, is_there, cpu, memory, held_back, processes: None };
        match self {
            Self::Processes(processes) => {
                let ProcessesUse { cpu, memory, count } = processes.look(all, reader);
                let processes = Some(count);
                match count {
                    0 => ExportedUse { processes, ..absent },
                    _ => ExportedUse {
                        is_there: true,
                        cpu: Some(cpu),
                        memory: Some(memory),
                        processes,
                        ..absent
                    },
                }
            }
            Self::Cgroup(group) => match group.look() {
                Some(CgroupUse { cpu, held_back, memory }) => {
                    let (cpu, held_back) = (Some(cpu), Some(held_back));
                    ExportedUse { is_there: true, cpu, memory, held_back, ..absent }
                }
                None => absent,
            },
        }
    }
}

/// It looks by itself too, so that what a process used between two requests and took along is counted.
impl ServedPage for Mutex<Exporter> {
    const THREAD: &'static str = "resources";
    const LOOK_EVERY: Option<Duration> = Some(Duration::from_secs(1));

    fn text(&self, _: bool) -> String {
        self.lock().unwrap_or_else(PoisonError::into_inner).look()
    }
}

const PROCESSES: &str = "hammer_processes";
