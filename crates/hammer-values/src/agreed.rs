//! Blocks of a plan whose keys agree with one another.

use std::borrow::Cow;
use std::ops::Deref;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

/// A block of a plan of which some keys restrict one another.
pub trait PlanBlock {
    /// The first conflict between two of its keys.
    fn conflict(&self) -> Option<KeyConflict>;
}

/// A block of a plan whose keys agree: what does not is refused as it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Agreed<B>(B);

/// Two keys of a block that contradict each other, told at one of them.
///
/// A reader of plans gets it as text, since that is all that errors of serde carry: [`KeyConflict::split`] gives the key back.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{MARK}{key}: {reason}")]
pub struct KeyConflict {
    key: Cow<'static, str>,
    reason: String,
}

impl KeyConflict {
    /// A conflict that is told at `key`, with dots between the keys that lead there from the block, and the place of an item in brackets.
    pub fn at(key: impl Into<Cow<'static, str>>, reason: impl Into<String>) -> Self {
        Self { key: key.into(), reason: reason.into() }
    }

    /// The same conflict of a block that is the value of `block` in another one.
    #[must_use]
    pub fn below(self, block: &str) -> Self {
        Self { key: format!("{block}.{}", self.key).into(), ..self }
    }

    /// The key at which it is told.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// What is wrong there.
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// The key and the reason of a conflict that was told as `message`.
    pub fn split(message: &str) -> Option<(&str, &str)> {
        message.strip_prefix(MARK)?.split_once(": ")
    }
}

impl<B: PlanBlock> Agreed<B> {
    /// The block, whose keys are held against one another.
    ///
    /// # Errors
    /// The first conflict.
    pub fn new(block: B) -> Result<Self, KeyConflict> {
        match block.conflict() {
            Some(conflict) => Err(conflict),
            None => Ok(Self(block)),
        }
    }
}

impl<B> Deref for Agreed<B> {
    type Target = B;

    fn deref(&self) -> &B {
        &self.0
    }
}

impl<'de, B: PlanBlock + Deserialize<'de>> Deserialize<'de> for Agreed<B> {
    fn deserialize<D: Deserializer<'de>>(plan: D) -> Result<Self, D::Error> {
        Self::new(B::deserialize(plan)?).map_err(D::Error::custom)
    }
}

impl<B: JsonSchema> JsonSchema for Agreed<B> {
    fn inline_schema() -> bool {
        B::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        B::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        B::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        B::json_schema(generator)
    }
}

const MARK: &str = "at key ";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TimeSpan;

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    struct Between {
        least: TimeSpan,
        most: TimeSpan,
    }

    impl PlanBlock for Between {
        fn conflict(&self) -> Option<KeyConflict> {
            (self.most < self.least).then(|| KeyConflict::at("most", format!("it is below {}", self.least)))
        }
    }

    #[test]
    fn a_block_whose_keys_contradict_each_other_is_not_read() {
        let read: Agreed<Between> = serde_json::from_str(r#"{"least":"1s","most":"2s"}"#).unwrap();
        assert_eq!(read.most, TimeSpan::from_secs(2));
        assert_eq!(serde_json::to_string(&read).unwrap(), r#"{"least":"1s","most":"2s"}"#);
        let error = serde_json::from_str::<Agreed<Between>>(r#"{"least":"3s","most":"2s"}"#).unwrap_err();
        let (key, reason) =
            KeyConflict::split(&error.to_string()).map(|(k, r)| (k.to_owned(), r.to_owned())).unwrap();
        assert_eq!(key, "most");
        assert!(reason.starts_with("it is below 3s"), "{reason}");
        assert_eq!(KeyConflict::split("missing field `most`: at key most: it is none"), None);
    }
}
