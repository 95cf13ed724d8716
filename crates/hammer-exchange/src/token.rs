//! Where a bearer token comes from.

use std::fmt;
use std::marker::PhantomData;
use std::path::PathBuf;

use hammer_net::{Secret, SecretError};
use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// Where a bearer token comes from. The token itself never stands in a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(into = "WrittenToken")]
#[schemars(with = "WrittenToken")]
pub enum TokenPlan {
    /// A file that holds it.
    File(PathBuf),
    /// An environment variable that holds it.
    Env(String),
}

/// Where a bearer token comes from: one of the two. The token itself never stands in a plan.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "TokenPlan")]
struct WrittenToken {
    /// The file that holds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<PathBuf>,
    /// The environment variable that holds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    env: Option<String>,
}

/// Not exactly one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("give exactly one of file, env")]
pub struct NotOnePlace;

/// Why there is no token: a fragment that completes "failed to ...". No variant carries one.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// There is none in the file.
    #[error("{0}")]
    File(SecretError),
    /// There is none in the environment variable.
    #[error("{0}")]
    Env(SecretError),
}

impl TokenPlan {
    /// Reads the token.
    ///
    /// # Errors
    /// When there is no token in the place given.
    pub fn read(&self) -> Result<Secret, TokenError> {
        match self {
            Self::File(path) => Secret::from_file(path).map_err(TokenError::File),
            Self::Env(variable) => Secret::from_env(variable).map_err(TokenError::Env),
        }
    }

    /// What is wrong with a token from there that stands in no header.
    pub(crate) const fn unsendable(&self) -> TokenError {
        match self {
            Self::File(_) => TokenError::File(SecretError::Unprintable),
            Self::Env(_) => TokenError::Env(SecretError::Unprintable),
        }
    }
}

impl TokenError {
    /// Whether the place is there and holds nothing.
    pub(crate) fn is_empty(&self) -> bool {
        let (Self::File(error) | Self::Env(error)) = self;
        error.is_empty()
    }

    /// The key at fault, below the block of the plan that says where the token is.
    pub const fn key(&self) -> &'static str {
        match self {
            Self::File(_) => "file",
            Self::Env(_) => "env",
        }
    }
}

impl TryFrom<WrittenToken> for TokenPlan {
    type Error = NotOnePlace;

    fn try_from(written: WrittenToken) -> Result<Self, NotOnePlace> {
        match (written.file, written.env) {
            (Some(path), None) => Ok(Self::File(path)),
            (None, Some(variable)) => Ok(Self::Env(variable)),
            _ => Err(NotOnePlace),
        }
    }
}

impl From<TokenPlan> for WrittenToken {
    fn from(token: TokenPlan) -> Self {
        match token {
            TokenPlan::File(path) => Self { file: Some(path), env: None },
            TokenPlan::Env(variable) => Self { file: None, env: Some(variable) },
        }
    }
}

impl<'de> Deserialize<'de> for TokenPlan {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SecretPlaces::<WrittenToken, Self>::new("a map with file or env"))
    }
}

/// Reads where a secret is, as `W` writes it. Whoever writes the secret itself where its place belongs does not find it in the error.
pub(crate) struct SecretPlaces<W, P> {
    expected: &'static str,
    read: PhantomData<(W, P)>,
}

impl<W, P> SecretPlaces<W, P> {
    pub(crate) const fn new(expected: &'static str) -> Self {
        Self { expected, read: PhantomData }
    }

    fn unshown<E: de::Error>(&self) -> E {
        let expected = self.expected;
        E::custom(format_args!("expected {expected}; what is there is not shown, since it may be a secret"))
    }
}

impl<'de, W, P> Visitor<'de> for SecretPlaces<W, P>
where
    W: Deserialize<'de>,
    P: TryFrom<W, Error: fmt::Display>,
{
    type Value = P;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expected)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<P, A::Error> {
        let written = W::deserialize(MapAccessDeserializer::new(map))?;
        P::try_from(written).map_err(de::Error::custom)
    }

    fn visit_str<E: de::Error>(self, _: &str) -> Result<P, E> {
        Err(self.unshown())
    }

    fn visit_u64<E: de::Error>(self, _: u64) -> Result<P, E> {
        Err(self.unshown())
    }

    fn visit_i64<E: de::Error>(self, _: i64) -> Result<P, E> {
        Err(self.unshown())
    }

    fn visit_f64<E: de::Error>(self, _: f64) -> Result<P, E> {
        Err(self.unshown())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_where_a_place_belongs_is_not_shown() {
        for written in [r#""canary""#, "4711", "-4711", "47.11"] {
            let error = serde_json::from_str::<TokenPlan>(written).unwrap_err().to_string();
            assert!(error.starts_with("expected a map with file or env"), "{error}");
            assert!(!error.contains("canary") && !error.contains("47"), "{error}");
        }
    }

    #[test]
    fn a_token_is_in_one_place() {
        let text = r#"{"env":"TOKEN"}"#;
        let token: TokenPlan = serde_json::from_str(text).unwrap();
        assert_eq!(
            (&token, serde_json::to_string(&token).unwrap()),
            (&TokenPlan::Env("TOKEN".into()), text.to_owned())
        );
        for neither in ["{}", r#"{"file":"a","env":"B"}"#] {
            let error = serde_json::from_str::<TokenPlan>(neither).unwrap_err().to_string();
            assert!(error.starts_with("give exactly one of file, env"), "{error}");
        }
        let error = serde_json::from_str::<TokenPlan>(r#"{"token":"canary"}"#).unwrap_err().to_string();
        assert!(error.contains("unknown field `token`") && !error.contains("canary"), "{error}");
    }
}
