//! What this process used, from `/proc/self`.

use std::fs;

use hammer_measure::snapshot::Resources;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Lifts the soft limit of descriptors to the hard one, since every connection takes one.
pub(crate) fn lift_descriptor_limit() {
    let limit = getrlimit(Resource::Nofile);
    // Where it is refused the old limit holds, and running out of it is a finding of the report.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
}

/// What was used so far. What cannot be read is zero.
pub(crate) fn used() -> Resources {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    // Fields 14 and 15 of proc(5), counted behind the command's name, which may hold anything but its last parenthesis.
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |place: usize| fields.get(place).and_then(|text| text.parse::<f64>().ok()).unwrap_or(0.0);
    let kilobytes = |key: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(key));
        line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0) * 1024
    };
    Resources {
        cpu_user: ticks(11) / TICKS_PER_SECOND,
        cpu_system: ticks(12) / TICKS_PER_SECOND,
        rss_bytes: kilobytes("VmRSS:"),
        max_rss_bytes: kilobytes("VmHWM:"),
        descriptors: descriptors(),
        descriptor_limit: getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX),
        cores: cores() as u32,
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

/// USER_HZ, 100 on every architecture of Linux that runs Rust's standard library.
const TICKS_PER_SECOND: f64 = 100.0;

#[cfg(test)]
mod tests {
    #[test]
    fn a_process_finds_its_own_use() {
        let used = super::used();
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
