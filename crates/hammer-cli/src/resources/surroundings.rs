//! What takes processors from this process: a quota of its control group, the host of its machine, whoever else wants them.

use std::fs;
use std::path::{Path, PathBuf};

use hammer_measure::snapshot::Surroundings;
use hammer_pages::cgroup::{self, CgroupCpu};
use hammer_pages::proc::{MachineTicks, TICKS_PER_SECOND, pressure_us};

use rustix::thread::sched_getaffinity;

use super::cgroup::root;

/// Where this process is.
#[derive(Debug, Default)]
pub(crate) struct OwnSurroundings {
    /// The folders of its control group and of those around it.
    groups: Vec<PathBuf>,
}

impl OwnSurroundings {
    /// Those of this process, whose group is looked for once.
    pub(crate) fn find() -> Self {
        Self { groups: groups_of("self") }
    }

    /// What was taken so far. What cannot be read is nothing.
    pub(crate) fn look(&self) -> Surroundings {
        let read = |path: &Path| fs::read_to_string(path).unwrap_or_default();
        let held_back =
            self.groups.iter().filter_map(|group| CgroupCpu::parse(&read(&group.join("cpu.stat"))));
        let stolen = MachineTicks::parse(&read(Path::new("/proc/stat"))).map_or(0, |ticks| ticks.steal);
        Surroundings {
            quota: least_quota(&self.groups).map(|quota| quota.min(own_cores())),
            throttled: held_back.map(|cpu| cpu.throttled_us).max().unwrap_or(0) as f64 / 1e6,
            stolen: stolen as f64 / TICKS_PER_SECOND,
            pressed: pressure_us(&read(Path::new("/proc/pressure/cpu"))).unwrap_or(0) as f64 / 1e6,
        }
    }
}

/// The cores that this process may run on, whatever quota it has.
fn own_cores() -> f64 {
    let cores = sched_getaffinity(None).map_or(1, |cores| cores.count());
    f64::from(cores.max(1))
}

/// The folders of the group of a process, by its number, and of those around that.
pub(super) fn groups_of(process: &str) -> Vec<PathBuf> {
    let text = fs::read_to_string(format!("/proc/{process}/cgroup")).unwrap_or_default();
    let found = root().zip(cgroup::of_process(&text));
    found.map(|(root, group)| groups_around(&root, group)).unwrap_or_default()
}

/// The least of the quotas of these groups, in cores; none where there is none.
pub(super) fn least_quota(groups: &[PathBuf]) -> Option<f64> {
    let read = |group: &PathBuf| fs::read_to_string(group.join("cpu.max")).unwrap_or_default();
    groups.iter().filter_map(|group| cgroup::quota(&read(group))).reduce(f64::min)
}

/// The folder of a group and of all around it, but for the root, which has no limit.
pub(super) fn groups_around(root: &Path, group: &str) -> Vec<PathBuf> {
    let group = root.join(group.trim_start_matches('/'));
    group.ancestors().take_while(|folder| *folder != root).map(Path::to_path_buf).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_quota_holds_and_the_longest_throttling_is_told() {
        let root = tempfile::tempdir().unwrap();
        let inner = root.path().join("pods/hammer");
        fs::create_dir_all(&inner).unwrap();
        fs::write(inner.join("cpu.max"), "max 100000\n").unwrap();
        fs::write(inner.join("cpu.stat"), "usage_usec 5\nthrottled_usec 250000\n").unwrap();
        fs::write(root.path().join("pods/cpu.max"), "50000 100000\n").unwrap();
        let groups = groups_around(root.path(), "/pods/hammer");
        assert_eq!(groups, [inner, root.path().join("pods")]);
        let seen = OwnSurroundings { groups }.look();
        assert_eq!((seen.quota, seen.throttled), (Some(0.5), 0.25));
    }

    #[test]
    fn a_process_finds_its_own() {
        let seen = OwnSurroundings::find().look();
        assert!(seen.throttled >= 0.0 && seen.stolen >= 0.0 && seen.pressed >= 0.0, "{seen:?}");
        assert!(groups_around(Path::new("/sys/fs/cgroup"), "/").is_empty());
    }
}
