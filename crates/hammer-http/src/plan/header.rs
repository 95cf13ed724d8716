//! Headers in a plan.

use std::cmp::Ordering;
use std::fmt;

use hammer_values::ValueError;
use http::header::{CONTENT_LENGTH, HeaderName, HeaderValue, TRANSFER_ENCODING};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The name of a header, in the order of the text as it was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct HeaderKey {
    text: String,
    name: HeaderName,
}

/// The value of a header, which may be a secret: no message and no debugging output shows it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct HeaderText {
    text: String,
    value: HeaderValue,
}

/// A text that no header can have as its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is no header's value; it is not shown, since it may be a secret")]
pub struct UnusableHeader;

impl HeaderKey {
    /// The name.
    pub const fn name(&self) -> &HeaderName {
        &self.name
    }
}

impl HeaderText {
    /// The value, with its placeholders as they were written.
    pub const fn value(&self) -> &HeaderValue {
        &self.value
    }

    /// As it was written.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }
}

impl Ord for HeaderKey {
    fn cmp(&self, other: &Self) -> Ordering {
        self.text.cmp(&other.text)
    }
}

impl PartialOrd for HeaderKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl TryFrom<String> for HeaderKey {
    type Error = ValueError;

    fn try_from(text: String) -> Result<Self, ValueError> {
        let name = HeaderName::try_from(text.as_str());
        match name {
            Ok(name) if [CONTENT_LENGTH, TRANSFER_ENCODING].contains(&name) => {
                Err(ValueError::Form { text, expected: "header that can be given: it follows from the body" })
            }
            Ok(name) => Ok(Self { text, name }),
            Err(_) => Err(ValueError::Form { text, expected: "header name" }),
        }
    }
}

impl From<HeaderKey> for String {
    fn from(key: HeaderKey) -> Self {
        key.text
    }
}

impl TryFrom<String> for HeaderText {
    type Error = UnusableHeader;

    fn try_from(text: String) -> Result<Self, UnusableHeader> {
        let value = HeaderValue::try_from(text.as_str()).map_err(|_| UnusableHeader)?;
        Ok(Self { text, value })
    }
}

impl From<HeaderText> for String {
    fn from(header: HeaderText) -> Self {
        header.text
    }
}

impl fmt::Debug for HeaderText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_written_as_it_was_and_is_one_whatever_its_case() {
        let keys = ["Accept", "accept"].map(|text| HeaderKey::try_from(text.to_owned()).unwrap());
        assert!(keys[0].name() == keys[1].name() && keys[0] < keys[1]);
        assert_eq!(String::from(keys[0].clone()), "Accept");
        let error = HeaderKey::try_from("a b".to_owned()).unwrap_err();
        assert_eq!(error.to_string(), "`a b` is no header name");
    }

    #[test]
    fn neither_a_value_nor_a_refused_one_is_shown() {
        let value = HeaderText::try_from("canary".to_owned()).unwrap();
        assert_eq!((format!("{value:?}").as_str(), value.value().as_bytes()), ("***", b"canary".as_slice()));
        let error = HeaderText::try_from("canary\u{7}".to_owned()).unwrap_err();
        assert!(!format!("{error:?}{error}").contains("canary"));
    }
}
