//! A revision that shows another document, does something, or has a signature that no reader finds is told, though the words of an honest one
//! stand somewhere in it.

use hammer_pdf::signed::{PdfFault, PdfSignature};

use crate::revision::Revision;
use crate::{LENGTH, sent};

const PAGE: &str = "/Parent 2 0 R/MediaBox[0 0 595 842]/Resources<</Font<</F1 5 0 R>>>>/Contents 4 0 R";
const FORM: &str = "/AcroForm<</Fields[9 0 R]/SigFlags 3>>";
/// What would be seen instead.
const OTHER: (u64, &str) = (20, "<</Length 5>>\nstream\nBT ET\nendstream");
const LOOK: (u64, &str) = (21, "<</Subtype/Form/BBox[0 0 595 842]/Length 5>>\nstream\n1 g f\nendstream");
/// A signature that a timestamp authority made of the document.
const TIMESTAMP: &str = "<</Type/DocTimeStamp/SubFilter/ETSI.CAdES.detached/Contents <300302010500000000>\
    /ByteRange[000000000 000000000 000000000 000000000]>>";

fn told(cases: &[(&str, Revision, &str)]) {
    for (name, revision, kind) in cases {
        let file = revision.file();
        let shown = || String::from_utf8_lossy(&file[LENGTH as usize..]).into_owned();
        match PdfSignature::read(&file, &sent()) {
            Ok(_) => panic!("{name} is believed: {}", shown()),
            Err(fault) => {
                assert_eq!(
                    (fault.kind(), fault.is_unverified()),
                    (*kind, false),
                    "{name}: {fault}: {}",
                    shown()
                );
            }
        }
    }
}

fn page(text: &str) -> Revision {
    Revision::with(&[(3, &format!("<</Type/Page{text}/Annots[9 0 R]>>")), OTHER, LOOK])
}

/// The usual page with that in the place of its content.
fn content(text: &str) -> Revision {
    page(&PAGE.replace("/Contents 4 0 R", text))
}

fn catalog(text: &str) -> Revision {
    Revision::with(&[(1, &format!("<</Type/Catalog{text}>>"))])
}

#[test]
fn another_content_beside_a_word_of_the_one_that_was_sent() {
    let other = "/Contents 20 0 R";
    told(&[
        ("in a comment", content(&format!("%/Contents 4 0 R\n{other}")), "changed-document"),
        ("in a dictionary", content(&format!("/X<</Contents 4 0 R>>{other}")), "changed-document"),
        ("twice", content(&format!("/Contents 4 0 R{other}")), "malformed-pdf"),
        ("twice, once in escapes", content("/Contents 4 0 R/Cont#65nts 20 0 R"), "malformed-pdf"),
        ("in escapes", content("/X<</Contents 4 0 R>>/Cont#65nts 20 0 R"), "changed-document"),
        ("in a string", content(&format!("/X(/Contents 4 0 R){other}")), "changed-document"),
        ("in a nested string", content(&format!(r"/X(\)(/Contents 4 0 R)){other}")), "changed-document"),
        ("in a string of digits", content(&format!("/X<2f43>{other}")), "changed-document"),
        ("behind an end in a string", content(&format!("/X(endobj){other}")), "changed-document"),
        ("as another generation", content("/Contents 4 1 R"), "changed-document"),
        ("in an array of two", content("/Contents[4 0 R 20 0 R]"), "changed-document"),
        ("in an array elsewhere", content("/Contents 22 0 R").and(&[(22, "[20 0 R]")]), "changed-document"),
        ("as nothing", content(""), "changed-document"),
        (
            "under other resources",
            page(&PAGE.replace("/F1 5 0 R", "/F1 25 0 R"))
                .and(&[(25, "<</Type/Font/Subtype/Type1/BaseFont/ZapfDingbats>>")]),
            "changed-document",
        ),
        ("without resources", page(&PAGE.replace("/Resources", "/X")), "changed-document"),
        (
            "in other colours",
            page(&PAGE.replace("<</Font", "<</ColorSpace<</DefaultGray 7 0 R>>/Font")),
            "changed-document",
        ),
        (
            "in other letters",
            Revision::with(&[(5, "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding<<>>>>")]),
            "changed-document",
        ),
        ("a filler of another length", Revision::with(&[(7, "0000000012")]), "changed-document"),
    ]);
}

#[test]
fn other_pages_beside_the_ones_that_were_sent() {
    let pages = &[(22, "<</Type/Pages/Kids[23 0 R]/Count 1>>")];
    let root = |root, trailer| Revision { root, trailer, ..catalog("/Pages 2 0 R").and(pages) };
    told(&[
        (
            "in a dictionary",
            catalog(&format!("/X<</Pages 2 0 R>>/Pages 22 0 R{FORM}")).and(pages),
            "changed-document",
        ),
        (
            "in a comment",
            catalog(&format!("%/Pages 2 0 R\n/Pages 22 0 R{FORM}")).and(pages),
            "changed-document",
        ),
        ("twice", catalog(&format!("/Pages 2 0 R/P#61ges 22 0 R{FORM}")).and(pages), "malformed-pdf"),
        ("by another catalog", root("33 0 R", "/X<</Root 1 0 R>>"), "changed-document"),
        ("by another catalog twice", root("1 0 R", "/Root 33 0 R"), "malformed-pdf"),
        ("by a catalog in a comment", root("%1 0 R\n33 0 R", ""), "changed-document"),
        (
            "more of them",
            Revision::with(&[(2, "<</Type/Pages/Kids[3 0 R 23 0 R]/Count 2>>")]),
            "changed-document",
        ),
        (
            "none of them, by a count that is there twice",
            Revision::with(&[(2, "<</Type/Pages/Count 1/Count 1>>")]),
            "malformed-pdf",
        ),
        (
            "none or some of them, by a key that is there twice",
            Revision::with(&[(2, "<</Type/Pages/Kids[3 0 R]/Count 1/Kids null>>")]),
            "malformed-pdf",
        ),
        ("none of them", Revision::with(&[(2, "<</Type/Pages/Kids null/Count 1>>")]), "changed-document"),
        (
            "cut by what they inherit",
            Revision::with(&[(2, "<</Type/Pages/Kids[3 0 R]/Count 1/CropBox[0 0 9 9]>>")]),
            "changed-document",
        ),
        (
            "cut by another parent",
            page(&PAGE.replace("2 0 R", "22 0 R")).and(&[(22, "<</Parent 2 0 R/CropBox[0 0 9 9]>>")]),
            "changed-document",
        ),
        ("a page that is a tree", page(&format!("{PAGE}/Kids[23 0 R]")), "changed-document"),
    ]);
}

#[test]
fn a_page_that_is_cut_or_turned() {
    let boxed = |text: &str| page(&PAGE.replace("/MediaBox[0 0 595 842]", text));
    let with = |text: &str| page(&format!("{PAGE}{text}"));
    told(&[
        ("by a box elsewhere", boxed("/MediaBox 27 0 R").and(&[(27, "[0 0 10 10]")]), "changed-document"),
        ("by a box that is nowhere", boxed("/MediaBox 27 0 R"), "changed-document"),
        ("by a box in decimals", boxed("/MediaBox[0.0 0.0 10.5 10.5]"), "changed-document"),
        ("by a box of three numbers", boxed("/MediaBox[0 0 595]"), "changed-document"),
        ("by a box of words", boxed("/MediaBox[0 0 595 842 1]"), "changed-document"),
        ("to be larger", boxed("/MediaBox[0 0 595 84200]"), "changed-document"),
        ("by another box", with("/CropBox[0 0 10 10]"), "changed-document"),
        ("by another box in escapes", with("/Crop#42ox[0 0 10 10]"), "changed-document"),
        ("by its unit", with("/UserUnit 0.01"), "changed-document"),
        ("by its unit elsewhere", with("/UserUnit 27 0 R").and(&[(27, "2")]), "changed-document"),
        ("a quarter turn", with("/Rotate -90"), "changed-document"),
        ("a quarter turn elsewhere", with("/Rotate 27 0 R").and(&[(27, "450")]), "changed-document"),
    ]);
}

#[test]
fn what_is_laid_over_the_page() {
    let annotations = |annotations, text: &str| {
        let of = Revision { annotations, ..Revision::with(&[LOOK]) };
        if text.is_empty() { of } else { of.and(&[(24, text)]) }
    };
    let two = "/Annots[9 0 R 24 0 R]";
    let field = |field| Revision { field, ..Revision::with(&[LOOK]) };
    let look = "/Rect[0 0 595 842]/AP<</N 21 0 R>>";
    told(&[
        ("without a type", annotations(two, "<</Subtype/FreeText/Rect[0 0 595 842]>>"), "changed-document"),
        (
            "within the page",
            annotations("/Annots[9 0 R<</Subtype/Stamp/Rect[0 0 595 842]/AP<</N 21 0 R>>>>]", ""),
            "changed-document",
        ),
        (
            "elsewhere",
            annotations("/Annots 24 0 R", "[9 0 R<</Subtype/Link/Rect[0 0 9 9]>>]"),
            "changed-document",
        ),
        ("with a widget's name", annotations(two, "<</Subtype/Stamp/X/Widget>>"), "changed-document"),
        ("with a name twice", annotations(two, "<</Subtype/Widget/Subtype/Stamp>>"), "malformed-pdf"),
        ("the field itself", field("/FT/Sig/V 10 0 R/Rect[0 0 595 842]/AP<</N 21 0 R>>"), "changed-document"),
        (
            "the field's background",
            field("/FT/Sig/V 10 0 R/Rect[0 0 595 842]/MK<</BG[1]>>"),
            "changed-document",
        ),
        ("another field", annotations(two, &format!("<</Subtype/Widget/FT/Tx{look}>>")), "changed-document"),
        (
            "another field without a look",
            annotations(two, "<</Subtype/Widget/FT/Tx/V(pay)/Rect[0 0 90 90]>>"),
            "changed-document",
        ),
    ]);
}

#[test]
fn what_is_done_as_somebody_opens_the_document() {
    let names = |text: &str| catalog(&format!("/Pages 2 0 R{FORM}{text}"));
    let field = |field| Revision { field, ..Revision::default() };
    told(&[
        ("by an escaped name", names("/Op#65nAction<</S/JavaScript>>"), "changed-document"),
        ("by names", names("/Names<</JavaScript<</Names[(a) 20 0 R]>>>>"), "changed-document"),
        (
            "by names elsewhere",
            names("/Names 22 0 R").and(&[(22, "<</JavaScript 23 0 R>>"), (23, "<<>>")]),
            "changed-document",
        ),
        ("by a collection", names("/Collection<<>>"), "changed-document"),
        ("by the page", page(&format!("{PAGE}/AA<</O<</S/JavaScript>>>>")), "changed-document"),
        ("by a widget", field("/FT/Sig/V 10 0 R/A<</S/URI/URI(http://x)>>"), "changed-document"),
        ("by a widget's events", field("/FT/Sig/V 10 0 R/AA<</E<</S/JavaScript>>>>"), "changed-document"),
        (
            "by a field without a widget",
            Revision { form: "/AcroForm<</Fields[9 0 R 24 0 R]>>", ..Revision::default() }
                .and(&[(24, "<</FT/Tx/T(x)/AA<</C<</S/JavaScript>>>>>>")]),
            "changed-document",
        ),
        (
            "by another kind of form",
            Revision { form: "/AcroForm<</Fields[9 0 R]/XFA 20 0 R>>", ..Revision::default() }.and(&[OTHER]),
            "changed-document",
        ),
    ]);
}

#[test]
fn a_signature_that_no_reader_finds() {
    let form = |form| Revision { form, ..Revision::default() };
    let field = |field| Revision { field, ..Revision::default() };
    told(&[
        ("a form of no field", form("/AcroForm<</Fields[]>>"), "missing-signature"),
        (
            "a form of another field",
            form("/AcroForm<</Fields[20 0 R]>>").and(&[(20, "<</FT/Tx>>")]),
            "missing-signature",
        ),
        ("a form in a comment", form("%/AcroForm<</Fields[9 0 R]>>\n"), "missing-signature"),
        ("a form in a dictionary", form("/X<</AcroForm<</Fields[9 0 R]>>>>"), "missing-signature"),
        ("a form elsewhere that is nowhere", form("/AcroForm 20 0 R"), "missing-signature"),
        ("a value in a comment", field("/FT/Sig%/V 10 0 R\n"), "missing-signature"),
        ("a value in a string", field("/FT/Sig/T(/V 10 0 R)"), "missing-signature"),
        ("a value of another generation", field("/FT/Sig/V 10 1 R"), "malformed-pdf"),
        ("a type in a dictionary", field("/MK<</FT/Sig>>/V 10 0 R"), "missing-signature"),
        (
            "a form that the last revision has no more",
            Revision {
                before: vec![(1, format!("<</Type/Catalog/Pages 2 0 R{FORM}>>"))],
                ..catalog("/Pages 2 0 R")
            },
            "missing-signature",
        ),
        ("another kind of signature", Revision::with(&[(10, TIMESTAMP)]), "signature-form"),
        (
            "its form twice",
            Revision { signature: "/SubFilter/adbe.pkcs7.detached", ..Revision::default() },
            "malformed-pdf",
        ),
        (
            "its contents twice",
            Revision { signature: "/Contents(x)", ..Revision::default() },
            "malformed-pdf",
        ),
        (
            "two fields",
            form("/AcroForm<</Fields[9 0 R 24 0 R]>>").and(&[(24, "<</FT/Sig/T(x)/V 10 0 R>>")]),
            "signature-form",
        ),
        (
            "fields that lead in a circle",
            form("/AcroForm<</Fields[24 0 R]>>").and(&[(24, "<</Kids[24 0 R]>>")]),
            "malformed-pdf",
        ),
        ("objects that the trailer leaves out", Revision { size: 9, ..Revision::default() }, "malformed-pdf"),
        (
            "an object twice in a table",
            Revision { entries: |at| format!("9 1\n{at:010} 00000 n \n"), ..Revision::default() },
            "malformed-pdf",
        ),
        (
            "an object within what was sent",
            Revision { entries: |_| "11 1\n0000000015 00000 n \n".to_owned(), ..Revision::default() },
            "malformed-pdf",
        ),
    ]);
}

/// Nothing is said against what is not read, unless something else shows another document.
#[test]
fn what_is_not_read_is_unverified_and_a_change_beside_it_is_told() {
    for trailer in ["/XRefStm 2048", "/Encrypt<</Filter/Standard>>", "/#45ncrypt 30 0 R"] {
        let fault = |revision: Revision| PdfSignature::read(&revision.file(), &sent()).unwrap_err();
        let usual = fault(Revision { trailer, ..Revision::default() });
        assert!(usual.is_unverified(), "{trailer}: {usual}");
        let hidden = fault(Revision { trailer, annotations: "/Annots 31 0 R", ..Revision::default() });
        assert!(hidden.is_unverified(), "{trailer}: {hidden}");
        let changed = fault(Revision { trailer, ..content("/Contents 20 0 R") });
        assert_eq!(changed, PdfFault::Changed { what: "the page, which names another content" });
    }
}

#[test]
fn a_revision_that_the_signed_one_passes_over_is_told() {
    // Readers that follow cross-references show the page as it was; one that looks for objects itself shows another.
    let other = "<</Length 3>>\nstream\nBT \nendstream";
    let revision = Revision {
        before: vec![(4, other.to_owned())],
        prev: Some(|_| sent().xref() as usize),
        ..Revision::default()
    };
    let fault = PdfSignature::read(&revision.file(), &sent()).unwrap_err();
    assert_eq!(fault.kind(), "changed-document", "{fault}");
    // One that is led to counts as all do.
    let same = Revision { before: vec![(20, "<<>>".to_owned())], ..Revision::default() };
    assert!(PdfSignature::read(&same.file(), &sent()).is_ok());
}

#[test]
fn objects_that_are_none_or_nested_without_end_are_told() {
    let deep = format!("<</X{}{}>>", "[".repeat(40), "]".repeat(40));
    for text in [
        "",
        "<<",
        "<</A",
        "<</A>>",
        "<</A 1 2>>",
        "[1 2",
        "(a",
        "(a\\)",
        "<41",
        ">>",
        "]",
        "{}",
        "<</A[>>]>>",
        "1 0 R 1",
        "--5",
        "<</Length 9>>stream\nabc\nendstream",
        "<</Length 3>>stream\nabcendobj",
        "<</Length -1>>stream\nendstream",
        "<</Length 30 0 R>>stream\n\nendstream",
        "<<>>stream\n\nendstream",
        deep.as_str(),
    ] {
        // Where it counts: as the page's annotations.
        let revision =
            Revision { annotations: "/Annots[9 0 R 24 0 R]", ..Revision::default() }.and(&[(24, text)]);
        let fault = PdfSignature::read(&revision.file(), &sent()).unwrap_err();
        assert_eq!(fault.kind(), "malformed-pdf", "{text}: {fault}");
    }
}

/// Some readers take no notice of it, and others find no page.
#[test]
fn a_page_of_another_generation_is_told() {
    let (start, appended) = (LENGTH as usize, Revision::default().file().split_off(LENGTH as usize));
    let text = String::from_utf8(appended).unwrap();
    let at = start + text.find("3 0 obj").unwrap();
    let text = text.replace("3 0 obj", "3 1 obj");
    let text = text.replace(&format!("3 1\n{at:010} 00000"), &format!("3 1\n{at:010} 00001"));
    let file = [&sent().to_vec()[..], text.as_bytes()].concat();
    let fault = PdfSignature::read(&file, &sent()).unwrap_err();
    assert_eq!(fault, PdfFault::Malformed { what: "reference to another generation" });
}
