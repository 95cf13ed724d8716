//! What is proposed, verified and made canonical as Rekor v2 stores it (RFC 8785).

use hammer_lab::serve::grpc::GrpcCode;
use hammer_messages::rekor::{
    CreateEntryRequest, EntrySpec, HashedRekordRequestV002, PublicKeyDetails, Verifier, VerifierKey,
};
use hammer_tlog::encoding::{Base64, base64};
use serde::Serialize;

use super::refusal::TilesRefusal;
use crate::artifact::{ArtifactError, ArtifactVerifier, HashAlgorithm, KeyKind};

/// An entry that may be logged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TilesEntry {
    pub(super) kind: &'static str,
    /// The leaf.
    pub(super) body: Vec<u8>,
}

/// The kind and the version of every entry.
const KIND: &str = "hashedrekord";
pub(super) const VERSION: &str = "0.0.2";

/// Why a request is no entry; clients are told no more than its kind.
#[derive(Debug, thiserror::Error)]
enum EntryError {
    #[error("missing {0}")]
    Missing(&'static str),
    #[error("the key is not what its details say")]
    KeyDetails,
    #[error(transparent)]
    Artifact(#[from] ArtifactError),
}

#[derive(Debug, Serialize)]
struct EntryBody<S> {
    #[serde(rename = "apiVersion")]
    api_version: &'static str,
    kind: &'static str,
    spec: S,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
enum SpecBody {
    HashedRekordV002 { data: HashBody, signature: SignatureBody },
}

#[derive(Debug, Serialize)]
struct HashBody {
    algorithm: &'static str,
    digest: Base64,
}

#[derive(Debug, Serialize)]
struct SignatureBody {
    content: Base64,
    verifier: VerifierBody,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct VerifierBody {
    key_details: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    public_key: Option<RawBytesBody>,
    #[serde(skip_serializing_if = "Option::is_none")]
    x509_certificate: Option<RawBytesBody>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct RawBytesBody {
    raw_bytes: Base64,
}

impl TilesEntry {
    /// Verifies what is proposed.
    pub(super) fn propose(request: CreateEntryRequest) -> Result<Self, TilesRefusal> {
        // Envelopes are still messages of the service, and no entries any more.
        let Some(EntrySpec::HashedRekordRequestV002(request)) = request.spec else {
            return Err(TilesRefusal::invalid("invalid type, must be hashedrekord"));
        };
        let spec = hashed_rekord(request);
        let spec = spec.map_err(|_| TilesRefusal::invalid("invalid hashedrekord request"))?;
        let body = serde_json::to_vec(&EntryBody { api_version: VERSION, kind: KIND, spec });
        let body = body.map_err(|error| TilesRefusal::of(GrpcCode::Unknown, error.to_string()))?;
        if body.len() > MOST_BYTES {
            return Err(TilesRefusal::of(GrpcCode::Unknown, "failed to integrate entry"));
        }
        Ok(Self { kind: KIND, body })
    }

    /// Another entry: its hash is that of this one's body.
    pub(super) fn altered(body: &[u8]) -> Vec<u8> {
        let text = String::from_utf8_lossy(body);
        let Some((head, rest)) = text.split_once(DIGEST) else { return b"{}".to_vec() };
        let (_, tail) = rest.split_once('"').unwrap_or_default();
        let digest = base64(&HashAlgorithm::Sha256.hash(body));
        format!("{head}{DIGEST}{digest}\"{tail}").into_bytes()
    }
}

/// The signature over the artifact's hash holds, by the algorithm that the key's details say.
fn hashed_rekord(request: HashedRekordRequestV002) -> Result<SpecBody, EntryError> {
    let signature = request.signature.ok_or(EntryError::Missing("signature"))?;
    let verifier = signature.verifier.ok_or(EntryError::Missing("verifier"))?;
    if signature.content.is_empty() || request.digest.is_empty() {
        return Err(EntryError::Missing("signature or digest"));
    }
    let checked = CheckedVerifier::read(verifier)?;
    checked.key.key.verify_hash(checked.hash, &request.digest, &signature.content)?;
    Ok(SpecBody::HashedRekordV002 {
        data: HashBody { algorithm: checked.hash.proto_name(), digest: Base64(request.digest) },
        signature: SignatureBody { content: Base64(signature.content), verifier: checked.body() },
    })
}

/// A verifier whose key is what its details say.
struct CheckedVerifier {
    details: PublicKeyDetails,
    hash: HashAlgorithm,
    key: ArtifactVerifier,
    raw: VerifierKey,
}

impl CheckedVerifier {
    fn read(verifier: Verifier) -> Result<Self, EntryError> {
        let raw = verifier.verifier.ok_or(EntryError::Missing("verifier"))?;
        let key = match &raw {
            VerifierKey::PublicKey(key) => ArtifactVerifier::from_spki(&key.raw_bytes)?,
            VerifierKey::X509Certificate(certificate) => {
                ArtifactVerifier::from_certificate(&certificate.raw_bytes)?
            }
        };
        let details = PublicKeyDetails::try_from(verifier.key_details).map_err(|_| EntryError::KeyDetails)?;
        let (kind, hash) = signs_with(details).ok_or(EntryError::KeyDetails)?;
        if key.key.kind != kind {
            return Err(EntryError::KeyDetails);
        }
        Ok(Self { details, hash, key, raw })
    }

    fn body(&self) -> VerifierBody {
        let raw = |bytes: &[u8]| Some(RawBytesBody { raw_bytes: Base64(bytes.to_vec()) });
        let (public_key, x509_certificate) = match &self.raw {
            VerifierKey::PublicKey(key) => (raw(&key.raw_bytes), None),
            VerifierKey::X509Certificate(certificate) => (None, raw(&certificate.raw_bytes)),
        };
        VerifierBody { key_details: self.details.name(), public_key, x509_certificate }
    }
}

/// The kind of key and the hash of the details that are verified here.
const fn signs_with(details: PublicKeyDetails) -> Option<(KeyKind, HashAlgorithm)> {
    match details {
        PublicKeyDetails::PkixEcdsaP256Sha256 => Some((KeyKind::P256, HashAlgorithm::Sha256)),
        PublicKeyDetails::PkixEcdsaP384Sha384 => Some((KeyKind::P384, HashAlgorithm::Sha384)),
        PublicKeyDetails::PkixRsaPkcs1v152048Sha256
        | PublicKeyDetails::PkixRsaPkcs1v153072Sha256
        | PublicKeyDetails::PkixRsaPkcs1v154096Sha256 => Some((KeyKind::Rsa, HashAlgorithm::Sha256)),
        PublicKeyDetails::PkixEd25519 => Some((KeyKind::Ed25519, HashAlgorithm::Sha512)),
        _ => None,
    }
}

/// A bundle tells the length of an entry in two bytes.
const MOST_BYTES: usize = u16::MAX as usize;
const DIGEST: &str = "\"digest\":\"";
