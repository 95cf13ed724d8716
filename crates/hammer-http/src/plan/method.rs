//! Methods in a plan.

use hammer_values::ValueError;
use http::Method;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A method (RFC 9110 section 9); `GET` unless another one is given.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct RequestMethod(Method);

impl RequestMethod {
    /// The method.
    pub const fn method(&self) -> &Method {
        &self.0
    }
}

impl TryFrom<String> for RequestMethod {
    type Error = ValueError;

    fn try_from(text: String) -> Result<Self, ValueError> {
        let expected = "method (like GET, POST, PUT)";
        Method::try_from(text.as_str()).map(Self).map_err(|_| ValueError::Form { text, expected })
    }
}

impl From<RequestMethod> for String {
    fn from(method: RequestMethod) -> Self {
        method.0.to_string()
    }
}
