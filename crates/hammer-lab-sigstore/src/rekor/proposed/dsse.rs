//! `dsse` 0.0.1: a signed envelope, of which the log keeps hashes, signatures and who signed.

use std::collections::BTreeMap;

use hammer_tlog::{
    encoding::{base64, from_base64},
    logs::merkle::sha256,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    canonical_entry::{CanonicalEntry, bytes, hash_key, read_spec},
    hashedrekord::NamedHash,
};
use crate::{
    artifact::{ArtifactVerifier, HashAlgorithm, pre_authentication_encoding},
    rekor::refusal::RekorRefusal,
};

pub(super) const KIND: &str = "dsse";

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct DsseSpec {
    proposed_content: Option<ProposedContent>,
}

#[derive(Debug, Deserialize)]
struct ProposedContent {
    envelope: String,
    verifiers: Vec<String>,
}

/// An envelope in JSON (DSSE, "Envelope").
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct DsseEnvelope {
    payload: String,
    payload_type: String,
    signatures: Vec<DsseSignature>,
}

#[derive(Debug, Deserialize)]
struct DsseSignature {
    sig: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct CanonicalDsse {
    envelope_hash: NamedHash,
    payload_hash: NamedHash,
    signatures: Vec<VerifiedSignature>,
}

#[derive(Debug, Serialize)]
struct VerifiedSignature {
    signature: String,
    verifier: String,
}

/// Verifies every signature of the envelope by one of the verifiers, each of which must have made one.
pub(super) fn canonical(spec: Value) -> Result<CanonicalEntry, RekorRefusal> {
    let content = read_spec::<DsseSpec>(spec)?.proposed_content.ok_or_else(|| {
        RekorRefusal::entry(
            "either proposedContent or envelopeHash, payloadHash, and signatures must be present",
        )
    })?;
    let envelope: DsseEnvelope =
        serde_json::from_str(&content.envelope).map_err(|error| RekorRefusal::entry(&error))?;
    let payload = from_base64(&envelope.payload)
        .map_err(|_| RekorRefusal::entry("could not verify envelope: unable to base64 decode payload"))?;
    let message = pre_authentication_encoding(&envelope.payload_type, &payload);
    let mut by_signature = BTreeMap::new();
    for verifier in content.verifiers {
        let verifier = ArtifactVerifier::from_pem(&bytes("verifier", Some(verifier))?);
        let verifier = verifier
            .map_err(|error| RekorRefusal::entry(format!("could not parse public key as x509: {error}")))?;
        by_signature.extend(signed_by(&verifier, &envelope.signatures, &message)?);
    }
    if envelope.signatures.iter().any(|signature| !by_signature.contains_key(&signature.sig)) {
        return Err(RekorRefusal::entry("all signatures must have a key that verifies it"));
    }
    entry(&content.envelope, &payload, by_signature)
}

/// The signatures that the verifier's key made, one at least.
fn signed_by(
    verifier: &ArtifactVerifier,
    signatures: &[DsseSignature],
    message: &[u8],
) -> Result<Vec<(String, ArtifactVerifier)>, RekorRefusal> {
    let holds = |signature: &&DsseSignature| {
        let bytes = from_base64(&signature.sig).unwrap_or_default();
        verifier.key.verify_message(HashAlgorithm::Sha256, message, &bytes).is_ok()
    };
    let signed: Vec<_> = signatures.iter().filter(holds).collect();
    if signed.is_empty() {
        return Err(RekorRefusal::entry(
            "could not verify envelope: accepted signatures do not match threshold, Found: 0, Expected 1",
        ));
    }
    Ok(signed.into_iter().map(|signature| (signature.sig.clone(), verifier.clone())).collect())
}

fn entry(
    envelope: &str,
    payload: &[u8],
    by_signature: BTreeMap<String, ArtifactVerifier>,
) -> Result<CanonicalEntry, RekorRefusal> {
    let named = |bytes: &[u8]| NamedHash { algorithm: "sha256".to_owned(), value: sha256(bytes).to_hex() };
    let mut keys = vec![hash_key(payload), hash_key(envelope.as_bytes())];
    let mut signatures = Vec::new();
    for (signature, verifier) in by_signature {
        keys.push(hash_key(verifier.pem.as_bytes()));
        keys.extend(verifier.subjects);
        signatures.push(VerifiedSignature { signature, verifier: base64(verifier.pem.as_bytes()) });
    }
    let (envelope_hash, payload_hash) = (named(envelope.as_bytes()), named(payload));
    CanonicalEntry::of(KIND, CanonicalDsse { envelope_hash, payload_hash, signatures }, keys)
}
