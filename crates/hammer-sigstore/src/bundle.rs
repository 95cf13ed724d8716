//! Bundles (sigstore/protobuf-specs, `sigstore_bundle.proto`): a signature with all that somebody who verifies it offline needs. A file of
//! them is foreign: what was read has one signer, one signature and at least one entry of a log, within bounds.

pub(crate) mod files;
pub(crate) mod written;

use hammer_messages::bundle::{
    Bundle, BundleCertificate, DsseEnvelope, HashOutput, MEDIA_TYPE_BEFORE, MEDIA_TYPE_V03, MessageSignature,
};
use hammer_messages::rekor::TransparencyLogEntry;

/// A bundle that has everything which a verifier needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedBundle {
    pub(crate) content: BundleContent,
    pub(crate) signer: BundleSigner,
    pub(crate) entries: Vec<TransparencyLogEntry>,
    /// Each a whole `TimeStampResp` in DER.
    pub(crate) timestamps: Vec<Vec<u8>>,
}

/// What is signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BundleContent {
    /// An artifact that is not in the bundle.
    Message { digest: Option<HashOutput>, signature: Vec<u8> },
    /// A payload and its type, by their pre-authentication encoding.
    Envelope { payload_type: String, payload: Vec<u8>, signature: Vec<u8> },
}

/// Who signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BundleSigner {
    /// The DER of a certificate.
    Certificate(Vec<u8>),
    /// A key that the verifier has to know.
    Key,
}

/// Why a file is no bundle; a fragment that completes "failed to ...".
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BundleError {
    /// It is no JSON of a bundle.
    #[error("read it as JSON: {0}")]
    Json(String),
    /// It is of a version that is not known.
    #[error("know its mediaType {0:?}: expected {MEDIA_TYPE_V03}, or one of versions 0.1 to 0.3")]
    MediaType(String),
    /// A part without which nothing can be verified.
    #[error("find its {0}")]
    Missing(&'static str),
    /// More of a part than there may be.
    #[error("take its {found} {what}: {most} at most")]
    Many {
        /// The part.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many there may be.
        most: usize,
    },
}

impl SignedBundle {
    /// Reads one from the JSON of a file.
    ///
    /// # Errors
    /// What is wrong with its form.
    pub fn parse(json: &[u8]) -> Result<Self, BundleError> {
        let bundle: Bundle =
            serde_json::from_slice(json).map_err(|why| BundleError::Json(why.to_string()))?;
        let before = bundle.media_type.strip_prefix(MEDIA_TYPE_BEFORE);
        if bundle.media_type != MEDIA_TYPE_V03 && !matches!(before, Some("0.1" | "0.2" | "0.3")) {
            return Err(BundleError::MediaType(bundle.media_type));
        }
        let material = bundle.verification_material.ok_or(BundleError::Missing("verificationMaterial"))?;
        let chain = material.x509_certificate_chain.and_then(|chain| chain.certificates.into_iter().next());
        let signer = match (material.certificate.or(chain), material.public_key) {
            (Some(_), Some(_)) => return Err(many("signers", 2, 1)),
            (Some(BundleCertificate { raw_bytes }), None) if !raw_bytes.is_empty() => {
                BundleSigner::Certificate(raw_bytes)
            }
            (None, Some(_)) => BundleSigner::Key,
            _ => return Err(BundleError::Missing("certificate or publicKey")),
        };
        let timestamps = material.timestamp_verification_data.unwrap_or_default().rfc3161_timestamps;
        let timestamps: Vec<_> = timestamps.into_iter().map(|timestamp| timestamp.signed_timestamp).collect();
        let entries = material.tlog_entries;
        at_most("tlogEntries", entries.len(), MOST_PARTS)?;
        at_most("rfc3161Timestamps", timestamps.len(), MOST_PARTS)?;
        if entries.is_empty() {
            return Err(BundleError::Missing("tlogEntries"));
        }
        let content = content(bundle.message_signature, bundle.dsse_envelope)?;
        Ok(Self { content, signer, entries, timestamps })
    }

    /// What is signed in it: the whole signature, of ECDSA in DER.
    pub(crate) fn signature(&self) -> &[u8] {
        match &self.content {
            BundleContent::Message { signature, .. } | BundleContent::Envelope { signature, .. } => signature,
        }
    }
}

fn content(
    message: Option<MessageSignature>,
    envelope: Option<DsseEnvelope>,
) -> Result<BundleContent, BundleError> {
    match (message, envelope) {
        (Some(_), Some(_)) => Err(many("signed contents", 2, 1)),
        (None, None) => Err(BundleError::Missing("messageSignature or dsseEnvelope")),
        (Some(MessageSignature { message_digest, signature }), None) => match signature.is_empty() {
            true => Err(BundleError::Missing("signature")),
            false => Ok(BundleContent::Message { digest: message_digest, signature }),
        },
        (None, Some(DsseEnvelope { payload, payload_type, signatures })) => {
            // A second signature would be of somebody of whom the bundle says nothing.
            at_most("signatures", signatures.len(), 1)?;
            let signature = signatures.into_iter().next().map(|signature| signature.sig);
            let signature = signature.filter(|signature| !signature.is_empty());
            let signature = signature.ok_or(BundleError::Missing("signature"))?;
            Ok(BundleContent::Envelope { payload_type, payload, signature })
        }
    }
}

fn at_most(what: &'static str, found: usize, most: usize) -> Result<(), BundleError> {
    if found > most { Err(many(what, found, most)) } else { Ok(()) }
}

const fn many(what: &'static str, found: usize, most: usize) -> BundleError {
    BundleError::Many { what, found, most }
}

/// Entries, and timestamps, of one bundle: as many as sigstore-go takes.
const MOST_PARTS: usize = 32;

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const BUNDLE: &str = include_str!("../testdata/cosign-bundle-rekor-v1.json");

    fn altered(alter: impl FnOnce(&mut Value)) -> Result<SignedBundle, BundleError> {
        let mut bundle: Value = serde_json::from_str(BUNDLE).unwrap();
        alter(&mut bundle);
        SignedBundle::parse(bundle.to_string().as_bytes())
    }

    #[test]
    fn a_bundle_of_cosign_has_all_its_parts() {
        let bundle = altered(|_| {}).unwrap();
        assert_eq!((bundle.entries.len(), bundle.timestamps.len()), (1, 1));
        assert!(matches!(bundle.signer, BundleSigner::Certificate(_)));
        assert!(matches!(bundle.content, BundleContent::Message { digest: Some(_), .. }));
    }

    #[test]
    fn versions_before_have_their_certificate_in_a_chain() {
        let bundle = altered(|bundle| {
            bundle["mediaType"] = json!("application/vnd.dev.sigstore.bundle+json;version=0.2");
            let material = bundle["verificationMaterial"].as_object_mut().unwrap();
            let certificate = material.remove("certificate").unwrap();
            material.insert(
                "x509CertificateChain".to_owned(),
                json!({ "certificates": [certificate, { "rawBytes": "AAAA" }] }),
            );
        });
        assert_eq!(bundle, altered(|_| {}));
    }

    #[test]
    fn what_a_verifier_could_not_use_is_refused_by_its_name() {
        let refused = |alter: fn(&mut Value)| altered(alter).unwrap_err().to_string();
        for (said, alter) in [
            ("know its mediaType", (|b| b["mediaType"] = json!("application/json")) as fn(&mut Value)),
            ("find its verificationMaterial", |b| b["verificationMaterial"] = Value::Null),
            ("find its certificate or publicKey", |b| b["verificationMaterial"]["certificate"] = Value::Null),
            ("find its certificate or publicKey", |b| b["verificationMaterial"]["certificate"] = json!({})),
            ("take its 2 signers: 1 at most", |b| {
                b["verificationMaterial"]["publicKey"] = json!({ "hint": "x" });
            }),
            ("find its tlogEntries", |b| b["verificationMaterial"]["tlogEntries"] = json!([])),
            ("take its 33 tlogEntries: 32 at most", |b| {
                b["verificationMaterial"]["tlogEntries"] = Value::Array(vec![json!({}); 33]);
            }),
            ("find its messageSignature or dsseEnvelope", |b| b["messageSignature"] = Value::Null),
            ("find its signature", |b| b["messageSignature"]["signature"] = json!("")),
            ("take its 2 signed contents: 1 at most", |b| b["dsseEnvelope"] = json!({})),
        ] {
            let why = refused(alter);
            assert!(why.starts_with(said), "{why}");
        }
        assert!(matches!(SignedBundle::parse(b"{"), Err(BundleError::Json(_))));
        let two = altered(|b| {
            b["messageSignature"] = Value::Null;
            b["dsseEnvelope"] = json!({ "payload": "AAAA", "payloadType": "t", "signatures": [{ "sig": "AAAA" }, { "sig": "AAAA" }] });
        });
        assert_eq!(two.unwrap_err().to_string(), "take its 2 signatures: 1 at most");
    }
}
