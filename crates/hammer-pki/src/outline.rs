//! JSON that is too large for memory: its long strings are taken out and decoded into files, and what is left is read as any other.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write as _};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use memchr::{memchr, memchr2};
use ring::rand::{SecureRandom as _, SystemRandom};

use crate::answer_fault::AnswerFault;

/// What is left of an answer without its long strings, and what these are in base64 (RFC 4648 section 4) of.
#[derive(Debug)]
pub(crate) struct Outline {
    /// The JSON, in which a long string is replaced by the base64 of a mark, or by what is none where it was none.
    pub(crate) text: Vec<u8>,
    /// What stands in the mark beside its place, so that no server writes one itself.
    secret: [u8; 16],
    files: Vec<Option<File>>,
}

impl Outline {
    /// That of the JSON in a file. It is read once, a piece at a time.
    ///
    /// # Errors
    /// Where a file cannot be read or written, or where what is left is long, too.
    pub(crate) fn read(mut file: File) -> Result<Self, AnswerFault> {
        file.rewind()?;
        let mut secret = [0; 16];
        SystemRandom::new().fill(&mut secret).map_err(|_| io::Error::other("no random bytes"))?;
        let mut outline = Self { text: Vec::new(), secret, files: Vec::new() };
        let mut string = None;
        let mut piece = vec![0; PIECE];
        loop {
            let length = file.read(&mut piece)?;
            if length == 0 {
                break;
            }
            outline.take(&piece[..length], &mut string)?;
            if outline.text.len() > MOST_TEXT {
                return Err(AnswerFault::Missing("end of what stands beside the file"));
            }
        }
        // One that nobody closed is for the reader of JSON to find.
        Ok(outline)
    }

    /// The file that these bytes stand for, where they are a mark; it is handed out once.
    pub(crate) fn file_of(&mut self, mark: &[u8]) -> Option<File> {
        let place = usize::from(*mark.strip_prefix(&self.secret)?.first()?);
        self.files.get_mut(place)?.take()
    }

    /// Takes the next bytes; `string` is the one that they start in.
    fn take(&mut self, mut bytes: &[u8], string: &mut Option<LongString>) -> Result<(), AnswerFault> {
        while !bytes.is_empty() {
            let Some(open) = string else {
                let quote = memchr(b'"', bytes);
                *string = quote.map(|_| LongString::default());
                let end = quote.map_or(bytes.len(), |quote| quote + 1);
                self.text.extend_from_slice(&bytes[..end]);
                bytes = &bytes[end..];
                continue;
            };
            let used = open.take(bytes)?;
            bytes = &bytes[used..];
            if open.is_closed {
                let closed = string.take().unwrap_or_default();
                self.close(closed)?;
            }
        }
        Ok(())
    }

    fn close(&mut self, string: LongString) -> Result<(), AnswerFault> {
        match string.finish()? {
            Closed::Short(text) => self.text.extend_from_slice(&text),
            Closed::File(file) => {
                let place = u8::try_from(self.files.len());
                let place = place.map_err(|_| AnswerFault::Missing("end of its long strings"))?;
                self.files.push(Some(file));
                self.text.extend_from_slice(
                    BASE64_STANDARD.encode([&self.secret[..], &[place]].concat()).as_bytes(),
                );
            }
            Closed::NoBase64 => self.text.push(b'!'),
        }
        self.text.push(b'"');
        Ok(())
    }
}

/// A string of JSON (RFC 8259 section 7) that goes to a file, decoded, once it is long.
#[derive(Debug, Default)]
struct LongString {
    /// Letters that are not decoded yet, escapes among them as they stand.
    pending: Vec<u8>,
    /// Whether the letter before was a backslash that escapes the next one.
    is_escaped: bool,
    is_closed: bool,
    file: Option<File>,
    is_no_base64: bool,
}

enum Closed {
    Short(Vec<u8>),
    File(File),
    NoBase64,
}

impl LongString {
    /// Takes what of these bytes is its own; how many they are.
    fn take(&mut self, bytes: &[u8]) -> Result<usize, AnswerFault> {
        let mut used = 0;
        while used < bytes.len() && !self.is_closed {
            let rest = &bytes[used..];
            if std::mem::take(&mut self.is_escaped) {
                self.pending.push(rest[0]);
                used += 1;
                continue;
            }
            let plain = memchr2(b'"', b'\\', rest).unwrap_or(rest.len());
            self.pending.extend_from_slice(&rest[..plain]);
            used += plain;
            match rest.get(plain) {
                Some(b'"') => self.is_closed = true,
                Some(escape) => {
                    self.pending.push(*escape);
                    self.is_escaped = true;
                }
                None => break,
            }
            used += 1;
        }
        if self.file.is_some() || self.pending.len() > LONG {
            self.decode(false)?;
        }
        Ok(used)
    }

    /// Decodes whole groups of what is pending; at its end all of it.
    fn decode(&mut self, is_last: bool) -> Result<(), AnswerFault> {
        if self.file.is_none() {
            self.file = Some(tempfile::tempfile()?);
        }
        let letters = match unescaped(&mut self.pending, is_last) {
            Some(letters) if !self.is_no_base64 => letters,
            _ => {
                (self.is_no_base64, self.pending) = (true, Vec::new());
                return Ok(());
            }
        };
        // Four letters are three bytes. The last group waits for the end: it alone may be padded.
        let whole = if is_last { letters.len() } else { letters.len().saturating_sub(1) / 4 * 4 };
        let Ok(bytes) = BASE64_STANDARD.decode(&letters[..whole]) else {
            self.is_no_base64 = true;
            return Ok(());
        };
        self.pending.splice(0..0, letters[whole..].iter().copied());
        if let Some(file) = &mut self.file {
            file.write_all(&bytes)?;
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Closed, AnswerFault> {
        if self.file.is_none() {
            return Ok(Closed::Short(self.pending));
        }
        self.decode(true)?;
        Ok(match self.file {
            Some(file) if !self.is_no_base64 => Closed::File(file),
            _ => Closed::NoBase64,
        })
    }
}

/// Takes the letters out of `pending` without their escapes (`\/`, and `\u002B` for those who write `+` so) and without ends of lines; an escape that is not whole yet
/// stays behind, and nothing comes of one that is of no letter of base64.
fn unescaped(pending: &mut Vec<u8>, is_last: bool) -> Option<Vec<u8>> {
    if memchr(b'\\', pending).is_none() {
        return Some(std::mem::take(pending));
    }
    let mut letters = Vec::with_capacity(pending.len());
    let mut rest = pending.as_slice();
    while let Some((first, behind)) = rest.split_first() {
        if *first != b'\\' {
            letters.push(*first);
            rest = behind;
            continue;
        }
        match behind {
            [b'/', ..] => {
                letters.push(b'/');
                rest = &behind[1..];
            }
            // Some write base64 in lines (RFC 2045 section 6.8).
            [b'r' | b'n', ..] => rest = &behind[1..],
            [b'u', a, b, c, d, ..] => {
                let digits = [*a, *b, *c, *d];
                // A sign is no digit, though it is read as part of a number.
                if !digits.iter().all(u8::is_ascii_hexdigit) {
                    return None;
                }
                let code = u32::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?;
                letters.push(u8::try_from(code).ok()?);
                rest = &behind[5..];
            }
            [] | [b'u', ..] if !is_last => break,
            _ => return None,
        }
    }
    let left = rest.to_vec();
    *pending = left;
    Some(letters)
}

const PIECE: usize = 64 << 10;
/// Letters of a string that stays in the text.
const LONG: usize = 64 << 10;
/// Bytes of the text, in which strings are short but may be many.
const MOST_TEXT: usize = 4 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    fn outlined(json: &str) -> Result<Outline, AnswerFault> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(json.as_bytes()).unwrap();
        Outline::read(file)
    }

    fn long() -> Vec<u8> {
        (0..200_000_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
    }

    #[test]
    fn a_long_string_goes_to_a_file_and_the_rest_stays_as_it_was() {
        for cut in 0..3 {
            let bytes = &long()[cut..];
            let encoded = BASE64_STANDARD.encode(bytes);
            // Some escape what they need not.
            let (slashes, pluses) = (encoded.replace('/', r"\/"), encoded.replace('+', r"\u002B"));
            let lines = encoded.as_bytes().chunks(76).map(|line| String::from_utf8_lossy(line));
            let lines = lines.collect::<Vec<_>>().join(r"\r\n");
            for written in [encoded, slashes, pluses, lines] {
                let json = format!(r#"{{"a":"x\"y\\","content":"{written}","b":[1,"z"]}}"#);
                let mut outline = outlined(&json).unwrap();
                let read: serde_json::Value = serde_json::from_slice(&outline.text).unwrap();
                assert_eq!((read["a"].as_str(), &read["b"][1]), (Some("x\"y\\"), &"z".into()));
                let mark = BASE64_STANDARD.decode(read["content"].as_str().unwrap()).unwrap();
                let mut file = outline.file_of(&mark).unwrap();
                assert!(outline.file_of(&mark).is_none() && outline.file_of(b"x").is_none());
                let mut decoded = Vec::new();
                file.rewind().and_then(|()| file.read_to_end(&mut decoded)).unwrap();
                assert!(decoded == bytes, "cut by {cut}");
            }
        }
    }

    #[test]
    fn what_is_no_base64_is_none_and_what_is_no_json_stays_that() {
        let encoded = BASE64_STANDARD.encode(long());
        for wrong in ["!", "\u{e9}", r"\t", r"\u00e9", r"\u01", r"\u+041", "="] {
            let json = format!(r#"{{"content":"{encoded}{wrong}{encoded}"}}"#);
            assert_eq!(outlined(&json).unwrap().text, br#"{"content":"!"}"#, "{wrong}");
        }
        assert_eq!(outlined(&format!(r#"{{"content":"{encoded}"#)).unwrap().text, br#"{"content":""#);
        let many = format!("[{}1]", r#""x","#.repeat(2 << 20));
        assert!(matches!(outlined(&many), Err(AnswerFault::Missing(_))));
        let many = format!("[{}1]", format!(r#""{encoded}","#).repeat(257));
        assert!(matches!(outlined(&many), Err(AnswerFault::Missing(_))));
    }
}
