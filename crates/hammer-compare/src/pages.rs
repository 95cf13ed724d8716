//! A comparison as it is printed.

use hammer_report::text::number::{grouped, plural};

use crate::bound::FoundBound;
use crate::cell::{mean, none, shown, times, variation};
use crate::comparison::{ComparedFigure, ComparedRatio, ComparedSeries, Comparison};
use crate::conclusion::Conclusion;
use crate::page::{Block, Page};
use crate::ratio::LEAST_RUNS;
use crate::sla::HeldSla;
use crate::variant::Variant;

impl Comparison {
    /// The page of it: the verdict and a row a variant, what speaks against it, bounds that do not hold, what the runs were carried out with, the figures of each
    /// series, those of the verdict's run by run, what failed, and whether the generator kept its plan. A part that has nothing to say is left out.
    pub fn page(&self, found: &[FoundBound]) -> Page {
        let mut blocks = vec![Block::Heading(self.title()), Block::List(self.verdicts())];
        blocks.extend(self.executive());
        if !self.warnings.is_empty() {
            blocks.extend([Block::Heading("beware".to_owned()), Block::List(self.warnings.clone())]);
        }
        blocks.extend(FoundBound::blocks(found));
        blocks.extend(HeldSla::blocks(&self.sla, &self.series[0].path));
        blocks.extend(self.hop_tables());
        blocks.extend(self.configuration());
        for series in &self.series {
            let step = if series.is_step { ", a step" } else { "" };
            blocks.extend([Block::Heading(format!("{}{step}", series.path)), self.figures(series)]);
        }
        blocks.push(Block::List(self.notes()));
        blocks.extend(self.series_table());
        blocks.extend(self.bars());
        blocks.extend(self.rates());
        blocks.extend(self.by_runs());
        blocks.extend(self.totals());
        blocks.extend(self.failures());
        blocks.extend(self.component_tables());
        blocks.extend(self.generators());
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
}

/// What is concluded; of an interval that would tell a difference if it were the only one, that it is not.
fn concluded(ratio: &ComparedRatio) -> String {
    let is_apart = ratio.estimate.is_ok_and(|estimate| estimate.low > 1.0 || estimate.high < 1.0);
    let corrected =
        if is_apart && ratio.conclusion == Conclusion::NotDistinguishable { " (of so many)" } else { "" };
    format!("{}{corrected}", ratio.conclusion.name())
}

impl FoundBound {
    /// All of them as a list; nothing where all bounds hold.
    pub(crate) fn blocks(found: &[Self]) -> Vec<Block> {
        if found.is_empty() {
            return Vec::new();
        }
        let beyond = |Self { bound, label, ratio }: &Self| format!("{bound}: {label} has {}", times(*ratio));
        vec![Block::Heading("beyond bounds".to_owned()), Block::List(found.iter().map(beyond).collect())]
    }
}
