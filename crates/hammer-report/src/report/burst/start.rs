//! A start that answered late.

use std::ops::Range;

use super::Span;

/// The first intervals, where their 99th percentiles are far longer than those of the rest, in which those at `rest` alone are looked at.
pub(super) fn late(spans: &[Span<'_>], rest: impl Fn(usize) -> bool) -> Option<Range<usize>> {
    let p99 = |place: usize| spans[place].p99().map(|p99| (p99.least().max(1) as f64).ln());
    let first = (0..spans.len()).find(|place| p99(*place).is_some())?;
    let half = spans.len() / 2;
    let usual: Vec<f64> = (half..spans.len()).filter(|place| rest(*place)).filter_map(p99).collect();
    if usual.len() < LEAST_USUAL {
        return None;
    }
    let middle = median(usual.clone());
    let spread = median(usual.iter().map(|p99| (p99 - middle).abs()).collect());
    let bound = middle + (SPREADS * spread).max(LEAST_TIMES.ln());
    let is_late =
        |place: usize| p99(place).is_some_and(|p99| p99 > bound && p99.exp() - middle.exp() > SLACK_NS);
    // What is so late in the middle of the run says nothing of its start.
    let end = (first..half).find(|place| !is_late(*place) && !is_late(place + 1))?;
    (end > first).then_some(first..end)
}

fn median(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied().unwrap_or(0.0)
}

/// Of a run's second half.
const LEAST_USUAL: usize = 3;
/// Median deviations, of which a normal deviation has one and a half: four of those.
const SPREADS: f64 = 6.0;
const LEAST_TIMES: f64 = 2.0;
const SLACK_NS: f64 = 1_000_000.0;
