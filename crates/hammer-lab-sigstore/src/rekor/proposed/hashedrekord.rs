//! `hashedrekord` 0.0.1: the hash of an artifact, a signature over it, and who signed.

use hammer_tlog::{
    encoding::{Base64, base64},
    logs::merkle::sha256,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::canonical_entry::{CanonicalEntry, bytes, read_spec};
use crate::{
    artifact::{ArtifactVerifier, HashAlgorithm},
    rekor::refusal::RekorRefusal,
};

pub(super) const KIND: &str = "hashedrekord";

#[derive(Debug, Deserialize)]
struct HashedRekordSpec {
    signature: Option<ProposedSignature>,
    data: Option<ProposedData>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ProposedSignature {
    content: Option<String>,
    public_key: Option<ProposedKey>,
}

#[derive(Debug, Deserialize)]
struct ProposedKey {
    content: Option<String>,
}

#[derive(Debug, Deserialize)]
struct ProposedData {
    hash: Option<NamedHash>,
}

/// A hash with the name of its algorithm.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct NamedHash {
    pub(super) algorithm: String,
    /// Hex.
    pub(super) value: String,
}

#[derive(Debug, Serialize)]
struct CanonicalSpec {
    data: CanonicalData,
    signature: CanonicalSignature,
}

#[derive(Debug, Serialize)]
struct CanonicalData {
    hash: NamedHash,
}

#[derive(Debug, Serialize)]
struct CanonicalSignature {
    content: Base64,
    #[serde(rename = "publicKey")]
    public_key: CanonicalKey,
}

#[derive(Debug, Serialize)]
struct CanonicalKey {
    content: String,
}

/// Verifies the signature over the hash; the certificate's own chain and times are none of the log's affair.
pub(super) fn canonical(spec: Value) -> Result<CanonicalEntry, RekorRefusal> {
    let HashedRekordSpec { signature, data } = read_spec(spec)?;
    let missing = |what: &str| RekorRefusal::entry(format!("missing {what}"));
    let ProposedSignature { content, public_key } = signature.ok_or_else(|| missing("signature"))?;
    let signature = bytes("signature content", content)?;
    let key = bytes("public key content", public_key.ok_or_else(|| missing("public key"))?.content)?;
    let verifier = ArtifactVerifier::from_pem(&key).map_err(RekorRefusal::entry)?;
    let hash = data.ok_or_else(|| missing("data"))?.hash.ok_or_else(|| missing("hash"))?;
    let algorithm = HashAlgorithm::from_name(&hash.algorithm);
    let digest = from_hex(&hash.value);
    let (Some(algorithm), Some(digest)) = (algorithm, digest) else {
        return Err(RekorRefusal::entry("invalid value for hash"));
    };
    verifier.key.verify_hash(algorithm, &digest, &signature).map_err(RekorRefusal::entry)?;
    let key_hash = sha256(verifier.pem.as_bytes()).to_hex();
    let found = format!("{}:{}", hash.algorithm, hash.value);
    let keys = std::iter::once(key_hash).chain(verifier.subjects).chain([found]).collect();
    let public_key = CanonicalKey { content: base64(verifier.pem.as_bytes()) };
    let signature = CanonicalSignature { content: Base64(signature), public_key };
    CanonicalEntry::of(KIND, CanonicalSpec { data: CanonicalData { hash }, signature }, keys)
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let digit = |digit: u8| char::from(digit).to_digit(16);
    let byte = |[high, low]: &[u8; 2]| u8::try_from(digit(*high)? << 4 | digit(*low)?).ok();
    rest.is_empty().then(|| pairs.iter().map(byte).collect())?
}
