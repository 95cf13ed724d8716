//! What this process used, from `/proc/self`; below, what servers and their machine used.

use std::fs;

use hammer_measure::snapshot::Resources;
use hammer_pages::proc::{ProcessStat, TICKS_PER_SECOND, kilobytes};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

pub(crate) mod cgroup;
mod cgroup_gauge;
mod counter;
pub(crate) mod exporter;
mod gauge;
mod granted_cores;
mod greatest_rate;
mod machine;
mod machine_gauge;
mod meter;
mod presence;
mod process;
mod process_tree;
pub(crate) mod processes;
mod remote_machine;
mod saturation;
mod saturation_meter;
pub(crate) mod surroundings;
mod told_gauge;
mod told_use;
mod trouble;
mod usage;
pub(crate) mod watch;

use surroundings::OwnSurroundings;

/// Lifts the soft limit of descriptors to the hard one, since every connection takes one.
pub(crate) fn lift_descriptor_limit() {
    let limit = getrlimit(Resource::Nofile);
    // Where it is refused the old limit holds, and running out of it is a finding of the report.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
}

/// What was used so far, and by whom what was not. What cannot be read is zero.
pub(crate) fn used(surroundings: &OwnSurroundings) -> Resources {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let seconds = |ticks: u64| ticks as f64 / TICKS_PER_SECOND;
    let (user, system) = ProcessStat::parse(&stat).map_or((0, 0), |own| (own.user, own.system));
    let bytes = |key: &str| kilobytes(&status, key).unwrap_or(0) * 1_024;
    Resources {
        cpu_user: seconds(user),
        cpu_system: seconds(system),
        rss_bytes: bytes("VmRSS:"),
        max_rss_bytes: bytes("VmHWM:"),
        descriptors: descriptors(),
        descriptor_limit: getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX),
        cores: cores() as u32,
        surroundings: surroundings.look(),
    }
}

/// Descriptors that are open. Linux tells their number as the folder's size since 6.2; before that they are listed, which takes
/// the kernel a millisecond and more where there are a thousand.
fn descriptors() -> u64 {
    match fs::metadata("/proc/self/fd").map_or(0, |folder| folder.len()) {
        0 => fs::read_dir("/proc/self/fd").map_or(0, |entries| entries.count() as u64),
        open => open,
    }
}

/// Cores that this process may use.
pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_process_finds_its_own_use() {
        let used = super::used(&super::OwnSurroundings::find());
        assert!(used.rss_bytes > 1 << 20 && used.max_rss_bytes >= used.rss_bytes / 2);
        assert!(used.descriptors >= 3 && used.descriptor_limit >= used.descriptors);
        assert!(used.cores >= 1);
    }

    #[test]
    fn descriptors_that_are_opened_are_counted() {
        let before = super::descriptors();
        let more: Vec<_> = (0..200).map(|_| std::fs::File::open("/dev/null").unwrap()).collect();
        // Other tests of this process open and close some meanwhile.
        assert!(super::descriptors() >= before + 100, "{} after {before}", super::descriptors());
        drop(more);
    }
}
