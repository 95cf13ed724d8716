//! Bytes of TesseraCT.

use hammer_tlog::ct::precert::{PrecertError, is_poison_well_formed, signed_entry};
use hammer_tlog::ct::rfc6962::{AddChainRequest, EntryType, GetRoots, SignedEntry};
use hammer_tlog::ct::sct::{Sct, SctError};
use hammer_tlog::encoding::from_base64;
use hammer_tlog::keys::certificate::{Certificate, POISON};
use hammer_tlog::keys::key::{KeyAlgorithm, LogKey, SignatureError};

use crate::{testdata, text};

const ACCEPTED: [(&str, EntryType); 6] = [
    ("01-x509", EntryType::X509),
    ("02-x509-root-included", EntryType::X509),
    ("03-x509-duplicate-of-01", EntryType::X509),
    ("04-precert", EntryType::Precert),
    ("05-precert-by-precert-signing-cert", EntryType::Precert),
    ("06-precert-by-root", EntryType::Precert),
];

const REFUSED: [&str; 8] = [
    "07-unknown-root",
    "08-broken-signature",
    "09-not-json",
    "10-empty-chain",
    "11-bad-base64",
    "12-precert-on-add-chain",
    "13-cert-on-add-pre-chain",
    "14-poison-not-critical",
];

fn key() -> LogKey {
    text("tesseract/log-public-key.b64").parse().unwrap()
}

fn chain(name: &str) -> Vec<Vec<u8>> {
    let request: AddChainRequest =
        serde_json::from_slice(&testdata(&format!("tesseract/{name}.request.json"))).unwrap();
    request.chain.into_iter().map(|certificate| certificate.0).collect()
}

fn entry(name: &str, kind: EntryType) -> SignedEntry {
    signed_entry(&chain(name), kind).unwrap()
}

fn sct(name: &str) -> Sct {
    Sct::from_json(&testdata(&format!("tesseract/{name}.response"))).unwrap()
}

#[test]
fn every_accepted_chain_has_a_verified_sct() {
    for (name, kind) in ACCEPTED {
        assert!(text(&format!("tesseract/{name}.status")).starts_with("200 "), "{name}");
        let sct = sct(name);
        sct.verify(&key(), entry(name, kind).by_ref()).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

#[test]
fn every_sct_has_its_leaf_index_and_the_duplicate_has_the_first_ones() {
    let indices = ACCEPTED.map(|(name, _)| sct(name).leaf_index().unwrap());
    assert_eq!(indices, [0, 1, 0, 2, 3, 4].map(Some));
    let [first, _, duplicate, ..] = ACCEPTED.map(|(name, _)| sct(name));
    assert_eq!(first.timestamp_ms, duplicate.timestamp_ms);
    assert_ne!(first.signature, duplicate.signature);
}

#[test]
fn the_answer_of_an_sct_is_the_answer_that_was_read() {
    for (name, _) in ACCEPTED {
        let answer = text(&format!("tesseract/{name}.response"));
        assert_eq!(serde_json::to_string(&sct(name).to_response()).unwrap(), answer.trim_end());
    }
}

#[test]
fn no_refusal_reads_as_an_sct() {
    for name in REFUSED {
        assert!(text(&format!("tesseract/{name}.status")).starts_with("400 "), "{name}");
        let error = Sct::from_json(&testdata(&format!("tesseract/{name}.response"))).unwrap_err();
        assert!(matches!(error, SctError::Json(_)), "{name}: {error}");
    }
}

#[test]
fn what_is_no_text_is_no_sct_though_no_field_is_of_it() {
    for (name, _) in ACCEPTED {
        let answer = testdata(&format!("tesseract/{name}.response"));
        let with = |member: &[u8]| [br#"{"a":""#.as_slice(), member, br#"","#, &answer[1..]].concat();
        assert_eq!(Sct::from_json(&with("\u{e9}".as_bytes())).unwrap(), sct(name));
        let error = Sct::from_json(&with(&[0xff, 0xfe])).unwrap_err();
        assert!(matches!(error, SctError::Utf8(_)), "{name}: {error}");
    }
}

#[test]
fn the_leaf_hash_of_a_promise_is_the_hash_of_its_leaf() {
    use hammer_tlog::ct::rfc6962::{MerkleTreeLeaf, sct_signature_input};
    use hammer_tlog::logs::merkle::leaf_hash;
    for (name, kind) in ACCEPTED {
        let (sct, entry) = (sct(name), entry(name, kind));
        let mut input = Vec::new();
        sct_signature_input(&mut input, sct.timestamp_ms, entry.by_ref(), &sct.extensions).unwrap();
        assert_eq!(sct.leaf_hash(entry.by_ref()).unwrap(), leaf_hash(&input));
        let leaf = MerkleTreeLeaf::parse(&input).unwrap();
        assert_eq!((leaf.timestamp_ms, leaf.entry), (sct.timestamp_ms, entry.by_ref()));
        assert_eq!(leaf.encode().unwrap(), input);
    }
}

#[test]
fn the_key_is_the_one_whose_id_stands_in_the_scts() {
    assert_eq!(key().algorithm(), KeyAlgorithm::P256);
    assert_eq!(key().log_id().to_base64(), "0RIzN8uL3//FSGOTY0GJ5OUXo5Sszrk5YvPe2KxH1NA=");
    let base64 = text("tesseract/log-public-key.b64");
    let pem = format!("-----BEGIN PUBLIC KEY-----\n{}\n-----END PUBLIC KEY-----\n", base64.trim());
    assert_eq!(pem.parse::<LogKey>().unwrap(), key());
    assert_eq!(LogKey::from_der(&from_base64(base64.trim()).unwrap()).unwrap(), key());
}

#[test]
fn an_sct_does_not_verify_over_anything_else() {
    let entry = entry("04-precert", EntryType::Precert);
    let invalid = |error| matches!(error, Err(SctError::BadSignature(SignatureError::Invalid)));

    let other = sct("05-precert-by-precert-signing-cert");
    assert!(invalid(other.verify(&key(), entry.by_ref())));
    let mut later = sct("04-precert");
    later.timestamp_ms += 1;
    assert!(invalid(later.verify(&key(), entry.by_ref())));
    let mut moved = sct("04-precert");
    *moved.extensions.last_mut().unwrap() ^= 1;
    assert!(invalid(moved.verify(&key(), entry.by_ref())));
    let mut broken = sct("04-precert");
    *broken.signature.last_mut().unwrap() ^= 1;
    assert!(invalid(broken.verify(&key(), entry.by_ref())));
}

#[test]
fn what_is_wrong_with_an_sct_is_named() {
    let entry = entry("04-precert", EntryType::Precert);
    let sct = sct("04-precert");
    let v2 = Sct { version: 1, ..sct.clone() };
    assert!(matches!(v2.verify(&key(), entry.by_ref()), Err(SctError::Version { version: 1 })));
    let sunlight: LogKey = text("sunlight/log-public-key.b64").parse().unwrap();
    let error = sct.verify(&sunlight, entry.by_ref());
    assert!(matches!(error, Err(SctError::WrongLogId { got, expected })
        if got == key().log_id() && expected == sunlight.log_id()));
    let mut long = sct.clone();
    long.signature.push(0);
    assert!(matches!(long.verify(&key(), entry.by_ref()), Err(SctError::Signature(_))));
    let mut rsa = sct.clone();
    rsa.signature[1] = 1;
    let error = rsa.verify(&key(), entry.by_ref());
    assert!(matches!(error, Err(SctError::BadSignature(SignatureError::Algorithm { algorithm: 1, .. }))));
    let short = Sct { extensions: vec![0, 0, 5, 1], ..sct };
    assert!(matches!(short.leaf_index(), Err(SctError::Extensions(_))));
}

#[test]
fn the_roots_are_the_root() {
    let roots: GetRoots = serde_json::from_slice(&testdata("tesseract/15-get-roots.response")).unwrap();
    assert_eq!(roots.certificates.len(), 1);
    assert_eq!(roots.certificates[0].0, testdata("tesseract/root.der"));
    let root = Certificate::parse(&roots.certificates[0].0).unwrap();
    let intermediate = testdata("tesseract/inta.der");
    let intermediate = Certificate::parse(&intermediate).unwrap();
    assert_eq!(root.subject, root.issuer);
    assert_eq!(intermediate.issuer, root.subject);
    assert!(root.is_ca() && intermediate.is_ca());
    // 2026-01-01T00:00:00Z and 2040-01-01T00:00:00Z.
    assert_eq!(root.not_before_seconds(), Some(1_767_225_600));
    assert_eq!(root.not_after_seconds(), Some(2_208_988_800));
}

#[test]
fn a_poison_that_is_not_critical_is_told_from_a_good_one() {
    let poison_of = |name: &str| {
        let chain = chain(name);
        let certificate = Certificate::parse(&chain[0]).unwrap();
        certificate.extension(POISON).map(|poison| is_poison_well_formed(&poison))
    };
    assert_eq!(poison_of("04-precert"), Some(true));
    assert_eq!(poison_of("12-precert-on-add-chain"), Some(true));
    assert_eq!(poison_of("14-poison-not-critical"), Some(false));
    assert_eq!(poison_of("01-x509"), None);
}

#[test]
fn a_chain_that_does_not_reach_the_final_issuer_is_refused() {
    let rebuild = |chain: &[Vec<u8>]| signed_entry(chain, EntryType::Precert);
    assert_eq!(rebuild(&[]), Err(PrecertError::EmptyChain));
    assert_eq!(rebuild(&chain("04-precert")[..1]), Err(PrecertError::MissingIssuer));
    let by_signing_certificate = chain("05-precert-by-precert-signing-cert");
    assert_eq!(rebuild(&by_signing_certificate[..2]), Err(PrecertError::MissingIssuer));
    assert_eq!(rebuild(&chain("01-x509")), Err(PrecertError::PoisonCount { count: 0 }));
}
