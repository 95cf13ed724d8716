//! Lists of one item at least.

use std::borrow::Cow;
use std::ops::{Deref, DerefMut};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

/// A list that is not empty.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct NonEmpty<T>(Vec<T>);

impl<T> NonEmpty<T> {
    /// Its first, middle and last item; the earlier of two in the middle, and each item once.
    #[must_use]
    pub fn ends_and_middle(self) -> Self {
        let last = self.0.len() - 1;
        let kept = [0, last / 2, last];
        let items = self.0.into_iter().enumerate().filter(|(place, _)| kept.contains(place));
        Self(items.map(|(_, item)| item).collect())
    }
}

impl<T> Deref for NonEmpty<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T> DerefMut for NonEmpty<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}

impl<'a, T> IntoIterator for &'a NonEmpty<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a, T> IntoIterator for &'a mut NonEmpty<T> {
    type Item = &'a mut T;
    type IntoIter = std::slice::IterMut<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for NonEmpty<T> {
    fn deserialize<D: Deserializer<'de>>(plan: D) -> Result<Self, D::Error> {
        match Vec::deserialize(plan)? {
            none if none.is_empty() => Err(D::Error::custom("it is empty")),
            some => Ok(Self(some)),
        }
    }
}

impl<T: JsonSchema> JsonSchema for NonEmpty<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("NonEmpty_of_{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "array", "items": generator.subschema_for::<T>(), "minItems": 1 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_and_the_middle_are_kept_in_their_order_and_once() {
        for (all, kept) in [
            (&[1][..], &[1][..]),
            (&[1, 2], &[1, 2]),
            (&[3, 2, 1], &[3, 2, 1]),
            (&[1, 2, 3, 4], &[1, 2, 4]),
            (&[1, 2, 3, 4, 5], &[1, 3, 5]),
        ] {
            assert_eq!(&*NonEmpty(all.to_vec()).ends_and_middle(), kept);
        }
    }

    #[test]
    fn a_list_of_nothing_is_refused() {
        let mut read: NonEmpty<u8> = serde_json::from_str("[1, 2]").unwrap();
        read.iter_mut().for_each(|item| *item += 1);
        assert_eq!((&*read, serde_json::to_string(&read).unwrap().as_str()), ([2, 3].as_slice(), "[2,3]"));
        let error = serde_json::from_str::<NonEmpty<u8>>("[]").unwrap_err().to_string();
        assert!(error.starts_with("it is empty"), "{error}");
    }
}
