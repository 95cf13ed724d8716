//! Bounds that make a comparison a gate: `p99 > 1.1x`.

use std::str::FromStr;

use crate::comparison::{Comparison, ComparisonError};
use crate::metric::{Metric, UnknownMetric};
use crate::sample::Sample;

/// By how much a figure of a variant may differ from that of the first.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    metric: Metric,
    is_greatest: bool,
    times: f64,
    text: String,
}

/// Text that is no bound, or one that nothing can be held against.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BoundError {
    /// It has no `<` or `>`.
    #[error("read the bound `{0}`: it has the form `p99 > 1.1x` or `rate < 0.9x`")]
    Form(String),
    /// Its figure is none.
    #[error(transparent)]
    Metric(#[from] UnknownMetric),
    /// Its figure is not compared.
    #[error("hold the bound `{bound}`: {source}")]
    NoFigure {
        /// The bound.
        bound: String,
        /// Why.
        source: ComparisonError,
    },
    /// Nothing can be said of a variant: both figures are zero, or both beyond all that was measured.
    #[error("hold the bound `{bound}`: neither {label} nor what it stands beside has a figure to go by")]
    Undecided {
        /// The bound.
        bound: String,
        /// The variant.
        label: String,
    },
}

/// A bound that does not hold.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundBound {
    /// The bound as it was written.
    pub bound: String,
    /// Of which variant.
    pub label: String,
    /// What was found.
    pub ratio: f64,
}

impl FromStr for Bound {
    type Err = BoundError;

    fn from_str(text: &str) -> Result<Self, BoundError> {
        let form = || BoundError::Form(text.to_owned());
        let at = text.find(['<', '>']).ok_or_else(form)?;
        let times = text[at + 1..].trim().strip_suffix('x').ok_or_else(form)?;
        let times = times.trim().parse::<f64>().ok().filter(|times| times.is_finite() && *times > 0.0);
        Ok(Self {
            metric: text[..at].trim().parse()?,
            is_greatest: &text[at..=at] == ">",
            times: times.ok_or_else(form)?,
            text: text.trim().to_owned(),
        })
    }
}

impl Bound {
    /// The variants of which the verdict's series is beyond it. A bound on what may get worse (`p99 > 1.1x`) holds where a difference cannot be told from
    /// none, by its own figure alone; one on what has to get better (`p99 > 0.9x`) goes by the ratio.
    ///
    /// # Errors
    /// Where nothing can be held against it: no gate passes on what nobody measured.
    pub fn found(&self, comparison: &Comparison) -> Result<Vec<FoundBound>, BoundError> {
        let bound = || self.text.clone();
        let figure = comparison.figure(self.metric);
        let figure = figure.map_err(|source| BoundError::NoFigure { bound: bound(), source })?;
        let others = comparison.variants.iter().zip(&figure.samples).skip(1).zip(&figure.ratios);
        let mut all = Vec::new();
        for ((variant, sample), ratio) in others {
            let found = ratio.ratio.or_else(|| of_means(sample, &figure.samples[0]));
            let label = || variant.label.clone();
            let found = found.ok_or_else(|| BoundError::Undecided { bound: bound(), label: label() })?;
            let is_beyond = if self.is_greatest { found > self.times } else { found < self.times };
            let level = 1.0 - comparison.config.confidence;
            let is_told = ratio.estimate.map_or(true, |estimate| estimate.p_value <= level);
            if is_beyond && (is_told || self.is_of_improvement()) {
                all.push(FoundBound { bound: bound(), label: label(), ratio: found });
            }
        }
        Ok(all)
    }

    fn is_of_improvement(&self) -> bool {
        if self.is_greatest { self.times < 1.0 } else { self.times > 1.0 }
    }
}

/// How many times the mean of the first that of a sample is, where one of them has no logarithm: nothing at all, or beyond what was measured.
fn of_means(sample: &Sample, first: &Sample) -> Option<f64> {
    let ratio = sample.mean()? / first.mean()?;
    (!ratio.is_nan()).then_some(ratio)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_reads_as_it_is_written() {
        let bound: Bound = "p99.9 > 1.1x".parse().unwrap();
        assert_eq!((bound.metric, bound.is_greatest, bound.times), (Metric::P999, true, 1.1));
        let bound: Bound = " rate<0.9 x ".parse().unwrap();
        assert_eq!((bound.metric, bound.is_greatest, bound.times), (Metric::Rate, false, 0.9));
        for wrong in ["p99", "p99 > 1.1", "p99 > x", "p99 > -1x", "p99 > infx"] {
            assert_eq!(wrong.parse::<Bound>(), Err(BoundError::Form(wrong.to_owned())), "{wrong}");
        }
        assert!(matches!("p42 > 2x".parse::<Bound>(), Err(BoundError::Metric(_))));
    }
}
