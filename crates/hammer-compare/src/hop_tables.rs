//! What each link of a chain adds, as tables.

use hammer_report::text::number::percent;

use crate::cell::{difference, none, shown_of};
use crate::comparison::Comparison;
use crate::hops::HopBreakdown;
use crate::metric::Metric;
use crate::page::Block;
use crate::sample::Sample;

impl Comparison {
    /// What each link adds, as a table for each figure; nothing where the variants were not said to be links.
    pub(crate) fn hop_tables(&self) -> Vec<Block> {
        let mut blocks: Vec<Block> = self.hops.iter().flat_map(|own| self.hop_table(own)).collect();
        if let Some(own) = self.hops.first() {
            let what = format!("in parts of {}", own.whole);
            let mut notes = vec![format!(
                "a link adds what its part of the chain has beyond the part before it, {what}; percentiles do not add up, so that this is no percentile of what the link \
                 itself took: one says how much slower a request is at that rank"
            )];
            notes.extend(self.faster_parts());
            notes.extend(self.uneven_rates());
            blocks.push(Block::List(notes));
        }
        blocks
    }

    fn hop_table(&self, own: &HopBreakdown) -> [Block; 2] {
        let metric = own.metric;
        let shown = |figure: Option<f64>| figure.map_or_else(none, |figure| shown_of(metric, figure));
        let added = |added: Option<f64>| added.map_or_else(none, |added| difference(metric, 0.0, added));
        let share = |share: Option<f64>| share.map_or_else(none, percent);
        let mut rows: Vec<Vec<String>> = own
            .links
            .iter()
            .map(|link| {
                vec![link.label.clone(), shown(link.figure_ns), added(link.added_ns), share(link.share)]
            })
            .collect();
        if let Some(unaccounted) = own.unaccounted_ns {
            let of_whole = own.whole_ns.map(|whole| unaccounted / whole).filter(|share| share.is_finite());
            rows.push(vec!["unaccounted".to_owned(), none(), added(Some(unaccounted)), share(of_whole)]);
            rows.push(vec![own.whole.clone(), shown(own.whole_ns), none(), none()]);
        }
        let header = ["", metric.name(), "adds", "share"].map(str::to_owned).to_vec();
        [Block::Heading(format!("{metric} of {} by hop", self.series[0].path)), Block::Table { header, rows }]
    }

    /// Parts that are faster than what they should contain.
    fn faster_parts(&self) -> Option<String> {
        let links = self.hops.iter().flat_map(|own| &own.links);
        let faster = links.filter(|link| link.added_ns.is_some_and(|added| added < 0.0));
        let mut labels: Vec<&str> = faster.map(|link| link.label.as_str()).collect();
        labels.dedup();
        (!labels.is_empty()).then(|| {
            format!(
                "{} took less than the part before: either that is no part of it (the innermost stands first), or the runs spread by more than a link adds",
                labels.join(", ")
            )
        })
    }

    /// Links that were loaded by different rates: a queue is as long as the load makes it.
    fn uneven_rates(&self) -> Option<String> {
        let figure = self.figure(Metric::Rate).ok()?;
        let rates = || figure.samples.iter().filter_map(Sample::mean);
        let (least, greatest) = (rates().reduce(f64::min)?, rates().reduce(f64::max)?);
        (greatest > least * EVEN).then(|| {
            let rates = [least, greatest].map(|rate| Metric::Rate.shown(rate));
            format!(
                "the parts were loaded by different rates ({} to {}): what a link adds holds the difference of load as well",
                rates[0], rates[1]
            )
        })
    }
}

/// Rates within that are the same.
const EVEN: f64 = 1.05;
