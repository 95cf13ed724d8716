//! PAdES, by the verifier.

use hammer_cms::signature::{ExpectedSignature, SignatureForm, SignatureVerifier};
use hammer_lab_pki::advanced_signature::{Profile, SignedAttributes, Surroundings};
use hammer_lab_pki::signed_revision::{ROOM, SignedRevision, UnusableDocument};
use hammer_pdf::document::Document;
use hammer_pdf::signed::PdfSignature;

use crate::signer::{NOW, Signers};

const TIME: &str = "D:20261127000000Z";

#[test]
fn a_document_with_a_revision_behind_it_is_one_whose_signature_holds() {
    let signers = Signers::new();
    let mut verifier = SignatureVerifier::new(Some(signers.trusted()));
    for (length, has_timestamp) in [(2_000, false), (140_288, true), (2_000_000, false)] {
        let sent = Document::new(7, 11, length).unwrap();
        let revision = SignedRevision::behind(&sent.to_vec(), TIME).unwrap();
        let attributes = SignedAttributes::of(&signers.certificate(), revision.signed(), Profile::Pades);
        let signature = signers.signer.signer().sign(&attributes.to_be_signed());
        let timestamp = signers.timestamp(&signature);
        let around = Surroundings {
            timestamp: has_timestamp.then_some(timestamp.as_slice()),
            ..Surroundings::default()
        };
        let file = revision.filled(&attributes.signed(&signature, &around)).unwrap();
        let found = PdfSignature::read(&file, &sent).unwrap();
        let expected = ExpectedSignature {
            document: &found.signed(&file),
            signer: &signers.known(),
            form: SignatureForm::Pades,
            has_timestamp,
            not_before_ms: Some(NOW as i64 * 1000),
            not_after_ms: Some(NOW as i64 * 1000),
        };
        let verified = verifier.verify(&found.contents, &expected).unwrap();
        assert_eq!(verified.timestamp.is_some(), has_timestamp);
    }
}

#[test]
fn what_is_no_document_and_what_does_not_fit_are_refused() {
    let sent = Document::new(7, 11, 2_000).unwrap().to_vec();
    let revision = SignedRevision::behind(&sent, TIME).unwrap();
    assert_eq!(
        revision.clone().filled(&[0; ROOM]).map(|file| file.len()),
        Ok(revision.signed().concat().len() + 2 * ROOM + 2)
    );
    assert_eq!(revision.filled(&[0; ROOM + 1]).unwrap_err(), UnusableDocument::Room { bytes: ROOM + 1 });
    for end in 0..sent.len() - 8 {
        assert!(SignedRevision::behind(&sent[..end], TIME).is_err(), "{end}");
    }
    for place in 0..sent.len() {
        let mut altered = sent.clone();
        altered[place] ^= 1;
        // Whatever it is made of it: it comes to an end.
        let _ = SignedRevision::behind(&altered, TIME);
    }
}
