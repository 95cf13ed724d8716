//! A machine on a page of metrics, by the names of Prometheus's node exporter.

use std::collections::BTreeMap;

use crate::exposition::{self, WrittenPage};
use crate::proc::{CORE_MODES, MachineTicks, TICKS_PER_SECOND, core_ticks, cores, kilobytes};

/// A machine at an instant.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MachineLook {
    /// CPU time so far.
    pub ticks: MachineTicks,
    /// Tasks that ran or waited for a disk, over the last minute.
    pub load: f64,
    /// Cores that are online.
    pub cores: u32,
    /// Memory that programs can still have without swapping, bytes.
    pub available_bytes: u64,
}

/// What `/proc` says of a machine: its files `stat`, `loadavg` and `meminfo`. What is not there is empty.
#[derive(Clone, Copy, Debug, Default)]
pub struct MachineFiles<'a> {
    /// CPU time.
    pub stat: &'a str,
    /// Load averages.
    pub loadavg: &'a str,
    /// Memory.
    pub meminfo: &'a str,
}

impl MachineFiles<'_> {
    /// The machine; what cannot be read is zero.
    pub fn look(&self) -> MachineLook {
        let load = self.loadavg.split(' ').next().and_then(|text| text.parse().ok());
        MachineLook {
            ticks: MachineTicks::parse(self.stat).unwrap_or_default(),
            load: load.unwrap_or(0.0),
            cores: cores(self.stat),
            available_bytes: kilobytes(self.meminfo, "MemAvailable:").unwrap_or(0).saturating_mul(1_024),
        }
    }

    /// Adds it to a page, core by core.
    pub fn write(&self, page: &mut WrittenPage) {
        page.metric(CPU, "counter", "Seconds that each core spent in each mode.");
        for (core, ticks) in core_ticks(self.stat) {
            for (mode, ticks) in CORE_MODES.iter().zip(ticks) {
                page.sample(CPU, &[("cpu", core), ("mode", mode)], ticks as f64 / TICKS_PER_SECOND);
            }
        }
        let MachineLook { load, available_bytes, .. } = self.look();
        page.metric(LOAD, "gauge", "Load average over a minute.");
        page.sample(LOAD, &[], load);
        page.metric(AVAILABLE, "gauge", "Memory that programs can still have, bytes.");
        page.sample(AVAILABLE, &[], available_bytes as f64);
    }
}

impl MachineLook {
    /// The machine of a page; `None` where that does not say what its cores did.
    pub fn of_page(page: &str) -> Option<Self> {
        let labels = |mode: &str| BTreeMap::from([("mode".to_owned(), mode.to_owned())]);
        let ticks = |mode: &str| {
            let seconds = exposition::sum(page, CPU, &labels(mode)).unwrap_or(0.0);
            (seconds * TICKS_PER_SECOND).round() as u64
        };
        let cores = exposition::count(page, CPU, &labels("idle"));
        let [user, nice, system, idle, iowait, irq, softirq, steal] = CORE_MODES.map(ticks);
        let sum = |parts: &[u64]| parts.iter().fold(0, |sum, part| u64::saturating_add(sum, *part));
        let ticks = MachineTicks {
            user: sum(&[user, nice]),
            system: sum(&[system, irq, softirq]),
            iowait,
            steal,
            all: sum(&[user, nice, system, idle, iowait, irq, softirq, steal]),
        };
        let number = |metric| exposition::sum(page, metric, &BTreeMap::new()).unwrap_or(0.0);
        (cores > 0).then(|| Self {
            ticks,
            load: number(LOAD),
            cores: u32::try_from(cores).unwrap_or(u32::MAX),
            available_bytes: number(AVAILABLE) as u64,
        })
    }
}

const CPU: &str = "node_cpu_seconds_total";
const LOAD: &str = "node_load1";
const AVAILABLE: &str = "node_memory_MemAvailable_bytes";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_that_is_written_on_a_page_is_the_same_when_it_is_read() {
        let files = MachineFiles {
            stat: "cpu  300 10 77 4000 20 3 2 7 40 0\ncpu0 100 10 30 500 20 3 2 7 40 0\ncpu1 200 0 47 3500 0 0 0 0 0 0\nintr 5\n",
            loadavg: "1.52 0.9 0.4 2/345 6789\n",
            meminfo: "MemTotal: 8152948 kB\nMemAvailable:    612 kB\n",
        };
        let mut page = WrittenPage::default();
        files.write(&mut page);
        let page = page.into_text();
        let look = files.look();
        let ticks = MachineTicks { user: 310, system: 82, iowait: 20, steal: 7, all: 4419 };
        assert_eq!(look, MachineLook { ticks, load: 1.52, cores: 2, available_bytes: 626_688 });
        assert_eq!(MachineLook::of_page(&page), Some(look), "{page}");
    }

    #[test]
    fn a_page_of_the_node_exporter_is_read() {
        let page = "\
# TYPE node_cpu_guest_seconds_total counter
node_cpu_guest_seconds_total{cpu=\"0\",mode=\"nice\"} 9
node_cpu_seconds_total{cpu=\"0\",mode=\"idle\"} 8642.53
node_cpu_seconds_total{cpu=\"0\",mode=\"iowait\"} 1.5
node_cpu_seconds_total{cpu=\"0\",mode=\"softirq\"} 2
node_cpu_seconds_total{cpu=\"0\",mode=\"system\"} 30.25
node_cpu_seconds_total{cpu=\"0\",mode=\"user\"} 12.01
node_load1 0.21
node_load15 9
node_memory_MemAvailable_bytes 1.234567168e+09
";
        let look = MachineLook::of_page(page).unwrap();
        assert_eq!((look.ticks.user, look.ticks.system, look.ticks.iowait), (1_201, 3_225, 150));
        assert_eq!((look.cores, look.load, look.available_bytes), (1, 0.21, 1_234_567_168));
        assert_eq!(MachineLook::of_page("process_cpu_seconds_total 5\n"), None);
    }
}
