//! The values of a header.

use std::slice;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The value of a header, or a list of values, of which each is sent as a header of that name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum HeaderValues {
    /// One.
    One(String),
    /// Any number.
    Many(Vec<String>),
}

impl HeaderValues {
    /// All of them, in the order in which they are sent.
    pub fn as_slice(&self) -> &[String] {
        match self {
            Self::One(value) => slice::from_ref(value),
            Self::Many(values) => values,
        }
    }

    /// The same, to be changed.
    pub fn as_mut_slice(&mut self) -> &mut [String] {
        match self {
            Self::One(value) => slice::from_mut(value),
            Self::Many(values) => values,
        }
    }

    /// Adds one behind those that are there.
    pub fn push(&mut self, value: String) {
        let mut values = self.as_slice().to_vec();
        values.push(value);
        *self = Self::Many(values);
    }
}

impl From<String> for HeaderValues {
    fn from(value: String) -> Self {
        Self::One(value)
    }
}
