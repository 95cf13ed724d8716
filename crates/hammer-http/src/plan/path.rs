//! Paths with placeholders in a plan.

use hammer_values::{RequestPath, ValueError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::template::Template;

/// Path and query behind the path of a target's URL, with placeholders; empty for that path itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct PathText(String);

impl PathText {
    /// As it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for PathText {
    type Error = ValueError;

    fn try_from(text: String) -> Result<Self, ValueError> {
        // One that cannot be read is told of by whoever knows what the placeholders may be.
        let Ok(template) = Template::parse(&text) else { return Ok(Self(text)) };
        // A value at its start may be a whole path.
        let stand_in = if text.starts_with("${") { template.with("/") } else { template.with("0") };
        match RequestPath::try_from(stand_in) {
            Ok(_) => Ok(Self(text)),
            Err(_) => Err(ValueError::Form { text, expected: "path (like /a/b?c=d)" }),
        }
    }
}

impl From<PathText> for String {
    fn from(path: PathText) -> Self {
        path.0
    }
}
