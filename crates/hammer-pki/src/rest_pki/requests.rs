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

/// The policy that is asked for where the plan names no other.
pub const fn policy(kind: SignatureKind) -> &'static str {
    match kind {
        SignatureKind::Cades => "a4522485-c9e5-46c3-950b-0d6e951e17d1",
        SignatureKind::CadesT => "a5332ad1-d105-447c-a4bb-b5d02177e439",
        SignatureKind::Pades => "78d20b33-014d-440e-ad07-929f05d00cdf",
        SignatureKind::PadesT => "6a39aeea-a2d0-4754-bf8c-19da15296ddb",
    }
}

/// Where a signature is started.
pub const fn start(kind: SignatureKind) -> &'static str {
    if kind.is_pdf() { "Api/v2/PadesSignatures" } else { "Api/v3/CadesSignatures" }
}

/// Where one is finished that was started under that token.
pub fn finish(kind: SignatureKind, token: &str) -> String {
    let signatures = if kind.is_pdf() { "PadesSignatures" } else { "CadesSignatures" };
    format!("Api/v2/{signatures}/{token}/SignedBytes")
}

/// What starts signatures of one kind by one signer: all but the document.
#[derive(Debug, Clone)]
pub struct StartRequest {
    /// The JSON up to the document.
    before: Bytes,
}

impl StartRequest {
    /// That of a signer by the DER of its certificate, a policy and a security context, where the plan names one.
    pub fn new(kind: SignatureKind, certificate: &[u8], policy: &str, context: Option<&str>) -> Self {
        let file = if kind.is_pdf() { "pdfToSign" } else { "fileToSign" };
        let mut asked = json!({
            "certificate": BASE64_STANDARD.encode(certificate),
            "signaturePolicyId": policy,
            "securityContextId": context,
            "ignoreRevocationStatusUnknown": false,
            "callbackArgument": null,
        });
        if !kind.is_pdf() {
            asked["encapsulateContent"] = json!(true);
        }
        let asked = asked.to_string();
        let open = asked.strip_suffix('}').unwrap_or_default();
        let mime_type = if kind.is_pdf() { "application/pdf" } else { "application/octet-stream" };
        let before = format!(r#"{open},"{file}":{{"mimeType":"{mime_type}","content":""#);
        Self { before: before.into() }
    }

    /// The body that sends a document along, which is made as it is sent.
    pub fn inline(&self, document: Arc<InlineDocument>) -> Body {
        Body::rope([self.before.clone().into(), BodyPart::Made(document), BEHIND_CONTENT.into()])
    }

    /// The body that names a document which was uploaded before, by its token.
    pub fn uploaded(&self, token: &str) -> Body {
        let before = self.before.slice(..self.before.len() - 1);
        Body::rope([before, format!(r#"null,"blobToken":"{token}","url":null}}}}"#).into()])
    }
}

/// The body that finishes what was started, written into `out`; the file is asked for by a URL, or within the answer.
pub fn completion(signature: &[u8], by_url: bool, out: &mut Vec<u8>) {
    out.clear();
    out.extend_from_slice(br#"{"signature":""#);
    append_base64(signature, out);
    let behind = if by_url { r#"","forceBlobResult":true}"# } else { r#"","forceBlobResult":false}"# };
    out.extend_from_slice(behind.as_bytes());
}

/// The body that asks for a timestamp of a SHA-256, which DSS takes as well.
pub fn hash(sha256: &[u8; 32]) -> Vec<u8> {
    let mut body = br#"{"algorithm":"SHA256","value":""#.to_vec();
    append_base64(sha256, &mut body);
    body.extend_from_slice(br#""}"#);
    body
}

/// The body that shows a signed nonce, which goes along where it was not given by a token; written into `out`.
pub fn authentication(nonce: Option<&[u8]>, certificate: &[u8], signature: &[u8], out: &mut Vec<u8>) {
    out.clear();
    out.push(b'{');
    for (name, value) in
        [("nonce", nonce), ("certificate", Some(certificate)), ("signature", Some(signature))]
    {
        let Some(value) = value else { continue };
        out.extend_from_slice(format!(r#""{name}":""#).as_bytes());
        append_base64(value, out);
        out.extend_from_slice(br#"","#);
    }
    out.extend_from_slice(br#""ignoreRevocationStatusUnknown":false}"#);
}

pub(super) const BEHIND_CONTENT: &str = r#"","blobToken":null,"url":null}}"#;
