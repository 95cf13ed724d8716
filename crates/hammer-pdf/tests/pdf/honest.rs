//! A revision that leaves the document as it was and has one signature is believed, in whichever of PDF's ways it is written.

use hammer_pdf::signed::PdfSignature;

use crate::revision::Revision;
use crate::{LENGTH, sent};

const PAGE: &str = "/Parent 2 0 R/MediaBox[0 0 595 842]/Resources<</Font<</F1 5 0 R>>>>/Contents 4 0 R";

fn believed(cases: &[(&str, Revision)]) {
    for (name, revision) in cases {
        let file = revision.file();
        let found = PdfSignature::read(&file, &sent());
        let shown = || String::from_utf8_lossy(&file[LENGTH as usize..]).into_owned();
        let found = found.unwrap_or_else(|why| panic!("{name}: {why}: {}", shown()));
        assert_eq!(found.contents, [0x30, 3, 2, 1, 5], "{name}");
    }
}

fn page(page: &'static str) -> Revision {
    Revision { page, ..Revision::default() }
}

#[test]
fn a_page_that_is_written_in_another_way_is_the_same() {
    let boxes = "/Parent 2 0 R/Resources<</Font<</F1 5 0 R>>>>/Contents 4 0 R";
    let with = |text: &str| Revision::with(&[(3, &format!("<</Type/Page{PAGE}/Annots[9 0 R]{text}>>"))]);
    let boxed = |text: &str| Revision::with(&[(3, &format!("<</Type/Page{boxes}/Annots[9 0 R]{text}>>"))]);
    let without = "/Parent 2 0 R/MediaBox[0 0 595 842]/Resources<</Font<</F1 5 0 R>>>>";
    let content = |text: &str| Revision::with(&[(3, &format!("<</Type/Page{without}{text}>>"))]);
    believed(&[
        ("its content as an array of one", content("/Contents[4 0 R]")),
        ("its content as an array elsewhere", content("/Contents 20 0 R").and(&[(20, "[ 4 0 R ]")])),
        ("a comment within", content("/Contents%4 1 R\n4%0\r0%\nR")),
        ("an escaped name", content("/Conten#74s 4 0 R")),
        ("a box that is the page's", with("/CropBox[0 0 595 842]")),
        ("a box that is larger", with("/CropBox[-5 -5.5 600.0 900]")),
        ("a box in decimals", boxed("/MediaBox[0.0 0. +595.00 842.0]")),
        ("a box by its other corners", boxed("/MediaBox[595 842 0 0]")),
        ("a box elsewhere", boxed("/MediaBox 20 0 R").and(&[(20, "[0 0 21 0 R 842]"), (21, "595")])),
        ("a whole turn", with("/Rotate 360")),
        ("no turn", with("/Rotate 0/UserUnit 1.0")),
        ("entries that are null", with("/Rotate null/CropBox null/AA null/UserUnit 30 0 R")),
        ("entries that show nothing", with("/Group<</S/Transparency>>/Tabs/S/LastModified(D:2026)")),
        ("names within others' dictionaries", with("/PieceInfo<</X<</Rotate 90/AA 1/Contents 7 0 R>>>>")),
        (
            "annotations elsewhere",
            Revision { annotations: "/Annots 20 0 R", ..Revision::with(&[(20, "[9 0 R null]")]) },
        ),
        ("no annotation", Revision { annotations: "", ..Revision::default() }),
        (
            "resources elsewhere",
            page("/Parent 2 0 R/MediaBox[0 0 595 842]/Resources 20 0 R/Contents 4 0 R")
                .and(&[
                    (20, "<</ProcSet[/PDF/Text]/Font 21 0 R/XObject<<>>>>"),
                    (21, "<</F1 22 0 R/F2 5 0 R>>"),
                ])
                .and(&[(22, "<</Type/Font /BaseFont /Helvetica/Subtype/Type1>>")]),
        ),
    ]);
}

#[test]
fn objects_that_are_written_again_as_they_were_are_the_same() {
    let tail = String::from_utf8(sent().to_vec().split_off(sent().common() as usize)).unwrap();
    let object = |start: &str| {
        let behind = tail.split_once(start).unwrap().1;
        behind.split_once("\nendobj").unwrap().0
    };
    let (content, length) = (object("4 0 obj\n"), object("7 0 obj\n"));
    believed(&[
        ("the tree of pages", Revision::with(&[(2, "<</Type/Pages/Kids[3 0 R]/Count 1>>")])),
        (
            "in another order",
            Revision::with(&[(2, "<< /Count 1 /Kids 20 0 R /Typ#65 /Pages >>"), (20, "[3 0 R]")]),
        ),
        ("the font", Revision::with(&[(5, "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>")])),
        ("the content", Revision::with(&[(4, content)])),
        ("the length of the filler", Revision::with(&[(7, length)])),
        (
            "none of them, in a table of all",
            Revision {
                entries: |_| {
                    let file = sent().to_vec();
                    let table = String::from_utf8(file[sent().xref() as usize..].to_vec()).unwrap();
                    let lines: Vec<_> = table.lines().skip(2).collect();
                    format!("2 1\n{}\n4 3\n{}\n{}\n{}\n", lines[2], lines[4], lines[5], lines[6])
                },
                ..Revision::default()
            },
        ),
    ]);
}

#[test]
fn a_signature_is_found_by_its_field_and_words_in_strings_are_none() {
    let field = |field| Revision { field, ..Revision::default() };
    let form = |form| Revision { form, ..Revision::default() };
    let catalog = |text: &str| {
        let form = "/AcroForm<</Fields[9 0 R]/SigFlags 3>>";
        Revision::with(&[(1, &format!("<</Type/Catalog/Pages 2 0 R{form}{text}>>"))])
    };
    let signature = |signature| Revision { signature, ..Revision::default() };
    believed(&[
        ("a form elsewhere", form("/AcroForm 20 0 R").and(&[(20, "<</Fields 21 0 R>>"), (21, "[9 0 R]")])),
        (
            "a type that is inherited",
            Revision { field: "/Parent 30 0 R/V 10 0 R", ..form("/AcroForm<</Fields[30 0 R]>>") }
                .and(&[(30, "<</FT/Sig/T(P)/Kids[9 0 R]>>")]),
        ),
        (
            "a field and its widget apart",
            Revision { field: "/Parent 30 0 R", ..form("/AcroForm<</Fields[30 0 R]>>") }
                .and(&[(30, "<</FT/Sig/T(P)/V 10 0 R/Kids[9 0 R]>>")]),
        ),
        (
            "another field, which is empty",
            form("/AcroForm<</Fields[20 0 R 9 0 R]>>").and(&[(20, "<</FT/Sig/T(x)>>")]),
        ),
        ("its name in a string", field("/T(/V)/FT/Sig/V 10 0 R")),
        ("its name with a value in a string", field("/T(a /V 99 0 R b)/FT/Sig/V 10 0 R")),
        ("an action's name in a string", catalog("/Lang(a /AA b)")),
        ("an action's name in a name's value", catalog("/X/OpenAction")),
        ("names that run nothing", catalog("/Names<</Dests<</Names[(JavaScript) 1 0 R]>>>>")),
        (
            "permissions",
            catalog("/Perms<</DocMDP 10 0 R>>/Version/1.7/Extensions<</ADBE<</BaseVersion/1.7>>>>"),
        ),
        ("the end of an object in a reason", signature("/Reason(see endobj here)")),
        ("brackets in a reason", signature(r"/Reason(a \) ( >> ) \\)/Location<28 3e3e>")),
        ("the end of a file in a reason", signature("/Reason(startxref 0 %%EOF)")),
        ("its names within", signature("/Prop_Build<</ByteRange[0 1 2 3]/Contents<00>/SubFilter/x>>")),
        ("an escaped form", Revision { sub_filter: "/#45TSI.CAdES#2edetached", ..Revision::default() }),
        ("a widget of no size with a look", field("/FT/Sig/V 10 0 R/Rect[5 5 5.0 90]/AP<</N 20 0 R>>")),
        ("a widget that is hidden", field("/FT/Sig/V 10 0 R/F 2/Rect[5 5 50 90]/AP<</N 20 0 R>>")),
        ("a widget without a look", field("/FT/Sig/V 10 0 R/Rect[5 5 50 90]")),
    ]);
}

#[test]
fn a_revision_that_is_written_in_another_way_is_read() {
    let empty = |number, text: &str| (number, text.to_owned());
    let stream = "<</Length 21 0 R>>stream\r\n/ByteRange[0 1 2 3] endobj\nendstream";
    believed(&[
        (
            "an empty field in a revision ahead",
            Revision {
                before: vec![
                    empty(1, "<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[9 0 R]>>>>"),
                    empty(9, "<</Type/Annot/Subtype/Widget/FT/Sig/Rect[0 0 0 0]>>"),
                ],
                ..Revision::default()
            },
        ),
        (
            "what a revision ahead had is no more",
            Revision {
                before: vec![
                    empty(3, "<</Type/Page/Contents 20 0 R>>"),
                    empty(10, "<</ByteRange[0 1 2 3]>>"),
                ],
                ..Revision::default()
            },
        ),
        (
            "a stream of another length than it says",
            Revision::with(&[(20, "<</Length 1>>stream\nabc\nendstream")]),
        ),
        ("a stream with an object's end in it", Revision::with(&[(20, stream), (21, "26")])),
        (
            "a free object",
            Revision { entries: |_| "0 1\n0000000000 65535 f \n".to_owned(), ..Revision::default() },
        ),
        (
            "names of the trailer within",
            Revision {
                trailer: "/Info 31 0 R/X<</Encrypt 1/XRefStm 9>>/ID[<00>(/Root 7 0 R)]",
                ..Revision::default()
            },
        ),
        ("white space behind the end", Revision { end: "\r\n\0 \n", ..Revision::default() }),
    ]);
}
