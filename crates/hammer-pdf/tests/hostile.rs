//! Documents made to cost whoever reads them: revisions without end, or that lead in a circle, and objects that are all of the file. Alone in
//! its process, since what is allocated is counted of all threads.

use std::alloc::System;

use hammer_pdf::document::Document;
use hammer_pdf::signed::{PdfFault, PdfSignature};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const LENGTH: u64 = 2_048;
/// What reading may allocate whatever it is given: the objects of the longest table that is read, as a list that grew to it.
const MOST_ALLOCATED: usize = 512 << 10;

/// What was sent, and what is appended to it.
struct Appended(Vec<u8>);

impl Appended {
    fn new() -> Self {
        Self(sent().to_vec())
    }

    /// Appends a text, and says where it stands.
    fn add(&mut self, text: &str) -> usize {
        self.0.extend_from_slice(text.as_bytes());
        self.0.len() - text.len()
    }

    /// Appends a section with these entries, which names the one before by a number of ten digits, and says where it stands.
    fn section(&mut self, entries: &str, prev: usize) -> usize {
        let at = self.0.len();
        self.add(&format!(
            "xref\n{entries}trailer\n<</Size 20/Root 1 0 R/Prev {prev:010}>>\nstartxref\n{at:010}\n%%EOF\n"
        ))
    }

    /// Ends the file at that section; what is wrong with it.
    fn fault(mut self, startxref: usize) -> PdfFault {
        self.add(&format!("startxref\n{startxref}\n%%EOF\n"));
        let document = sent();
        let region = Region::new(ALLOCATOR);
        let fault = PdfSignature::read(&self.0, &document).unwrap_err();
        let allocated = region.change().bytes_allocated;
        assert!(allocated < MOST_ALLOCATED, "{allocated} bytes of {}: {fault}", self.0.len());
        fault
    }
}

fn sent() -> Document {
    Document::new(7, 3, LENGTH).unwrap()
}

#[test]
fn a_document_that_leads_in_a_circle_or_on_and_on_ends_as_what_it_is_and_allocates_next_to_nothing() {
    let first = sent().xref() as usize;
    // A section that names itself, and two that name each other.
    let mut file = Appended::new();
    let at = file.0.len();
    file.section("", at);
    assert_eq!(file.fault(at), PdfFault::Revisions);
    let mut file = Appended::new();
    let one = file.section("", 0);
    let other = file.section("", one);
    let length = other - one;
    file.0.truncate(one);
    file.section("", one + length);
    file.section("", one);
    assert_eq!(file.fault(other), PdfFault::Revisions);

    // A start beyond the end, in what was sent, and one of more digits than any file has.
    for startxref in [usize::MAX, 999_999_999_999, 9_999_999, LENGTH as usize + 9, 0, first + 1] {
        let mut file = Appended::new();
        file.section("", first);
        let kind = file.fault(startxref).kind();
        assert_eq!(kind, "malformed-pdf", "{startxref}");
    }

    // Thousands of revisions, each of which leads to the one before.
    let mut file = Appended::new();
    let last = (0..5_000).fold(first, |prev, _| {
        let at = file.0.len();
        file.section("", prev);
        at
    });
    assert_eq!(file.fault(last), PdfFault::Revisions);

    // Thousands of objects, all of which are the same megabyte.
    let mut file = Appended::new();
    let at = file.add("11 0 obj\n<<");
    file.add(&"/ByteRange ".repeat(100_000));
    file.add(">>\nendobj\n");
    let entries = format!("11 1\n{at:010} 00000 n \n").repeat(4_000);
    let xref = file.0.len();
    file.section(&entries, first);
    let fault = file.fault(xref);
    assert_eq!(fault.kind(), "malformed-pdf", "{fault}");

    // Trailers within each other, as strings of the ones around them.
    let mut file = Appended::new();
    let text = "xref\ntrailer<</X(";
    let at = file.0.len();
    for place in 1..60 {
        file.add(&format!("xref\ntrailer<</Size 20/Prev {}/X(", at + place * (text.len() + 17 + 5)));
    }
    file.add(&"(".repeat(500_000));
    file.add(&")".repeat(500_100));
    assert_eq!(file.fault(at).kind(), "malformed-pdf");

    // A table of more objects than a revision has, or of more that are freed.
    for entry in [format!("11 1\n{LENGTH:010} 00000 n \n"), "11 1\n0000000000 65535 f \n".to_owned()] {
        let mut file = Appended::new();
        file.add("11 0 obj\nendobj\n");
        let at = file.0.len();
        file.section(&entry.repeat(500_000), first);
        assert_eq!(file.fault(at).kind(), "malformed-pdf", "{entry}");
    }

    // A form whose fields, and a page whose annotations, are over and over the same long one, and an object behind a long comment.
    let comment = format!("%{}\n", "x".repeat(300_000));
    for (field, count) in [
        (format!("<</Kids[{}]>>", "11 0 R ".repeat(20_000)), 1),
        (format!("<</X[{}]/Kids[11 0 R 11 0 R]>>", "1 ".repeat(200_000)), 1),
        (format!("<</Subtype/Widget/X[{}]>>", "1 ".repeat(200_000)), 10_000),
        (format!("{comment}<</Subtype/Widget>>"), 10_000),
        (format!("<</Subtype/Widget>>{comment}"), 10_000),
        (format!("null{comment}"), 10_000),
        (format!("<</Subtype/Widget/Parent 11 0 R/Rect[0 0 9 9]{comment}>>"), 10_000),
        (format!("{}1{}", "[".repeat(300_000), "]".repeat(300_000)), 1),
        (format!("{}1{}", "<<".repeat(300_000), ">>".repeat(300_000)), 1),
        (format!("<</Subtype{}>>", "/Widget".repeat(200_001)), 10_000),
    ] {
        let mut file = Appended::new();
        let fields = "11 0 R ".repeat(count);
        let catalog = file.add(&format!("1 0 obj\n<</Pages 2 0 R/AcroForm<</Fields[{fields}]>>>>\nendobj\n"));
        let page =
            "/Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Resources<</Font<</F1 5 0 R>>>>/Contents 4 0 R";
        let page = file.add(&format!("3 0 obj\n<<{page}/Annots[{fields}]>>\nendobj\n"));
        let field = file.add(&format!("11 0 obj\n{field}\nendobj\n"));
        let at = file.0.len();
        let entries =
            format!("1 1\n{catalog:010} 00000 n \n3 1\n{page:010} 00000 n \n11 1\n{field:010} 00000 n \n");
        file.section(&entries, first);
        let fault = file.fault(at);
        assert_ne!(fault.kind(), "byte-range", "{fault}");
    }

    // Nothing but a name that is searched for, over and over, or a table that promises more than there is.
    for text in ["xref\n0 999999999999\n", "xref\n999999999999 999999999999\n0000000000 65535 f \n", "xref\n"]
    {
        let mut file = Appended::new();
        let at = file.add(text);
        file.add(&"trailer<</Prev".repeat(70_000));
        assert_eq!(file.fault(at).kind(), "malformed-pdf", "{text}");
    }
}
