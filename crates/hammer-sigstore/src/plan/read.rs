//! Reads of single services, in a plan.

use std::fmt;

use hammer_read::ReadPattern;
use hammer_values::{SampleShare, TimeSpan, Weights};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Reads of single services, each one operation. What is read is verified, by the keys and chains that the target trusts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ServiceReadPlan {
    /// How often each kind is read, as weights: `{log-info: 3, search: 1}` is three log infos for each search. Each kind is a
    /// series. Rekor v1: `log-info`, `log-proof`, `search`, `public-key`; timestamp authority: `certchain`; Fulcio:
    /// `trust-bundle`, `configuration`; Rekor v2: `checkpoint`, `tile`, `bundle`.
    pub mix: Weights<ServiceReadKind, u16>,
    /// In which order the tree of Rekor v2 is read.
    pub pattern: ReadPattern,
    /// What `search` looks for: e-mail addresses, or hashes of artifacts in hexadecimal digits behind `sha256:`. Without any, the
    /// artifacts of sign flows of the same run and shard; before there is one, a hash that nobody logged.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub search_for: Vec<SearchKey>,
    /// Of which searches one of the entries that are found is read by its UUID, once the search itself has ended: it has to be there, and to
    /// be about what was searched for.
    pub read_back: SampleShare,
    /// How long such an entry may be unknown, as a replica that lags has it later; less than the workload's `timeout`. One that is not there
    /// by then was invented.
    pub missing_after: TimeSpan,
}

impl Default for ServiceReadPlan {
    fn default() -> Self {
        Self {
            mix: Weights::default(),
            pattern: ReadPattern::default(),
            search_for: Vec::new(),
            read_back: SampleShare::percent(10),
            missing_after: TimeSpan::from_secs(10),
        }
    }
}

/// What a read is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ServiceReadKind {
    /// `GET /api/v1/log` of Rekor v1: the checkpoint is the log's, and its size and root are those beside it.
    LogInfo,
    /// `GET /api/v1/log/proof` of Rekor v1, between two sizes that were seen, or of the only one with itself: the proof is verified.
    LogProof,
    /// `POST /api/v1/index/retrieve` of Rekor v1: what is found are UUIDs, of entries that are there.
    Search,
    /// `GET /api/v1/log/publicKey` of Rekor v1: the key is a trusted one.
    PublicKey,
    /// `GET /api/v1/timestamp/certchain`: the chain is the trusted one.
    Certchain,
    /// `GET /api/v2/trustBundle` of Fulcio: the chains are the trusted ones.
    TrustBundle,
    /// `GET /api/v2/configuration` of Fulcio: the issuers have their form.
    Configuration,
    /// `checkpoint` of Rekor v2: its signature is verified.
    Checkpoint,
    /// A hash tile of level 0 of Rekor v2, verified up to the checkpoint's root.
    Tile,
    /// An entry bundle of Rekor v2: each entry is held against its hash tile, and that against the root.
    Bundle,
}

/// What the search index of Rekor is asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub enum SearchKey {
    /// An e-mail address.
    Email(String),
    /// SHA-256 of an artifact, in hexadecimal digits.
    Hash(String),
}

/// What is neither an e-mail address nor a hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected an e-mail address, or `sha256:` and 64 hexadecimal digits")]
pub struct NoSearchKey;

impl TryFrom<String> for SearchKey {
    type Error = NoSearchKey;

    fn try_from(text: String) -> Result<Self, NoSearchKey> {
        match text.strip_prefix("sha256:") {
            Some(digits) if digits.len() == 64 && digits.bytes().all(|digit| digit.is_ascii_hexdigit()) => {
                Ok(Self::Hash(digits.to_ascii_lowercase()))
            }
            None if is_address(&text) => Ok(Self::Email(text)),
            _ => Err(NoSearchKey),
        }
    }
}

/// Something before and behind one `@`, and nothing that JSON would escape.
fn is_address(text: &str) -> bool {
    let parts = text.split_once('@').filter(|(name, host)| !name.is_empty() && !host.is_empty());
    let is_plain = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\');
    parts.is_some_and(|(_, host)| !host.contains('@')) && text.bytes().all(is_plain)
}

impl From<SearchKey> for String {
    fn from(key: SearchKey) -> Self {
        key.to_string()
    }
}

impl fmt::Display for SearchKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Email(address) => f.write_str(address),
            Self::Hash(digits) => write!(f, "sha256:{digits}"),
        }
    }
}

impl ServiceReadKind {
    /// Its name in plans and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::LogInfo => "log-info",
            Self::LogProof => "log-proof",
            Self::Search => "search",
            Self::PublicKey => "public-key",
            Self::Certchain => "certchain",
            Self::TrustBundle => "trust-bundle",
            Self::Configuration => "configuration",
            Self::Checkpoint => "checkpoint",
            Self::Tile => "tile",
            Self::Bundle => "bundle",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_searched_for_is_an_address_or_a_hash_and_nothing_else() {
        let digits = "0a".repeat(32);
        for text in ["jdoe@redhat.com".to_owned(), format!("sha256:{digits}")] {
            let key = SearchKey::try_from(text.clone()).unwrap();
            assert_eq!(String::from(key), text);
        }
        let upper = SearchKey::try_from(format!("sha256:{}", digits.to_uppercase())).unwrap();
        assert_eq!(upper, SearchKey::Hash(digits.clone()));
        for text in ["", "jdoe", "@", "a@", "@b", "a@b@c", "a\"@b", "a @b", "sha256:00", &digits] {
            assert!(SearchKey::try_from(text.to_owned()).is_err(), "{text:?}");
        }
        assert!(SearchKey::try_from(format!("sha256:{}g", &digits[1..])).is_err());
    }

    #[test]
    fn a_plan_reads_the_kinds_that_have_a_weight_and_no_others() {
        let plan: ServiceReadPlan =
            serde_json::from_str(r#"{"mix": {"log-info": 2, "certchain": 0, "tile": 1}}"#).unwrap();
        let kinds: Vec<_> = plan.mix.drawn().map(|(kind, _)| *kind).collect();
        assert_eq!(kinds, [ServiceReadKind::LogInfo, ServiceReadKind::Tile]);
        assert!(serde_json::from_str::<ServiceReadPlan>(r#"{"mix": {"log-infos": 1}}"#).is_err());
    }
}
