//! The objects of a file, of which each is that of its last revision.

use memchr::memmem;

use super::fault::PdfFault;
use super::object::{Array, Dictionary, Object, Reference, TWICE};
use super::scan_budget::ScanBudget;
use super::sections::{Entry, STARTXREF, Sections};
use super::text::find;
use super::token::{Token, Tokens};
use crate::document::Document;

/// Those of the document that was sent, and what was appended in their place or besides.
#[derive(Debug)]
pub(super) struct ObjectTable<'a> {
    file: &'a [u8],
    sent: &'a Document,
    sections: Sections,
    budget: ScanBudget,
}

impl<'a> ObjectTable<'a> {
    /// Those of a file that starts with what was sent.
    pub(super) fn read(file: &'a [u8], sent: &'a Document) -> Result<Self, PdfFault> {
        let start = sent.len() as usize;
        let budget = ScanBudget::new(file.len() - start);
        let mut sections = Sections::read(file, (start, sent.xref() as usize), &budget)?;
        // Some write a table of all there is.
        sections.entries.retain(|Entry { reference, offset, .. }| {
            offset.is_none()
                || *offset != sent.offset(reference.number)
                || *reference != Reference::to(reference.number)
        });
        Ok(Self { file, sent, sections, budget })
    }

    /// What is not read here, for which nothing can be said to be absent.
    pub(super) const fn unread(&self) -> Option<PdfFault> {
        self.sections.unread
    }

    /// Whether a revision is passed over by those that lead from the last one to the document: what it has is on no page of a reader that follows
    /// them, and may be on that of one that looks for objects. Its `startxref` stands in none of theirs, nor behind a percent sign.
    pub(super) fn passes_over_one(&self) -> bool {
        let start = self.sent.len() as usize;
        let leads = || memmem::find_iter(&self.file[start..], STARTXREF).map(|at| start + at);
        // As a rule there is one for each section, and nothing to be looked at.
        leads().count() > self.sections.count
            && leads().filter(|at| !self.is_comment(*at) && !self.is_within_object(*at)).count()
                > self.sections.count
    }

    fn is_comment(&self, at: usize) -> bool {
        let line = self.file[..at].rsplit(|byte| matches!(byte, b'\r' | b'\n')).next();
        line.is_some_and(|line| line.contains(&b'%'))
    }

    fn is_within_object(&self, at: usize) -> bool {
        let ahead =
            self.sections.entries.iter().filter(|entry| entry.offset.is_some_and(|offset| offset < at));
        let Some(Entry { reference, offset: Some(offset), .. }) = ahead.max_by_key(|entry| entry.offset)
        else {
            return false;
        };
        // Parts of an object are parts of the file.
        let is_in = |part: &[u8]| part.as_ptr_range().contains(&self.file[at..].as_ptr());
        match self.object_at(*offset, *reference) {
            Ok(Object::Stream(dictionary, data)) => is_in(dictionary.0) || is_in(data),
            Ok(Object::Dictionary(Dictionary(text)) | Object::Array(Array(text)) | Object::String(text)) => {
                is_in(text)
            }
            _ => false,
        }
    }

    /// The catalog that the last trailer names.
    pub(super) const fn root(&self) -> Option<Reference> {
        self.sections.root
    }

    /// The objects that were appended or freed, by their numbers.
    pub(super) fn appended(&self) -> impl Iterator<Item = &Entry> {
        self.sections.entries.iter()
    }

    /// The object that was appended under that number, if there is one.
    pub(super) fn appended_object(&self, number: u64) -> Result<Option<Object<'a>>, PdfFault> {
        self.entry(number).map(|_| self.object(Reference::to(number))).transpose()
    }

    /// The object of the document that was sent.
    pub(super) fn sent_object(&self, number: u64) -> Result<Object<'a>, PdfFault> {
        let offset = self.sent.offset(number).ok_or(MALFORMED)?;
        self.object_at(offset, Reference::to(number))
    }

    /// What a reference leads to; null where there is nothing (section 7.3.10).
    pub(super) fn object(&self, reference: Reference) -> Result<Object<'a>, PdfFault> {
        match self.offset(reference)? {
            Some(offset) => self.object_at(offset, reference),
            None => Ok(Object::Null),
        }
    }

    /// The object itself where it is a reference.
    pub(super) fn resolved(&self, object: Object<'a>) -> Result<Object<'a>, PdfFault> {
        let Object::Reference(reference) = object else { return Ok(object) };
        match self.object(reference)? {
            // The value of an object is none.
            Object::Reference(_) => Err(MALFORMED),
            resolved => Ok(resolved),
        }
    }

    /// The values of these keys, null where there is none.
    pub(super) fn values<const N: usize>(
        &self,
        dictionary: Dictionary<'a>,
        keys: [&str; N],
    ) -> Result<[Object<'a>; N], PdfFault> {
        self.budget.count(dictionary.0.len())?;
        dictionary.values(keys)
    }

    /// The elements of an array, themselves where they are references.
    pub(super) fn elements(
        &self,
        array: Array<'a>,
    ) -> Result<impl Iterator<Item = Result<Object<'a>, PdfFault>>, PdfFault> {
        self.budget.count(array.0.len())?;
        Ok(array.elements().map(|element| self.resolved(element?)))
    }

    /// The four numbers of a rectangle, the lower left corner first (section 7.9.5).
    pub(super) fn rectangle(&self, object: Object<'a>) -> Result<Option<[f64; 4]>, PdfFault> {
        let Object::Array(array) = self.resolved(object)? else { return Ok(None) };
        let mut elements = self.elements(array)?;
        let mut numbers = [0.0; 4];
        for number in &mut numbers {
            let Some(value) = elements.next().transpose()?.and_then(Object::number) else { return Ok(None) };
            *number = value;
        }
        let [a, b, c, d] = numbers;
        Ok(elements.next().is_none().then_some([a.min(c), b.min(d), a.max(c), b.max(d)]))
    }

    /// Whether an object is in effect `sent`, one of the document that was sent.
    pub(super) fn is_same(&self, object: Object<'a>, sent: Object<'a>) -> Result<bool, PdfFault> {
        if let (Object::Reference(one), Object::Reference(other)) = (object, sent) {
            return Ok(one == other);
        }
        Ok(match (self.resolved(object)?, sent) {
            (Object::Null, Object::Null) => true,
            (Object::Boolean(one), Object::Boolean(other)) => one == other,
            (Object::Name(one), Object::Name(other)) => one == other,
            (Object::String(one), Object::String(other)) => one == other,
            (Object::Array(one), Object::Array(other)) => {
                self.budget.count(one.0.len())?;
                let (mut one, mut other) = (one.elements(), other.elements());
                loop {
                    match (one.next().transpose()?, other.next().transpose()?) {
                        (Some(one), Some(other)) if self.is_same(one, other)? => {}
                        (one, other) => break one.is_none() && other.is_none(),
                    }
                }
            }
            (Object::Dictionary(one), Object::Dictionary(other)) => self.is_same_dictionary(one, other)?,
            (Object::Stream(one, data), Object::Stream(other, sent)) => {
                data == sent && self.is_same_dictionary(one, other)?
            }
            (one, other) => one.number().is_some() && one.number() == other.number(),
        })
    }

    fn is_same_dictionary(&self, one: Dictionary<'a>, sent: Dictionary<'a>) -> Result<bool, PdfFault> {
        self.budget.count(one.0.len())?;
        let mut missing = sent.entries().collect::<Result<Vec<_>, _>>()?;
        for entry in one.entries() {
            let (key, value) = entry?;
            let place = missing.iter().position(|(wanted, _)| key == *wanted);
            let Some(place) = place else {
                if sent.entries().filter_map(Result::ok).any(|(other, _)| key == other) {
                    return Err(TWICE);
                }
                if self.resolved(value)?.is_null() {
                    continue;
                }
                return Ok(false);
            };
            // Null is the absence of what was sent, and would hide that the key is there twice.
            let (_, other) = missing.swap_remove(place);
            if !self.is_same(value, other)? {
                return Ok(false);
            }
        }
        Ok(missing.is_empty())
    }

    fn entry(&self, number: u64) -> Option<&Entry> {
        let entries = &self.sections.entries;
        let place = entries.binary_search_by_key(&number, |entry| entry.reference.number).ok()?;
        Some(&entries[place])
    }

    /// Where an object starts, if there is one.
    fn offset(&self, reference: Reference) -> Result<Option<usize>, PdfFault> {
        let (known, offset) = match (self.entry(reference.number), self.sections.unread) {
            (Some(Entry { reference, offset: Some(offset), .. }), _) => (*reference, Some(*offset)),
            // It may be in what is not read.
            (_, Some(unread)) => return Err(unread),
            (Some(_), None) => return Ok(None),
            (None, None) => (Reference::to(reference.number), self.sent.offset(reference.number)),
        };
        // Some readers do not look at generations, and would find another one.
        let is_another = offset.is_some() && known != reference;
        if is_another {
            Err(PdfFault::Malformed { what: "reference to another generation" })
        } else {
            Ok(offset)
        }
    }

    fn object_at(&self, offset: usize, reference: Reference) -> Result<Object<'a>, PdfFault> {
        let (object, mut tokens) = self.value_at(offset, reference)?;
        let start = tokens.at();
        let (object, end, skipped) = match (object, tokens.read()?) {
            (Object::Dictionary(dictionary), Token::Keyword(b"stream")) => {
                let data = self.stream_data(dictionary, &mut tokens)?;
                (Object::Stream(dictionary, data), tokens.read()?, data.len())
            }
            (object, end) => (object, end, 0),
        };
        self.budget.count(tokens.at() - start - skipped)?;
        if end == Token::Keyword(b"endobj") { Ok(object) } else { Err(MALFORMED) }
    }

    /// The value of an object, without what makes a stream of it, and what is behind it.
    fn value_at(&self, offset: usize, of: Reference) -> Result<(Object<'a>, Tokens<'a>), PdfFault> {
        let is_sent = self.sent.offset(of.number) == Some(offset);
        if offset < self.sent.len() as usize && !is_sent {
            return Err(MALFORMED);
        }
        let mut tokens = Tokens::new(self.file.get(offset..).ok_or(MALFORMED)?);
        let header = [tokens.read()?, tokens.read()?, tokens.read()?];
        let [Token::Integer(number), Token::Integer(generation), Token::Keyword(b"obj")] = header else {
            return Err(MALFORMED);
        };
        let numbers = (u64::try_from(number), u64::try_from(generation));
        if numbers != (Ok(of.number), Ok(of.generation)) {
            return Err(MALFORMED);
        }
        let object = Object::read(&mut tokens)?;
        self.budget.count(tokens.at())?;
        Ok((object.ok_or(MALFORMED)?, tokens))
    }

    /// The data of a stream behind its keyword (section 7.3.8): as long as its dictionary says, or up to its end where that is wrong.
    fn stream_data(&self, dictionary: Dictionary<'a>, tokens: &mut Tokens<'a>) -> Result<&'a [u8], PdfFault> {
        let [length] = self.values(dictionary, ["Length"])?;
        let length = match length {
            Object::Reference(reference) => match self.offset(reference)? {
                Some(offset) => self.value_at(offset, reference)?.0,
                None => Object::Null,
            },
            length => length,
        };
        let line_end = match tokens.rest() {
            [b'\r', b'\n', ..] => 2,
            [b'\n', ..] => 1,
            _ => return Err(STREAM),
        };
        tokens.skip(line_end).ok_or(STREAM)?;
        if let Object::Integer(length) = length {
            let mut ahead = *tokens;
            let data = usize::try_from(length).ok().and_then(|length| ahead.skip(length));
            if let (Some(data), Ok(Token::Keyword(END_STREAM))) = (data, ahead.read()) {
                *tokens = ahead;
                return Ok(data);
            }
        }
        let length = find(tokens.rest(), END_STREAM).ok_or(STREAM)?;
        self.budget.count(length)?;
        let data = tokens.skip(length).ok_or(STREAM)?;
        if tokens.read()? == Token::Keyword(END_STREAM) { Ok(data) } else { Err(STREAM) }
    }
}

const END_STREAM: &[u8] = b"endstream";
const MALFORMED: PdfFault = PdfFault::Malformed { what: "object" };
const STREAM: PdfFault = PdfFault::Malformed { what: "stream" };
