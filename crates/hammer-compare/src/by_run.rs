//! Figures run by run: rates with what they spread by, and tables by iteration.

use crate::cell::{mean, none, precise, precise_difference, times, variation};
use crate::comparison::{ComparedFigure, Comparison};
use crate::metric::Metric;
use crate::page::Block;
use crate::sample::Sample;
use crate::variant::Variant;

impl Comparison {
    /// Rates of the verdict's series: means, least, greatest, spread, and how many replicas of each would reach the greatest mean.
    pub(crate) fn rates(&self) -> Vec<Block> {
        let Ok(figure) = self.figure(Metric::Rate) else { return Vec::new() };
        let most = figure.samples.iter().filter_map(Sample::mean).fold(0.0, f64::max);
        let is_closed = self.is_closed_loop();
        let replicas = format!("replicas for {}", Metric::Rate.shown(most));
        let mut header = ["", "mean", "least", "greatest", "spread", "of the mean", "cv", "measured"]
            .map(str::to_owned)
            .to_vec();
        header.extend(is_closed.then_some(replicas));
        let rows = self.variants.iter().zip(&figure.samples).map(|(variant, sample)| {
            let of = |figure: Option<f64>| figure.map_or_else(none, |figure| Metric::Rate.shown(figure));
            let spread = sample.greatest().zip(sample.least()).map(|(greatest, least)| greatest - least);
            let of_mean = spread.zip(sample.mean()).filter(|(_, mean)| *mean > 0.0);
            let measured: f64 = variant.runs.iter().map(|run| run.measured_seconds).sum();
            let mut row = vec![
                variant.label.clone(),
                mean(Metric::Rate, sample),
                of(sample.least()),
                of(sample.greatest()),
                of(spread),
                of_mean.map_or_else(none, |(spread, mean)| format!("{:.1} %", spread / mean * 100.0)),
                variation(sample),
                format!("{measured:.1}s"),
            ];
            let replicas = || self.replicas(variant).map_or_else(none, |replicas| replicas.to_string());
            row.extend(is_closed.then(replicas));
            row
        });
        let heading = Block::Heading(format!("rates of {}", self.series[0].path));
        let note = if is_closed {
            "replicas are rounded up (a rate within a hundredth is the same), and reach a rate only where each more brings as much again"
        } else {
            "in an open loop a rate is what was offered, as far as it was accepted: how much more a variant can do, and how many replicas that would save, it does not say"
        };
        vec![heading, Block::Table { header, rows: rows.collect() }, Block::List(vec![note.to_owned()])]
    }

    /// The median, the 95th percentile, the verdict's figure and the rate of each run; none where no variant has two.
    pub(crate) fn by_runs(&self) -> Vec<Block> {
        let own = self.config.metric;
        let all = [Metric::P50, Metric::P95, own, Metric::Rate];
        let is_first = |place: usize| !all[..place].contains(&all[place]);
        let metrics = (0..all.len()).filter(|place| is_first(*place)).map(|place| all[place]);
        let mut blocks: Vec<Block> = metrics.filter_map(|metric| self.by_run(metric)).flatten().collect();
        if !blocks.is_empty() {
            let note = "a difference and a ratio are of the two figures of a row: runs of one number have nothing else in common";
            blocks.push(Block::List(vec![note.to_owned()]));
        }
        blocks
    }

    fn by_run(&self, metric: Metric) -> Option<[Block; 2]> {
        let figure = self.figure(metric).ok()?;
        let runs = figure.samples.iter().map(|sample| sample.runs().len()).max().filter(|runs| *runs > 1)?;
        let mut header = vec![String::new()];
        for (place, variant) in self.variants.iter().enumerate() {
            header.push(variant.label.clone());
            if place > 0 {
                header.extend(["difference", "ratio"].map(str::to_owned));
            }
        }
        let of_run = |run: usize| {
            let figures = figure.samples.iter().map(|sample| sample.runs().get(run).copied().flatten());
            row(metric, format!("run {}", run + 1), &figures.collect::<Vec<_>>(), true)
        };
        let mut rows: Vec<Vec<String>> = (0..runs).map(of_run).collect();
        rows.extend(spreads(figure));
        let heading = Block::Heading(format!("{metric} of {} by run", self.series[0].path));
        Some([heading, Block::Table { header, rows }])
    }
}

impl Comparison {
    /// Whether users waited for answers in all runs of the verdict's series, so that rates are what variants can do.
    fn is_closed_loop(&self) -> bool {
        let runs = self.variants.iter().flat_map(|variant| &variant.runs);
        runs.filter_map(|run| run.of_path(&self.series[0].path)).all(|series| series.is_closed_loop)
    }

    /// The replicas of a variant that reach the greatest rate of all variants; none in an open loop, whose rates are those that were offered.
    pub(crate) fn replicas(&self, variant: &Variant) -> Option<u64> {
        if !self.is_closed_loop() {
            return None;
        }
        let figure = self.figure(Metric::Rate).ok()?;
        let most = figure.samples.iter().filter_map(Sample::mean).fold(0.0, f64::max);
        replicas_for(most, &variant.sample(&self.series[0].path, Metric::Rate))
    }
}

/// So many of a variant reach that rate, where each more brings as much again; none where it has no rate.
fn replicas_for(rate: f64, own: &Sample) -> Option<u64> {
    let replicas = rate / own.mean().filter(|own| *own > 0.0)?;
    // What division leaves behind its digits is no replica more, nor is what one and the same rate varies by.
    let all = if replicas > REACHED { (replicas - 1e-9).ceil() } else { 1.0 };
    Some(all as u64).filter(|_| replicas.is_finite())
}

/// Rates within that are the same.
const REACHED: f64 = 1.01;

/// Mean, least, greatest and deviation below the runs; only means have a difference.
fn spreads(figure: &ComparedFigure) -> Vec<Vec<String>> {
    type Spread = fn(&Sample) -> Option<f64>;
    let all: [(&str, Spread); 4] = [
        ("mean", Sample::mean),
        ("least", Sample::least),
        ("greatest", Sample::greatest),
        ("deviation", Sample::standard_deviation),
    ];
    let row = |(name, of): (&str, Spread)| {
        let figures: Vec<Option<f64>> = figure.samples.iter().map(of).collect();
        row(figure.metric, name.to_owned(), &figures, name == "mean")
    };
    all.map(row).to_vec()
}

/// Each figure, and but for the first what it is beside that.
fn row(metric: Metric, name: String, figures: &[Option<f64>], is_compared: bool) -> Vec<String> {
    let mut row = vec![name];
    for (place, figure) in figures.iter().enumerate() {
        row.push(figure.map_or_else(none, |figure| precise(metric, figure)));
        if place > 0 {
            let both = figures[0].zip(*figure).filter(|_| is_compared);
            let ratio = both.map(|(first, own)| own / first).filter(|ratio| ratio.is_finite());
            row.push(both.map_or_else(none, |(first, own)| precise_difference(metric, first, own)));
            row.push(ratio.map_or_else(none, times));
        }
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replicas_are_rounded_up_and_no_further() {
        let of = |rate: f64, own: f64| replicas_for(rate, &Sample::new(vec![own]));
        assert_eq!(of(931.0, 29.0), Some(33));
        assert_eq!([of(930.0, 30.0), of(0.3, 0.1), of(10.0, 10.0)], [Some(31), Some(3), Some(1)]);
        assert_eq!([of(485.0, 482.0), of(485.0, 470.0)], [Some(1), Some(2)]);
        assert_eq!([of(1.0, 0.0), of(f64::INFINITY, 1.0)], [None, None]);
    }
}
