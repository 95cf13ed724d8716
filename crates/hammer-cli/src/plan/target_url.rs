//! The URL of a target.

use std::fmt;

use hammer_values::{ServiceUrl, ValueError, broken_scheme, without_user};
use http::Uri;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An `http` or `https` URL; one without a scheme is `http`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub(crate) struct TargetUrl(ServiceUrl);

impl TargetUrl {
    /// The URL.
    pub(crate) const fn url(&self) -> &Uri {
        self.0.url()
    }
}

impl TryFrom<String> for TargetUrl {
    type Error = ValueError;

    fn try_from(text: String) -> Result<Self, ValueError> {
        if let Some(expected) = broken_scheme(&text) {
            return Err(ValueError::Form { text: without_user(&text), expected });
        }
        let whole = if text.contains("://") { text } else { format!("http://{text}") };
        whole.parse().map(Self)
    }
}

impl From<TargetUrl> for String {
    fn from(url: TargetUrl) -> Self {
        url.to_string()
    }
}

impl fmt::Display for TargetUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
