//! A revision with a signature dictionary, made here with one thing other than usual.

use crate::{LENGTH, sent};

/// What stands in the revision.
pub(crate) struct Revision {
    /// Objects of a revision of their own ahead of this one, by number and text.
    pub(crate) before: Vec<(u64, String)>,
    pub(crate) pages: &'static str,
    pub(crate) form: &'static str,
    pub(crate) page: &'static str,
    pub(crate) annotations: &'static str,
    pub(crate) field: &'static str,
    pub(crate) sub_filter: &'static str,
    /// What the signature dictionary has besides.
    pub(crate) signature: &'static str,
    pub(crate) contents: &'static str,
    /// The numbers of the right one, changed.
    pub(crate) byte_range: fn([usize; 4]) -> [usize; 4],
    /// Objects besides, or in the place of the usual ones, by number and text.
    pub(crate) more: Vec<(u64, String)>,
    /// Entries of the table besides, by how long the document is.
    pub(crate) entries: fn(u64) -> String,
    pub(crate) size: u64,
    pub(crate) root: &'static str,
    /// What the trailer has besides.
    pub(crate) trailer: &'static str,
    /// What stands where the table starts.
    pub(crate) xref: &'static str,
    /// Which section is named as the one before, by where this one is.
    pub(crate) prev: Option<fn(usize) -> usize>,
    /// What stands behind the end.
    pub(crate) end: &'static str,
}

impl Default for Revision {
    fn default() -> Self {
        Self {
            before: Vec::new(),
            pages: "/Pages 2 0 R",
            form: "/AcroForm<</Fields[9 0 R]/SigFlags 3>>",
            page: "/Parent 2 0 R/MediaBox[0 0 595 842]/Resources<</Font<</F1 5 0 R>>>>/Contents 4 0 R",
            annotations: "/Annots[9 0 R]",
            field: "/FT/Sig/V 10 0 R",
            sub_filter: "/ETSI.CAdES.detached",
            signature: "",
            contents: "<300302010500000000>",
            byte_range: |range| range,
            more: Vec::new(),
            entries: |_| String::new(),
            size: 40,
            root: "1 0 R",
            trailer: "",
            xref: "xref\n",
            prev: None,
            end: "",
        }
    }
}

impl Revision {
    /// The usual one with these objects besides, or in the place of its own.
    pub(crate) fn with(objects: &[(u64, &str)]) -> Self {
        let more = objects.iter().map(|(number, text)| (*number, (*text).to_owned())).collect();
        Self { more, ..Self::default() }
    }

    /// These objects, too.
    #[must_use]
    pub(crate) fn and(mut self, objects: &[(u64, &str)]) -> Self {
        self.more.extend(objects.iter().map(|(number, text)| (*number, (*text).to_owned())));
        self
    }

    /// The document that was sent, and the revision.
    pub(crate) fn file(&self) -> Vec<u8> {
        // Its numbers have the same number of digits whatever they are, so that they are put in once all else is there.
        let hole = "/ByteRange[000000000 000000000 000000000 000000000]";
        let mut objects = vec![
            (1, format!("<</Type/Catalog{}{}>>", self.pages, self.form)),
            (3, format!("<</Type/Page{}{}>>", self.page, self.annotations)),
            (9, format!("<</Type/Annot/Subtype/Widget{}/P 3 0 R>>", self.field)),
            (
                10,
                format!(
                    "<</Type/Sig/SubFilter{}{}/Contents {}{hole}>>",
                    self.sub_filter, self.signature, self.contents
                ),
            ),
        ];
        objects.retain(|(number, _)| self.more.iter().all(|(other, _)| other != number));
        objects.extend(self.more.iter().cloned());
        let mut file = sent().to_vec();
        let mut before = sent().xref() as usize;
        if !self.before.is_empty() {
            let table = append(&mut file, &self.before);
            let at = file.len();
            let trailer = format!("trailer\n<</Size 40/Root 1 0 R/Prev {before}>>\nstartxref\n{at}\n%%EOF\n");
            file.extend_from_slice(format!("xref\n{table}{trailer}").as_bytes());
            before = at;
        }
        let appended = file.len();
        let table = append(&mut file, &objects) + &(self.entries)(LENGTH);
        let at = file.len();
        let prev = self.prev.map_or(before, |prev| prev(at));
        let Self { xref, size, root, trailer, end, .. } = self;
        let trailer = format!("trailer\n<</Size {size}/Root {root}/Prev {prev}{trailer}>>\n");
        file.extend_from_slice(format!("{xref}{table}{trailer}startxref\n{at}\n%%EOF\n{end}").as_bytes());
        let find = |text: &str| {
            let place = file[appended..].windows(text.len()).position(|window| window == text.as_bytes());
            appended + place.unwrap()
        };
        let Some(place) = objects.iter().any(|(_, text)| text.contains(hole)).then(|| find(hole)) else {
            return file;
        };
        let before = find("/Contents <") + "/Contents ".len();
        let second = before + self.contents.len();
        let [a, b, c, d] = (self.byte_range)([0, before, second, file.len() - second]);
        let range = format!("/ByteRange[{a:09} {b:09} {c:09} {d:09}]");
        file[place..place + range.len()].copy_from_slice(range.as_bytes());
        file
    }
}

/// Appends objects; the entries of their table.
fn append(file: &mut Vec<u8>, objects: &[(u64, String)]) -> String {
    let mut table = String::new();
    for (number, text) in objects {
        table += &format!("{number} 1\n{:010} 00000 n \n", file.len());
        file.extend_from_slice(format!("{number} 0 obj\n{text}\nendobj\n").as_bytes());
    }
    table
}
