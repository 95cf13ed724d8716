//! The machine.

/// CPU time of all cores so far, in ticks (proc(5), the first line of `/proc/stat`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MachineTicks {
    /// In user mode, niced or not, guests included.
    pub user: u64,
    /// In the kernel, interrupts included.
    pub system: u64,
    /// Idle while something waits for a disk.
    pub iowait: u64,
    /// Taken by the host for others.
    pub steal: u64,
    /// Everything, idle included.
    pub all: u64,
}

impl MachineTicks {
    /// Reads the whole file.
    pub fn parse(text: &str) -> Option<Self> {
        let line = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
        let mut fields = [0; 8];
        for (place, field) in line.split_ascii_whitespace().take(fields.len()).enumerate() {
            fields[place] = field.parse::<u64>().ok()?;
        }
        let [user, nice, system, _, iowait, interrupts, soft_interrupts, steal] = fields;
        Some(Self {
            user: user.saturating_add(nice),
            system: system.saturating_add(interrupts).saturating_add(soft_interrupts),
            iowait,
            steal,
            all: fields.iter().fold(0, |all, field| u64::saturating_add(all, *field)),
        })
    }
}

/// What each core did so far, by its number: ticks in the order of [`CORE_MODES`].
pub fn core_ticks(stat: &str) -> impl Iterator<Item = (&str, [u64; CORE_MODES.len()])> {
    stat.lines().filter_map(|line| {
        let (core, rest) = line.strip_prefix("cpu")?.split_once(' ')?;
        let mut ticks = [0; CORE_MODES.len()];
        for (place, field) in rest.split_ascii_whitespace().take(ticks.len()).enumerate() {
            ticks[place] = field.parse().ok()?;
        }
        (!core.is_empty()).then_some((core, ticks))
    })
}

/// What a core does, in the order of `/proc/stat`, in the words of Prometheus's node exporter.
pub const CORE_MODES: [&str; 8] = ["user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"];

/// USER_HZ, 100 on every architecture of Linux that runs Rust's standard library.
pub const TICKS_PER_SECOND: f64 = 100.0;

/// Microseconds in which something waited for a processor, from `/proc/pressure/cpu`; `None` where the kernel does not count them.
pub fn pressure_us(text: &str) -> Option<u64> {
    let some = text.lines().find_map(|line| line.strip_prefix("some "))?;
    some.split(' ').find_map(|field| field.strip_prefix("total="))?.parse().ok()
}

/// How many cores have a line of their own.
pub fn cores(stat: &str) -> u32 {
    let of_core = |line: &&str| line.strip_prefix("cpu").is_some_and(|rest| !rest.starts_with(' '));
    stat.lines().filter(of_core).count() as u32
}

/// The number behind a key of `/proc/meminfo` or `/proc/PID/status`, where those say `kB`.
pub fn kilobytes(text: &str, key: &str) -> Option<u64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(key))?;
    rest.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_is_that_of_all_cores() {
        let text = "cpu  100 10 30 500 20 3 2 7 40 0\ncpu0 1 1 1 1 1 1 1 1 0 0\nintr 5\n";
        let expected = MachineTicks { user: 110, system: 35, iowait: 20, steal: 7, all: 672 };
        assert_eq!((MachineTicks::parse(text), cores(text)), (Some(expected), 1));
        assert_eq!(MachineTicks::parse("intr 5\n"), None);
    }

    #[test]
    fn each_core_has_its_ticks_by_what_it_did() {
        let text =
            "cpu  6 0 3 9 0 0 0 1 0 0\ncpu0 2 0 1 4 0 0 0 1 7 7\ncpu1 4 0 2 5 0 0 0 0\nintr 5\ncpu2 x\n";
        let found: Vec<_> = core_ticks(text).collect();
        assert_eq!(found, [("0", [2, 0, 1, 4, 0, 0, 0, 1]), ("1", [4, 0, 2, 5, 0, 0, 0, 0])]);
    }

    #[test]
    fn memory_is_in_kilobytes_behind_its_key() {
        let text = "MemTotal:       8152948 kB\nMemAvailable:    612 kB\n";
        assert_eq!(kilobytes(text, "MemAvailable:"), Some(612));
        assert_eq!(kilobytes(text, "MemFree:"), None);
    }
}
