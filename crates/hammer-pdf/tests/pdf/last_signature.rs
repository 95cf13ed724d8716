//! The last signature of any PDF, and what it covers.

use hammer_cms::signed_data::SignedData;
use hammer_pdf::signed::{LastSignature, PdfFault, PdfSignature};

use crate::{LENGTH, sent, testdata};

#[test]
fn it_is_the_one_that_is_found_in_the_document_that_was_sent_and_covers_its_streams() {
    for name in ["dss-b.pdf", "dss-t.pdf", "pyhanko-b.pdf", "pyhanko-t.pdf"] {
        let file = testdata(name);
        let known = PdfSignature::read(&file, &sent()).unwrap();
        let found = LastSignature::read(&file).unwrap();
        assert_eq!((&found.gap, &found.contents, found.end), (&known.gap, &known.contents, file.len()));
        assert!(SignedData::parse(&found.contents).is_ok());
        let streams = found.streams(&file);
        assert!(streams[0].end <= LENGTH as usize, "{name}: {streams:?}");
        for stream in streams {
            let behind = file[stream.end..].trim_ascii_start();
            assert!(behind.starts_with(b"endstream"), "{name}: {stream:?}");
        }
    }
}

#[test]
fn streams_that_say_where_objects_are_are_none_and_what_has_no_end_is_none() {
    let file = |body: &str| {
        let head = format!("%PDF-1.7\n{body}\n<</ByteRange[0 ");
        let gap = head.len() + "00000 00000 00000]/Contents".len();
        let tail = ">>endobj";
        let (end, behind) = (gap + 6, tail.len());
        format!("{head}{gap:05} {end:05} {behind:05}]/Contents<3000>{tail}").into_bytes()
    };
    let streams = |body: &str| {
        let file = file(body);
        LastSignature::read(&file).unwrap().streams(&file).len()
    };
    assert_eq!(streams("1 0 obj<</Length 3>>stream\nabc\nendstream endobj"), 1);
    assert_eq!(streams("1 0 obj<</Type/XRef>>stream\nabc\nendstream endobj"), 0);
    let both = "1 0 obj<</Type/ObjStm>>stream\r\nabc\r\nendstream endobj 2 0 obj<<>>stream\nd endstream";
    assert_eq!(streams(both), 1);
    assert_eq!(streams(&"stream\n".repeat(1_000)), 0);
    assert_eq!(streams("endstream stream\nendstream"), 0);
}

#[test]
fn a_file_without_one_is_told() {
    let file = testdata("dss-b.pdf");
    assert_eq!(LastSignature::read(&file[..LENGTH as usize]), Err(PdfFault::Unsigned));
    let gap = LastSignature::read(&file).unwrap().gap;
    let mut altered = file.clone();
    altered[gap.start] = b'(';
    assert_eq!(LastSignature::read(&altered).unwrap_err().kind(), "byte-range");
    assert_eq!(LastSignature::read(&file[..file.len() - 1]).unwrap_err().kind(), "byte-range");
}
