//! Tokens of PDF (ISO 32000-1 sections 7.2 and 7.3).

use super::fault::PdfFault;
use super::text::{is_regular, is_white_space};

/// A token of an object.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Token<'a> {
    ArrayStart,
    ArrayEnd,
    DictionaryStart,
    DictionaryEnd,
    Name(Name<'a>),
    /// A string of either kind as it is written, brackets included.
    String(&'a [u8]),
    Integer(i64),
    Real(f64),
    /// `obj`, `R`, `true` and their like.
    Keyword(&'a [u8]),
    /// There is no more of the text.
    End,
}

/// A name as it is written, without its slash.
#[derive(Debug, Clone, Copy)]
pub(super) struct Name<'a>(&'a [u8]);

/// The tokens of a text, one after the other.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tokens<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Tokens<'a> {
    pub(super) const fn new(text: &'a [u8]) -> Self {
        Self { text, at: 0 }
    }

    /// How many bytes of the text were read.
    pub(super) const fn at(&self) -> usize {
        self.at
    }

    /// What was read between two places.
    pub(super) fn between(&self, start: usize, end: usize) -> &'a [u8] {
        &self.text[start..end]
    }

    /// What was not read.
    pub(super) fn rest(&self) -> &'a [u8] {
        &self.text[self.at..]
    }

    /// Leaves out so many bytes, of which there have to be as many.
    pub(super) fn skip(&mut self, bytes: usize) -> Option<&'a [u8]> {
        let skipped = self.rest().get(..bytes)?;
        self.at += bytes;
        Some(skipped)
    }

    /// The next token.
    ///
    /// # Errors
    /// What no object has, or does not end.
    pub(super) fn read(&mut self) -> Result<Token<'a>, PdfFault> {
        self.skip_blank();
        let rest = self.rest();
        let (token, length) = match rest {
            [] => (Token::End, 0),
            [b'[', ..] => (Token::ArrayStart, 1),
            [b']', ..] => (Token::ArrayEnd, 1),
            [b'<', b'<', ..] => (Token::DictionaryStart, 2),
            [b'>', b'>', ..] => (Token::DictionaryEnd, 2),
            [b'<', ..] => {
                let length = memchr::memchr(b'>', rest).ok_or(STRING)? + 1;
                (Token::String(&rest[..length]), length)
            }
            [b'(', ..] => {
                let length = string_length(rest).ok_or(STRING)?;
                (Token::String(&rest[..length]), length)
            }
            [b'/', name @ ..] => {
                let name = regular(name);
                (Token::Name(Name(name)), name.len() + 1)
            }
            _ => {
                let word = regular(rest);
                if word.is_empty() {
                    return Err(OBJECT);
                }
                (number(word).unwrap_or(Token::Keyword(word)), word.len())
            }
        };
        self.at += length;
        Ok(token)
    }

    /// Leaves out white space and comments.
    fn skip_blank(&mut self) {
        loop {
            let rest = self.rest();
            self.at += match rest.first() {
                Some(b'%') => memchr::memchr2(b'\r', b'\n', rest).unwrap_or(rest.len()),
                Some(byte) if is_white_space(*byte) => {
                    rest.iter().position(|byte| !is_white_space(*byte)).unwrap_or(rest.len())
                }
                _ => return,
            };
        }
    }
}

impl Name<'_> {
    pub(super) fn is(self, name: &str) -> bool {
        self.bytes().eq(name.bytes())
    }

    /// Its bytes, of which `#45` is one (section 7.3.5).
    fn bytes(self) -> impl Iterator<Item = u8> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let (byte, behind) = match rest {
                [] => return None,
                [b'#', high, low, behind @ ..] => match digit(*high).zip(digit(*low)) {
                    Some((high, low)) => (high << 4 | low, behind),
                    None => (b'#', &rest[1..]),
                },
                [byte, behind @ ..] => (*byte, behind),
            };
            rest = behind;
            Some(byte)
        })
    }
}

impl PartialEq for Name<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.bytes().eq(other.bytes())
    }
}

/// Bytes of the literal string that `text` starts with, brackets included.
fn string_length(text: &[u8]) -> Option<usize> {
    let (mut at, mut open) = (0, 0_usize);
    loop {
        at += memchr::memchr3(b'(', b')', b'\\', &text[at..])?;
        match text[at] {
            b'(' => open += 1,
            b')' if open == 1 => return Some(at + 1),
            b')' => open -= 1,
            // Whatever is escaped is no bracket.
            _ => at += 1,
        }
        at += 1;
        text.get(at)?;
    }
}

/// The regular characters that `text` starts with.
fn regular(text: &[u8]) -> &[u8] {
    let length = text.iter().position(|byte| !is_regular(*byte)).unwrap_or(text.len());
    &text[..length]
}

/// The number that a word is (section 7.3.3), which has no exponent.
fn number<'a>(word: &[u8]) -> Option<Token<'a>> {
    let unsigned = word.strip_prefix(b"-").or_else(|| word.strip_prefix(b"+")).unwrap_or(word);
    if unsigned.len() > MOST_DIGITS || !unsigned.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.') {
        return None;
    }
    let text = std::str::from_utf8(word).ok()?;
    let integer = text.parse().ok().map(Token::Integer);
    integer.or_else(|| text.parse().ok().map(Token::Real))
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

/// More than any number has that is meant as one.
const MOST_DIGITS: usize = 40;
const OBJECT: PdfFault = PdfFault::Malformed { what: "object" };
const STRING: PdfFault = PdfFault::Malformed { what: "string" };
