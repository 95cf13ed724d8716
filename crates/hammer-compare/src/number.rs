//! Figures in JSON: a number, `"beyond"` of what is beyond all that was measured, and `null` of what nothing is known of.

use std::collections::BTreeMap;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::metric::Metric;

/// A figure as JSON has it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Number(pub f64);

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum NumberModel {
    Known(f64),
    Beyond(BeyondModel),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum BeyondModel {
    Beyond,
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, json: S) -> Result<S::Ok, S::Error> {
        let Self(number) = *self;
        let model = if number.is_finite() {
            NumberModel::Known(number)
        } else {
            NumberModel::Beyond(BeyondModel::Beyond)
        };
        model.serialize(json)
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        Ok(Self(match NumberModel::deserialize(json)? {
            NumberModel::Known(number) if number < 0.0 => {
                return Err(D::Error::custom(format!("{number} is no figure of a run: none is below 0")));
            }
            NumberModel::Known(number) => number,
            NumberModel::Beyond(BeyondModel::Beyond) => f64::INFINITY,
        }))
    }
}

/// Figures by what they are of.
pub(crate) mod figures {
    use super::{BTreeMap, Deserialize, Deserializer, Metric, Number, Serialize, Serializer};

    pub(crate) fn serialize<S: Serializer>(all: &BTreeMap<Metric, f64>, json: S) -> Result<S::Ok, S::Error> {
        let all: BTreeMap<Metric, Number> =
            all.iter().map(|(metric, figure)| (*metric, Number(*figure))).collect();
        all.serialize(json)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(json: D) -> Result<BTreeMap<Metric, f64>, D::Error> {
        let all = BTreeMap::<Metric, Number>::deserialize(json)?;
        Ok(all.into_iter().map(|(metric, Number(figure))| (metric, figure)).collect())
    }
}

/// A figure that may be absent.
pub(crate) mod optional {
    use super::{Deserialize, Deserializer, Number, Serialize, Serializer};

    #[expect(clippy::ref_option, reason = "serde hands over a reference to the field")]
    pub(crate) fn serialize<S: Serializer>(figure: &Option<f64>, json: S) -> Result<S::Ok, S::Error> {
        figure.map(Number).serialize(json)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(json: D) -> Result<Option<f64>, D::Error> {
        Ok(Option::<Number>::deserialize(json)?.map(|Number(figure)| figure))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_beyond_comes_back_as_it_was() {
        let json = serde_json::to_string(&[Number(1.5), Number(f64::INFINITY)]).unwrap();
        assert_eq!(json, "[1.5,\"beyond\"]");
        let back: Vec<Number> = serde_json::from_str(&json).unwrap();
        assert_eq!(back, [Number(1.5), Number(f64::INFINITY)]);
        assert!(serde_json::from_str::<Number>("\"far\"").is_err());
        assert!(
            serde_json::from_str::<Number>("-1.5").unwrap_err().to_string().contains("-1.5 is no figure")
        );
    }
}
