//! Series beside one another, as of a mixed load: operations of each kind apart, and all together.

use crate::cell::{change, mean, none};
use crate::comparison::{ComparedSeries, Comparison};
use crate::metric::Metric;
use crate::page::Block;

impl Comparison {
    /// The rate and the verdict's figure of each series of operations, with what changed; none where there is one.
    pub(crate) fn series_table(&self) -> Vec<Block> {
        let operations: Vec<&ComparedSeries> = self.series.iter().filter(|series| !series.is_step).collect();
        if operations.len() < 2 {
            return Vec::new();
        }
        let own = self.config.metric;
        let metrics: Vec<Metric> =
            [Metric::Rate, own].into_iter().take(if own == Metric::Rate { 1 } else { 2 }).collect();
        let mut header = vec![String::new()];
        for metric in &metrics {
            for (place, variant) in self.variants.iter().enumerate() {
                header.push(format!("{metric} {}", variant.label));
                header.extend((place > 0).then(|| "change".to_owned()));
            }
        }
        let row = |series: &&ComparedSeries| {
            let mut row = vec![series.path.clone()];
            for metric in &metrics {
                row.extend(self.cells(series, *metric));
            }
            row
        };
        let heading = Block::Heading("series side by side".to_owned());
        vec![heading, Block::Table { header, rows: operations.iter().map(row).collect() }]
    }

    fn cells(&self, series: &ComparedSeries, metric: Metric) -> Vec<String> {
        let Some(figure) = series.figure(metric) else {
            return vec![none(); self.variants.len() * 2 - 1];
        };
        let first = figure.samples[0].mean();
        let mut cells = Vec::new();
        for (place, sample) in figure.samples.iter().enumerate() {
            cells.push(mean(metric, sample));
            if place > 0 {
                let both = first.zip(sample.mean());
                cells.push(both.map_or_else(none, |(first, own)| change(first, own)));
            }
        }
        cells
    }
}
