//! Where the bearer token of requests comes from: a place that holds one, an issuer that grants them, or the key of one, by which hammer mints
//! them.

use std::path::PathBuf;

use hammer_values::Agreed;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::grant::BearerGrantPlan;
use crate::minted::MintPlan;
use crate::token::{SecretPlaces, TokenPlan};

/// Where the bearer token of requests comes from. No token and no secret ever stands in a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(into = "WrittenBearer")]
#[schemars(with = "WrittenBearer")]
pub enum BearerPlan {
    /// One token for all requests.
    Token(TokenPlan),
    /// Tokens that an issuer grants; requests take them in turn.
    Grant(Box<Agreed<BearerGrantPlan>>),
    /// Tokens that hammer mints; requests take them in turn.
    Minted(Box<Agreed<MintPlan>>),
}

/// Where the bearer token of requests comes from: one of the four. No token and no secret ever stands in a plan.
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
    grant: Option<Agreed<BearerGrantPlan>>,
    /// Tokens that hammer mints in the name of an issuer, and again before they are over.
    #[serde(skip_serializing_if = "Option::is_none")]
    minted: Option<Agreed<MintPlan>>,
}

/// Not exactly one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("give exactly one of file, env, grant, minted")]
pub struct NotOneBearer;

impl BearerPlan {
    /// The place of the one token, where there is one.
    pub const fn token(&self) -> Option<&TokenPlan> {
        match self {
            Self::Token(token) => Some(token),
            Self::Grant(_) | Self::Minted(_) => None,
        }
    }

    /// The grant, where there is one.
    pub const fn grant(&self) -> Option<&Agreed<BearerGrantPlan>> {
        match self {
            Self::Token(_) | Self::Minted(_) => None,
            Self::Grant(grant) => Some(grant),
        }
    }
}

impl TryFrom<WrittenBearer> for BearerPlan {
    type Error = NotOneBearer;

    fn try_from(written: WrittenBearer) -> Result<Self, NotOneBearer> {
        match (written.file, written.env, written.grant, written.minted) {
            (Some(path), None, None, None) => Ok(Self::Token(TokenPlan::File(path))),
            (None, Some(variable), None, None) => Ok(Self::Token(TokenPlan::Env(variable))),
            (None, None, Some(grant), None) => Ok(Self::Grant(Box::new(grant))),
            (None, None, None, Some(minted)) => Ok(Self::Minted(Box::new(minted))),
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
            BearerPlan::Minted(minted) => Self { minted: Some(*minted), ..Self::default() },
        }
    }
}

impl<'de> Deserialize<'de> for BearerPlan {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SecretPlaces::<WrittenBearer, Self>::new(
            "a map with file, env, grant or minted",
        ))
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
        let minted = r#"{"minted":{"issuer":"http://a","audience":"b"}}"#;
        for json in [r#"{"file":"a"}"#, r#"{"env":"A"}"#, grant, minted] {
            let bearer = read(json).unwrap();
            assert_eq!(read(&serde_json::to_string(&bearer).unwrap()), Ok(bearer.clone()));
            assert!(bearer.token().is_none() || bearer.grant().is_none());
        }
        let both = grant.replacen('{', r#"{"env":"A","#, 1);
        for neither in ["{}", r#"{"file":"a","env":"B"}"#, &both] {
            let error = read(neither).unwrap_err();
            assert!(error.starts_with("give exactly one of file, env, grant, minted"), "{error}");
        }
    }

    #[test]
    fn what_stands_where_a_place_belongs_is_not_shown() {
        for written in [r#""canary""#, r#"{"grant":{"client_secret":"canary"}}"#, r#"{"token":"canary"}"#] {
            let error = read(written).unwrap_err();
            assert!(!error.contains("canary"), "{error}");
        }
        assert!(
            read("4711").unwrap_err().starts_with("expected a map with file, env, grant or minted; what is")
        );
        let both = r#"{"grant":{"token_url":"http://a/t","issuer":"http://a","client_id":"c"}}"#;
        let conflict = read(both).unwrap_err();
        assert!(conflict.contains("token_url: give exactly one"), "{conflict}");
    }
}
