//! One of something, or a list.

use std::fmt;
use std::marker::PhantomData;
use std::slice;

use schemars::JsonSchema;
use serde::de::value::SeqAccessDeserializer;
use serde::de::{self, IntoDeserializer as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// One, or a list of any number of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "OneOrMany_of_{T}")]
pub enum OneOrMany<T = String> {
    /// One.
    One(T),
    /// Any number.
    Many(Vec<T>),
}

impl<T> OneOrMany<T> {
    /// All of them.
    pub fn as_slice(&self) -> &[T] {
        match self {
            Self::One(one) => slice::from_ref(one),
            Self::Many(many) => many,
        }
    }

    /// All of them, to be changed.
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        match self {
            Self::One(one) => slice::from_mut(one),
            Self::Many(many) => many,
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.as_slice().is_empty()
    }

    /// Adds one behind those that are there.
    pub fn push(&mut self, one: T) {
        let mut all = match std::mem::take(self) {
            Self::One(first) => vec![first],
            Self::Many(many) => many,
        };
        all.push(one);
        *self = Self::Many(all);
    }
}

impl<T> Default for OneOrMany<T> {
    fn default() -> Self {
        Self::Many(Vec::new())
    }
}

impl<T> From<T> for OneOrMany<T> {
    fn from(one: T) -> Self {
        Self::One(one)
    }
}

/// By hand, since what is wrong with one of them would not be told otherwise.
impl<'de, T: Deserialize<'de>> Deserialize<'de> for OneOrMany<T> {
    fn deserialize<D: Deserializer<'de>>(plan: D) -> Result<Self, D::Error> {
        plan.deserialize_any(OneOrManyVisitor(PhantomData))
    }
}

struct OneOrManyVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for OneOrManyVisitor<T> {
    type Value = OneOrMany<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("one value or a list of them")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<OneOrMany<T>, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(items)).map(OneOrMany::Many)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<OneOrMany<T>, E> {
        T::deserialize(text.into_deserializer()).map(OneOrMany::One)
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<OneOrMany<T>, E> {
        T::deserialize(number.into_deserializer()).map(OneOrMany::One)
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<OneOrMany<T>, E> {
        T::deserialize(number.into_deserializer()).map(OneOrMany::One)
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<OneOrMany<T>, E> {
        T::deserialize(number.into_deserializer()).map(OneOrMany::One)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Count, TimeSpan};

    #[test]
    fn one_reads_as_a_list_of_one() {
        let one: OneOrMany = serde_json::from_str("\"a\"").unwrap();
        let many: OneOrMany = serde_json::from_str("[\"a\", \"b\"]").unwrap();
        assert_eq!((one.as_slice().len(), many.as_slice()), (1, ["a", "b"].map(str::to_owned).as_slice()));
        assert_eq!(serde_json::to_string(&one).unwrap(), "\"a\"");
        assert!(OneOrMany::<String>::default().is_empty());
        let count: OneOrMany<Count> = serde_json::from_str("3").unwrap();
        assert_eq!(count.as_slice(), [Count::at_least_one(3)]);
    }

    #[test]
    fn what_is_wrong_with_one_of_them_is_told() {
        for json in ["\"5\"", "[\"5s\", \"5\"]"] {
            let error = serde_json::from_str::<OneOrMany<TimeSpan>>(json).unwrap_err().to_string();
            assert!(error.starts_with("`5` is no time"), "{error}");
        }
        let error = serde_json::from_str::<OneOrMany>("{}").unwrap_err().to_string();
        assert!(error.contains("expected one value or a list of them"), "{error}");
    }

    #[test]
    fn what_is_added_stands_last() {
        let mut values = OneOrMany::from("a".to_owned());
        values.push("b".to_owned());
        values.as_mut_slice()[0].push('!');
        assert_eq!(values, OneOrMany::Many(vec!["a!".to_owned(), "b".to_owned()]));
    }
}
