//! What an embedded target counts of itself, looked at beside the load.

use std::rc::Rc;

use hammer_core::observe::{ObservationSink, Observer};
use hammer_core::runtime::{Clock, LocalFuture};
use hammer_lab::LabStats;
use hammer_measure::Nanos;
use serde_json::Value;

use crate::observed_number::ObservedNumber;
use crate::protocol::lab::{Lab, LabStatsReader};

/// Reads one count as often as the plan says, on the observers' thread, and once more behind the last operation.
pub(crate) struct LabObserver {
    name: String,
    every: Nanos,
    /// Of which the count is the sum.
    counted: Vec<LabStatsReader>,
    path: Vec<String>,
}

impl LabObserver {
    /// The observer of the count at `path` of the targets: of the one that the path names first, or of all that have it.
    ///
    /// # Errors
    /// Where none has it: what they count.
    pub(crate) fn new<'a>(
        name: String,
        every: Nanos,
        path: &str,
        labs: impl Iterator<Item = &'a dyn Lab> + Clone,
    ) -> Result<Self, String> {
        let path: Vec<String> = path.split('.').map(str::to_owned).collect();
        let named = labs.clone().find(|lab| path.len() > 1 && lab.name() == path[0]);
        let path = if named.is_some() { path[1..].to_vec() } else { path };
        let has_it = |lab: &&dyn Lab| named.is_none_or(|named| named.name() == lab.name());
        let counted: Vec<LabStatsReader> = labs.clone().filter(has_it).map(Lab::stats).collect();
        let has_it =
            |read: &LabStatsReader| counts(&read()).is_some_and(|counts| counts.get(&path[0]).is_some());
        let counted: Vec<LabStatsReader> = counted.into_iter().filter(has_it).collect();
        match counted.is_empty() {
            false => Ok(Self { name, every, counted, path }),
            true => Err(known(labs)),
        }
    }

    fn count(&self) -> f64 {
        self.counted.iter().map(|read| count(&read(), &self.path)).sum()
    }
}

impl Observer for LabObserver {
    fn observe(
        self: Box<Self>,
        sink: ObservationSink,
        clock: Rc<dyn Clock>,
        mut ending: LocalFuture<()>,
    ) -> LocalFuture<()> {
        Box::pin(async move {
            let mut number = ObservedNumber::new(&self.name);
            loop {
                let now = clock.now();
                number.take(now, Ok(self.count()), &sink);
                tokio::select! {
                    () = &mut ending => return number.take(clock.now(), Ok(self.count()), &sink),
                    () = clock.sleep_until(now.saturating_add(self.every)) => {}
                }
            }
        })
    }
}

/// The statistics of a target as they are printed.
fn counts(stats: &LabStats) -> Option<Value> {
    serde_json::to_value(stats).ok()
}

/// The count at that path; of several counts below it their sum. What has not happened yet has no key, and none happened.
fn count(stats: &LabStats, path: &[String]) -> f64 {
    let Some(counts) = counts(stats) else { return 0.0 };
    path.iter().try_fold(&counts, |counts, key| counts.get(key)).map_or(0.0, sum)
}

fn sum(counts: &Value) -> f64 {
    match counts {
        Value::Object(all) => all.values().map(sum).sum(),
        Value::Number(count) => count.as_f64().unwrap_or(0.0),
        _ => 0.0,
    }
}

/// What targets count, as a message lists it.
fn known<'a>(labs: impl Iterator<Item = &'a dyn Lab>) -> String {
    let mut keys: Vec<String> = labs
        .filter_map(|lab| counts(&lab.stats()()))
        .filter_map(|counts| Some(counts.as_object()?.keys().cloned().collect::<Vec<_>>()))
        .flatten()
        .collect();
    keys.sort();
    keys.dedup();
    match keys.is_empty() {
        true => "no embedded target was started, since no workload goes to it".to_owned(),
        false => format!("the embedded target counts {}", keys.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn a_count_is_the_sum_of_what_stands_below_its_path() {
        let of_get = BTreeMap::from([(200, 5), (503, 2)]);
        let requests =
            BTreeMap::from([("get".to_owned(), of_get), ("post".to_owned(), BTreeMap::from([(200, 1)]))]);
        let stats = LabStats { requests, tree_size: 9, ..LabStats::default() };
        for (path, expected) in [
            ("requests", 8.0),
            ("requests.get", 7.0),
            ("requests.get.503", 2.0),
            ("requests.put", 0.0),
            ("tree_size", 9.0),
        ] {
            let path: Vec<String> = path.split('.').map(str::to_owned).collect();
            assert_eq!(count(&stats, &path), expected, "{path:?}");
        }
    }
}
