//! The signatures of real services are found, and what is wrong with a document that came back is told.

use hammer_cms::signature::{ExpectedSignature, KnownSigner, SignatureForm, SignatureVerifier};
use hammer_mutate::{Mutator, cases};
use hammer_pdf::signed::{PdfFault, PdfSignature};
use hammer_tlog::keys::chain::TrustedAuthorities;

use crate::revision::Revision;
use crate::{LENGTH, sent, testdata};

/// With a timestamp or not.
const RECORDED: [(&str, bool); 4] =
    [("dss-b.pdf", false), ("dss-t.pdf", true), ("pyhanko-b.pdf", false), ("pyhanko-t.pdf", true)];

#[test]
fn what_real_services_signed_is_all_of_the_file_but_the_signature_and_holds() {
    let signer = KnownSigner::new(testdata("signer.der")).unwrap();
    let trusted = TrustedAuthorities::from_pem(&String::from_utf8(testdata("ca.pem")).unwrap()).unwrap();
    let mut verifier = SignatureVerifier::new(Some(trusted));
    for (name, has_timestamp) in RECORDED {
        let file = testdata(name);
        let found = PdfSignature::read(&file, &sent()).unwrap_or_else(|why| panic!("{name}: {why}"));
        let signed = found.signed(&file);
        assert_eq!(signed[0].len() + found.gap.len() + signed[1].len(), file.len());
        let expected = ExpectedSignature {
            document: &signed,
            signer: &signer,
            form: SignatureForm::Pades,
            has_timestamp,
            not_before_ms: None,
            not_after_ms: None,
        };
        let verified =
            verifier.verify(&found.contents, &expected).unwrap_or_else(|why| panic!("{name}: {why}"));
        assert_eq!((verified.signing_time, verified.timestamp.is_some()), (None, has_timestamp));
        // Every byte that is signed is one that the signature is over.
        for place in [0, LENGTH as usize - 1, LENGTH as usize + 40, found.gap.start - 1, found.gap.end] {
            let mut altered = file.clone();
            altered[place] ^= 1;
            let pieces = found.signed(&altered);
            let fault =
                verifier.verify(&found.contents, &ExpectedSignature { document: &pieces, ..expected });
            assert_eq!(fault.unwrap_err().kind(), "message-digest", "{name} at {place}");
        }
    }
}

#[test]
fn a_document_that_is_not_what_was_sent_is_told() {
    for (name, _) in RECORDED {
        let file = testdata(name);
        let fault = |file: &[u8]| PdfSignature::read(file, &sent()).unwrap_err();
        for place in [0, 700, LENGTH as usize - 1] {
            let mut altered = file.clone();
            altered[place] ^= 1;
            assert_eq!(fault(&altered).kind(), "changed-document", "{name} at {place}");
        }
        assert_eq!(fault(&file[..LENGTH as usize]), PdfFault::Unsigned);
        assert_eq!(fault(&file[..LENGTH as usize - 1]).kind(), "changed-document");
        assert_eq!(fault(&file[..file.len() - 20]).kind(), "malformed-pdf", "{name}: cut off");
        // More than what is signed.
        let more = [&file[..], b"\n%%EOF\n"].concat();
        assert_eq!(fault(&more), PdfFault::ByteRange { what: "does not end with the file" }, "{name}");
    }
}

#[test]
fn the_revision_that_the_others_spoil_is_read() {
    let file = Revision::default().file();
    let found = PdfSignature::read(&file, &sent()).unwrap();
    assert_eq!(found.contents, [0x30, 3, 2, 1, 5]);
    assert_eq!((file[found.gap.start], file[found.gap.end - 1]), (b'<', b'>'));
}

/// As hexadecimal strings are written (ISO 32000-1 section 7.3.4.3).
#[test]
fn white_space_among_the_digits_is_no_hole_and_a_missing_last_digit_is_a_zero() {
    for contents in ["<3003 0201\r\n05 0000>", "< 300302010500000000 >", "<30030201 05000>"] {
        let file = Revision { contents, ..Revision::default() }.file();
        let found = PdfSignature::read(&file, &sent()).unwrap_or_else(|why| panic!("{contents}: {why}"));
        assert_eq!(found.contents, [0x30, 3, 2, 1, 5], "{contents}");
    }
    for contents in ["<3003020105(0000)>", "<30030201053>"] {
        let file = Revision { contents, ..Revision::default() }.file();
        assert!(PdfSignature::read(&file, &sent()).is_err(), "{contents}");
    }
}

#[test]
fn a_byte_range_that_leaves_out_more_than_the_signature_or_does_not_end_with_the_file_is_told() {
    type Change = fn([usize; 4]) -> [usize; 4];
    let cases: [(&str, Change); 8] = [
        ("does not start with the file", |[_, b, c, d]| [1, b, c, d]),
        ("does not end with the file", |[a, b, c, d]| [a, b, c, d - 1]),
        ("does not end with the file", |[a, b, c, d]| [a, b, c, d + 1]),
        ("leaves out more than Contents", |[a, b, c, d]| [a, b - 1, c, d]),
        ("leaves out more than Contents", |[a, b, c, d]| [a, b, c + 1, d - 1]),
        ("leaves out more than Contents", |[a, b, c, d]| [a, b + 1, c, d]),
        ("has a gap in what was sent", |[a, _, c, d]| [a, 100, c, d]),
        ("has a gap outside of the signature dictionary", |[a, b, c, d]| [a, b - 70, c, d]),
    ];
    for (what, change) in cases {
        let file = Revision { byte_range: change, ..Revision::default() }.file();
        assert_eq!(PdfSignature::read(&file, &sent()).unwrap_err(), PdfFault::ByteRange { what });
    }
}

#[test]
fn a_revision_that_shows_another_page_is_told_though_it_is_signed() {
    let more = |number, text: &str| Revision::with(&[(number, text)]);
    for (revision, what) in [
        (more(4, "<</Length 1>>\nstream\nq\nendstream"), "an object of the page"),
        (more(2, "<</Type/Pages/Kids[3 0 R]/Count 2>>"), "an object of the page"),
        (more(5, "<</Type/Font/Subtype/Type1/BaseFont/Symbol>>"), "an object of the page"),
        (more(6, "<</Length 0>>\nstream\n\nendstream"), "an object of the page"),
        (
            Revision {
                page: "/Parent 2 0 R/MediaBox[0 0 595 842]/Resources<</Font<</F1 5 0 R>>>>/Contents 12 0 R",
                ..Revision::default()
            },
            "the page, which names another content",
        ),
        (Revision { pages: "/Pages 12 0 R", ..Revision::default() }, "the catalog, which names other pages"),
        (Revision { root: "12 0 R", ..Revision::default() }, "the catalog, in whose place is another"),
        (
            Revision { entries: |_| "4 1\n0000000000 00001 f \n".to_owned(), ..Revision::default() },
            "an object, which was freed",
        ),
        (
            Revision {
                page: "/Parent 2 0 R/Resources<</Font<</F1 5 0 R>>>>/MediaBox[0 0 1 1]/Contents 4 0 R",
                ..Revision::default()
            },
            "the page, whose box or rotation is another",
        ),
        (
            Revision {
                page: "/Parent 2 0 R/Resources<</Font<</F1 5 0 R>>>>/MediaBox[0 0 595 842]/Rotate 180/Contents 4 0 R",
                ..Revision::default()
            },
            "the page, whose box or rotation is another",
        ),
        (
            Revision {
                page: "/Parent 2 0 R/Resources<</Font<</F1 5 0 R>>>>/Contents 4 0 R",
                ..Revision::default()
            },
            "the page, whose box or rotation is another",
        ),
        (
            Revision { pages: "/Pages 2 0 R/OpenAction<</S/JavaScript>>", ..Revision::default() },
            "the catalog, which has an action",
        ),
        (
            Revision {
                annotations: "/Annots[9 0 R 11 0 R]",
                ..more(11, "<</Type/Annot/Subtype/FreeText/Contents(pay)>>")
            },
            "the page, which has an annotation",
        ),
    ] {
        assert_eq!(PdfSignature::read(&revision.file(), &sent()).unwrap_err(), PdfFault::Changed { what });
    }
}

#[test]
fn what_is_no_signature_or_not_the_one_that_was_asked_for_is_told() {
    let signature = "<</Type/Sig/SubFilter/ETSI.CAdES.detached/ByteRange[0 1 2 3]>>".to_owned();
    let more = vec![(12, signature)];
    for (revision, kind) in [
        (Revision { form: "", ..Revision::default() }, "missing-signature"),
        (Revision { sub_filter: "/adbe.pkcs7.detached", ..Revision::default() }, "signature-form"),
        (Revision { sub_filter: "/ETSI.CAdES.detached2", ..Revision::default() }, "signature-form"),
        (Revision { more, ..Revision::default() }, "signature-form"),
        (Revision { field: "/FT/Sig/V 99 0 R", ..Revision::default() }, "missing-signature"),
        (Revision { field: "/FT/Tx/V 10 0 R", ..Revision::default() }, "missing-signature"),
        (Revision { contents: "<3003020105", ..Revision::default() }, "malformed-pdf"),
        (Revision { contents: "<3003020105000001>", ..Revision::default() }, "malformed-pdf"),
        (Revision { contents: "<3009020105>", ..Revision::default() }, "malformed-pdf"),
        (Revision { contents: "<308402010501>", ..Revision::default() }, "malformed-pdf"),
        (Revision { contents: "<>", ..Revision::default() }, "malformed-pdf"),
    ] {
        let file = revision.file();
        let fault = PdfSignature::read(&file, &sent()).unwrap_err();
        assert_eq!(fault.kind(), kind, "{fault}: {:?}", String::from_utf8_lossy(&file[LENGTH as usize..]));
    }
}

#[test]
fn revisions_that_lead_in_a_circle_or_nowhere_end() {
    let itself = |at: usize| at;
    let beyond = |_: usize| 999_999_999;
    let into = |_: usize| 20;
    for prev in [itself, beyond, into] {
        let file = Revision { prev: Some(prev), ..Revision::default() }.file();
        assert_eq!(PdfSignature::read(&file, &sent()).unwrap_err(), PdfFault::Revisions);
    }
    let stream = Revision { xref: "11 0 obj\n<</Type/XRef>>", ..Revision::default() }.file();
    let fault = PdfSignature::read(&stream, &sent()).unwrap_err();
    assert!(fault == PdfFault::XrefStream && fault.is_unverified());
    // Tables that promise more than there is.
    for xref in ["xref\n0 99999999999\n", "xref\n0 1\n0000000000", "xref\nx"] {
        let file = Revision { xref, ..Revision::default() }.file();
        assert_eq!(PdfSignature::read(&file, &sent()).unwrap_err().kind(), "malformed-pdf", "{xref}");
    }
}

#[test]
fn no_altered_document_panics_or_hides_a_byte_from_the_signature() {
    let seeds = [testdata("pyhanko-b.pdf"), testdata("dss-b.pdf"), Revision::default().file()];
    let mut mutator = Mutator::new(9);
    let mut told = std::collections::BTreeSet::new();
    for round in 0..cases(3_000) {
        let seed = &seeds[usize::try_from(round % 3).unwrap()];
        // What was sent stays, or nothing else would be looked at.
        let (start, appended) = seed.split_at(LENGTH as usize);
        let file = [start, &mutator.bytes(appended, &seeds[2][LENGTH as usize..])].concat();
        match PdfSignature::read(&file, &sent()) {
            Ok(found) => {
                let [before, behind] = found.signed(&file);
                assert!(
                    before.len() >= LENGTH as usize
                        && before.len() + found.gap.len() + behind.len() == file.len()
                );
                assert!(
                    file[found.gap.clone()]
                        .iter()
                        .all(|byte| byte.is_ascii_hexdigit() || b"<> \0\t\n\x0c\r".contains(byte))
                );
            }
            Err(fault) => drop(told.insert(fault.kind())),
        }
    }
    assert!(told.len() >= 3, "{told:?}");
}
