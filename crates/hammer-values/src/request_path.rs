//! Paths in a plan.

use http::uri::PathAndQuery;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::ValueError;

/// Path and query behind the path of a target's URL; empty for that path itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct RequestPath(String);

impl RequestPath {
    /// As it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for RequestPath {
    type Error = ValueError;

    fn try_from(text: String) -> Result<Self, ValueError> {
        // The target's URL stands before it, which ends without a slash.
        let goes_on = text.is_empty() || text.starts_with(['/', '?']);
        // Whatever stands behind it is sent to nobody.
        let is_whole = !text.contains('#');
        match PathAndQuery::try_from(format!("/{text}")) {
            Ok(_) if goes_on && is_whole => Ok(Self(text)),
            _ => Err(ValueError::Form { text, expected: "path (like /a/b?c=d)" }),
        }
    }
}

impl From<RequestPath> for String {
    fn from(path: RequestPath) -> Self {
        path.0
    }
}
