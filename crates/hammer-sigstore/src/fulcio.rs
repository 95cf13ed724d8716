//! Requests for certificates, and the chains that Fulcio answers with (sigstore/fulcio v1.8: `fulcio.proto`, `fulcio_legacy.proto`).

use std::borrow::Cow;

use hammer_messages::fulcio as messages;
use hammer_tlog::encoding::write_base64;
use prost::Message as _;
use serde::Deserialize;

use crate::material::FlowMaterial;
use crate::pem;
use crate::plan::FulcioInterface;

/// The legacy interface's path: the token is in the header `Authorization`, and the answer is PEM.
pub(crate) const SIGNING_CERT_V1: &str = "/api/v1/signingCert";
/// The path of the interface of today: the token is in the body, and so are certificates, in JSON.
pub(crate) const SIGNING_CERT_V2: &str = "/api/v2/signingCert";

/// Why an answer holds no chain, as its cause is counted.
pub(crate) type NoChain = &'static str;

/// Replaces `out` by the body of a request to [`SIGNING_CERT_V1`].
pub(crate) fn write_v1(out: &mut Vec<u8>, material: &FlowMaterial) {
    out.clear();
    out.extend_from_slice(br#"{"publicKey":{"algorithm":"ecdsa","content":""#);
    write_base64(out, &material.spki);
    out.extend_from_slice(br#""},"signedEmailAddress":""#);
    write_base64(out, &material.proof);
    out.extend_from_slice(br#""}"#);
}

/// Replaces `out` by the body of a request to [`SIGNING_CERT_V2`]. A token has no character that JSON would escape (RFC 7515 section 3.1).
pub(crate) fn write_v2(out: &mut Vec<u8>, material: &FlowMaterial, token: &str) {
    out.clear();
    out.extend_from_slice(br#"{"credentials":{"oidcIdentityToken":""#);
    out.extend_from_slice(token.as_bytes());
    out.extend_from_slice(br#""},"publicKeyRequest":{"publicKey":{"algorithm":"ECDSA","content":""#);
    let mut key = String::new();
    pem::write(&mut key, PUBLIC_KEY, &material.spki);
    out.extend_from_slice(key.replace('\n', "\\n").as_bytes());
    out.extend_from_slice(br#""},"proofOfPossession":""#);
    write_base64(out, &material.proof);
    out.extend_from_slice(br#""}}"#);
}

/// The message of a call of `CreateSigningCertificate`.
pub(crate) fn message(material: &FlowMaterial, token: &str) -> messages::CreateSigningCertificateRequest {
    let mut key = String::new();
    pem::write(&mut key, PUBLIC_KEY, &material.spki);
    let credentials = messages::Credentials { oidc_identity_token: Some(token.to_owned()) };
    let algorithm = messages::PublicKeyAlgorithm::Ecdsa.into();
    let request = messages::PublicKeyRequest {
        public_key: Some(messages::PublicKey { algorithm, content: key }),
        proof_of_possession: material.proof.clone(),
    };
    messages::CreateSigningCertificateRequest {
        credentials: Some(credentials),
        key: Some(messages::RequestedKey::PublicKeyRequest(request)),
    }
}

/// The chain of an answer's body, the leaf first, in DER.
///
/// # Errors
/// When there is none.
pub(crate) fn chain(interface: FulcioInterface, body: &[u8]) -> Result<Vec<Vec<u8>>, NoChain> {
    let mut chain = Vec::new();
    for text in texts(interface, body)? {
        chain.extend(pem::certificates(&text).ok_or(BROKEN_PEM)?);
    }
    if chain.is_empty() { Err(NO_CERTIFICATE) } else { Ok(chain) }
}

/// The PEM of the certificate itself, with one newline at its end.
///
/// # Errors
/// When there is none.
pub(crate) fn leaf(interface: FulcioInterface, body: &[u8], out: &mut String) -> Result<(), NoChain> {
    let texts = texts(interface, body)?;
    let first = texts.first().and_then(|text| pem::first_certificate(text)).ok_or(NO_CERTIFICATE)?;
    out.clear();
    out.extend([first, "\n"]);
    Ok(())
}

/// Replaces `out` by the PEM of a flow's bare key, which stands for a certificate where nobody asks for one.
pub(crate) fn write_bare_key(out: &mut String, material: &FlowMaterial) {
    out.clear();
    pem::write(out, PUBLIC_KEY, &material.spki);
}

/// Whether that is the PEM of a certificate, and not of a bare key.
pub(crate) fn is_certificate(text: &str) -> bool {
    !text.starts_with("-----BEGIN PUBLIC KEY-----")
}

/// The digits of base64 within the PEM of one certificate or key: those of its DER, without line ends.
pub(crate) fn digits(leaf: &str) -> impl Iterator<Item = &str> {
    leaf.lines().filter(|line| !line.starts_with('-'))
}

fn texts(interface: FulcioInterface, body: &[u8]) -> Result<Vec<Cow<'_, str>>, NoChain> {
    match interface {
        FulcioInterface::None => Err(NO_CERTIFICATE),
        FulcioInterface::V1 => {
            Ok(vec![Cow::Borrowed(std::str::from_utf8(body).map_err(|_| NO_CERTIFICATE)?)])
        }
        FulcioInterface::V2 => {
            let answer: SigningCertificate<'_> = serde_json::from_slice(body).map_err(|_| NOT_JSON)?;
            let signed = answer.embedded.or(answer.detached).ok_or(NO_CERTIFICATE)?;
            Ok(signed.chain.certificates)
        }
        FulcioInterface::Grpc => {
            use messages::IssuedCertificate::{SignedCertificateDetachedSct, SignedCertificateEmbeddedSct};
            let answer = messages::SigningCertificate::decode(body).map_err(|_| NO_MESSAGE)?;
            let chain = match answer.certificate {
                Some(SignedCertificateEmbeddedSct(signed)) => signed.chain,
                Some(SignedCertificateDetachedSct(signed)) => signed.chain,
                None => None,
            };
            let certificates = chain.ok_or(NO_CERTIFICATE)?.certificates;
            Ok(certificates.into_iter().map(Cow::Owned).collect())
        }
    }
}

/// `SigningCertificate` of fulcio.proto in JSON.
#[derive(Deserialize)]
struct SigningCertificate<'a> {
    #[serde(borrow, rename = "signedCertificateEmbeddedSct")]
    embedded: Option<Signed<'a>>,
    #[serde(borrow, rename = "signedCertificateDetachedSct")]
    detached: Option<Signed<'a>>,
}

#[derive(Deserialize)]
struct Signed<'a> {
    #[serde(borrow)]
    chain: Chain<'a>,
}

#[derive(Deserialize)]
struct Chain<'a> {
    #[serde(borrow)]
    certificates: Vec<Cow<'a, str>>,
}

const PUBLIC_KEY: &str = "PUBLIC KEY";
const NO_CERTIFICATE: NoChain = "answer without a certificate";
const BROKEN_PEM: NoChain = "certificate with broken pem";
const NOT_JSON: NoChain = "answer is no signing certificate";
const NO_MESSAGE: NoChain = "answer is no message of fulcio";

#[cfg(test)]
mod tests;
