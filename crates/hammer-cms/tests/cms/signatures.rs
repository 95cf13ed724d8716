//! Signatures of documents as real servers made them, and the same with one thing wrong each.

use hammer_cms::signature::{
    ExpectedSignature, KnownSigner, SignatureFault, SignatureForm, SignatureVerifier, VerifiedSignature,
};
use hammer_cms::signed_data::SignedData;
use hammer_cms::timestamp::TstInfo;
use hammer_tlog::hash::sha256;
use hammer_tlog::keys::chain::TrustedAuthorities;

use crate::testdata;

const DETACHED: SignatureForm = SignatureForm::CadesDetached;
const ENVELOPING: SignatureForm = SignatureForm::CadesEnveloping;
/// All were made on 2026-11-27.
const NOT_BEFORE_MS: i64 = 1_795_737_600_000;
const NOT_AFTER_MS: i64 = NOT_BEFORE_MS + 86_400_000;

/// What was signed, by whom, in which form and with a timestamp or not.
struct Recorded {
    file: &'static str,
    signer: &'static str,
    form: SignatureForm,
    has_timestamp: bool,
}

const fn recorded(
    file: &'static str,
    signer: &'static str,
    form: SignatureForm,
    has_timestamp: bool,
) -> Recorded {
    Recorded { file, signer, form, has_timestamp }
}

const RECORDED: [Recorded; 7] = [
    recorded("dss-b-detached.p7s", "rsa", DETACHED, false),
    recorded("dss-b-enveloping.p7m", "rsa", ENVELOPING, false),
    recorded("dss-t-enveloping.p7m", "rsa", ENVELOPING, true),
    recorded("pyhanko-b-enveloping.p7m", "rsa", ENVELOPING, false),
    recorded("pyhanko-t-enveloping.p7m", "rsa", ENVELOPING, true),
    recorded("openssl-p256-detached.p7s", "p256", DETACHED, false),
    recorded("openssl-p256-enveloping.p7m", "p256", ENVELOPING, false),
];

fn signer(name: &str) -> KnownSigner {
    KnownSigner::new(testdata(&format!("signatures/signer-{name}.der"))).unwrap()
}

fn verifier() -> SignatureVerifier {
    let pem = String::from_utf8(testdata("signatures/ca.pem")).unwrap();
    SignatureVerifier::new(Some(TrustedAuthorities::from_pem(&pem).unwrap()))
}

impl Recorded {
    /// Verifies `cms` as this one, with what is expected changed.
    fn verify<T>(
        &self,
        cms: &[u8],
        change: impl FnOnce(&mut ExpectedSignature<'_>),
        found: impl FnOnce(Result<VerifiedSignature<'_>, SignatureFault>) -> T,
    ) -> T {
        let (document, signer) = (testdata("signatures/document"), signer(self.signer));
        let pieces = [&document[..100], &document[100..]];
        let mut expected = ExpectedSignature {
            document: &pieces,
            signer: &signer,
            form: self.form,
            has_timestamp: self.has_timestamp,
            not_before_ms: Some(NOT_BEFORE_MS),
            not_after_ms: Some(NOT_AFTER_MS),
        };
        change(&mut expected);
        found(verifier().verify(cms, &expected))
    }

    fn cms(&self) -> Vec<u8> {
        testdata(&format!("signatures/{}", self.file))
    }

    fn fault(&self, cms: &[u8], change: impl FnOnce(&mut ExpectedSignature<'_>)) -> SignatureFault {
        self.verify(cms, change, |found| found.expect_err(self.file))
    }
}

#[test]
fn signatures_of_real_servers_hold() {
    for one in RECORDED {
        one.verify(
            &one.cms(),
            |_| {},
            |found| {
                let found = found.unwrap_or_else(|why| panic!("{}: {why}", one.file));
                let at_ms = found.signing_time.unwrap() * 1000;
                assert!((NOT_BEFORE_MS..NOT_AFTER_MS).contains(&at_ms), "{}", one.file);
                assert_eq!(found.timestamp.is_some(), one.has_timestamp, "{}", one.file);
            },
        );
    }
}

#[test]
fn a_digest_that_was_worked_out_before_counts_and_the_content_is_looked_at_all_the_same() {
    let document = testdata("signatures/document");
    let digest = sha256(&document).0;
    for one in RECORDED {
        let signer = signer(one.signer);
        let cms = one.cms();
        let kind = |document: &[u8], digest: &[u8; 32]| {
            let expected = ExpectedSignature {
                document: &[document],
                signer: &signer,
                form: one.form,
                has_timestamp: one.has_timestamp,
                not_before_ms: Some(NOT_BEFORE_MS),
                not_after_ms: Some(NOT_AFTER_MS),
            };
            verifier().verify_hashed(&cms, digest, &expected).map_err(|fault| fault.kind()).err()
        };
        assert_eq!(kind(&document, &digest), None, "{}", one.file);
        // One was digested by SHA-512: of it the document itself is digested, whatever its SHA-256 is said to be.
        let is_of_sha256 = one.file != "openssl-p256-detached.p7s";
        assert_eq!(kind(&document, &[7; 32]), is_of_sha256.then_some("message-digest"), "{}", one.file);
        assert!(is_of_sha256 || kind(b"another document", &digest).is_some(), "{}", one.file);
        if one.form == SignatureForm::CadesEnveloping {
            assert_eq!(kind(b"another document", &digest), Some("another-document"), "{}", one.file);
        }
    }
}

#[test]
fn a_document_beside_its_signature_may_be_known_by_its_digest_alone() {
    let digest = sha256(&testdata("signatures/document")).0;
    for one in RECORDED {
        let (cms, signer) = (one.cms(), signer(one.signer));
        let expected = ExpectedSignature {
            document: &[b"not looked at"],
            signer: &signer,
            form: one.form,
            has_timestamp: one.has_timestamp,
            not_before_ms: Some(NOT_BEFORE_MS),
            not_after_ms: Some(NOT_AFTER_MS),
        };
        let kind = |digest: &[u8; 32], expected: &ExpectedSignature<'_>| {
            verifier().verify_digest(&cms, digest, expected).map_err(|why| why.kind()).err()
        };
        // What is signed by OpenSSL was digested by SHA-512, which nobody can do who has the SHA-256 alone.
        let is_of_sha256 = !one.file.starts_with("openssl");
        let found = match (one.form, is_of_sha256) {
            (DETACHED, true) => None,
            (DETACHED, false) => Some("message-digest"),
            _ => Some("another-document"),
        };
        assert_eq!(kind(&digest, &expected), found, "{}", one.file);
        if found.is_none() {
            assert_eq!(kind(&sha256(b"another").0, &expected), Some("message-digest"), "{}", one.file);
            let late = ExpectedSignature { not_before_ms: Some(NOT_AFTER_MS), ..expected };
            assert_eq!(kind(&digest, &late), Some("signing-time"), "{}", one.file);
        }
    }
}

#[test]
fn what_was_not_asked_for_is_another_document_signer_form_or_time() {
    let other = b"another document".as_slice();
    let strange = KnownSigner::new(testdata("signatures/signer-rsa.der")).unwrap();
    for one in RECORDED {
        let cms = one.cms();
        let kind =
            |change: &dyn Fn(&mut ExpectedSignature<'_>)| one.fault(&cms, |expected| change(expected)).kind();
        let is_detached = one.form == DETACHED;
        let another = if is_detached { "message-digest" } else { "another-document" };
        assert_eq!(one.fault(&cms, |expected| expected.document = &[b"another document"]).kind(), another);
        // A part of the document, and more than it.
        let whole = testdata("signatures/document");
        let pieces = [&whole[..], other];
        let part = [&whole[..2047]];
        for document in [&pieces[..], &part[..]] {
            let found = {
                let signer = signer(one.signer);
                let expected = ExpectedSignature {
                    document,
                    signer: &signer,
                    form: one.form,
                    has_timestamp: false,
                    not_before_ms: None,
                    not_after_ms: None,
                };
                verifier().verify(&cms, &expected).map(drop)
            };
            assert_eq!(found.unwrap_err().kind(), another, "{}", one.file);
        }
        let form = if is_detached { ENVELOPING } else { DETACHED };
        assert_eq!(kind(&|expected| expected.form = form), "another-document");
        if is_detached {
            assert_eq!(kind(&|expected| expected.form = SignatureForm::Pades), "signature-attributes");
        }
        if one.signer == "p256" {
            let document = whole.as_slice();
            let expected = ExpectedSignature {
                document: &[document],
                signer: &strange,
                form: one.form,
                has_timestamp: false,
                not_before_ms: None,
                not_after_ms: None,
            };
            assert_eq!(verifier().verify(&cms, &expected).unwrap_err(), SignatureFault::Signer);
        }
        assert_eq!(kind(&|expected| expected.not_before_ms = Some(NOT_AFTER_MS)), "signing-time");
        assert_eq!(kind(&|expected| expected.not_after_ms = Some(NOT_BEFORE_MS - 1)), "signing-time");
        if !one.has_timestamp {
            assert_eq!(kind(&|expected| expected.has_timestamp = true), "missing-timestamp");
        }
    }
}

#[test]
fn what_a_form_wants_and_a_signature_lacks_is_told() {
    for (file, form, expected) in [
        ("openssl-p256-without-cades.p7s", DETACHED, "signature-attributes"),
        ("openssl-p256-without-certificate.p7s", DETACHED, "signature-attributes"),
        ("openssl-two-signers.p7s", DETACHED, "another-signer"),
    ] {
        let one = recorded(file, "p256", form, false);
        assert_eq!(one.fault(&one.cms(), |_| {}).kind(), expected, "{file}");
    }
}

#[test]
fn no_altered_byte_of_a_signature_is_believed_but_where_nothing_is_said() {
    for one in RECORDED {
        let cms = one.cms();
        let parsed = SignedData::parse(&cms).unwrap();
        let offset = |slice: &[u8]| slice.as_ptr() as usize - cms.as_ptr() as usize;
        let info = parsed.signer_infos.only().unwrap();
        let attributes = info.attributes().unwrap().message();
        // Where the signed attributes stand, under another first byte.
        let start = cms.windows(attributes.len() - 1).position(|window| *window == attributes[1..]).unwrap();
        let signed = start..start + attributes.len() - 1;
        let signature = offset(info.signature)..offset(info.signature) + info.signature.len();
        for place in signed.chain(signature) {
            let mut altered = cms.clone();
            altered[place] ^= 1;
            one.verify(&altered, |_| {}, |found| assert!(found.is_err(), "{} at {place}", one.file));
        }
    }
}

#[test]
fn a_timestamp_of_another_signature_is_none_of_this_one() {
    let one = &RECORDED[2];
    let (cms, other) = (one.cms(), RECORDED[4].cms());
    let token = |cms: &[u8]| {
        let info = SignedData::parse(cms).unwrap().signer_infos.only().unwrap();
        info.signature_timestamp().unwrap().unwrap().to_vec()
    };
    let (own, foreign) = (token(&cms), token(&other));
    // The other token is of another length, so that its imprint alone is put in place of this one's.
    let imprint = |token: &[u8]| {
        let info = TstInfo::parse(SignedData::parse(token).unwrap().content.unwrap()).unwrap();
        let hash = info.imprint.hashed_message;
        assert_eq!(hash.len(), 32);
        hash.as_ptr() as usize - token.as_ptr() as usize
    };
    let from = imprint(&foreign);
    let place = cms.windows(own.len()).position(|window| window == own).unwrap() + imprint(&own);
    let mut altered = cms.clone();
    altered[place..place + 32].copy_from_slice(&foreign[from..from + 32]);
    assert_eq!(one.fault(&altered, |_| {}).kind(), "timestamp-imprint");
    // Nor is one by an authority that nobody trusts.
    let (document, signer) = (testdata("signatures/document"), signer("rsa"));
    let expected = ExpectedSignature {
        document: &[&document],
        signer: &signer,
        form: one.form,
        has_timestamp: true,
        not_before_ms: None,
        not_after_ms: None,
    };
    let untrusting = SignatureVerifier::new(None).verify(&cms, &expected).map(drop);
    assert_eq!(untrusting.unwrap_err(), SignatureFault::NoTimestamp);
}
