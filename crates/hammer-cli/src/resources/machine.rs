//! The machine, as `/proc/stat`, `/proc/loadavg` and `/proc/meminfo` tell of it.

use super::process::ProcReader;

/// CPU time of all cores so far, in ticks (proc(5), the first line of `/proc/stat`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct MachineTicks {
    /// In user mode, niced or not, guests included.
    pub(super) user: u64,
    /// In the kernel, interrupts included.
    pub(super) system: u64,
    /// Idle while something waits for a disk.
    pub(super) iowait: u64,
    /// Taken by the host for others.
    pub(super) steal: u64,
    /// Everything, idle included.
    pub(super) all: u64,
}

/// The machine at an instant.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct MachineLook {
    /// CPU time so far.
    pub(super) ticks: MachineTicks,
    /// Tasks that ran or waited for a disk, over the last minute.
    pub(super) load: f64,
    /// Cores that are online.
    pub(super) cores: u32,
    /// Memory that programs can still have without swapping, bytes.
    pub(super) available_bytes: u64,
}

impl MachineTicks {
    /// Reads the whole file.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let line = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
        let mut fields = [0; 8];
        for (place, field) in line.split_ascii_whitespace().take(fields.len()).enumerate() {
            fields[place] = field.parse::<u64>().ok()?;
        }
        let [user, nice, system, _, iowait, interrupts, soft_interrupts, steal] = fields;
        Some(Self {
            user: user + nice,
            system: system + interrupts + soft_interrupts,
            iowait,
            steal,
            all: fields.iter().sum(),
        })
    }
}

impl MachineLook {
    /// Looks now; what cannot be read is zero.
    pub(super) fn now(reader: &mut ProcReader) -> Self {
        let stat = reader.read("stat").unwrap_or_default();
        let (ticks, cores) = (MachineTicks::parse(stat).unwrap_or_default(), cores(stat));
        let load =
            reader.read("loadavg").and_then(|text| text.split(' ').next()?.parse().ok()).unwrap_or(0.0);
        let available = reader.read("meminfo").and_then(|text| kilobytes(text, "MemAvailable:"));
        Self { ticks, load, cores, available_bytes: available.unwrap_or(0) * 1_024 }
    }
}

/// How many cores have a line of their own.
fn cores(stat: &str) -> u32 {
    let of_core = |line: &&str| line.strip_prefix("cpu").is_some_and(|rest| !rest.starts_with(' '));
    stat.lines().filter(of_core).count() as u32
}

/// The number behind a key of `/proc/meminfo` or `/proc/PID/status`, where those say `kB`.
pub(super) fn kilobytes(text: &str, key: &str) -> Option<u64> {
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
    fn this_machine_has_memory_and_has_worked() {
        let look = MachineLook::now(&mut ProcReader::default());
        assert!(look.available_bytes > 1 << 20 && look.ticks.all > 0 && look.ticks.user > 0);
    }

    #[test]
    fn memory_is_in_kilobytes_behind_its_key() {
        let text = "MemTotal:       8152948 kB\nMemAvailable:    612 kB\n";
        assert_eq!(kilobytes(text, "MemAvailable:"), Some(612));
        assert_eq!(kilobytes(text, "MemFree:"), None);
    }
}
