//! The table that says it all in a row a variant, and what it is drawn as.

use crate::cell::{mean, none, share, times};
use crate::comparison::Comparison;
use crate::metric::Metric;
use crate::page::{Bar, Block};
use crate::variant::Variant;

impl Comparison {
    /// A row a variant: percentiles, rate and success of the verdict's series, with what they are beside the first.
    pub(crate) fn executive(&self) -> Vec<Block> {
        let metrics = self.executive_metrics();
        let mut header = vec![String::new()];
        header.extend(metrics.iter().map(|metric| metric.name().to_owned()));
        header.push("success".to_owned());
        header.extend(metrics.iter().map(|metric| format!("{metric} ratio")));
        let row = |(place, variant): (usize, &Variant)| {
            let figures = metrics.iter().filter_map(|metric| self.figure(*metric).ok());
            let cells = figures.clone().map(|figure| mean(figure.metric, &figure.samples[place]));
            let other = place.checked_sub(1);
            let ratios = figures
                .map(|figure| other.and_then(|other| figure.ratios[other].ratio).map_or_else(none, times));
            let success = variant.success(&self.series[0].path).map_or_else(none, share);
            [variant.label.clone()].into_iter().chain(cells).chain([success]).chain(ratios).collect()
        };
        let rows = self.variants.iter().enumerate().map(row).collect();
        let heading = Block::Heading(format!("{} in short", self.series[0].path));
        let note = "a figure is the mean of a variant's runs, a ratio one of geometric means, which need not be that of the figures in this table";
        vec![heading, Block::Table { header, rows }, Block::List(vec![note.to_owned()])]
    }

    /// The 95th percentile, the median and the rate, with the verdict's own figure first; those that all variants have.
    fn executive_metrics(&self) -> Vec<Metric> {
        let others = [Metric::P95, Metric::P50, Metric::Rate];
        let others = others.into_iter().filter(|metric| *metric != self.config.metric);
        std::iter::once(self.config.metric)
            .chain(others)
            .filter(|metric| self.figure(*metric).is_ok())
            .collect()
    }

    /// The verdict's figure as bars of text, the longest for the greatest mean; none where one is beyond all that was measured.
    pub(crate) fn bars(&self) -> Vec<Block> {
        let figure = &self.verdict;
        let means: Option<Vec<f64>> =
            figure.samples.iter().map(|sample| sample.mean().filter(|mean| mean.is_finite())).collect();
        let Some(means) = means else { return Vec::new() };
        let Some(greatest) = means.iter().copied().reduce(f64::max).filter(|greatest| *greatest > 0.0) else {
            return Vec::new();
        };
        let ratio = |place: usize| figure.ratios.get(place.checked_sub(1)?)?.ratio;
        let bar = |(place, mean): (usize, &f64)| Bar {
            label: self.variants[place].label.clone(),
            figure: match ratio(place) {
                Some(ratio) => format!("{} ({})", figure.metric.shown(*mean), times(ratio)),
                None => figure.metric.shown(*mean),
            },
            share: mean / greatest,
        };
        let heading = Block::Heading(format!("{} of {} as bars", figure.metric, self.series[0].path));
        vec![heading, Block::Bars(means.iter().enumerate().map(bar).collect())]
    }
}
