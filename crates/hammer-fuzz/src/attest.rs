//! What the services of an attestation verifier answer: documents, what became of endorsements, sessions, results.

use std::sync::LazyLock;

use hammer_attest::{DiscoveryDocument, SessionObject, SessionStatus, submitted};
use hammer_measure::{Outcome, peer_text};
use hammer_rats::{AttestationResult, EarVerifier, SignedResult};
use serde_json::Value;

use crate::structure::text;

/// A dialect that a document shows is one whose media type it names, and a key of it is a key or is not.
pub(crate) fn discovery(data: &[u8]) -> bool {
    let Ok(read) = DiscoveryDocument::parse(data) else { return false };
    let dialect = read.dialect();
    if let Some(dialect) = dialect {
        assert!(read.takes(dialect.media_type()));
        let name = dialect.media_type().split(';').next().expect("a name");
        assert!(read.media_types.iter().any(|taken| taken.to_ascii_lowercase().contains(name)));
    }
    let has_key = read.key.as_ref().is_some_and(|key| EarVerifier::new(key).is_ok());
    // In a key that nobody reads a text may hold what is no Unicode.
    if let Ok(written) = serde_json::from_slice::<Value>(data) {
        // Both are told, and steer no terminal.
        let member = |name: &str| peer_text(written.get(name).and_then(Value::as_str).unwrap_or_default());
        if written.is_object() {
            assert_eq!(
                (member("service-state"), member("version")),
                (read.state.clone(), read.version.clone())
            );
        }
    }
    read.is_ready() && (dialect.is_some() || has_key)
}

/// A device was taken in where the service says `success`, or that it has it, and nowhere else.
pub(crate) fn provisioning(data: &[u8]) -> bool {
    let said = submitted(data);
    match said {
        Ok(ended) => assert_eq!(ended.outcome, Outcome::Accepted),
        Err((ended, reason)) => {
            assert!(matches!(ended.outcome, Outcome::Refused | Outcome::Malformed));
            assert!(reason.is_empty() || data.windows(reason.len()).any(|part| part == reason.as_bytes()));
        }
    }
    if let (Ok(_), Ok(written @ Value::Object(_))) = (&said, serde_json::from_slice::<Value>(data)) {
        let is_known =
            || written["failure-reason"].as_str().is_some_and(|why| why.contains("already in store"));
        assert!(written["status"] == "success" || written["status"] == "failed" && is_known(), "{written}");
    }
    said.is_ok()
}

/// A nonce is only that of a session which waits, and a result is taken apart whatever it is.
pub(crate) fn session(data: &[u8]) -> bool {
    let Some(read) = SessionObject::parse(data) else { return false };
    let status = read.status();
    if let Some(nonce) = read.waiting_nonce() {
        assert!(status == Some(SessionStatus::Waiting) && nonce.len() * 4 / 3 <= read.nonce.len());
    }
    if let Ok(written @ Value::Object(_)) = serde_json::from_slice::<Value>(data) {
        assert_eq!(written["status"].as_str(), Some(&*read.status));
        assert_eq!(written["result"].as_str(), read.result.as_deref());
    }
    let _ = read.result.as_deref().map(result_of);
    status.is_some()
}

/// Nothing is believed that the recorded key did not sign.
pub(crate) fn result(data: &[u8]) -> bool {
    result_of(&text(data))
}

fn result_of(jwt: &str) -> bool {
    if let Ok(signed) = SignedResult::parse(jwt) {
        let _ = signed.claims();
    }
    let Ok(claims) = RECORDED.verifier.verify(jwt) else { return false };
    let is_recorded = |(signed, said): &(&str, AttestationResult)| jwt.starts_with(signed) && *said == claims;
    assert!(RECORDED.results.iter().any(is_recorded));
    true
}

struct RecordedResults {
    verifier: EarVerifier,
    /// What is signed, and what that says.
    results: [(&'static str, AttestationResult); 2],
}

static RECORDED: LazyLock<RecordedResults> = LazyLock::new(|| {
    let document = include_bytes!("../../../fuzz/seeds/attest_discovery/verification-v0.0.2502.json");
    let key = DiscoveryDocument::parse(document).expect("a document").key.expect("a key");
    let results = [AFFIRMING, CONTRAINDICATED].map(|jwt| {
        let (signed, _) = jwt.rsplit_once('.').expect("three parts");
        (signed, SignedResult::parse(jwt).and_then(|parsed| parsed.claims()).expect("a result"))
    });
    RecordedResults { verifier: EarVerifier::new(&key).expect("a key of ES256"), results }
});

const AFFIRMING: &str = include_str!("../../../fuzz/seeds/attest_result/affirming.jwt");
const CONTRAINDICATED: &str = include_str!("../../../fuzz/seeds/attest_result/contraindicated.jwt");
