//! Objects of PDF (ISO 32000-1 section 7.3). What is in an array or a dictionary is read where it is asked for, so that no tree is made.

use super::fault::PdfFault;
use super::token::{Name, Token, Tokens};

/// An object, or a reference to one.
#[derive(Debug, Clone, Copy)]
pub(super) enum Object<'a> {
    /// A value that is absent is null, too (section 7.3.7).
    Null,
    Boolean(bool),
    Integer(i64),
    Real(f64),
    Name(Name<'a>),
    /// A string of either kind as it is written, brackets included.
    String(&'a [u8]),
    Array(Array<'a>),
    Dictionary(Dictionary<'a>),
    /// A stream, with its data.
    Stream(Dictionary<'a>, &'a [u8]),
    Reference(Reference),
}

/// What stands between the brackets of an array.
#[derive(Debug, Clone, Copy)]
pub(super) struct Array<'a>(pub(super) &'a [u8]);

/// What stands between the brackets of a dictionary.
#[derive(Debug, Clone, Copy)]
pub(super) struct Dictionary<'a>(pub(super) &'a [u8]);

/// `12 0 R`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reference {
    pub(super) number: u64,
    pub(super) generation: u64,
}

impl Reference {
    /// That to an object which was never freed.
    pub(super) const fn to(number: u64) -> Self {
        Self { number, generation: 0 }
    }
}

impl<'a> Object<'a> {
    /// The object that comes next; `None` where there is nothing.
    ///
    /// # Errors
    /// What is no object, does not end, or is nested too deeply.
    pub(super) fn read(tokens: &mut Tokens<'a>) -> Result<Option<Self>, PdfFault> {
        Ok(Some(match tokens.read()? {
            Token::End => return Ok(None),
            Token::ArrayStart => Self::Array(Array(skip_nested(tokens, false)?)),
            Token::DictionaryStart => Self::Dictionary(Dictionary(skip_nested(tokens, true)?)),
            Token::Name(name) => Self::Name(name),
            Token::String(text) => Self::String(text),
            Token::Integer(value) => reference(tokens, value).map_or(Self::Integer(value), Self::Reference),
            Token::Real(value) => Self::Real(value),
            Token::Keyword(b"null") => Self::Null,
            Token::Keyword(b"true") => Self::Boolean(true),
            Token::Keyword(b"false") => Self::Boolean(false),
            Token::ArrayEnd | Token::DictionaryEnd | Token::Keyword(_) => return Err(MALFORMED),
        }))
    }

    pub(super) const fn number(self) -> Option<f64> {
        match self {
            Self::Integer(value) => Some(value as f64),
            Self::Real(value) => Some(value),
            _ => None,
        }
    }

    pub(super) const fn is_null(self) -> bool {
        matches!(self, Self::Null)
    }

    pub(super) fn is_name(self, name: &str) -> bool {
        matches!(self, Self::Name(found) if found.is(name))
    }

    pub(super) fn is_reference_to(self, number: u64) -> bool {
        matches!(self, Self::Reference(found) if found == Reference::to(number))
    }
}

impl<'a> Array<'a> {
    /// Its elements, as far as they can be read.
    pub(super) fn elements(self) -> impl Iterator<Item = Result<Object<'a>, PdfFault>> {
        let mut tokens = Tokens::new(self.0);
        std::iter::from_fn(move || Object::read(&mut tokens).transpose())
    }
}

impl<'a> Dictionary<'a> {
    /// Its entries, as far as they can be read.
    pub(super) fn entries(self) -> impl Iterator<Item = Result<(Name<'a>, Object<'a>), PdfFault>> {
        let mut tokens = Tokens::new(self.0);
        std::iter::from_fn(move || match tokens.read() {
            Ok(Token::End) => None,
            Ok(Token::Name(key)) => {
                let value = Object::read(&mut tokens).and_then(|value| value.ok_or(MALFORMED));
                Some(value.map(|value| (key, value)))
            }
            Ok(_) => Some(Err(MALFORMED)),
            Err(fault) => Some(Err(fault)),
        })
    }

    /// The values of these keys, null where there is none.
    ///
    /// # Errors
    /// One of the keys twice: readers differ in which one they take.
    pub(super) fn values<const N: usize>(self, keys: [&str; N]) -> Result<[Object<'a>; N], PdfFault> {
        let (mut values, mut found) = ([Object::Null; N], [false; N]);
        for entry in self.entries() {
            let (key, value) = entry?;
            if let Some(place) = keys.iter().position(|wanted| key.is(wanted)) {
                if std::mem::replace(&mut found[place], true) {
                    return Err(TWICE);
                }
                values[place] = value;
            }
        }
        Ok(values)
    }
}

/// The rest of a reference that starts with that number, which is read only if it is one.
fn reference(tokens: &mut Tokens<'_>, number: i64) -> Option<Reference> {
    let mut ahead = *tokens;
    let Ok(Token::Integer(generation)) = ahead.read() else { return None };
    let Ok(Token::Keyword(b"R")) = ahead.read() else { return None };
    let reference =
        Reference { number: u64::try_from(number).ok()?, generation: u64::try_from(generation).ok()? };
    *tokens = ahead;
    Some(reference)
}

/// What stands in an array or a dictionary up to the bracket that ends it.
fn skip_nested<'a>(tokens: &mut Tokens<'a>, is_dictionary: bool) -> Result<&'a [u8], PdfFault> {
    let start = tokens.at();
    // The kinds of what is open, one bit each behind a first one.
    let mut open = 2 | u64::from(is_dictionary);
    loop {
        let token = tokens.read()?;
        match (token, open & 1) {
            (Token::ArrayStart | Token::DictionaryStart, _) if open >> MOST_NESTED != 0 => {
                return Err(PdfFault::Malformed { what: "nested object" });
            }
            (Token::ArrayStart, _) => open <<= 1,
            (Token::DictionaryStart, _) => open = open << 1 | 1,
            (Token::ArrayEnd, 0) | (Token::DictionaryEnd, 1) => open >>= 1,
            (Token::ArrayEnd | Token::DictionaryEnd | Token::End, _) => return Err(MALFORMED),
            _ => {}
        }
        if open == 1 {
            let bracket = if is_dictionary { 2 } else { 1 };
            return Ok(tokens.between(start, tokens.at() - bracket));
        }
    }
}

/// What hammer and services write is some five deep.
const MOST_NESTED: u32 = 32;
const MALFORMED: PdfFault = PdfFault::Malformed { what: "object" };
/// Readers differ in which of the two they take.
pub(super) const TWICE: PdfFault = PdfFault::Malformed { what: "dictionary with a key twice" };
