//! Names.

use std::borrow::Borrow;
use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::error::ValueError;
use crate::scalar::{self, Scalar, ScalarValue};

/// A name that can stand in the path of a series or of a key: no space, dot, slash or control character is in it, and something is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(with = "String")]
pub struct Word(String);

impl Word {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl ScalarValue for Word {
    const EXPECTED: &'static str = "word: a name without space, dot and slash";

    fn of_scalar(scalar: Scalar<'_>) -> Result<Self, ValueError> {
        let word = scalar.to_string();
        match word.is_empty() || word.contains(is_none_of_a_word) {
            true => Err(scalar.is_no::<Self>()),
            false => Ok(Self(word)),
        }
    }
}

fn is_none_of_a_word(letter: char) -> bool {
    matches!(letter, '/' | '.') || letter.is_whitespace() || letter.is_control()
}

/// A map by names is searched by text.
impl Borrow<str> for Word {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl FromStr for Word {
    type Err = ValueError;

    fn from_str(text: &str) -> Result<Self, ValueError> {
        Self::of_scalar(Scalar::Text(text))
    }
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Word {
    fn deserialize<D: Deserializer<'de>>(plan: D) -> Result<Self, D::Error> {
        scalar::deserialize(plan)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_can_stand_in_a_path() {
        for (json, word) in [("\"2027h1\"", "2027h1"), ("\"add-chain\"", "add-chain"), ("2027", "2027")] {
            assert_eq!(serde_json::from_str::<Word>(json).unwrap().as_str(), word);
        }
        for (text, shown) in [
            ("", ""),
            ("a b", "a b"),
            ("a/b", "a/b"),
            ("a.b", "a.b"),
            ("a\tb", "a\\tb"),
            ("a\nb", "a\\nb"),
            ("\u{1b}[31m", "\\u{1b}[31m"),
        ] {
            let error = text.parse::<Word>().unwrap_err();
            assert_eq!(
                error.to_string(),
                format!("`{shown}` is no word: a name without space, dot and slash")
            );
        }
    }
}
