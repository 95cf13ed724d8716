//! Processes that are one component, with all that they start.

use hammer_pages::proc::{ProcessStat, ProgramName, TICKS_PER_SECOND};
use rustix::param::page_size;

use super::process::ProcReader;
use super::process_tree::{MOST_ANCESTORS, TreeAccount, members};

/// Which processes are a component, with all that they start.
#[derive(Clone, Debug)]
pub(crate) enum ProcessSelector {
    /// The process that has this number when it is looked for first.
    Pid(u32),
    /// Those whose command line holds this text, but hammer itself, whoever started it, and the shells of its hooks.
    Command(String),
}

/// A component as it was found so far.
#[derive(Debug)]
pub(super) struct FollowedProcesses {
    selector: ProcessSelector,
    account: TreeAccount,
    /// By number: a process that was given by its number, or all of the machine, since their command lines are known.
    roots: Vec<KnownRoot>,
    members: Vec<ProcessStat>,
}

/// What processes used.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ProcessesUse {
    /// CPU seconds since they were looked at first.
    pub(super) cpu: f64,
    /// Resident memory of those that are there, bytes.
    pub(super) memory: u64,
    /// How many are there; what has ended and was not waited for is not.
    pub(super) count: usize,
}

/// Whether a process is one of those that were asked for.
#[derive(Clone, Copy, Debug)]
struct KnownRoot {
    pid: u32,
    started: u64,
    name: ProgramName,
    is_root: bool,
}

impl FollowedProcesses {
    /// Nobody has looked for them yet.
    pub(super) fn new(selector: ProcessSelector) -> Self {
        Self { selector, account: TreeAccount::default(), roots: Vec::new(), members: Vec::new() }
    }

    /// Looks for them among `all` processes of the machine, which are sorted by number.
    pub(super) fn look(&mut self, all: &[ProcessStat], reader: &mut ProcReader) -> ProcessesUse {
        self.find_roots(all, reader);
        let roots = &self.roots;
        members(all, &mut self.members, |process| known(roots, process).is_some_and(|root| root.is_root));
        let cpu = self.account.look(&self.members, all) as f64 / TICKS_PER_SECOND;
        let pages: u64 = self.members.iter().map(|process| process.resident_pages).sum();
        ProcessesUse {
            cpu,
            memory: pages * page_size() as u64,
            count: self.members.iter().filter(|process| !process.has_ended).count(),
        }
    }

    /// The number of the one among them, without what they start, that has used most CPU so far: a text may stand in the command line of the
    /// shell that started the server, too.
    pub(super) fn busiest(&mut self, all: &[ProcessStat], reader: &mut ProcReader) -> Option<u32> {
        self.find_roots(all, reader);
        let is_there = |process: &&ProcessStat| !process.has_ended;
        let is_root = |process: &&ProcessStat| known(&self.roots, process).is_some_and(|root| root.is_root);
        let roots = all.iter().filter(is_there).filter(is_root);
        roots.max_by_key(|process| (process.user + process.system, process.pid)).map(|process| process.pid)
    }

    fn find_roots(&mut self, all: &[ProcessStat], reader: &mut ProcReader) {
        match &self.selector {
            ProcessSelector::Pid(pid) => {
                let found = all.iter().find(|process| process.pid == *pid);
                if let Some(process) = found.filter(|_| self.roots.is_empty()) {
                    self.roots.push(KnownRoot::of(process, true));
                }
            }
            ProcessSelector::Command(text) => {
                let own = std::process::id();
                let own_line = line(own, all);
                let before = std::mem::take(&mut self.roots);
                self.roots.extend(all.iter().map(|process| {
                    // A command line is read once, and again where the process has become another program.
                    match known(&before, process).filter(|root| root.name == process.name) {
                        Some(root) => *root,
                        None => {
                            let is_other = !own_line.contains(&process.pid) && process.parent != own;
                            let is_root = is_other && reader.command_line_holds(process.pid, text);
                            KnownRoot::of(process, is_root)
                        }
                    }
                }));
            }
        }
    }
}

impl KnownRoot {
    const fn of(process: &ProcessStat, is_root: bool) -> Self {
        Self { pid: process.pid, started: process.started, name: process.name, is_root }
    }
}

/// A process, who started it, and so on up: the text that is looked for may stand in the command line of each.
fn line(pid: u32, all: &[ProcessStat]) -> Vec<u32> {
    let parent = |pid: &u32| {
        let place = all.binary_search_by_key(pid, |process| process.pid).ok()?;
        Some(all[place].parent).filter(|parent| *parent != 0)
    };
    std::iter::successors(Some(pid), parent).take(MOST_ANCESTORS).collect()
}

/// What is known of that very process; `roots` are sorted by number.
fn known<'a>(roots: &'a [KnownRoot], process: &ProcessStat) -> Option<&'a KnownRoot> {
    let place = roots.binary_search_by_key(&process.pid, |root| root.pid).ok()?;
    Some(&roots[place]).filter(|root| root.started == process.started)
}
