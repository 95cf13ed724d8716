//! A comparison as it is printed.

use std::collections::BTreeMap;

use hammer_report::text::number::{grouped, plural};

use crate::bound::FoundBound;
use crate::comparison::{ComparedFigure, ComparedRatio, ComparedSeries, Comparison};
use crate::conclusion::Conclusion;
use crate::metric::Metric;
use crate::page::{Block, Page};
use crate::ratio::LEAST_RUNS;
use crate::sample::Sample;
use crate::variant::Variant;

impl Comparison {
    /// The page of it: the verdict, what speaks against it, bounds that do not hold, the figures of each series, those of the verdict run by run, and what failed.
    pub fn page(&self, found: &[FoundBound]) -> Page {
        let mut blocks = vec![Block::Heading(self.title()), Block::List(self.verdicts())];
        if !self.warnings.is_empty() {
            blocks.extend([Block::Heading("beware".to_owned()), Block::List(self.warnings.clone())]);
        }
        if !found.is_empty() {
            let beyond = |FoundBound { bound, label, ratio }: &FoundBound| {
                format!("{bound}: {label} has {}x", shown(*ratio))
            };
            blocks.extend([
                Block::Heading("beyond bounds".to_owned()),
                Block::List(found.iter().map(beyond).collect()),
            ]);
        }
        for series in &self.series {
            let step = if series.is_step { ", a step" } else { "" };
            blocks.extend([Block::Heading(format!("{}{step}", series.path)), self.figures(series)]);
        }
        blocks.push(Block::List(self.notes()));
        let metrics = [self.config.metric, Metric::Rate];
        let shown = &metrics[..if metrics[0] == metrics[1] { 1 } else { 2 }];
        blocks.extend(shown.iter().filter_map(|metric| self.by_run(*metric)).flatten());
        blocks.extend(self.failures().into_iter().flatten());
        Page { blocks }
    }

    fn title(&self) -> String {
        let each =
            |variant: &Variant| format!("{} ({})", variant.label, plural(variant.runs.len() as u64, "run"));
        let others: Vec<String> = self.variants.iter().skip(1).map(each).collect();
        format!("{} beside {}", others.join(", "), each(&self.variants[0]))
    }

    fn verdicts(&self) -> Vec<String> {
        let figure = &self.verdict;
        let others = self.variants.iter().skip(1).zip(&figure.ratios);
        let of = format!("{} of {}", figure.metric, self.series[0].path);
        others.map(|(variant, ratio)| format!("{of}: {}", self.sentence(variant, ratio))).collect()
    }

    fn sentence(&self, variant: &Variant, ratio: &ComparedRatio) -> String {
        let (own, first) = (&variant.label, &self.variants[0].label);
        let times = ratio
            .ratio
            .map_or_else(|| "without a ratio".to_owned(), |ratio| format!("{} times", shown(ratio)));
        let interval = self.interval(ratio).map_or_else(String::new, |interval| format!(" ({interval})"));
        match ratio.conclusion {
            Conclusion::Slower | Conclusion::Faster => {
                format!("{own} is {} than {first}: {times}{interval}", ratio.conclusion.name())
            }
            Conclusion::NotDistinguishable => {
                let needed = ratio.runs_needed.map_or_else(String::new, |runs| {
                    format!("; a difference as small would take {} runs a side", grouped(runs))
                });
                format!("{own} is not distinguishable from {first}: {times}{interval}{needed}")
            }
            Conclusion::TooFew if ratio.ratio.is_none() => {
                format!(
                    "{own} and {first} have no ratio, and fewer than {LEAST_RUNS} runs a side tell nothing"
                )
            }
            Conclusion::TooFew => format!(
                "{own} has {times} what {first} has; fewer than {LEAST_RUNS} runs a side tell nothing"
            ),
            Conclusion::NoRatio => {
                format!("{own} has no ratio to {first}: a run's figure is zero, or beyond what it measured")
            }
        }
    }

    fn interval(&self, ratio: &ComparedRatio) -> Option<String> {
        let estimate = ratio.estimate.ok()?;
        Some(format!("{} to {} at {} %", shown(estimate.low), shown(estimate.high), self.confidence()))
    }

    /// In percent, without what arithmetic leaves behind its digits.
    fn confidence(&self) -> f64 {
        (self.config.confidence * 1e8).round() / 1e6
    }

    fn figures(&self, series: &ComparedSeries) -> Block {
        let mut header = vec![String::new()];
        for (place, variant) in self.variants.iter().enumerate() {
            header.extend([variant.label.clone(), "cv".to_owned()]);
            if place > 0 {
                header.extend(["ratio", "interval", "conclusion"].map(str::to_owned));
            }
        }
        let rows = series.figures.iter().map(|figure| self.row(figure)).collect();
        Block::Table { header, rows }
    }

    fn row(&self, figure: &ComparedFigure) -> Vec<String> {
        let mut row = vec![figure.metric.name().to_owned()];
        for (place, sample) in figure.samples.iter().enumerate() {
            row.extend([mean(figure.metric, sample), variation(sample)]);
            let Some(ratio) = place.checked_sub(1).and_then(|place| figure.ratios.get(place)) else {
                continue;
            };
            let interval =
                ratio.estimate.map(|estimate| format!("{} to {}", shown(estimate.low), shown(estimate.high)));
            row.extend([
                ratio.ratio.map_or_else(none, |ratio| format!("{}x", shown(ratio))),
                interval.unwrap_or_else(|_| none()),
                concluded(ratio),
            ]);
        }
        row
    }

    fn notes(&self) -> Vec<String> {
        let confidence = self.confidence();
        let first = &self.variants[0].label;
        vec![
            "a variant's figure is the mean of its runs, cv its coefficient of variation (sample standard deviation, by n-1, in the mean)".to_owned(),
            format!(
                "a ratio is to {first}, of geometric means; its interval (Welch, on logarithms) holds it with {confidence} %; but for the verdict's, \
                 conclusions are corrected for how many there are (Holm)"
            ),
        ]
    }

    /// The figures run by run.
    fn by_run(&self, metric: Metric) -> Option<[Block; 2]> {
        let figure = self.figure(metric).ok()?;
        let runs = figure.samples.iter().map(|sample| sample.runs().len()).max().filter(|runs| *runs > 1)?;
        let cell = |sample: &Sample, run: usize| {
            sample.runs().get(run).copied().flatten().map_or_else(none, |figure| shown_of(metric, figure))
        };
        let header =
            std::iter::once(String::new()).chain(self.variants.iter().map(|variant| variant.label.clone()));
        let mut rows: Vec<Vec<String>> = (0..runs)
            .map(|run| {
                std::iter::once(format!("run {}", run + 1))
                    .chain(figure.samples.iter().map(|sample| cell(sample, run)))
                    .collect()
            })
            .collect();
        type Spread = fn(&Sample) -> Option<f64>;
        let spreads: [(&str, Spread); 4] = [
            ("mean", Sample::mean),
            ("least", Sample::least),
            ("greatest", Sample::greatest),
            ("deviation", Sample::standard_deviation),
        ];
        for (name, of) in spreads {
            let cells = figure
                .samples
                .iter()
                .map(|sample| of(sample).map_or_else(none, |figure| shown_of(metric, figure)));
            rows.push(std::iter::once(name.to_owned()).chain(cells).collect());
        }
        let heading = Block::Heading(format!("{metric} of {} by run", self.series[0].path));
        Some([heading, Block::Table { header: header.collect(), rows }])
    }

    /// What was not accepted, by variant and cause; none where nothing failed.
    fn failures(&self) -> Option<[Block; 2]> {
        let is_operation =
            |path: &str| self.series.iter().any(|series| series.path == path && !series.is_step);
        let mut causes: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
        for (place, variant) in self.variants.iter().enumerate() {
            let series =
                variant.runs.iter().flat_map(|run| &run.series).filter(|series| is_operation(&series.path));
            for (cause, count) in series.flat_map(|series| &series.failures) {
                let all = &mut causes.entry(cause).or_insert_with(|| vec![0; self.variants.len()])[place];
                *all = u64::saturating_add(*all, *count);
            }
        }
        if causes.is_empty() {
            return None;
        }
        let header =
            std::iter::once(String::new()).chain(self.variants.iter().map(|variant| variant.label.clone()));
        let rows = causes.into_iter().map(|(cause, counts)| {
            std::iter::once(cause.to_owned()).chain(counts.into_iter().map(grouped)).collect()
        });
        Some([
            Block::Heading("not accepted".to_owned()),
            Block::Table { header: header.collect(), rows: rows.collect() },
        ])
    }
}

fn mean(metric: Metric, sample: &Sample) -> String {
    sample.mean().map_or_else(none, |mean| shown_of(metric, mean))
}

/// What is concluded; of an interval that would tell a difference if it were the only one, that it is not.
fn concluded(ratio: &ComparedRatio) -> String {
    let is_apart = ratio.estimate.is_ok_and(|estimate| estimate.low > 1.0 || estimate.high < 1.0);
    let corrected =
        if is_apart && ratio.conclusion == Conclusion::NotDistinguishable { " (of so many)" } else { "" };
    format!("{}{corrected}", ratio.conclusion.name())
}

/// What is beyond all that was measured is no number.
fn shown_of(metric: Metric, figure: f64) -> String {
    if figure.is_finite() { metric.shown(figure) } else { "beyond".to_owned() }
}

fn variation(sample: &Sample) -> String {
    let variation = sample.variation().filter(|variation| variation.is_finite());
    variation.map_or_else(none, |variation| format!("{:.1} %", variation * 100.0))
}

/// A ratio in three digits: `46.9`, `0.031`; near 1 in four.
fn shown(ratio: f64) -> String {
    match ratio {
        0.0 => "0".to_owned(),
        ratio if ratio < 1e-4 => "<0.0001".to_owned(),
        ratio if ratio > 1e4 => ">10,000".to_owned(),
        0.9..1.1 => format!("{ratio:.3}"),
        ratio => format!("{ratio:.0$}", (2 - ratio.log10().floor() as i32).clamp(0, 4) as usize),
    }
}

fn none() -> String {
    "-".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_have_three_digits() {
        let all = [46.91, 0.0311, 1.0, 0.996, 1.234, 320.6].map(shown);
        assert_eq!(all, ["46.9", "0.0311", "1.000", "0.996", "1.23", "321"]);
        let all = [0.0, 0.000_04, 12_345.0, f64::INFINITY].map(shown);
        assert_eq!(all, ["0", "<0.0001", ">10,000", ">10,000"]);
    }
}
