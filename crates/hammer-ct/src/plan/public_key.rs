//! The key of a log in a plan.

use hammer_tlog::encoding::base64;
use hammer_tlog::keys::key::LogKey;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::CtError;

/// The public key of a log: base64 of its DER, as in log lists, or PEM. It is written as base64.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct PublicKey(LogKey);

impl PublicKey {
    /// The key.
    pub const fn key(&self) -> &LogKey {
        &self.0
    }
}

impl From<LogKey> for PublicKey {
    fn from(key: LogKey) -> Self {
        Self(key)
    }
}

impl TryFrom<String> for PublicKey {
    type Error = UnusableKey;

    fn try_from(text: String) -> Result<Self, UnusableKey> {
        text.parse().map(Self).map_err(|why| UnusableKey(CtError::Key(why)))
    }
}

impl From<PublicKey> for String {
    fn from(key: PublicKey) -> Self {
        base64(key.0.spki())
    }
}

/// Why a text is no public key; the text is a whole clause.
#[derive(Debug, thiserror::Error)]
#[error("failed to {0}")]
pub struct UnusableKey(CtError);

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = include_str!("../../testdata/log-public-key.b64");

    #[test]
    fn a_key_is_base64_or_pem_and_is_written_as_base64() {
        let read = PublicKey::try_from(KEY.to_owned()).unwrap();
        assert_eq!(String::from(read.clone()), KEY.trim());
        let pem = format!("-----BEGIN PUBLIC KEY-----\n{}\n-----END PUBLIC KEY-----\n", KEY.trim());
        assert_eq!(PublicKey::try_from(pem).unwrap(), read);
        let error = serde_json::from_str::<PublicKey>("\"AAAA\"").unwrap_err().to_string();
        assert!(
            error.starts_with("failed to use the log's public key: failed to read a public key: "),
            "{error}"
        );
    }
}
