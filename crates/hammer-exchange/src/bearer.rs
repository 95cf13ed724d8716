//! Where the bearer token of requests comes from: a place that holds one, or an issuer that grants them.

use std::path::PathBuf;

use hammer_values::Agreed;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::grant::GrantPlan;
use crate::token::{SecretPlaces, TokenPlan};

/// Where the bearer token of requests comes from. No token and no secret ever stands in a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(into = "WrittenBearer")]
#[schemars(with = "WrittenBearer")]
pub enum BearerPlan {
    /// One token for all requests.
    Token(TokenPlan),
    /// Tokens that an issuer grants; requests take them in turn.
    Grant(Box<Agreed<GrantPlan>>),
}

/// Where the bearer token of requests comes from: one of the three. No token and no secret ever stands in a plan.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "BearerPlan")]
pub(crate) struct WrittenBearer {
    /// The file that holds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<PathBuf>,
    /// The environment variable that holds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    env: Option<String>,
    /// Tokens that an issuer grants, and that are kept fresh beside the load.
    #[serde(skip_serializing_if = "Option::is_none")]
    grant: Option<Agreed<GrantPlan>>,
}

/// Not exactly one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("give exactly one of file, env, grant")]
pub struct NotOneBearer;

impl BearerPlan {
    /// The place of the one token, where there is one.
    pub const fn token(&self) -> Option<&TokenPlan> {
        match self {
            Self::Token(token) => Some(token),
            Self::Grant(_) => None,
        }
    }

    /// The grant, where there is one.
    pub const fn grant(&self) -> Option<&Agreed<GrantPlan>> {
        match self {
            Self::Token(_) => None,
            Self::Grant(grant) => Some(grant),
        }
    }
}

impl TryFrom<WrittenBearer> for BearerPlan {
    type Error = NotOneBearer;

    fn try_from(written: WrittenBearer) -> Result<Self, NotOneBearer> {
        match (written.file, written.env, written.grant) {
            (Some(path), None, None) => Ok(Self::Token(TokenPlan::File(path))),
            (None, Some(variable), None) => Ok(Self::Token(TokenPlan::Env(variable))),
            (None, None, Some(grant)) => Ok(Self::Grant(Box::new(grant))),
            _ => Err(NotOneBearer),
        }
    }
}

impl From<BearerPlan> for WrittenBearer {
    fn from(bearer: BearerPlan) -> Self {
        match bearer {
            BearerPlan::Token(TokenPlan::File(path)) => Self { file: Some(path), ..Self::default() },
            BearerPlan::Token(TokenPlan::Env(variable)) => Self { env: Some(variable), ..Self::default() },
            BearerPlan::Grant(grant) => Self { grant: Some(*grant), ..Self::default() },
        }
    }
}

impl<'de> Deserialize<'de> for BearerPlan {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer
            .deserialize_any(SecretPlaces::<WrittenBearer, Self>::new("a map with file, env or grant"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<BearerPlan, String> {
        serde_json::from_str(json).map_err(|error: serde_json::Error| error.to_string())
    }

    #[test]
    fn a_bearer_is_of_one_place_and_survives_its_own_text() {
        let grant = r#"{"grant":{"token_url":"http://a/t","client_id":"c","client_secret":{"env":"S"}}}"#;
        for json in [r#"{"file":"a"}"#, r#"{"env":"A"}"#, grant] {
            let bearer = read(json).unwrap();
            assert_eq!(read(&serde_json::to_string(&bearer).unwrap()), Ok(bearer.clone()));
            assert_ne!(bearer.token().is_some(), bearer.grant().is_some());
        }
        let both = grant.replacen('{', r#"{"env":"A","#, 1);
        for neither in ["{}", r#"{"file":"a","env":"B"}"#, &both] {
            let error = read(neither).unwrap_err();
            assert!(error.starts_with("give exactly one of file, env, grant"), "{error}");
        }
    }

    #[test]
    fn what_stands_where_a_place_belongs_is_not_shown() {
        for written in [r#""canary""#, r#"{"grant":{"client_secret":"canary"}}"#, r#"{"token":"canary"}"#] {
            let error = read(written).unwrap_err();
            assert!(!error.contains("canary"), "{error}");
        }
        assert!(read("4711").unwrap_err().starts_with("expected a map with file, env or grant; what is"));
        let conflict = read(r#"{"grant":{"client_id":"c","client_secret":{"env":"S"}}}"#).unwrap_err();
        assert!(conflict.contains("token_url: give exactly one"), "{conflict}");
    }
}
