//! A user with a password, as requests carry both.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use hammer_net::Secret;
use hammer_values::{KeyConflict, PlanBlock};
use http::HeaderValue;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::token::{TokenError, TokenPlan};

/// A user with a password (RFC 7617).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BasicPlan {
    /// The user.
    pub user: String,
    /// Where the password is; it never stands in a plan.
    pub password: TokenPlan,
}

impl BasicPlan {
    /// The `Authorization` of both, which no log shows.
    ///
    /// # Errors
    /// A password that cannot be read or sent.
    pub fn authorization(&self) -> Result<HeaderValue, TokenError> {
        let password = match self.password.read() {
            // A user may have an empty one (RFC 7617 section 2).
            Err(error) if error.is_empty() => None,
            read => Some(read?),
        };
        let password = password.as_ref().map_or("", Secret::expose);
        let pair = BASE64_STANDARD.encode(format!("{}:{password}", self.user));
        let value = HeaderValue::try_from(format!("Basic {pair}"));
        let mut value = value.map_err(|_| self.password.unsendable())?;
        value.set_sensitive(true);
        Ok(value)
    }
}

impl PlanBlock for BasicPlan {
    fn conflict(&self) -> Option<KeyConflict> {
        let reason = "a user has no colon in its name (RFC 7617 section 2)";
        self.user.contains(':').then(|| KeyConflict::at("user", reason))
    }
}
