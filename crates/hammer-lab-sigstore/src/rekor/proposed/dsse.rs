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
    /// These are the log's own, and none of a proposal's.
    envelope_hash: Option<Value>,
    payload_hash: Option<Value>,
    signatures: Option<Value>,
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

/// What is read of a statement (in-toto attestation, `spec/v1/statement.md`).
#[derive(Debug, Deserialize)]
struct Statement {
    #[serde(default)]
    subject: Vec<Subject>,
}

#[derive(Debug, Deserialize)]
struct Subject {
    #[serde(default)]
    digest: BTreeMap<String, String>,
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
    let DsseSpec { proposed_content, envelope_hash, payload_hash, signatures } = read_spec(spec)?;
    let content = proposed_content.ok_or_else(|| RekorRefusal::entry(EITHER))?;
    if envelope_hash.or(payload_hash).or(signatures).is_some() {
        return Err(RekorRefusal::entry(format!("{EITHER} but not both")));
    }
    let envelope: DsseEnvelope =
        serde_json::from_str(&content.envelope).map_err(|error| RekorRefusal::entry(&error))?;
    if envelope.signatures.is_empty() {
        return Err(RekorRefusal::entry("DSSE envelope must contain 1 or more signatures"));
    }
    let payload = of_either_alphabet(&envelope.payload).ok_or_else(|| {
        RekorRefusal::entry(
            "could not verify envelope: unable to base64 decode payload (is payload in the right format?)",
        )
    })?;
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
    let subjects = if envelope.payload_type == IN_TOTO { subjects(&payload) } else { Vec::new() };
    entry(&content.envelope, &payload, subjects, by_signature)
}

/// Bytes in base64 of either alphabet, as envelopes may have them.
fn of_either_alphabet(text: &str) -> Option<Vec<u8>> {
    from_base64(text).or_else(|_| from_base64(text.replace('-', "+").replace('_', "/"))).ok()
}

/// The hashes of what a statement is about, by which its entry is found too; none of what is no statement.
fn subjects(payload: &[u8]) -> Vec<String> {
    let Ok(Statement { subject }) = serde_json::from_slice(payload) else { return Vec::new() };
    let digests = subject.into_iter().flat_map(|subject| subject.digest);
    digests.map(|(algorithm, value)| format!("{algorithm}:{value}")).collect()
}

/// The signatures that the verifier's key made, one at least.
fn signed_by(
    verifier: &ArtifactVerifier,
    signatures: &[DsseSignature],
    message: &[u8],
) -> Result<Vec<(String, ArtifactVerifier)>, RekorRefusal> {
    let holds = |signature: &&DsseSignature| {
        let bytes = of_either_alphabet(&signature.sig).unwrap_or_default();
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
    subjects: Vec<String>,
    by_signature: BTreeMap<String, ArtifactVerifier>,
) -> Result<CanonicalEntry, RekorRefusal> {
    let named = |bytes: &[u8]| NamedHash { algorithm: "sha256".to_owned(), value: sha256(bytes).to_hex() };
    let mut keys = vec![hash_key(payload), hash_key(envelope.as_bytes())];
    keys.extend(subjects);
    let mut signatures = Vec::new();
    for (signature, verifier) in by_signature {
        keys.push(hash_key(verifier.pem.as_bytes()));
        keys.extend(verifier.subjects);
        signatures.push(VerifiedSignature { signature, verifier: base64(verifier.pem.as_bytes()) });
    }
    let (envelope_hash, payload_hash) = (named(envelope.as_bytes()), named(payload));
    CanonicalEntry::of(KIND, CanonicalDsse { envelope_hash, payload_hash, signatures }, keys)
}

/// The type of the payloads that are statements.
const IN_TOTO: &str = "application/vnd.in-toto+json";
const EITHER: &str = "either proposedContent or envelopeHash, payloadHash, and signatures must be present";
