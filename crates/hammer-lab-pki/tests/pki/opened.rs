//! Signed files that are opened: what holds is valid, and any other byte of what is signed makes it invalid.

use hammer_lab_pki::{PkiLabPlan, PkiLieKind};
use hammer_pdf::document::Document;
use hammer_pdf::signed::LastSignature;
use hammer_tlog::encoding::base64;
use serde_json::{Value, json};

use crate::service::{CADES, CADES_T, Caller, PADES, PADES_T};

impl Caller {
    /// What is said of a file by that policy.
    fn open(&self, is_pdf: bool, policy: &str, file: &[u8]) -> (u16, Value) {
        let path = if is_pdf { "Api/PadesSignatures/Open" } else { "Api/CadesSignatures/Open" };
        let body = json!({
            "validate": true,
            "defaultSignaturePolicyId": policy,
            "file": { "mimeType": "x", "content": base64(file) },
        });
        self.ask("POST", path, &body)
    }

    /// The types of all errors that are found in a file.
    fn errors(&self, is_pdf: bool, policy: &str, file: &[u8]) -> Vec<String> {
        let (status, opened) = self.open(is_pdf, policy, file);
        assert_eq!(status, 200, "{opened}");
        let signers = opened["signers"].as_array().unwrap();
        assert_eq!(signers.len(), 1);
        let errors = signers[0]["validationResults"]["errors"].as_array().unwrap();
        errors.iter().map(|error| error["type"].as_str().unwrap().to_owned()).collect()
    }
}

fn document() -> Vec<u8> {
    Document::new(1, 2, 3_000).unwrap().to_vec()
}

#[test]
fn what_was_signed_is_valid_and_with_another_byte_it_is_not() {
    let caller = Caller::of(PkiLabPlan::default());
    for (is_pdf, policy) in [(false, CADES), (false, CADES_T), (true, PADES), (true, PADES_T)] {
        let mut file = caller.sign(is_pdf, policy, &document());
        assert_eq!(caller.errors(is_pdf, policy, &file), [""; 0]);
        // The document has text there, in either form.
        let content = file.windows(6).position(|text| text == b"stream").unwrap() + 20;
        file[content] ^= 1;
        assert_eq!(caller.errors(is_pdf, policy, &file), ["MessageDigestMismatch"]);
        file[content] ^= 1;
        // A digit of the CMS in a PDF, or a byte of it: of a certificate, an attribute or the signature. Of a token nobody looks at the chain.
        if [CADES_T, PADES_T].contains(&policy) {
            continue;
        }
        let (start, end) = match is_pdf {
            true => {
                let last = LastSignature::read(&file).unwrap();
                (last.gap.start + 1, last.gap.start + 1 + 2 * last.contents.len())
            }
            false => (content + 3_000, file.len()),
        };
        let mut said = 0;
        for at in (start..end).step_by(37) {
            let mut altered = file.clone();
            altered[at] = if is_pdf && altered[at] != b'0' { b'0' } else { altered[at] ^ 1 };
            let (status, opened) = caller.open(is_pdf, policy, &altered);
            let errors = &opened["signers"][0]["validationResults"]["errors"];
            let is_invalid = status != 200 || errors.as_array().is_none_or(|errors| !errors.is_empty());
            said += usize::from(is_invalid);
            // Nobody signs the order of sets, nor what names the algorithms of a hash that is known.
        }
        let looked = (start..end).step_by(37).len();
        assert!(said * 10 >= looked * 9, "{policy}: {said} of {looked}");
    }
}

#[test]
fn a_policy_that_asks_for_a_timestamp_is_not_met_without_one() {
    let caller = Caller::of(PkiLabPlan::default());
    let file = caller.sign(false, CADES, &document());
    assert_eq!(caller.errors(false, CADES_T, &file), ["UncertifiedDateReference"]);
    let (status, refusal) = caller.open(false, PADES, &file);
    assert_eq!((status, &refusal["code"]), (422, &json!("SignaturePolicyNotFound")));
}

#[test]
fn a_timestamp_over_something_else_is_told() {
    let caller = Caller::lying(PkiLieKind::TimestampOverAnotherImprint);
    for (is_pdf, policy) in [(false, CADES_T), (true, PADES_T)] {
        let file = caller.sign(is_pdf, policy, &document());
        assert_eq!(caller.errors(is_pdf, policy, &file), ["TimestampMessageImprintMismatch"]);
    }
}

#[test]
fn a_revision_behind_the_signature_and_a_file_of_another_form_are_told() {
    let caller = Caller::of(PkiLabPlan::default());
    let mut file = caller.sign(true, PADES, &document());
    file.extend_from_slice(b"more");
    assert_eq!(caller.errors(true, PADES, &file), ["UncoveredRevision"]);
    for (is_pdf, policy, code) in [(false, CADES, "InvalidCms"), (true, PADES, "InvalidPdf")] {
        let (status, refusal) = caller.open(is_pdf, policy, b"none");
        assert_eq!((status, &refusal["code"]), (422, &json!(code)));
    }
    let (_, opened) = caller.open(true, PADES, &document());
    assert_eq!(opened["signers"], json!([]), "it has no signature");
}

/// Nothing is said of whether such a signature holds.
#[test]
fn a_digest_that_is_not_known_here_is_no_mismatch() {
    let caller = Caller::of(PkiLabPlan::default());
    let mut file = caller.sign(false, CADES, &document());
    // SHA-384 in the place of SHA-256, in the SignerInfo, which is the last of them.
    let sha256 = [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01];
    let last = file.windows(sha256.len()).rposition(|oid| oid == sha256).unwrap();
    file[last + 8] = 2;
    let (status, refusal) = caller.open(false, CADES, &file);
    assert_eq!((status, &refusal["code"]), (422, &json!("InvalidCms")));
    assert!(refusal["detail"].as_str().unwrap().contains("another algorithm"), "{refusal}");
}

#[test]
fn a_lie_is_told_of_files_of_its_kind_alone_and_owned_up_to() {
    for (kind, flip, told) in [(PkiLieKind::AcceptsAltered, 1, 0), (PkiLieKind::RefusesValid, 0, 1)] {
        let caller = Caller::lying(kind);
        let mut file = caller.sign(false, CADES, &document());
        let content = file.windows(6).position(|text| text == b"stream").unwrap() + 20;
        file[content] ^= flip;
        assert_eq!(caller.errors(false, CADES, &file).len(), told, "{kind:?}");
        file[content] ^= 1;
        assert_eq!(caller.errors(false, CADES, &file).len(), told, "{kind:?}");
        let (lies, unlisted) = caller.lab.target().told_lies();
        assert_eq!((lies.len(), unlisted, lies[0].kind), (1, 0, kind));
    }
}
