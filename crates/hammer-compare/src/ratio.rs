//! How many times the figure of one variant that of another is, and how sure that is: Welch's interval (Biometrika 34, 1947) on the difference of the
//! means of logarithms, so of geometric means. Figures of runs spread by a share of themselves, which logarithms make even.

use statrs::distribution::{ContinuousCDF as _, StudentsT};

use crate::sample::Sample;

/// A ratio with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RatioEstimate {
    /// The geometric mean of the second variant's figures in those of the first.
    pub ratio: f64,
    /// Where it lies with the confidence that was asked for: at least there.
    pub low: f64,
    /// And at most there.
    pub high: f64,
    /// How likely a difference as great as that is where there is none.
    pub p_value: f64,
}

/// Why there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoRatio {
    /// One of the variants has fewer than three runs.
    TooFew,
    /// A figure is none that has a logarithm: zero, or beyond all that was measured.
    NotPositive,
}

/// Of fewer runs a spread is a guess.
pub(crate) const LEAST_RUNS: usize = 3;

impl RatioEstimate {
    /// The ratio of the second to the first, with an interval of that confidence, below 1.
    ///
    /// # Errors
    /// Why there is none.
    pub fn of(first: &Sample, second: &Sample, confidence: f64) -> Result<Self, NoRatio> {
        let Difference { of, error, freedom } = Difference::of(first, second)?;
        let at = |difference: f64| difference.exp();
        let Some(student) = student(freedom).filter(|_| error > ROUNDING) else {
            // None of them varies at all, and any difference is one.
            let (of, p_value) = if of.abs() <= ROUNDING { (0.0, 1.0) } else { (of, 0.0) };
            return Ok(Self { ratio: at(of), low: at(of), high: at(of), p_value });
        };
        let half = student.inverse_cdf(f64::midpoint(1.0, confidence)) * error;
        let p_value = 2.0 * student.sf((of / error).abs());
        Ok(Self { ratio: at(of), low: at(of - half), high: at(of + half), p_value })
    }
}

/// How many runs a side would tell a difference as great as the one that was seen, as they spread, four times in five; none where no number of up to
/// 10,000 would.
pub fn runs_needed(first: &Sample, second: &Sample, confidence: f64) -> Option<u64> {
    let logarithms = (first.logarithms()?, second.logarithms()?);
    let spread = logarithms.0.variance()? + logarithms.1.variance()?;
    let difference = logarithms.1.mean()? - logarithms.0.mean()?;
    // Each number of runs has a Student's t of its own.
    (LEAST_RUNS as u64..=MOST_RUNS).find(|runs| {
        let of_side = *runs as f64 - 1.0;
        let freedom = if *runs < FEW as u64 { of_side } else { 2.0 * of_side };
        let quantile = |at: f64| student(freedom).map(|student| student.inverse_cdf(at));
        let Some((wrong, missed)) = quantile(f64::midpoint(1.0, confidence)).zip(quantile(POWER)) else {
            return false;
        };
        (wrong + missed) * (spread / *runs as f64).sqrt() <= difference.abs() && difference != 0.0
    })
}

/// The difference of two means of logarithms.
struct Difference {
    of: f64,
    /// Its standard error.
    error: f64,
    /// Degrees of freedom (Welch and Satterthwaite).
    freedom: f64,
}

impl Difference {
    fn of(first: &Sample, second: &Sample) -> Result<Self, NoRatio> {
        if first.count().min(second.count()) < LEAST_RUNS {
            return Err(NoRatio::TooFew);
        }
        let logarithms = |sample: &Sample| sample.logarithms().ok_or(NoRatio::NotPositive);
        let (first, second) = (logarithms(first)?, logarithms(second)?);
        let part = |sample: &Sample| sample.variance().unwrap_or_default() / sample.count() as f64;
        let parts = [part(&first), part(&second)];
        let freedom = |part: f64, sample: &Sample| part.powi(2) / (sample.count() - 1) as f64;
        let square = parts[0] + parts[1];
        let least = first.count().min(second.count());
        let welch = square.powi(2) / (freedom(parts[0], &first) + freedom(parts[1], &second));
        Ok(Self {
            of: second.mean().unwrap_or_default() - first.mean().unwrap_or_default(),
            error: square.sqrt(),
            // Of so few the spread of a side may look far smaller than it is, and Welch's degrees believe it.
            freedom: if least < FEW { (least - 1) as f64 } else { welch },
        })
    }
}

fn student(freedom: f64) -> Option<StudentsT> {
    StudentsT::new(0.0, 1.0, freedom).ok()
}

/// Runs of a side of which Welch's degrees of freedom tell differences that are none (`tests/simulated.rs`).
const FEW: usize = 5;
/// Means of the same figures differ by so little in arithmetic alone.
const ROUNDING: f64 = 1e-9;
/// How often the runs that are said to be needed would find what is there.
const POWER: f64 = 0.8;
const MOST_RUNS: u64 = 10_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(figures: &[f64]) -> Sample {
        Sample::new(figures.to_vec())
    }

    #[test]
    fn the_interval_is_welchs() {
        let figures = [&[2.0, 2.2, 1.9, 2.1, 2.4][..], &[3.0, 4.0, 5.0, 4.5, 4.1, 3.9]];
        let estimate = RatioEstimate::of(&sample(figures[0]), &sample(figures[1]), 0.95).unwrap();
        let [one, other] = figures.map(|figures| {
            let logs: Vec<f64> = figures.iter().map(|figure: &f64| figure.ln()).collect();
            let mean = logs.iter().sum::<f64>() / logs.len() as f64;
            let square = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>();
            (mean, square / (logs.len() - 1) as f64 / logs.len() as f64, (logs.len() - 1) as f64)
        });
        let error = (one.1 + other.1).sqrt();
        let freedom = (one.1 + other.1).powi(2) / (one.1.powi(2) / one.2 + other.1.powi(2) / other.2);
        assert!((estimate.ratio - (other.0 - one.0).exp()).abs() < 1e-12);
        assert!((7.0..8.0).contains(&freedom), "{freedom}");
        // The interval is even in logarithms, and as wide as a t between those of seven and eight degrees of freedom.
        let half = (estimate.high / estimate.ratio).ln();
        assert!((half - (estimate.ratio / estimate.low).ln()).abs() < 1e-9);
        assert!((2.306..2.365).contains(&(half / error)), "{}", half / error);
        assert!((0.0..0.001).contains(&estimate.p_value), "{}", estimate.p_value);
        // Where a side has four runs, it is as wide as a t of three degrees of freedom.
        let few = [&figures[0][..4], figures[1]].map(sample);
        let variances = few
            .clone()
            .map(|sample| sample.logarithms().unwrap().variance().unwrap() / sample.count() as f64);
        let estimate = RatioEstimate::of(&few[0], &few[1], 0.95).unwrap();
        let half = (estimate.high / estimate.ratio).ln() / (variances[0] + variances[1]).sqrt();
        assert!((half - 3.182_446).abs() < 1e-5, "{half}");
    }

    #[test]
    fn figures_that_do_not_vary_differ_or_do_not() {
        let same = RatioEstimate::of(&sample(&[2.0; 3]), &sample(&[2.0; 4]), 0.95).unwrap();
        assert_eq!((same.ratio, same.low, same.high, same.p_value), (1.0, 1.0, 1.0, 1.0));
        for figure in [0.1, 1e5, 3.7e8] {
            let same = RatioEstimate::of(&sample(&[figure; 5]), &sample(&[figure; 7]), 0.95).unwrap();
            assert_eq!((same.ratio, same.p_value), (1.0, 1.0), "{figure}");
        }
        let other = RatioEstimate::of(&sample(&[2.0; 3]), &sample(&[4.0; 3]), 0.95).unwrap();
        assert!((other.ratio - 2.0).abs() < 1e-12 && other.p_value == 0.0);
    }

    #[test]
    fn too_few_runs_and_figures_without_a_logarithm_have_no_ratio() {
        let of = |first: &[f64], second: &[f64]| RatioEstimate::of(&sample(first), &sample(second), 0.95);
        assert_eq!(of(&[1.0, 2.0], &[1.0, 2.0, 3.0]), Err(NoRatio::TooFew));
        assert_eq!(of(&[1.0, 2.0, 3.0], &[1.0]), Err(NoRatio::TooFew));
        assert_eq!(of(&[1.0, 2.0, 0.0], &[1.0, 2.0, 3.0]), Err(NoRatio::NotPositive));
    }

    #[test]
    fn a_difference_of_the_spread_needs_some_seventeen_runs_a_side() {
        // Two samples with a standard deviation of 0.05 whose means are 0.05 apart, in logarithms.
        let (low, high) = ((-0.05_f64).exp(), 0.05_f64.exp());
        let first = sample(&[low, 1.0, high]);
        let second = sample(&[low, 1.0, high].map(|figure| figure * high));
        let needed = runs_needed(&first, &second, 0.95).unwrap();
        assert!((16..=18).contains(&needed), "{needed}");
        assert_eq!(runs_needed(&first, &first, 0.95), None);
        assert_eq!(runs_needed(&first, &sample(&[1.0]), 0.95), None);
    }
}
