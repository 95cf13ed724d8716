//! `rfc3161` 0.0.1: the response of a timestamp authority.

use hammer_tlog::encoding::Base64;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    canonical_entry::{CanonicalEntry, bytes, hash_key, read_spec},
    timestamp,
};
use crate::rekor::refusal::RekorRefusal;

pub(super) const KIND: &str = "rfc3161";

#[derive(Debug, Deserialize)]
struct Rfc3161Spec {
    tsr: Option<ProposedResponse>,
}

#[derive(Debug, Deserialize)]
struct ProposedResponse {
    content: Option<String>,
}

#[derive(Debug, Serialize)]
struct CanonicalTimestamp {
    tsr: CanonicalResponse,
}

#[derive(Debug, Serialize)]
struct CanonicalResponse {
    content: Base64,
}

/// Verifies the token by the certificate within it; whose that is, is none of the log's affair.
pub(super) fn canonical(spec: Value) -> Result<CanonicalEntry, RekorRefusal> {
    let response =
        read_spec::<Rfc3161Spec>(spec)?.tsr.ok_or_else(|| RekorRefusal::entry("missing tsr data"))?;
    let response = bytes("tsr content", response.content)?;
    if response.len() > MOST_BYTES {
        return Err(RekorRefusal::entry("tsr exceeds maximum allowed size (10kB)"));
    }
    timestamp::verify(&response).map_err(RekorRefusal::entry)?;
    let keys = vec![hash_key(&response)];
    CanonicalEntry::of(
        KIND,
        CanonicalTimestamp { tsr: CanonicalResponse { content: Base64(response) } },
        keys,
    )
}

const MOST_BYTES: usize = 10 * 1024;
