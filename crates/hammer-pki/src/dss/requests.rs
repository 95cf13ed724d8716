//! What is sent.

use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use hammer_net::{Body, BodyPart};
use serde_json::json;

use crate::inline_document::InlineDocument;
use crate::json_base64::append_base64;
use crate::signature_kind::SignatureKind;

/// What is signed.
#[derive(Debug, Clone)]
pub enum ToBeSigned {
    /// A document, which is made as it is sent.
    Document(Arc<InlineDocument>),
    /// Its SHA-256 alone: CAdES beside the document.
    Sha256([u8; 32]),
}

/// The requests of signatures of one kind by one signer: all but the document, its signature and when it was made.
#[derive(Debug, Clone)]
pub struct SignRequest {
    /// The JSON up to the time.
    before: Bytes,
    /// What of the signature stands before its value.
    signature_start: String,
}

impl SignRequest {
    /// Those of a signer by the DER of its certificate and its issuers, whose key is of RSA or of P-256. Of a digest the document stays beside
    /// the signature.
    pub fn new(
        kind: SignatureKind,
        certificate: &[u8],
        issuers: &[Vec<u8>],
        is_rsa: bool,
        by_digest: bool,
    ) -> Self {
        let encoded = |der: &[u8]| json!({ "encodedCertificate": BASE64_STANDARD.encode(der) });
        let chain: Vec<_> = issuers.iter().map(|issuer| encoded(issuer)).collect();
        let (format, packaging) = match (kind.is_pdf(), by_digest) {
            (true, _) => ("PAdES", "ENVELOPED"),
            (false, false) => ("CAdES", "ENVELOPING"),
            (false, true) => ("CAdES", "DETACHED"),
        };
        let level = if kind.has_timestamp() { "T" } else { "B" };
        let parameters = json!({
            "signingCertificate": encoded(certificate),
            "certificateChain": chain,
            "signatureLevel": format!("{format}_BASELINE_{level}"),
            "signaturePackaging": packaging,
            "digestAlgorithm": "SHA256",
            "encryptionAlgorithm": if is_rsa { "RSA" } else { "ECDSA" },
            "signatureTimestampParameters": { "digestAlgorithm": "SHA256" },
        })
        .to_string();
        let open = parameters.strip_suffix('}').unwrap_or_default();
        let before = format!(r#"{{"parameters":{open},"blevelParams":{{"signingDate":"#).into();
        let algorithm = if is_rsa { "RSA_SHA256" } else { "ECDSA_SHA256" };
        let signature_start = format!(r#","signatureValue":{{"algorithm":"{algorithm}","value":""#);
        Self { before, signature_start }
    }

    /// The body that asks what is to be signed, of a signature that is made then, in milliseconds since 1970.
    pub fn data_to_sign(&self, signed: &ToBeSigned, signing_ms: u64) -> Body {
        self.body(signed, signing_ms, &[])
    }

    /// The body that has the signature put around it, with the same time.
    pub fn sign_document(&self, signed: &ToBeSigned, signing_ms: u64, signature: &[u8]) -> Body {
        let mut value = self.signature_start.clone().into_bytes();
        append_base64(signature, &mut value);
        value.extend_from_slice(br#""}"#);
        self.body(signed, signing_ms, &value)
    }

    fn body(&self, signed: &ToBeSigned, signing_ms: u64, signature: &[u8]) -> Body {
        let mut between = format!("{signing_ms}}}}}").into_bytes();
        between.extend_from_slice(signature);
        between.extend_from_slice(br#","toSignDocument":{"bytes":""#);
        let (part, behind): (BodyPart, &'static str) = match signed {
            ToBeSigned::Document(document) => {
                (BodyPart::Made(Arc::<InlineDocument>::clone(document)), BEHIND_DOCUMENT)
            }
            ToBeSigned::Sha256(digest) => (Bytes::from(BASE64_STANDARD.encode(digest)).into(), BEHIND_DIGEST),
        };
        Body::rope([self.before.clone().into(), BodyPart::from(between), part, behind.into()])
    }
}

const BEHIND_DOCUMENT: &str = r#"","digestAlgorithm":null,"name":"document.pdf"}}"#;
const BEHIND_DIGEST: &str = r#"","digestAlgorithm":"SHA256","name":"document.pdf"}}"#;
