//! The cores that a component of this machine may use.

use std::fs;
use std::path::{Path, PathBuf};

use hammer_pages::cgroup;
use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity};

use super::cgroup::{CgroupSelector, root};
use super::process::ProcReader;
use super::processes::{FollowedProcesses, ProcessSelector};
use super::surroundings::{groups_around, groups_of, least_quota};

/// How many cores a component may use, and whose they are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct GrantedCores {
    /// Those that it may run on, or the quota of its control group, where that is less.
    pub(super) cores: f64,
    /// Whether this process may run on any of them.
    pub(super) are_shared: bool,
}

impl GrantedCores {
    /// Those of a process, of several that of the one that has used most CPU so far; `None` where none is there.
    pub(super) fn of_processes(selector: &ProcessSelector) -> Option<Self> {
        let (mut reader, mut all) = (ProcReader::default(), Vec::new());
        reader.processes(&mut all);
        let pid = FollowedProcesses::new(selector.clone()).busiest(&all, &mut reader)?;
        let allowed = sched_getaffinity(Pid::from_raw(i32::try_from(pid).ok()?)).ok()?;
        let numbers = (0..CpuSet::MAX_CPU).filter(|core| allowed.is_set(*core));
        Some(Self::of(&numbers.collect::<Vec<_>>(), &groups_of(&pid.to_string())))
    }

    /// Those of a control group; `None` where it is not there.
    pub(super) fn of_cgroup(selector: &CgroupSelector) -> Option<Self> {
        let (root, folder) = (root()?, selector.folder()?);
        let text = fs::read_to_string(folder.join("cpuset.cpus.effective")).unwrap_or_default();
        // Without a controller of its own it has all that are online.
        let online = || fs::read_to_string("/sys/devices/system/cpu/online").unwrap_or_default();
        let numbers = cgroup::cpus(&text).or_else(|| cgroup::cpus(&online()))?;
        folder.is_dir().then(|| Self::of(&numbers, &groups_around(&root, &relative(&root, &folder))))
    }

    fn of(numbers: &[usize], groups: &[PathBuf]) -> Self {
        let own = sched_getaffinity(None);
        let are_shared = own.is_ok_and(|own| numbers.iter().any(|core| own.is_set(*core)));
        let cores = numbers.len().max(1) as f64;
        let quota = least_quota(groups).filter(|quota| *quota > 0.0);
        Self { cores: quota.map_or(cores, |quota| quota.min(cores)), are_shared }
    }
}

fn relative(root: &Path, folder: &Path) -> String {
    folder.strip_prefix(root).unwrap_or(folder).to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_shares_its_own_cores_and_has_no_more_than_the_machine() {
        let own = GrantedCores::of_processes(&ProcessSelector::Pid(std::process::id())).unwrap();
        assert!(own.are_shared && own.cores > 0.0, "{own:?}");
        assert!(own.cores <= sched_getaffinity(None).unwrap().count().into());
        assert_eq!(GrantedCores::of_processes(&ProcessSelector::Pid(4_200_000)), None);
    }
}
