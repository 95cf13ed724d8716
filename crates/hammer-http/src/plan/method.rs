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
        let expected = "method in capitals (like GET, POST, PUT)";
        // Methods differ by case (RFC 9110 section 9.1), and no server has the small ones of those that everybody knows.
        let is_misspelled = KNOWN.iter().any(|known| text.eq_ignore_ascii_case(known) && text != *known);
        let method = Method::try_from(text.as_str()).ok().filter(|_| !is_misspelled);
        method.map(Self).ok_or(ValueError::Form { text, expected })
    }
}

const KNOWN: [&str; 9] = ["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"];

impl From<RequestMethod> for String {
    fn from(method: RequestMethod) -> Self {
        method.0.to_string()
    }
}
