//! A revision with a signature dictionary, made here with one thing wrong.

use crate::{LENGTH, sent};

/// What stands in the revision.
pub(crate) struct Revision {
    pub(crate) pages: &'static str,
    pub(crate) form: &'static str,
    pub(crate) page: &'static str,
    pub(crate) field: &'static str,
    pub(crate) sub_filter: &'static str,
    pub(crate) contents: &'static str,
    /// The numbers of the right one, changed.
    pub(crate) byte_range: fn([usize; 4]) -> [usize; 4],
    /// Objects besides, by number and text.
    pub(crate) more: Vec<(u64, String)>,
    pub(crate) freed: Option<u64>,
    pub(crate) root: &'static str,
    /// What stands where the table starts.
    pub(crate) xref: &'static str,
    /// Which section is named as the one before, by where this one is.
    pub(crate) prev: Option<fn(usize) -> usize>,
}

impl Default for Revision {
    fn default() -> Self {
        Self {
            pages: "/Pages 2 0 R",
            form: "/AcroForm<</Fields[9 0 R]/SigFlags 3>>",
            page: "/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R",
            field: "/FT/Sig/V 10 0 R",
            sub_filter: "/ETSI.CAdES.detached",
            contents: "<300302010500000000>",
            byte_range: |range| range,
            more: Vec::new(),
            freed: None,
            root: "1 0 R",
            xref: "xref\n",
            prev: None,
        }
    }
}

impl Revision {
    /// The document that was sent, and the revision.
    pub(crate) fn file(&self) -> Vec<u8> {
        // Its numbers have the same number of digits whatever they are, so that they are put in once all else is there.
        let hole = "/ByteRange[000000000 000000000 000000000 000000000]";
        let mut objects = vec![
            (1, format!("<</Type/Catalog{}{}>>", self.pages, self.form)),
            (3, format!("<</Type/Page{}/Annots[9 0 R]>>", self.page)),
            (9, format!("<</Type/Annot/Subtype/Widget{}/P 3 0 R>>", self.field)),
            (10, format!("<</Type/Sig/SubFilter{}/Contents {}{hole}>>", self.sub_filter, self.contents)),
        ];
        objects.extend(self.more.iter().cloned());
        let mut file = sent().to_vec();
        let mut table = self.xref.to_owned();
        for (number, text) in &objects {
            table += &format!("{number} 1\n{:010} 00000 n \n", file.len());
            file.extend_from_slice(format!("{number} 0 obj\n{text}\nendobj\n").as_bytes());
        }
        if let Some(freed) = self.freed {
            table += &format!("{freed} 1\n0000000000 00001 f \n");
        }
        let at = file.len();
        let prev = self.prev.map_or(sent().xref() as usize, |prev| prev(at));
        table += &format!("trailer\n<</Size 20/Root {}/Prev {prev}>>\nstartxref\n{at}\n%%EOF\n", self.root);
        file.extend_from_slice(table.as_bytes());
        let find = |text: &str| {
            let appended = &file[LENGTH as usize..];
            LENGTH as usize
                + appended.windows(text.len()).position(|window| window == text.as_bytes()).unwrap()
        };
        let before = find("/Contents <") + "/Contents ".len();
        let second = before + self.contents.len();
        let numbers = (self.byte_range)([0, before, second, file.len() - second]);
        let [a, b, c, d] = numbers;
        let range = format!("/ByteRange[{a:09} {b:09} {c:09} {d:09}]");
        let place = find(hole);
        file[place..place + range.len()].copy_from_slice(range.as_bytes());
        file
    }
}
