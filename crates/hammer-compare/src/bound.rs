//! Bounds that make a comparison a gate: `p99 > 1.1x`.

use std::str::FromStr;

use crate::comparison::Comparison;
use crate::conclusion::Conclusion;
use crate::metric::{Metric, UnknownMetric};

/// By how much a figure of a variant may differ from that of the first.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    metric: Metric,
    is_greatest: bool,
    times: f64,
    text: String,
}

/// Text that is no bound.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BoundError {
    /// It has no `<` or `>`.
    #[error("read the bound `{0}`: it has the form `p99 > 1.1x` or `rate < 0.9x`")]
    Form(String),
    /// Its figure is none.
    #[error(transparent)]
    Metric(#[from] UnknownMetric),
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
    /// The variants of which the verdict's series is beyond it: by a difference that can be told, or of so few runs that none can.
    pub fn found(&self, comparison: &Comparison) -> Vec<FoundBound> {
        let figures = comparison.series.first().into_iter().flat_map(|series| &series.figures);
        let ratios = figures.filter(|figure| figure.metric == self.metric).flat_map(|figure| &figure.ratios);
        let labels = comparison.variants.iter().skip(1).map(|variant| &variant.label);
        let told = ratios.zip(labels).filter(|(ratio, _)| ratio.conclusion != Conclusion::NotDistinguishable);
        told.filter_map(|(ratio, label)| {
            let found = ratio.ratio?;
            let is_beyond = if self.is_greatest { found > self.times } else { found < self.times };
            is_beyond.then(|| FoundBound { bound: self.text.clone(), label: label.clone(), ratio: found })
        })
        .collect()
    }
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
