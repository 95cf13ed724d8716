//! What servers and their machine tell of themselves, as numbers.

use std::collections::BTreeMap;

use hammer_pages::cgroup::{self, CgroupCpu};
use hammer_pages::exposition::{self, WrittenPage};
use hammer_pages::node::{MachineFiles, MachineLook};
use hammer_pages::proc::{MachineTicks, ProcessStat, cores, kilobytes};
use hammer_pages::promql;

/// A page of metrics: the first word of the input is the metric, the rest the page. A sum is a finite number, and one over fewer
/// samples where labels are asked for.
pub(crate) fn exposition(data: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(data) else { return false };
    let (metric, page) = text.split_once('\n').unwrap_or((text, ""));
    let labels = BTreeMap::from([("kind".to_owned(), "write".to_owned())]);
    let labelled = exposition::sum(page, metric, &labels);
    let all = exposition::sum(page, metric, &BTreeMap::new());
    for sum in [labelled, all].into_iter().flatten() {
        assert!(sum.is_finite(), "{sum}");
    }
    let none = BTreeMap::new();
    assert!(exposition::count(page, metric, &labels) <= exposition::count(page, metric, &none));
    let machine = MachineLook::of_page(text);
    if let Some(MachineLook { ticks, cores, load, .. }) = machine {
        let MachineTicks { user, system, iowait, steal, all } = ticks;
        assert!([user, system, iowait, steal].iter().all(|part| *part <= all), "{ticks:?}");
        assert!(cores > 0 && load.is_finite(), "{machine:?}");
    }
    // Whatever a label holds, a sample with it is found again.
    let mut written = WrittenPage::default();
    written.sample("written", &[("text", page)], 1.5);
    let labels = BTreeMap::from([("text".to_owned(), page.to_owned())]);
    assert_eq!(exposition::sum(&written.into_text(), "written", &labels), Some(1.5));
    all.is_some() || machine.is_some()
}

/// An answer of Prometheus: a number is finite, and a reason is one line of bounded length.
pub(crate) fn promql(data: &[u8]) -> bool {
    match promql::number(data) {
        Ok(number) => {
            assert!(number.is_finite(), "{number}");
            let samples = promql::samples(data).unwrap_or_default();
            assert!(!samples.is_empty() && samples.iter().all(|sample| sample.value.is_finite()));
            true
        }
        Err(why) => {
            let said = why.to_string();
            assert!(said.chars().count() <= 300 && !said.contains(char::is_control), "{said}");
            false
        }
    }
}

/// Files of `/proc` and of cgroups: whatever they hold, what was used is what it adds up to.
pub(crate) fn proc(data: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(data) else { return false };
    let process = ProcessStat::parse(text);
    let machine = MachineTicks::parse(text);
    if let Some(machine) = machine {
        let MachineTicks { user, system, iowait, steal, all } = machine;
        assert!([user, system, iowait, steal].iter().all(|part| *part <= all), "{machine:?}");
    }
    if let Some(process) = process {
        assert!(process.own() >= process.user.max(process.system), "{process:?}");
    }
    let mut page = WrittenPage::default();
    let files = MachineFiles { stat: text, loadavg: text, meminfo: text };
    files.write(&mut page);
    let (look, page) = (files.look(), page.into_text());
    // Cores without ticks have no line on a page.
    assert!(MachineLook::of_page(&page).is_none_or(|read| read.cores <= look.cores), "{page}");
    let cpu = CgroupCpu::parse(text);
    let group = cgroup::of_process(text);
    assert!(group.is_none_or(|group| group.starts_with('/')), "{group:?}");
    let numbers = [kilobytes(text, "VmRSS:").is_some(), cgroup::mount(text).is_some(), cores(text) > 0];
    process.is_some() || machine.is_some() || cpu.is_some() || group.is_some() || numbers.contains(&true)
}
