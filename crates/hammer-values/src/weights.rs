//! Things, each with its weight.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

/// Things that are drawn by their weights: none at all, or one at least that has a weight of 1 or more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Weights<K, N = u32>(BTreeMap<K, N>);

/// Only weights of 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("one weight must be 1 at least")]
pub struct Weightless;

impl<K, N: Copy + Into<u64>> Weights<K, N> {
    /// Whether nothing is named.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Everything that is named, by its name, also what has a weight of 0.
    pub fn iter(&self) -> impl Iterator<Item = (&K, N)> {
        self.0.iter().map(|(thing, weight)| (thing, *weight))
    }

    /// What has a weight of 1 or more.
    pub fn drawn(&self) -> impl Iterator<Item = (&K, N)> {
        self.iter().filter(|(_, weight)| (*weight).into() > 0)
    }
}

/// Nothing.
impl<K, N> Default for Weights<K, N> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<K, N: Copy + Into<u64>> TryFrom<BTreeMap<K, N>> for Weights<K, N> {
    type Error = Weightless;

    fn try_from(weights: BTreeMap<K, N>) -> Result<Self, Weightless> {
        let weights = Self(weights);
        match weights.is_empty() || weights.drawn().next().is_some() {
            true => Ok(weights),
            false => Err(Weightless),
        }
    }
}

impl<'de, K, N> Deserialize<'de> for Weights<K, N>
where
    K: Deserialize<'de> + Ord,
    N: Deserialize<'de> + Copy + Into<u64>,
{
    fn deserialize<D: Deserializer<'de>>(plan: D) -> Result<Self, D::Error> {
        BTreeMap::deserialize(plan)?.try_into().map_err(D::Error::custom)
    }
}

impl<K: JsonSchema, N: JsonSchema> JsonSchema for Weights<K, N> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        BTreeMap::<K, N>::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        BTreeMap::<K, N>::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_drawn_has_a_weight() {
        let read: Weights<String> = serde_json::from_str(r#"{"a":0,"b":2}"#).unwrap();
        assert_eq!(read.drawn().collect::<Vec<_>>(), [(&"b".to_owned(), 2)]);
        assert_eq!((read.iter().count(), read.is_empty()), (2, false));
        assert_eq!(serde_json::to_string(&read).unwrap(), r#"{"a":0,"b":2}"#);
        assert!(serde_json::from_str::<Weights<String>>("{}").unwrap().is_empty());
        let error = serde_json::from_str::<Weights<String, u16>>(r#"{"a":0}"#).unwrap_err().to_string();
        assert!(error.starts_with("one weight must be 1 at least"), "{error}");
        assert!(serde_json::from_str::<Weights<String, u16>>(r#"{"a":65536}"#).is_err());
    }
}
