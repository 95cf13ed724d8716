//! How widely a lognormal latency is spread.

use hammer_values::ValueError;
use serde::{Deserialize, Serialize};

/// The standard deviation of a delay's logarithm, 0 to 10; 1.0 puts p99 at ten times the median.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Sigma(f64);

impl TryFrom<f64> for Sigma {
    type Error = ValueError;

    fn try_from(sigma: f64) -> Result<Self, ValueError> {
        match sigma {
            sigma if (0.0..=10.0).contains(&sigma) => Ok(Self(sigma)),
            sigma if sigma < 0.0 => Err(ValueError::below("0")),
            _ => Err(ValueError::above("10")),
        }
    }
}

impl From<Sigma> for f64 {
    fn from(sigma: Sigma) -> Self {
        sigma.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_has_its_bounds() {
        assert_eq!(serde_json::from_str::<Sigma>("0.5").map(f64::from).unwrap(), 0.5);
        for (json, why) in [("-0.5", "it must be 0 at least"), ("10.5", "it must be 10 at most")] {
            let error = serde_json::from_str::<Sigma>(json).unwrap_err().to_string();
            assert!(error.starts_with(why), "{error}");
        }
        assert!(Sigma::try_from(f64::NAN).is_err());
    }
}
