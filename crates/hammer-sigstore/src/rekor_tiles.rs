//! Entries of Rekor v2: as they are sent and stored, and what the log answers (sigstore/rekor-tiles v2.3, `api/proto/rekor/v2`).

use hammer_messages::rekor as messages;
use hammer_tlog::encoding::{from_base64, write_base64};
use hammer_tlog::logs::note::{Checkpoint, Note};
use http::HeaderName;

use crate::fulcio;
use crate::material::FlowMaterial;

pub(crate) mod audit;

/// Where entries are written.
pub(crate) const ENTRIES: &str = "/api/v2/log/entries";

/// Where the checkpoint of the tree as it is stands.
pub(crate) const CHECKPOINT: &str = "/checkpoint";

/// How large the tree is by a checkpoint whose signature nobody has looked at yet.
pub(crate) fn size_of_tree(body: &[u8]) -> Option<u64> {
    Some(Checkpoint::parse(Note::parse(body).ok()?.text).ok()?.size)
}
/// The index of an entry that the log has already, beside a 409 or ALREADY_EXISTS (`internal/server/service.go`).
pub(crate) const KNOWN_INDEX: HeaderName = HeaderName::from_static("x-log-index");

/// Replaces `out` by the request for a hashedrekord 0.0.2 over the artifact of a flow, by the certificate of that PEM.
pub(crate) fn write_request(out: &mut Vec<u8>, material: &FlowMaterial, certificate: &str) {
    out.clear();
    out.extend_from_slice(br#"{"hashedRekordRequestV002":{"digest":""#);
    write_base64(out, &material.digest.0);
    out.extend_from_slice(br#"","signature":{"content":""#);
    write_base64(out, &material.signature);
    out.extend_from_slice(br#"","verifier":{"#);
    write_verifier(out, certificate);
    out.extend_from_slice(br#","keyDetails":"PKIX_ECDSA_P256_SHA_256"}}}}"#);
}

/// Replaces `out` by what the log has to store for that request, in canonical JSON.
pub(crate) fn write_stored(out: &mut Vec<u8>, material: &FlowMaterial, certificate: &str) {
    out.clear();
    out.extend_from_slice(
        br#"{"apiVersion":"0.0.2","kind":"hashedrekord","spec":{"hashedRekordV002":{"data":{"algorithm":"SHA2_256","digest":""#,
    );
    write_base64(out, &material.digest.0);
    out.extend_from_slice(br#""},"signature":{"content":""#);
    write_base64(out, &material.signature);
    out.extend_from_slice(br#"","verifier":{"keyDetails":"PKIX_ECDSA_P256_SHA_256","#);
    write_verifier(out, certificate);
    out.extend_from_slice(br#"}}}}}"#);
}

/// The message of a call of `CreateEntry`; none where what stands for the certificate is no PEM.
pub(crate) fn message(material: &FlowMaterial, certificate: &str) -> Option<messages::CreateEntryRequest> {
    let raw_bytes = from_base64(fulcio::digits(certificate).collect::<String>()).ok()?;
    let key = match fulcio::is_certificate(certificate) {
        true => messages::VerifierKey::X509Certificate(messages::X509Certificate { raw_bytes }),
        false => messages::VerifierKey::PublicKey(messages::RawPublicKey { raw_bytes }),
    };
    let verifier = messages::Verifier {
        verifier: Some(key),
        key_details: messages::PublicKeyDetails::PkixEcdsaP256Sha256.into(),
    };
    let signature = messages::Signature { content: material.signature.clone(), verifier: Some(verifier) };
    let request =
        messages::HashedRekordRequestV002 { digest: material.digest.0.to_vec(), signature: Some(signature) };
    Some(messages::CreateEntryRequest { spec: Some(messages::EntrySpec::HashedRekordRequestV002(request)) })
}

/// `x509Certificate` or `publicKey`, with what is in it.
fn write_verifier(out: &mut Vec<u8>, certificate: &str) {
    let name = if fulcio::is_certificate(certificate) { "x509Certificate" } else { "publicKey" };
    out.push(b'"');
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(br#"":{"rawBytes":""#);
    fulcio::digits(certificate).for_each(|line| out.extend_from_slice(line.as_bytes()));
    out.extend_from_slice(br#""}"#);
}

#[cfg(test)]
mod tests {
    use hammer_messages::rekor::TransparencyLogEntry;
    use hammer_synth::write_pem;
    use hammer_tlog::encoding::from_base64;
    use hammer_tlog::hash::Hash;
    use serde_json::Value;

    use super::*;

    const REQUEST: &[u8] = include_bytes!("../testdata/rekor-v2-cert-request.json");
    const ENTRY: &[u8] = include_bytes!("../testdata/rekor-v2-cert-response.json");

    #[test]
    fn a_request_is_the_recorded_one_and_what_is_stored_for_it_too() {
        let request: Value = serde_json::from_slice(REQUEST).unwrap();
        let text = |path: &str| from_base64(request.pointer(path).unwrap().as_str().unwrap()).unwrap();
        let material = FlowMaterial {
            digest: Hash::from_slice(&text("/hashedRekordRequestV002/digest")).unwrap(),
            signature: text("/hashedRekordRequestV002/signature/content"),
            ..FlowMaterial::default()
        };
        let mut certificate = String::new();
        let der = text("/hashedRekordRequestV002/signature/verifier/x509Certificate/rawBytes");
        write_pem(&mut certificate, "CERTIFICATE", &der);
        let mut written = Vec::new();
        write_request(&mut written, &material, &certificate);
        assert_eq!(serde_json::from_slice::<Value>(&written).unwrap(), request);
        write_stored(&mut written, &material, &certificate);
        let entry: TransparencyLogEntry = serde_json::from_slice(ENTRY).unwrap();
        assert_eq!(written, entry.canonicalized_body);
    }
}
