//! What signature services answer: what is taken from an answer stands in it, and nothing is taken from one that says what is not valid.

use hammer_pki::{Verdict, dss, rest_pki};
use hammer_tlog::encoding::from_base64;
use serde_json::Value;

/// An answer to any request of either dialect. All of its readers get it, since a service may send any of them to any request.
pub(crate) fn answer(data: &[u8]) -> bool {
    // In a key that nobody reads a text may hold what is no Unicode; and a list in the place of an object has no names to hold it against.
    let written = serde_json::from_slice(data).ok().filter(Value::is_object);
    let is_read = [started(data, written.as_ref()), finished(data, written.as_ref())];
    let has_bytes = [
        (rest_pki::Nonce::read(data).map(|nonce| nonce.0), "nonce"),
        (rest_pki::timestamp_token(data), "encodedValue"),
        (dss::data_to_sign(data), "bytes"),
        (dss::signed_document(data), "bytes"),
        (dss::timestamp_token(data), "binaries"),
    ]
    .map(|(read, field)| {
        let Ok(read) = read else { return false };
        check_bytes(&read, written.as_ref().map(|written| &written[field]));
        true
    });
    let is_valid = authenticated(data, written.as_ref());
    let is_judged = judged(data, written.as_ref());
    is_read.contains(&true) || has_bytes.contains(&true) || is_valid || is_judged
}

/// What starts a signature has a token that can stand in a path as it is, and something to be signed.
fn started(data: &[u8], written: Option<&Value>) -> bool {
    let Ok(read) = rest_pki::Started::read(data) else { return false };
    let path = rest_pki::finish(hammer_pki::SignatureKind::Cades, &read.token);
    let path: http::uri::PathAndQuery = format!("/{path}").parse().expect("a path");
    assert_eq!((path.path().matches('/').count(), path.query()), (5, None), "{path}");
    check_bytes(&read.to_be_signed, written.map(|written| &written["toSignData"]));
    if let Some(written) = written {
        assert_eq!(written["token"].as_str(), Some(&*read.token));
        check_valid(written);
    }
    true
}

/// What finishes one has a file, or says where it is.
fn finished(data: &[u8], written: Option<&Value>) -> bool {
    let Ok(read) = rest_pki::Finished::read(data) else { return false };
    let file = written.map(|written| &written["signatureFile"]).filter(|file| file.is_object());
    match read {
        rest_pki::Finished::File(read) => check_bytes(&read, file.map(|file| &file["content"])),
        rest_pki::Finished::At(url) => {
            assert!(!url.is_empty());
            assert!(file.is_none_or(|file| file["content"].is_null() && file["url"] == url.as_str()));
        }
    }
    if let Some(written) = written {
        check_valid(written);
    }
    true
}

/// Whoever is let in has an answer that names no error.
fn authenticated(data: &[u8], written: Option<&Value>) -> bool {
    let Ok(rest_pki::Authenticated { fault, .. }) = rest_pki::Authenticated::read(data) else { return false };
    if let Some(results @ Value::Object(_)) = written.map(|written| &written["validationResults"]) {
        let none = Vec::new();
        let errors = results["errors"].as_array().unwrap_or(&none);
        assert_eq!(errors.is_empty(), fault.is_none());
        let first = errors.first().filter(|error| error.is_object());
        assert!(first.is_none_or(|first| Some(&*fault.expect("one").kind) == first["type"].as_str()));
    }
    true
}

/// A file of which the service says that it is valid has a signature, and none of which it says anything else.
fn judged(data: &[u8], written: Option<&Value>) -> bool {
    let said = [rest_pki::verdict(data), dss::verdict(data)];
    let all = |signatures: Vec<&Value>, is_valid: fn(&Value) -> bool| {
        assert!(!signatures.is_empty() && signatures.into_iter().all(is_valid));
    };
    if let (Ok(Verdict::Valid), Some(signers)) = (&said[0], written.map(|written| &written["signers"])) {
        all(signers.as_array().into_iter().flatten().collect(), |signer| {
            signer["validationResults"]["errors"].as_array().is_none_or(Vec::is_empty)
        });
    }
    if let (Ok(Verdict::Valid), Some(written)) = (&said[1], written) {
        let either =
            |value: &'_ Value, names: [&str; 2]| names.into_iter().find_map(|name| value.get(name).cloned());
        let report = either(written, ["SimpleReport", "simpleReport"]).expect("a report");
        let tokens = either(&report, ["signatureOrTimestampOrEvidenceRecord", "signatureOrTimestamp"]);
        let tokens = tokens.expect("what is in the file");
        let signatures = tokens.as_array().into_iter().flatten();
        let signatures: Vec<Value> =
            signatures.filter_map(|token| either(token, ["Signature", "signature"])).collect();
        all(signatures.iter().filter(|signature| signature.is_object()).collect(), |signature| {
            signature.get("Indication").or(signature.get("indication")) == Some(&"TOTAL_PASSED".into())
        });
    }
    said.iter().any(Result::is_ok)
}

/// Nothing that the service calls invalid is taken for a success.
fn check_valid(written: &Value) {
    let errors = written["validationResults"]["errors"].as_array();
    assert!(errors.is_none_or(Vec::is_empty), "{written}");
}

/// These are the bytes of that field, of which there is one at least.
fn check_bytes(read: &[u8], field: Option<&Value>) {
    assert!(!read.is_empty());
    if let Some(field) = field {
        assert_eq!(from_base64(field.as_str().expect("a text")).ok().as_deref(), Some(read));
    }
}
