//! What is concluded of a ratio.

use crate::metric::Metric;
use crate::ratio::{NoRatio, RatioEstimate};

/// What a figure of one variant is beside that of the first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Conclusion {
    /// It is worse.
    Slower,
    /// It is better.
    Faster,
    /// A difference as great as that may be none.
    NotDistinguishable,
    /// Fewer than three runs a side say nothing.
    TooFew,
    /// There is no ratio to conclude from.
    NoRatio,
}

impl Conclusion {
    /// What is concluded at that level of significance, of a probability that is corrected already.
    pub(crate) fn of(
        metric: Metric,
        estimate: &Result<RatioEstimate, NoRatio>,
        p_value: f64,
        level: f64,
    ) -> Self {
        match estimate {
            Err(NoRatio::TooFew) => Self::TooFew,
            Err(NoRatio::NotPositive) => Self::NoRatio,
            Ok(_) if p_value > level => Self::NotDistinguishable,
            Ok(estimate) if estimate.ratio == 1.0 => Self::NotDistinguishable,
            Ok(estimate) if (estimate.ratio > 1.0) == metric.is_better_greater() => Self::Faster,
            Ok(_) => Self::Slower,
        }
    }

    /// As it is printed.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Slower => "slower",
            Self::Faster => "faster",
            Self::NotDistinguishable => "not distinguishable",
            Self::TooFew => "too few runs",
            Self::NoRatio => "no ratio",
        }
    }
}

/// Probabilities as if each were the only one that is looked at (Holm, Scandinavian Journal of Statistics 6, 1979), in the order in which they were given.
pub(crate) fn corrected(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|one, other| p_values[*one].total_cmp(&p_values[*other]));
    let mut all = vec![1.0; p_values.len()];
    let mut greatest: f64 = 0.0;
    for (rank, place) in order.into_iter().enumerate() {
        greatest = greatest.max(p_values[place] * (p_values.len() - rank) as f64);
        all[place] = greatest.min(1.0);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_likely_is_corrected_most_and_none_overtakes_another() {
        let near = |one: &[f64], other: &[f64]| {
            one.iter().zip(other).all(|(one, other)| (one - other).abs() < 1e-12)
        };
        // By R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm").
        assert!(near(&corrected(&[0.01, 0.04, 0.03, 0.005]), &[0.03, 0.06, 0.06, 0.02]));
        assert!(near(&corrected(&[0.6, 0.7]), &[1.0, 1.0]));
        assert!(corrected(&[]).is_empty());
    }

    #[test]
    fn a_greater_rate_is_faster_and_a_longer_time_slower() {
        let estimate = |ratio| Ok(RatioEstimate { ratio, low: ratio, high: ratio, p_value: 0.0 });
        let of = |metric, ratio, p_value| Conclusion::of(metric, &estimate(ratio), p_value, 0.05);
        assert_eq!(of(Metric::Rate, 2.0, 0.01), Conclusion::Faster);
        assert_eq!(of(Metric::Rate, 0.5, 0.01), Conclusion::Slower);
        assert_eq!(of(Metric::P99, 2.0, 0.01), Conclusion::Slower);
        assert_eq!(of(Metric::P99, 0.5, 0.01), Conclusion::Faster);
        assert_eq!(of(Metric::P99, 2.0, 0.06), Conclusion::NotDistinguishable);
        let none = Conclusion::of(Metric::P99, &Err(NoRatio::TooFew), 1.0, 0.05);
        assert_eq!(none, Conclusion::TooFew);
    }
}
