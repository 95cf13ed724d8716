//! Who can be written to about the load.

use hammer_values::ValueError;
use http::HeaderValue;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A text that can stand in the `User-Agent` of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub(crate) struct Contact {
    text: String,
    user_agent: HeaderValue,
}

impl Contact {
    /// What requests say of who sends them.
    pub(crate) const fn user_agent(&self) -> &HeaderValue {
        &self.user_agent
    }
}

/// What requests say where nobody can be written to.
pub(crate) fn nameless() -> HeaderValue {
    HeaderValue::from_static(HAMMER)
}

impl TryFrom<String> for Contact {
    type Error = ValueError;

    fn try_from(text: String) -> Result<Self, ValueError> {
        match HeaderValue::try_from(format!("{HAMMER} ({text})")) {
            Ok(user_agent) => Ok(Self { text, user_agent }),
            Err(_) => Err(ValueError::Form { text, expected: "contact that a header can hold" }),
        }
    }
}

impl From<Contact> for String {
    fn from(contact: Contact) -> Self {
        contact.text
    }
}

const HAMMER: &str = concat!("hammer/", env!("CARGO_PKG_VERSION"));
