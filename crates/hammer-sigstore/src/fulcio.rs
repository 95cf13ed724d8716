//! Requests for certificates, and the chains that Fulcio answers with (sigstore/fulcio v1.8: `fulcio.proto`, `fulcio_legacy.proto`).

use std::borrow::Cow;

use hammer_messages::{fulcio as messages, json};
use hammer_synth::write_pem;
use hammer_tlog::encoding::{from_base64, write_base64};
use http::{HeaderMap, HeaderName, HeaderValue};
use prost::Message as _;
use serde::Deserialize;

use crate::material::FlowMaterial;
use crate::pem;
use crate::plan::{CertificateRequest, FulcioInterface};
use crate::signing_request;

/// The legacy interface's path: the token is in the header `Authorization`, and the answer is PEM.
pub(crate) const SIGNING_CERT_V1: &str = "/api/v1/signingCert";
/// The path of the interface of today: the token is in the body, and so are certificates, in JSON.
pub(crate) const SIGNING_CERT_V2: &str = "/api/v2/signingCert";

/// The header in which the legacy interface has an SCT that is not in the certificate: base64 of the JSON that a log answers.
pub(crate) const SCT_HEADER: HeaderName = HeaderName::from_static("sct");

/// Where the chains are that certificates lead to.
pub(crate) const TRUST_BUNDLE: &str = "/api/v2/trustBundle";

/// Why an answer holds no chain, as its cause is counted.
pub(crate) type NoChain = &'static str;

/// Replaces `out` by the body of a request to [`SIGNING_CERT_V1`].
pub(crate) fn write_v1(out: &mut Vec<u8>, material: &FlowMaterial, request: CertificateRequest) {
    out.clear();
    if request == CertificateRequest::Csr {
        out.push(b'{');
        write_csr(out, material);
        return out.push(b'}');
    }
    out.extend_from_slice(br#"{"publicKey":{"algorithm":"ecdsa","content":""#);
    write_base64(out, &material.spki);
    out.extend_from_slice(br#""},"signedEmailAddress":""#);
    write_base64(out, &material.proof);
    out.extend_from_slice(br#""}"#);
}

/// Replaces `out` by the body of a request to [`SIGNING_CERT_V2`]. A token has no character that JSON would escape (RFC 7515 section 3.1).
pub(crate) fn write_v2(out: &mut Vec<u8>, material: &FlowMaterial, request: CertificateRequest, token: &str) {
    out.clear();
    out.extend_from_slice(br#"{"credentials":{"oidcIdentityToken":""#);
    out.extend_from_slice(token.as_bytes());
    out.extend_from_slice(br#""},"#);
    if request == CertificateRequest::Csr {
        write_csr(out, material);
        return out.push(b'}');
    }
    out.extend_from_slice(br#""publicKeyRequest":{"publicKey":{"algorithm":"ECDSA","content":""#);
    let mut key = String::new();
    write_pem(&mut key, PUBLIC_KEY, &material.spki);
    out.extend_from_slice(key.replace('\n', "\\n").as_bytes());
    out.extend_from_slice(br#""},"proofOfPossession":""#);
    write_base64(out, &material.proof);
    out.extend_from_slice(br#""}}"#);
}

/// The member of either interface that holds a certification request: base64 of its PEM.
fn write_csr(out: &mut Vec<u8>, material: &FlowMaterial) {
    out.extend_from_slice(br#""certificateSigningRequest":""#);
    write_base64(out, signing_request::pem(&material.spki, &material.proof).as_bytes());
    out.push(b'"');
}

/// The message of a call of `CreateSigningCertificate`.
pub(crate) fn message(
    material: &FlowMaterial,
    request: CertificateRequest,
    token: &str,
) -> messages::CreateSigningCertificateRequest {
    let credentials = messages::Credentials { oidc_identity_token: Some(token.to_owned()) };
    let key = match request {
        CertificateRequest::Csr => {
            let csr = signing_request::pem(&material.spki, &material.proof);
            messages::RequestedKey::CertificateSigningRequest(csr.into_bytes())
        }
        CertificateRequest::Key => {
            let mut key = String::new();
            write_pem(&mut key, PUBLIC_KEY, &material.spki);
            let algorithm = messages::PublicKeyAlgorithm::Ecdsa.into();
            messages::RequestedKey::PublicKeyRequest(messages::PublicKeyRequest {
                public_key: Some(messages::PublicKey { algorithm, content: key }),
                proof_of_possession: material.proof.clone(),
            })
        }
    };
    messages::CreateSigningCertificateRequest { credentials: Some(credentials), key: Some(key) }
}

/// The chain of an answer's body, the leaf first, in DER.
///
/// # Errors
/// When there is none.
pub(crate) fn chain(interface: FulcioInterface, body: &[u8]) -> Result<Vec<Vec<u8>>, NoChain> {
    let mut chain = Vec::new();
    for text in parts(interface, body)?.texts {
        chain.extend(pem::certificates(&text).ok_or(BROKEN_PEM)?);
    }
    if chain.is_empty() { Err(NO_CERTIFICATE) } else { Ok(chain) }
}

/// The SCT that the legacy interface has in a header; empty where there is none. The same one may come twice.
///
/// # Errors
/// When there are several that differ.
pub(crate) fn sct_header(headers: &HeaderMap) -> Result<&[u8], NoChain> {
    let mut found = headers.get_all(SCT_HEADER).iter().map(HeaderValue::as_bytes);
    let first = found.next().unwrap_or_default();
    if found.all(|other| other == first) { Ok(first) } else { Err(SEVERAL_SCTS) }
}

/// What the CT log answered for the certificate of an answer, where Fulcio hands that on beside the certificate: JSON of an SCT. `header`
/// is that of the legacy interface; empty where there was none.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn detached_sct<'a>(
    interface: FulcioInterface,
    header: &[u8],
    body: &'a [u8],
) -> Result<Option<Cow<'a, [u8]>>, String> {
    let decoded = |text: &[u8]| from_base64(text).map_err(|why| format!("its detached SCT: {why}"));
    let sct = match interface {
        FulcioInterface::None => return Ok(None),
        FulcioInterface::V1 => Cow::Owned(decoded(header)?),
        FulcioInterface::V2 | FulcioInterface::Grpc => parts(interface, body)?.sct,
    };
    Ok(Some(sct).filter(|sct| !sct.is_empty()))
}

/// The PEM of the certificate itself, with one newline at its end.
///
/// # Errors
/// When there is none.
pub(crate) fn leaf(interface: FulcioInterface, body: &[u8], out: &mut String) -> Result<(), NoChain> {
    let texts = parts(interface, body)?.texts;
    let first = texts.first().and_then(|text| pem::first_certificate(text)).ok_or(NO_CERTIFICATE)?;
    out.clear();
    if pem::has_usual_lines(first) {
        out.extend([first, "\n"]);
        return Ok(());
    }
    // Rekor keeps the usual form of it, whatever the form that it was sent in.
    let der = pem::certificates(first).and_then(|found| found.into_iter().next()).ok_or(BROKEN_PEM)?;
    write_pem(out, "CERTIFICATE", &der);
    Ok(())
}

/// Replaces `out` by the PEM of a flow's bare key, which stands for a certificate where nobody asks for one.
pub(crate) fn write_bare_key(out: &mut String, material: &FlowMaterial) {
    out.clear();
    write_pem(out, PUBLIC_KEY, &material.spki);
}

/// Whether that is the PEM of a certificate, and not of a bare key.
pub(crate) fn is_certificate(text: &str) -> bool {
    !text.starts_with("-----BEGIN PUBLIC KEY-----")
}

/// The digits of base64 within the PEM of one certificate or key: those of its DER, without line ends.
pub(crate) fn digits(leaf: &str) -> impl Iterator<Item = &str> {
    leaf.lines().filter(|line| !line.starts_with('-'))
}

/// What the body of an answer has.
struct Parts<'a> {
    /// The PEM of its certificates.
    texts: Vec<Cow<'a, str>>,
    /// The SCT that is not in the certificate; empty where there is none.
    sct: Cow<'a, [u8]>,
}

impl<'a> Parts<'a> {
    const fn without_sct(texts: Vec<Cow<'a, str>>) -> Self {
        Self { texts, sct: Cow::Borrowed(&[]) }
    }
}

fn parts(interface: FulcioInterface, body: &[u8]) -> Result<Parts<'_>, NoChain> {
    match interface {
        FulcioInterface::None => Err(NO_CERTIFICATE),
        FulcioInterface::V1 => {
            let text = std::str::from_utf8(body).map_err(|_| NO_CERTIFICATE)?;
            Ok(Parts::without_sct(vec![Cow::Borrowed(text)]))
        }
        FulcioInterface::V2 => {
            let answer: SigningCertificate = serde_json::from_slice(body).map_err(|_| NOT_JSON)?;
            let owned = |chain: Chain| chain.certificates.into_iter().map(Cow::Owned).collect();
            if let Some(signed) = answer.embedded {
                return Ok(Parts::without_sct(owned(signed.chain)));
            }
            let signed = answer.detached.ok_or(NO_CERTIFICATE)?;
            Ok(Parts { texts: owned(signed.chain), sct: signed.signed_certificate_timestamp.into() })
        }
        FulcioInterface::Grpc => {
            use messages::IssuedCertificate::{SignedCertificateDetachedSct, SignedCertificateEmbeddedSct};
            let answer = messages::SigningCertificate::decode(body).map_err(|_| NO_MESSAGE)?;
            let (chain, sct) = match answer.certificate {
                Some(SignedCertificateEmbeddedSct(signed)) => (signed.chain, Vec::new()),
                Some(SignedCertificateDetachedSct(signed)) => {
                    (signed.chain, signed.signed_certificate_timestamp)
                }
                None => (None, Vec::new()),
            };
            let certificates = chain.ok_or(NO_CERTIFICATE)?.certificates;
            Ok(Parts { texts: certificates.into_iter().map(Cow::Owned).collect(), sct: sct.into() })
        }
    }
}

/// `SigningCertificate` of fulcio.proto in JSON.
#[derive(Deserialize)]
struct SigningCertificate {
    #[serde(rename = "signedCertificateEmbeddedSct", alias = "signed_certificate_embedded_sct")]
    embedded: Option<Signed>,
    #[serde(rename = "signedCertificateDetachedSct", alias = "signed_certificate_detached_sct")]
    detached: Option<SignedApart>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct SignedApart {
    #[serde(deserialize_with = "json::or_default")]
    chain: Chain,
    #[serde(alias = "signed_certificate_timestamp", deserialize_with = "json::bytes::deserialize")]
    signed_certificate_timestamp: Vec<u8>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Signed {
    #[serde(deserialize_with = "json::or_default")]
    chain: Chain,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Chain {
    #[serde(deserialize_with = "json::or_default")]
    certificates: Vec<String>,
}

/// The chains of a `TrustBundle` (fulcio.proto), in DER, each with a certificate at least.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn trust_bundle(body: &[u8]) -> Result<Vec<Vec<Vec<u8>>>, String> {
    let bundle: TrustBundle = serde_json::from_slice(body).map_err(|why| why.to_string())?;
    chains_of(bundle.chains.into_iter().map(|chain| chain.certificates))
}

/// The same of the message of gRPC.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn trust_bundle_message(message: &[u8]) -> Result<Vec<Vec<Vec<u8>>>, String> {
    let bundle = messages::TrustBundle::decode(message).map_err(|why| why.to_string())?;
    chains_of(bundle.chains.into_iter().map(|chain| chain.certificates))
}

fn chains_of(chains: impl Iterator<Item = Vec<String>>) -> Result<Vec<Vec<Vec<u8>>>, String> {
    let read = |(place, certificates): (usize, Vec<String>)| {
        let read = pem::certificates(&certificates.join("\n")).filter(|chain| !chain.is_empty());
        read.ok_or_else(|| format!("chain {place} has no certificate"))
    };
    let chains: Vec<_> = chains.enumerate().map(read).collect::<Result<_, _>>()?;
    if chains.is_empty() { Err("there is no chain".to_owned()) } else { Ok(chains) }
}

#[derive(Deserialize)]
struct TrustBundle {
    #[serde(default, deserialize_with = "json::or_default")]
    chains: Vec<Chain>,
}

const PUBLIC_KEY: &str = "PUBLIC KEY";
const NO_CERTIFICATE: NoChain = "answer without a certificate";
const BROKEN_PEM: NoChain = "certificate with broken pem";
const NOT_JSON: NoChain = "answer is no signing certificate";
const SEVERAL_SCTS: NoChain = "answer with several scts";
const NO_MESSAGE: NoChain = "answer is no message of fulcio";

#[cfg(test)]
mod tests;
