//! Signed envelopes (DSSE 1.0) with statements of in-toto (v1).

use std::borrow::Cow;

use hammer_tlog::hash::Hash;
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

/// The SHA-256 of all that a statement is about.
///
/// # Errors
/// When it is no statement.
pub(crate) fn subjects(statement: &[u8]) -> Result<Vec<Hash>, String> {
    let statement: Statement<'_> =
        serde_json::from_slice(statement).map_err(|why| format!("the statement: {why}"))?;
    let subjects = statement.subject.into_iter().filter_map(|subject| subject.digest.sha256);
    Ok(subjects.filter_map(|hash| Hash::from_hex(&hash)).collect())
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
}

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
    fn a_statement_is_about_the_sha256_of_its_subjects() {
        let text = format!(
            r#"{{"_type":"https://in-toto.io/Statement/v1","subject":[{{"name":"a","digest":{{"sha512":"00"}}}},{{"digest":{{"sha256":"{}"}}}}]}}"#,
            Hash([7; 32]).to_hex()
        );
        assert_eq!(subjects(text.as_bytes()), Ok(vec![Hash([7; 32])]));
        assert!(subjects(b"[]").unwrap_err().starts_with("the statement: "));
    }
}
