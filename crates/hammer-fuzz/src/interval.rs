//! The intervals that parts of a run hand on, as bytes and as JSON.

use hammer_measure::part::PartInterval;
use hammer_measure::recorder::{Interval, SeriesRecord};
use hammer_measure::snapshot::add_observation;

/// Series of the run whose intervals are in the seeds.
const SERIES: usize = 2;

/// What is believed is the same when it is written and read again, and adds up with what else is believed.
pub(crate) fn interval(data: &[u8]) -> bool {
    let from_json = serde_json::from_slice::<PartInterval>(data).ok();
    let from_bytes = PartInterval::from_bytes(data, SERIES).ok();
    let Some(part) = from_json.or(from_bytes) else { return false };
    let series = part.interval.series.len();
    assert_eq!(PartInterval::from_bytes(&part.to_bytes(), series).as_ref(), Ok(&part));
    let json = serde_json::to_vec(&part).expect("JSON");
    assert_eq!(serde_json::from_slice::<PartInterval>(&json).expect("what was written"), part);
    let mut twice = Interval::with_series(series);
    twice.merge(&part.interval);
    assert_eq!(twice, part.interval, "what is merged into nothing is what there is");
    twice.merge(&part.interval);
    assert!(twice.series.iter().flatten().all(SeriesRecord::balances));
    let mut seen = Vec::new();
    part.observations.into_iter().for_each(|observation| add_observation(&mut seen, observation));
    assert!(seen.iter().all(|seen| seen.first.at <= seen.at), "what is first is not after what is last");
    true
}
