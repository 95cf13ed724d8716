//! What cosign wrote holds, and no altered byte of it that matters does.

use std::sync::LazyLock;

use hammer_tlog::encoding::{base64, from_base64};
use hammer_tlog::hash::sha256;
use serde_json::{Value, json};

use super::*;

const V1: &str = include_str!("../../../testdata/cosign-bundle-rekor-v1.json");
const V2: &str = include_str!("../../../testdata/cosign-bundle-rekor-v2.json");
const ROOT: &str = include_str!("../../../testdata/trusted_root.json");

static TRUSTED: LazyLock<TrustedRoot> = LazyLock::new(|| TrustedRoot::parse(ROOT).unwrap());

fn verified(json: &str, expected: &ExpectedBundle<'_>) -> Result<VerifiedBundle, BundleFault> {
    let bundle = SignedBundle::parse(json.as_bytes()).map_err(|why| malformed(why.to_string()))?;
    BundleVerifier::of_root(&TRUSTED).verify(&bundle, expected)
}

fn kind(judged: &Result<VerifiedBundle, BundleFault>) -> &'static str {
    match judged {
        Ok(_) => "kept",
        Err(BundleFault::Broken(fault)) => fault.kind,
        Err(BundleFault::Needs { what, .. }) => what,
        Err(BundleFault::Unverified(_)) => "unverified",
    }
}

fn of_nothing(json: &str) -> &'static str {
    kind(&verified(json, &ExpectedBundle::default()))
}

fn altered(bundle: &str, path: &str, alter: impl FnOnce(&mut Value)) -> String {
    let mut bundle: Value = serde_json::from_str(bundle).unwrap();
    alter(bundle.pointer_mut(path).unwrap_or_else(|| panic!("{path}")));
    bundle.to_string()
}

#[test]
fn what_cosign_wrote_for_either_rekor_is_verified_offline() {
    for (bundle, entry, log_index) in [(V1, "hashedrekord 0.0.1", 7495), (V2, "hashedrekord 0.0.2", 0)] {
        let verified = verified(bundle, &ExpectedBundle::default()).unwrap();
        assert_eq!((verified.entry.as_str(), verified.log_index), (entry, log_index));
        assert_eq!(verified.identity.as_deref(), Some("jdoe@redhat.com"));
        assert_eq!(verified.issuer.as_deref(), Some("http://127.0.0.1:18888"));
        assert!(!verified.has_artifact && verified.signed_at_ms.is_some());
    }
}

#[test]
fn a_bundle_of_somebody_else_or_of_something_else_is_named() {
    let of = |expected: ExpectedBundle<'_>| kind(&verified(V2, &expected));
    let nothing = ExpectedBundle::default();
    assert_eq!(of(ExpectedBundle { identity: Some("jdoe@redhat.com"), ..nothing }), "kept");
    assert_eq!(of(ExpectedBundle { identity: Some("doe@redhat.com"), ..nothing }), "certificate-identity");
    assert_eq!(of(ExpectedBundle { issuer: Some("http://127.0.0.1:18888"), ..nothing }), "kept");
    assert_eq!(of(ExpectedBundle { issuer: Some("http://127.0.0.1:1888"), ..nothing }), "certificate-issuer");
    assert_eq!(of(ExpectedBundle { artifact: Some(b"another"), ..nothing }), "another-artifact");
}

/// The key of a bundle's certificate.
fn certified_key(bundle: &str) -> LogKey {
    let bundle = SignedBundle::parse(bundle.as_bytes()).unwrap();
    let BundleSigner::Certificate(der) = &bundle.signer else { panic!("it has no certificate") };
    LogKey::from_der(Certificate::parse(der).unwrap().spki).unwrap()
}

/// The same key of P-256, with a NULL behind the name of its curve.
fn with_parameters(key: &LogKey) -> LogKey {
    let (identifier, point) = key.spki().split_at(23);
    let (head, names) = identifier.split_at(4);
    assert_eq!(head, [0x30, 0x59, 0x30, 0x13]);
    LogKey::from_der(&[&[0x30, 0x5b, 0x30, 0x15][..], names, &[0x05, 0x00], point].concat()).unwrap()
}

#[test]
fn a_key_that_is_expected_is_that_of_the_certificate_or_it_did_not_sign() {
    for (bundle, other) in [(V1, V2), (V2, V1)] {
        let by = |key: &LogKey| {
            kind(&verified(bundle, &ExpectedBundle { key: Some(key), ..ExpectedBundle::default() }))
        };
        assert_eq!(by(&certified_key(bundle)), "kept");
        assert_eq!(by(&certified_key(other)), "another-key");
        assert_eq!(by(&with_parameters(&certified_key(bundle))), "kept", "it is the same key");
    }
}

#[test]
fn what_cannot_be_verified_for_want_of_something_is_not_accused() {
    let undigested = altered(V2, "/messageSignature/messageDigest", |digest| *digest = Value::Null);
    assert_eq!(of_nothing(&undigested), "the artifact");
    let of_key = altered(V2, "/verificationMaterial", |material| {
        material["certificate"] = Value::Null;
        material["publicKey"] = json!({ "hint": "mine" });
    });
    assert_eq!(of_nothing(&of_key), "the key of whoever signed");
    let root = altered(ROOT, "/timestampAuthorities", |authorities| *authorities = json!([]));
    let mut verifier = BundleVerifier::of_root(&TrustedRoot::parse(&root).unwrap());
    let judged = verifier.verify(&SignedBundle::parse(V2.as_bytes()).unwrap(), &ExpectedBundle::default());
    assert_eq!(
        judged,
        Err(BundleFault::Needs { part: "its timestamp", what: "a chain of the timestamp authority" })
    );
}

fn by_root(root: &str, bundle: &str) -> Result<VerifiedBundle, BundleFault> {
    let mut verifier = BundleVerifier::of_root(&TrustedRoot::parse(root).unwrap());
    verifier.verify(&SignedBundle::parse(bundle.as_bytes()).unwrap(), &ExpectedBundle::default())
}

#[test]
fn without_a_log_in_the_trusted_root_no_entry_is_accused_and_none_is_believed() {
    let none = altered(ROOT, "/tlogs", |logs| *logs = json!([]));
    let nowhere = altered(ROOT, "/tlogs", |logs| {
        for log in logs.as_array_mut().unwrap() {
            log["baseUrl"] = Value::Null;
        }
    });
    for (root, bundle, what) in [(&none, V1, A_LOG), (&none, V2, A_LOG), (&nowhere, V2, A_PLACED_LOG)] {
        assert_eq!(by_root(root, bundle), Err(BundleFault::Needs { part: "its entry", what }));
    }
    assert_eq!(kind(&by_root(&nowhere, V1)), "kept");
    // One log alone is that of the other version: it is another log's entry.
    let of = |url: &str| {
        altered(ROOT, "/tlogs", |logs| {
            logs.as_array_mut().unwrap().retain(|log| log["baseUrl"].as_str().unwrap().ends_with(url));
        })
    };
    for (url, other) in [(":13000", V2), (":13003", V1)] {
        assert_eq!(kind(&by_root(&of(url), other)), "entry-of-another-log");
    }
}

#[test]
fn an_entry_of_a_log_whose_key_is_not_verified_here_is_not_accused() {
    let key = include_str!("../../../../hammer-tlog/testdata/openssl/secp256k1.pem");
    let digits: String = key.lines().filter(|line| !line.starts_with('-')).collect();
    let id = base64(&sha256(&from_base64(&digits).unwrap()).0);
    let root = altered(ROOT, "/tlogs", |logs| {
        let log = json!({ "baseUrl": "http://127.0.0.1:1", "publicKey": { "rawBytes": digits } });
        logs.as_array_mut().unwrap().push(log);
    });
    for bundle in [V1, V2] {
        let of_it = altered(bundle, "/verificationMaterial/tlogEntries/0/logId/keyId", |key_id| {
            *key_id = json!(id);
        });
        assert_eq!(kind(&by_root(&root, &of_it)), "unverified");
        assert_eq!(of_nothing(&of_it), "entry-of-another-log");
    }
}

#[test]
fn what_became_of_the_scts_of_its_certificate_is_said() {
    let none = altered(ROOT, "/ctlogs", |logs| *logs = json!([]));
    for bundle in [V1, V2] {
        assert_eq!(by_root(ROOT, bundle).unwrap().scts, VerifiedScts::Verified);
        assert_eq!(by_root(&none, bundle).unwrap().scts, VerifiedScts::Unverified);
    }
}

#[test]
fn a_checkpoint_that_a_trusted_key_signed_under_another_origin_is_told_with_it() {
    let root = altered(ROOT, "/tlogs", |logs| {
        for log in logs.as_array_mut().unwrap() {
            log["baseUrl"] = json!("http://other.test:1");
        }
    });
    let Err(BundleFault::Broken(fault)) = by_root(&root, V2) else { panic!("it is believed") };
    assert_eq!(
        (fault.kind, fault.detail.as_str()),
        (
            "checkpoint-origin",
            "the trusted key signed its checkpoint as \"127.0.0.1\", and not as \"other.test\""
        )
    );
}

#[test]
fn what_is_by_something_that_is_not_verified_here_is_not_accused() {
    let of_sha3 = altered(V2, "/messageSignature/messageDigest/algorithm", |name| *name = json!("SHA3_256"));
    assert_eq!(of_nothing(&of_sha3), "unverified");
    let of_number = altered(V2, "/messageSignature/messageDigest/algorithm", |name| *name = json!(1));
    assert_eq!(of_nothing(&of_number), "kept");
    let body = |bundle: &str, from: &str, to: &str| {
        altered(bundle, "/verificationMaterial/tlogEntries/0/canonicalizedBody", |body| {
            let text = String::from_utf8(from_base64(body.as_str().unwrap()).unwrap()).unwrap();
            assert!(text.contains(from), "{text}");
            *body = json!(base64(text.replace(from, to).as_bytes()));
        })
    };
    assert_eq!(of_nothing(&body(V2, "SHA2_256", "SHA3_256")), "unverified");
    assert_eq!(of_nothing(&body(V1, r#""apiVersion":"0.0.1""#, r#""apiVersion":"0.0.9""#)), "unverified");
    assert_eq!(of_nothing(&body(V2, "SHA2_256", "SHA2_512")), "inclusion-proof");
}

#[test]
fn without_a_timestamp_rekor_v2_does_not_say_when_and_rekor_v1_does() {
    let without = |bundle: &str| {
        altered(bundle, "/verificationMaterial/timestampVerificationData", |stamps| *stamps = Value::Null)
    };
    assert_eq!(of_nothing(&without(V1)), "kept");
    assert_eq!(of_nothing(&without(V2)), "no-time");
}

#[test]
fn parts_of_two_bundles_do_not_make_one() {
    let of = |path: &str, from: &str, to: &str| {
        let part: Value = serde_json::from_str::<Value>(from).unwrap().pointer(path).unwrap().clone();
        of_nothing(&altered(to, path, |old| *old = part))
    };
    for (from, to) in [(V1, V2), (V2, V1)] {
        assert_eq!(of("/messageSignature", from, to), "artifact-signature");
        assert_eq!(of("/verificationMaterial/certificate", from, to), "artifact-signature");
        assert_eq!(of("/verificationMaterial/tlogEntries", from, to), "another-entry");
        assert_eq!(of("/verificationMaterial/timestampVerificationData", from, to), "timestamp-imprint");
        assert_eq!(of("/verificationMaterial/tlogEntries/0/kindVersion", from, to), "another-entry");
    }
}

/// Every byte of what stands in base64, and every character of the rest that is signed, hashed or compared.
#[test]
fn no_altered_byte_that_matters_is_believed() {
    for bundle in [V1, V2] {
        let whole: Value = serde_json::from_str(bundle).unwrap();
        let mut alterations = 0;
        for path in paths(&whole) {
            let original = whole.pointer(&path).unwrap().as_str().unwrap_or_default().to_owned();
            for text in variants(&path, &original) {
                alterations += 1;
                let json = altered(bundle, &path, |value| *value = json!(text));
                let judged = of_nothing(&json);
                assert_ne!(judged, "kept", "{path}: {text}");
            }
        }
        assert!(alterations > 300, "{alterations}");
    }
}

/// The places of all texts.
fn paths(value: &Value) -> Vec<String> {
    fn walk(value: &Value, path: String, out: &mut Vec<String>) {
        match value {
            Value::Object(fields) => {
                fields.iter().for_each(|(key, value)| walk(value, format!("{path}/{key}"), out));
            }
            Value::Array(values) => {
                values.iter().enumerate().for_each(|(at, value)| walk(value, format!("{path}/{at}"), out));
            }
            Value::String(_) => out.push(path),
            _ => {}
        }
    }
    let mut out = Vec::new();
    walk(value, String::new(), &mut out);
    out
}

/// Where the type of what is signed stands: id-ct-TSTInfo (RFC 3161 section 2.4.2).
fn content_of_timestamp(der: &[u8]) -> usize {
    let oid = [0x06, 0x0b, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x10, 0x01, 0x04];
    der.windows(oid.len()).position(|window| window == oid).unwrap()
}

/// Alterations of a text: of base64 one of its bytes at a time, every seventh of long ones.
fn variants(path: &str, original: &str) -> Vec<String> {
    let is_base64 =
        original.len().is_multiple_of(4) && !path.contains("kind") && from_base64(original).is_ok();
    let is_number = original.parse::<i64>().is_ok();
    if is_base64 && !is_number {
        let bytes = from_base64(original).unwrap();
        let step = if bytes.len() > 200 { 7 } else { 1 };
        // Versions and digest algorithms before the content of a timestamp are signed by nobody, and looked at by nobody.
        let first = if path.ends_with("signedTimestamp") { content_of_timestamp(&bytes) } else { 0 };
        return (first..bytes.len())
            .step_by(step)
            .map(|at| {
                let mut bytes = bytes.clone();
                bytes[at] ^= 1;
                base64(&bytes)
            })
            .collect();
    }
    if path.ends_with("envelope") {
        // The last signature's own digits, the origin, size and root.
        let lines: Vec<&str> = original.lines().collect();
        return (0..3)
            .map(|at| {
                let line = lines[at];
                let last = line.chars().rev().find(char::is_ascii_alphanumeric).unwrap();
                let place = line.rfind(last).unwrap();
                let other = if last == '1' { '2' } else { '1' };
                let altered = format!("{}{other}{}", &line[..place], &line[place + 1..]);
                original.replacen(line, &altered, 1)
            })
            .collect();
    }
    let mut text = original.to_owned();
    let last = text.pop().unwrap();
    text.push(if last == '1' { '2' } else { '1' });
    vec![text]
}
