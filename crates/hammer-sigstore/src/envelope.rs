//! Signed envelopes (DSSE 1.0) with statements of in-toto (v1).

use std::borrow::Cow;

use hammer_tlog::encoding::write_base64;
use hammer_tlog::hash::{Hash, from_hex, sha256};
use hammer_tlog::keys::digest::DigestAlgorithm;
use serde::Deserialize;

/// The type of the payload.
pub(crate) const PAYLOAD_TYPE: &str = "application/vnd.in-toto+json";

/// Appends what is signed of a payload (DSSE, "PAE"): both with their lengths.
pub(crate) fn write_signed(out: &mut Vec<u8>, payload_type: &str, payload: &[u8]) {
    out.extend_from_slice(b"DSSEv1 ");
    for part in [payload_type.as_bytes(), payload] {
        out.extend_from_slice(part.len().to_string().as_bytes());
        out.push(b' ');
        out.extend_from_slice(part);
        out.push(b' ');
    }
    out.pop();
}

/// The same, alone.
pub(crate) fn signed(payload_type: &str, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(payload_type.len() + payload.len() + ROOM);
    write_signed(&mut out, payload_type, payload);
    out
}

/// What a flow attests: a statement about its artifact, in the memory of that of an earlier flow.
#[derive(Debug, Default)]
pub(crate) struct FlowEnvelope {
    /// The statement.
    pub(crate) payload: Vec<u8>,
    /// SHA-256 of that.
    pub(crate) payload_hash: Hash,
    /// What is signed of it.
    pub(crate) signed: Vec<u8>,
    /// The envelope in JSON, whose only characters that a text of JSON would escape are quotation marks.
    pub(crate) json: Vec<u8>,
    /// SHA-256 of that.
    pub(crate) hash: Hash,
}

impl FlowEnvelope {
    /// States something about the artifact of that SHA-256; the SHA-256 of what is to be signed.
    pub(crate) fn state(&mut self, artifact: &Hash) -> Hash {
        let Self { payload, payload_hash, signed, .. } = self;
        payload.clear();
        payload.extend_from_slice(
            br#"{"_type":"https://in-toto.io/Statement/v1","subject":[{"name":"artifact","digest":{"sha256":""#,
        );
        payload.extend_from_slice(artifact.to_hex().as_bytes());
        payload.extend_from_slice(br#""}}],"predicateType":""#);
        payload.extend_from_slice(PREDICATE_TYPE.as_bytes());
        payload.extend_from_slice(br#"","predicate":{"Data":"","Timestamp":""}}"#);
        *payload_hash = sha256(payload);
        signed.clear();
        write_signed(signed, PAYLOAD_TYPE, payload);
        sha256(signed)
    }

    /// Closes it with a signature over what is to be signed.
    pub(crate) fn close(&mut self, signature: &[u8]) {
        let Self { payload, json, hash, .. } = self;
        json.clear();
        json.extend_from_slice(br#"{"payload":""#);
        write_base64(json, payload);
        json.extend_from_slice(br#"","payloadType":""#);
        json.extend_from_slice(PAYLOAD_TYPE.as_bytes());
        json.extend_from_slice(br#"","signatures":[{"sig":""#);
        write_base64(json, signature);
        json.extend_from_slice(br#""}]}"#);
        *hash = sha256(json);
    }

    /// Bytes that it holds on to.
    pub(crate) fn capacity(&self) -> usize {
        self.payload.capacity() + self.signed.capacity() + self.json.capacity()
    }
}

/// The digests of SHA-2 of all that a statement is about.
///
/// # Errors
/// When it is no statement.
pub(crate) fn subjects(statement: &[u8]) -> Result<Vec<(DigestAlgorithm, Vec<u8>)>, String> {
    let statement: Statement<'_> =
        serde_json::from_slice(statement).map_err(|why| format!("the statement: {why}"))?;
    let digests = statement.subject.into_iter().flat_map(|subject| {
        let DigestSet { sha256, sha384, sha512 } = subject.digest;
        let named = [
            (DigestAlgorithm::Sha256, sha256),
            (DigestAlgorithm::Sha384, sha384),
            (DigestAlgorithm::Sha512, sha512),
        ];
        named.map(|(algorithm, digits)| Some((algorithm, from_hex(&digits?)?))).into_iter().flatten()
    });
    Ok(digests.collect())
}

/// What is read of a statement (in-toto attestation, `spec/v1/statement.md`).
#[derive(Deserialize)]
struct Statement<'a> {
    #[serde(borrow)]
    subject: Vec<Subject<'a>>,
}

#[derive(Deserialize)]
struct Subject<'a> {
    #[serde(borrow)]
    digest: DigestSet<'a>,
}

#[derive(Deserialize)]
struct DigestSet<'a> {
    #[serde(borrow)]
    sha256: Option<Cow<'a, str>>,
    #[serde(borrow)]
    sha384: Option<Cow<'a, str>>,
    #[serde(borrow)]
    sha512: Option<Cow<'a, str>>,
}

/// What cosign calls `custom`.
const PREDICATE_TYPE: &str = "https://cosign.sigstore.dev/attestation/v1";
/// More than the words and lengths take.
const ROOM: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_signed_is_as_in_the_protocols_own_example() {
        let signed = signed("http://example.com/HelloWorld", b"hello world");
        assert_eq!(signed, b"DSSEv1 29 http://example.com/HelloWorld 11 hello world");
        assert_eq!(super::signed("", b""), b"DSSEv1 0  0 ");
    }

    #[test]
    fn an_envelope_has_a_statement_about_the_artifact_and_the_signature() {
        let mut envelope = FlowEnvelope::default();
        for artifact in [Hash([7; 32]), Hash([8; 32])] {
            let to_sign = envelope.state(&artifact);
            envelope.close(b"signature");
            let subject = (DigestAlgorithm::Sha256, artifact.0.to_vec());
            assert_eq!(subjects(&envelope.payload), Ok(vec![subject]));
            assert_eq!(to_sign, sha256(&signed(PAYLOAD_TYPE, &envelope.payload)));
            let json: serde_json::Value = serde_json::from_slice(&envelope.json).unwrap();
            assert_eq!(json["payloadType"], PAYLOAD_TYPE);
            assert_eq!(json["payload"], hammer_tlog::encoding::base64(&envelope.payload));
            assert_eq!(json["signatures"][0]["sig"], hammer_tlog::encoding::base64(b"signature"));
            assert_eq!(
                (envelope.payload_hash, envelope.hash),
                (sha256(&envelope.payload), sha256(&envelope.json))
            );
        }
    }

    #[test]
    fn a_statement_is_about_the_digests_of_its_subjects() {
        let text = format!(
            r#"{{"_type":"https://in-toto.io/Statement/v1","subject":[{{"name":"a","digest":{{"sha512":"00"}}}},{{"digest":{{"sha256":"{}"}}}}]}}"#,
            Hash([7; 32]).to_hex()
        );
        let of = |algorithm, digest: &[u8]| (algorithm, digest.to_vec());
        let both = vec![of(DigestAlgorithm::Sha512, &[0]), of(DigestAlgorithm::Sha256, &[7; 32])];
        assert_eq!(subjects(text.as_bytes()), Ok(both));
        assert!(subjects(b"[]").unwrap_err().starts_with("the statement: "));
    }
}
