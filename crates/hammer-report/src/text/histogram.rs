//! The response times of a run as bars.

use hammer_measure::Nanos;
use hammer_measure::histogram::Distribution;

use super::columns::Side;
use super::number::grouped;
use super::page::Page;
use crate::flattening::response_times;
use crate::report::Report;

/// The bars of all operations in measurement; empty where nothing was recorded. What is beyond the 99th percentile has one bar, so that few
/// slow answers do not press all others into another one.
pub fn render(report: &Report) -> String {
    let mut page = Page::default();
    draw(&mut page, report);
    page.into_string()
}

/// Adds them to a text.
pub(super) fn draw(page: &mut Page, report: &Report) {
    let times = response_times(report);
    let bars = Bar::all(&times);
    if !bars.is_empty() {
        page.blank();
        page.line("response times of all operations");
        page.rows(rows(&bars), &[Side::Right, Side::Right, Side::Left]);
    }
}

/// How many response times there are of a kind.
#[derive(Debug, PartialEq, Eq)]
struct Bar {
    /// Which ones.
    label: String,
    count: u64,
}

impl Bar {
    fn all(times: &Distribution) -> Vec<Self> {
        let Some(summary) = times.summary() else { return Vec::new() };
        let (least, top) = (summary.min, summary.p99.nanos().min(summary.max));
        let mut bars = Vec::new();
        let mut above = times.count();
        let mut bar = |label: String, left: u64| {
            bars.push(Self { label, count: above.saturating_sub(left) });
            above = left;
        };
        if summary.count > summary.infinite {
            let step = top.since(least).0.div_ceil(BARS);
            for place in 1..=BARS {
                let bound = Nanos((least.0 + place * step).min(top.0));
                bar(format!("up to {bound}"), times.count_above(bound));
                if bound == top {
                    break;
                }
            }
            bar(format!("to {}", summary.max), summary.infinite);
        }
        bar("never".to_owned(), 0);
        // Between bars what is empty is told; what lies behind the last one is not.
        while bars.last().is_some_and(|bar| bar.count == 0) {
            bars.pop();
        }
        bars
    }
}

fn rows(bars: &[Bar]) -> Vec<Vec<String>> {
    let most = bars.iter().map(|bar| bar.count).max().unwrap_or_default();
    let length = |count: u64| (count.saturating_mul(LONGEST)).div_ceil(most.max(1)) as usize;
    let row = |bar: &Bar| vec![bar.label.clone(), grouped(bar.count), "#".repeat(length(bar.count))];
    bars.iter().map(row).collect()
}

/// Of as many of the response times as are within the 99th percentile.
const BARS: u64 = 10;
/// The longest bar, in columns.
const LONGEST: u64 = 48;

#[cfg(test)]
mod tests {
    use super::*;

    fn of(millis: impl IntoIterator<Item = u64>, never: u64) -> Distribution {
        let mut times = Distribution::default();
        millis.into_iter().for_each(|millis| times.record(Nanos::from_millis(millis)));
        (0..never).for_each(|_| times.record_infinite());
        times
    }

    #[test]
    fn every_response_time_is_in_one_bar() {
        for times in [of(1..=1_000, 0), of([7], 0), of([7, 7, 7], 2), of([], 3), of([1, 500, 100_000], 1)] {
            let bars = Bar::all(&times);
            assert_eq!(bars.iter().map(|bar| bar.count).sum::<u64>(), times.count(), "{bars:?}");
            assert!(bars.len() <= BARS as usize + 2, "{bars:?}");
        }
        assert!(Bar::all(&Distribution::default()).is_empty());
    }

    #[test]
    fn the_longest_bar_is_of_the_most_and_none_that_counts_is_empty() {
        let bars = Bar::all(&of((0..10_000).map(|place| if place == 0 { 900 } else { 10 }), 1));
        let rows = rows(&bars);
        let longest = rows.iter().map(|row| row[2].len()).max();
        assert_eq!(longest, Some(LONGEST as usize));
        for (bar, row) in bars.iter().zip(&rows) {
            assert_eq!(bar.count == 0, row[2].is_empty(), "{row:?}");
        }
        assert_eq!(bars.last().map(|bar| (bar.label.as_str(), bar.count)), Some(("never", 1)));
    }
}
