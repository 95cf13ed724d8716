//! An entry as Rekor stores it, and how the parts of what is proposed are read.

use hammer_tlog::{encoding::from_base64, logs::merkle::sha256};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::rekor::refusal::RekorRefusal;

/// An entry that may be logged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CanonicalEntry {
    /// The leaf.
    pub(crate) body: String,
    /// Under what it is found: `sha256:<hex>`, key hashes, e-mail addresses, all in lower case.
    pub(crate) keys: Vec<String>,
}

/// The members of a body, in the order of their names.
#[derive(Debug, Serialize)]
struct KindBody<S> {
    #[serde(rename = "apiVersion")]
    api_version: &'static str,
    kind: &'static str,
    spec: S,
}

impl CanonicalEntry {
    /// The entry of a kind; the members of `spec` stand in the order of their names.
    pub(super) fn of(
        kind: &'static str,
        spec: impl Serialize,
        keys: Vec<String>,
    ) -> Result<Self, RekorRefusal> {
        let body = serde_json::to_string(&KindBody { api_version: VERSION, kind, spec });
        let body = body.map_err(|error| RekorRefusal::entry(&error))?;
        Ok(Self { body, keys: keys.into_iter().map(|key| key.to_lowercase()).collect() })
    }
}

/// The spec of a kind.
pub(super) fn read_spec<'a, S: Deserialize<'a>>(spec: Value) -> Result<S, RekorRefusal> {
    S::deserialize(spec).map_err(|error| RekorRefusal::entry(&error))
}

/// The bytes of a base64 text that stands at `name`.
pub(super) fn bytes(name: &str, text: Option<String>) -> Result<Vec<u8>, RekorRefusal> {
    let text = text.filter(|text| !text.is_empty());
    let text = text.ok_or_else(|| RekorRefusal::entry(format!("missing {name}")))?;
    from_base64(text).map_err(|_| RekorRefusal::entry(format!("failed parsing base64 data for {name}")))
}

/// The key under which whoever searches for a hash finds an entry.
pub(super) fn hash_key(bytes: &[u8]) -> String {
    format!("sha256:{}", sha256(bytes))
}

/// The version of each kind.
pub(super) const VERSION: &str = "0.0.1";
