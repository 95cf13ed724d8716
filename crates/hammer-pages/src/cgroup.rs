//! Files of a control group (cgroups v2, the kernel's admin-guide/cgroup-v2.rst).

/// What `cpu.stat` says of all processes of a group so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CgroupCpu {
    /// CPU time, microseconds.
    pub usage_us: u64,
    /// For how long processes that could run were held back by `cpu.max`, microseconds; 0 where the group has no such limit.
    pub throttled_us: u64,
}

impl CgroupCpu {
    /// Reads the whole file; `None` where it has no `usage_usec`.
    pub fn parse(text: &str) -> Option<Self> {
        let number = |key: &str| {
            let mut lines = text.lines().filter_map(|line| line.split_once(' '));
            lines.find(|(name, _)| *name == key)?.1.trim().parse().ok()
        };
        Some(Self { usage_us: number("usage_usec")?, throttled_us: number("throttled_usec").unwrap_or(0) })
    }
}

/// How many cores the processes of a group may use together, from `cpu.max`; `None` where that is no limit.
pub fn quota(text: &str) -> Option<f64> {
    let (most, period) = text.trim().split_once(' ')?;
    let (most, period): (f64, f64) = (most.parse().ok()?, period.parse().ok()?);
    (period > 0.0).then(|| most / period)
}

/// The numbers of the cores in a list such as `0-3,8`, from `cpuset.cpus.effective`; `None` where there is none, or what is no list.
pub fn cpus(text: &str) -> Option<Vec<usize>> {
    let mut numbers = Vec::new();
    for span in text.trim().split(',') {
        let (first, last) = span.split_once('-').unwrap_or((span, span));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        if last < first || last > MOST_CPUS {
            return None;
        }
        numbers.extend(first..=last);
    }
    Some(numbers)
}

/// The group of a process below the root of the hierarchy, from `/proc/PID/cgroup`: the line of hierarchy 0, which is that of v2.
pub fn of_process(text: &str) -> Option<&str> {
    text.lines().find_map(|line| line.strip_prefix("0::")).filter(|path| path.starts_with('/'))
}

/// Where the hierarchy of v2 is mounted, from `/proc/mounts`.
pub fn mount(text: &str) -> Option<&str> {
    text.lines().find_map(|line| {
        let mut fields = line.split(' ');
        let (_, at, kind) = (fields.next()?, fields.next()?, fields.next()?);
        (kind == "cgroup2").then_some(at)
    })
}

/// No kernel has a core of a greater number.
const MOST_CPUS: usize = 8_192;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_are_listed_one_by_one_and_in_spans() {
        assert_eq!(cpus("0-2,7\n"), Some(vec![0, 1, 2, 7]));
        assert_eq!(["", "\n", "3-1", "0-99999999", "a", "1,"].map(cpus), [const { None::<Vec<usize>> }; 6]);
    }

    #[test]
    fn a_group_has_its_use_and_for_how_long_it_was_held_back() {
        let text = "usage_usec 1250000\nuser_usec 1000000\nsystem_usec 250000\nnr_periods 30\nnr_throttled 12\nthrottled_usec 400000\n";
        assert_eq!(CgroupCpu::parse(text), Some(CgroupCpu { usage_us: 1_250_000, throttled_us: 400_000 }));
        let unlimited = CgroupCpu { usage_us: 7, throttled_us: 0 };
        assert_eq!(CgroupCpu::parse("usage_usec 7\nuser_usec 7\n"), Some(unlimited));
        assert_eq!(CgroupCpu::parse("user_usec 7\nusage_usec many\n"), None);
    }

    #[test]
    fn a_quota_is_cores() {
        assert_eq!(quota("150000 100000\n"), Some(1.5));
        assert_eq!([quota("max 100000\n"), quota("1 0"), quota("")], [None; 3]);
    }

    #[test]
    fn the_group_of_a_process_is_that_of_the_hierarchy_of_version_two() {
        let hybrid = "4:memory:/other\n1:cpu:/\n0::/system.slice/rekor.service\n";
        assert_eq!(of_process(hybrid), Some("/system.slice/rekor.service"));
        assert_eq!(of_process("4:memory:/other\n"), None);
        let mounts =
            "cgroup /sys/fs/cgroup/cpu cgroup rw 0 0\ncgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n";
        assert_eq!(mount(mounts), Some("/sys/fs/cgroup/unified"));
        assert_eq!(mount("proc /proc proc rw 0 0\n"), None);
    }
}
