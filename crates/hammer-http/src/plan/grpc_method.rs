//! Methods of gRPC in a plan.

use hammer_values::ValueError;
use http::uri::PathAndQuery;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A method of a service of gRPC, as `/package.Service/Method`; it stands behind the path of the target's URL.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct GrpcMethod(String);

impl GrpcMethod {
    /// As it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for GrpcMethod {
    type Error = ValueError;

    fn try_from(text: String) -> Result<Self, ValueError> {
        let names = text.strip_prefix('/').and_then(|names| names.split_once('/'));
        let is_method = names.is_some_and(|(service, method)| {
            !service.is_empty() && !method.is_empty() && !method.contains(['/', '?'])
        });
        match PathAndQuery::try_from(text.as_str()) {
            Ok(_) if is_method => Ok(Self(text)),
            _ => Err(ValueError::Form { text, expected: "method of gRPC (like /package.Service/Method)" }),
        }
    }
}

impl From<GrpcMethod> for String {
    fn from(method: GrpcMethod) -> Self {
        method.0
    }
}
