//! Distributions of added latency.

use std::{f64::consts::TAU, time::Duration};

use serde::{Deserialize, Serialize};

use hammer_values::{Agreed, KeyConflict, PlanBlock, TimeSpan};

use super::sigma::Sigma;

/// How long an answer is delayed, written as `latency: { constant: 5ms }`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum Latency {
    /// The same for all.
    Constant(TimeSpan),
    /// Evenly between the two.
    Uniform(Agreed<UniformLatency>),
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
        sigma: Sigma,
    },
}

/// The bounds of a delay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UniformLatency {
    /// Least delay.
    pub min: TimeSpan,
    /// Greatest delay.
    pub max: TimeSpan,
}

impl PlanBlock for UniformLatency {
    fn conflict(&self) -> Option<KeyConflict> {
        (self.max < self.min).then(|| KeyConflict::at("max", format!("it is below min, {}", self.min)))
    }
}

impl Latency {
    /// The delay at two independent uniform draws of [0, 1), capped at one hour.
    #[must_use]
    pub fn sample(&self, first: f64, second: f64) -> Duration {
        let seconds = match *self {
            Self::Constant(span) => return span.duration(),
            Self::Uniform(bounds) => {
                seconds(bounds.min) + first * (seconds(bounds.max) - seconds(bounds.min))
            }
            Self::Exponential { mean } => -seconds(mean) * (1.0 - first).ln(),
            Self::Lognormal { median, sigma } => {
                let normal = (-2.0 * (1.0 - first).ln()).sqrt() * (TAU * second).cos();
                seconds(median) * (f64::from(sigma) * normal).exp()
            }
        };
        Duration::from_secs_f64(seconds.clamp(0.0, 3600.0))
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
        let sigma = Sigma::try_from(1.0).unwrap();
        let samples = sorted_samples(Latency::Lognormal { median: TimeSpan::from_millis(20), sigma });
        let (p50, p99) = (samples[samples.len() / 2], samples[samples.len() * 99 / 100]);
        assert!((p50 - 0.020).abs() < 0.001, "{p50}");
        assert!((p99 / p50 - 10.2).abs() < 1.0, "{}", p99 / p50);
    }

    #[test]
    fn a_uniform_latency_stays_between_its_bounds() {
        let bounds = UniformLatency { min: TimeSpan::from_millis(5), max: TimeSpan::from_millis(6) };
        let samples = sorted_samples(Latency::Uniform(Agreed::new(bounds).unwrap()));
        assert!(samples[0] >= 0.005 && samples[0] < 0.00505);
        assert!(samples[samples.len() - 1] <= 0.006 && samples[samples.len() - 1] > 0.00595);
    }

    #[test]
    fn a_latency_that_cannot_be_is_refused() {
        for (json, why) in [
            (r#"{"uniform":{"min":"2ms","max":"1ms"}}"#, "at key max: it is below min, 2ms"),
            (r#"{"lognormal":{"median":"2ms","sigma":11}}"#, "it must be 10 at most"),
        ] {
            let error = serde_json::from_str::<Latency>(json).unwrap_err().to_string();
            assert!(error.starts_with(why), "{error}");
        }
    }
}
