//! Distributions of added latency.

use std::{f64::consts::TAU, time::Duration};

use serde::{Deserialize, Serialize};

use hammer_values::TimeSpan;

/// How long an answer is delayed, written as `latency: { constant: 5ms }`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum Latency {
    /// The same for all.
    Constant(TimeSpan),
    /// Evenly between the two.
    Uniform {
        /// Least delay.
        min: TimeSpan,
        /// Greatest delay.
        max: TimeSpan,
    },
    /// Memoryless with this mean.
    Exponential {
        /// Mean delay.
        mean: TimeSpan,
    },
    /// A long tail: the logarithm of the delay is normal.
    Lognormal {
        /// Median delay.
        median: TimeSpan,
        /// Standard deviation of the logarithm; 1.0 puts p99 at ten times the median.
        sigma: f64,
    },
}

impl Latency {
    /// The delay at two independent uniform draws of [0, 1), capped at one hour.
    #[must_use]
    pub fn sample(&self, first: f64, second: f64) -> Duration {
        let seconds = match *self {
            Self::Constant(span) => return span.duration(),
            Self::Uniform { min, max } => seconds(min) + first * (seconds(max) - seconds(min)),
            Self::Exponential { mean } => -seconds(mean) * (1.0 - first).ln(),
            Self::Lognormal { median, sigma } => {
                let normal = (-2.0 * (1.0 - first).ln()).sqrt() * (TAU * second).cos();
                seconds(median) * (sigma * normal).exp()
            }
        };
        Duration::from_secs_f64(seconds.clamp(0.0, 3600.0))
    }

    pub(super) fn check(&self) -> Result<(), String> {
        match self {
            Self::Uniform { min, max } if min > max => Err("a uniform latency's min is above its max".into()),
            Self::Lognormal { sigma, .. } if !(0.0..=10.0).contains(sigma) => {
                Err("a lognormal latency's sigma is between 0 and 10".into())
            }
            _ => Ok(()),
        }
    }
}

fn seconds(span: TimeSpan) -> f64 {
    span.duration().as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::draw::uniform;

    fn sorted_samples(latency: Latency) -> Vec<f64> {
        let mut samples: Vec<f64> =
            (0..20_000).map(|n| latency.sample(uniform(7, n, 1), uniform(7, n, 2)).as_secs_f64()).collect();
        samples.sort_by(f64::total_cmp);
        samples
    }

    #[test]
    fn an_exponential_latency_has_its_mean_and_its_p99() {
        let samples = sorted_samples(Latency::Exponential { mean: TimeSpan::from_millis(10) });
        let mean = samples.iter().sum::<f64>() / samples.len() as f64;
        assert!((mean - 0.010).abs() < 0.0005, "{mean}");
        let p99 = samples[samples.len() * 99 / 100];
        assert!((p99 - 0.0461).abs() < 0.004, "{p99}");
    }

    #[test]
    fn a_lognormal_latency_has_its_median_and_a_tail_ten_times_as_long() {
        let samples = sorted_samples(Latency::Lognormal { median: TimeSpan::from_millis(20), sigma: 1.0 });
        let (p50, p99) = (samples[samples.len() / 2], samples[samples.len() * 99 / 100]);
        assert!((p50 - 0.020).abs() < 0.001, "{p50}");
        assert!((p99 / p50 - 10.2).abs() < 1.0, "{}", p99 / p50);
    }

    #[test]
    fn a_uniform_latency_stays_between_its_bounds() {
        let samples =
            sorted_samples(Latency::Uniform { min: TimeSpan::from_millis(5), max: TimeSpan::from_millis(6) });
        assert!(samples[0] >= 0.005 && samples[0] < 0.00505);
        assert!(samples[samples.len() - 1] <= 0.006 && samples[samples.len() - 1] > 0.00595);
    }
}
