//! Where a bearer token comes from.

use std::path::PathBuf;

use hammer_net::{Secret, SecretError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where a bearer token comes from: one of the two. The token itself never stands in a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TokenPlan {
    /// The file that holds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    /// The environment variable that holds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub env: Option<String>,
}

/// Why there is no token: a fragment that completes "failed to ...". No variant carries one.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// Both places are given.
    #[error("use both file and env: only one may be given")]
    Both,
    /// Neither is.
    #[error("find a bearer token: neither file nor env is given")]
    Neither,
    /// There is none in the place that is given.
    #[error(transparent)]
    Secret(#[from] SecretError),
}

impl TokenPlan {
    /// Reads the token.
    ///
    /// # Errors
    /// When both places or none are given, or there is no token in the one given.
    pub fn read(&self) -> Result<Secret, TokenError> {
        match (&self.file, &self.env) {
            (Some(_), Some(_)) => Err(TokenError::Both),
            (Some(path), None) => Ok(Secret::from_file(path)?),
            (None, Some(variable)) => Ok(Secret::from_env(variable)?),
            (None, None) => Err(TokenError::Neither),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_comes_from_one_place() {
        let both = TokenPlan { file: Some("a".into()), env: Some("A".to_owned()) };
        assert!(matches!(both.read(), Err(TokenError::Both)));
        assert!(matches!(TokenPlan::default().read(), Err(TokenError::Neither)));
    }
}
