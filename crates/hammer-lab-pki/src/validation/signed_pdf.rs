//! The signatures of a PDF (ISO 32000-1 section 12.8.1), by the places where a `ByteRange` stands.

use hammer_tlog::keys::der::DerReader;

use super::signed_message::{SignedMessage, UnreadableFile};
use super::{ValidatedSigner, ValidationTerms, all_validated, digest_of};

/// The signatures of a PDF, the last of which has to cover all of it.
pub(crate) fn of_pdf(
    file: &[u8],
    terms: ValidationTerms<'_>,
) -> Result<Vec<ValidatedSigner>, UnreadableFile> {
    if !file.starts_with(b"%PDF-") {
        return Err(UnreadableFile("it is no PDF"));
    }
    let starts = file.windows(BYTE_RANGE.len()).enumerate().filter(|(_, text)| *text == BYTE_RANGE);
    let mut covered = 0;
    let mut found = Vec::new();
    for (at, _) in starts.take(MOST) {
        let numbers = numbers(&file[at + BYTE_RANGE.len()..]);
        let [first, before, second, behind] = numbers.ok_or(UnreadableFile("its ByteRange is none"))?;
        let end = second.checked_add(behind).filter(|end| *end <= file.len() && before <= second);
        let end = end.filter(|_| first == 0).ok_or(UnreadableFile("its ByteRange is not within the file"))?;
        let cms = contents(&file[before..second])?;
        let message = SignedMessage::read(&cms)?;
        let digest = digest_of(&[&file[..before], &file[second..end]]);
        found.extend(all_validated(&message, &digest, terms)?);
        covered = covered.max(end);
    }
    if let Some(last) = found.last_mut() {
        last.note(covered == file.len(), "UncoveredRevision", "The last signature covers the file");
    }
    Ok(found)
}

/// The DER in the digits between brackets, without the zeros behind it.
fn contents(gap: &[u8]) -> Result<Vec<u8>, UnreadableFile> {
    let none = UnreadableFile("its Contents are no hexadecimal digits");
    let digits = gap.strip_prefix(b"<").and_then(|gap| gap.strip_suffix(b">")).ok_or(none)?;
    let digit = |digit: u8| char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok());
    let pairs = digits.chunks(2).map(|pair| Some(digit(pair[0])? << 4 | digit(*pair.get(1)?)?));
    let mut bytes = pairs.collect::<Option<Vec<u8>>>().ok_or(none)?;
    let length = DerReader::new(&bytes).read()?.raw.len();
    bytes.truncate(length);
    Ok(bytes)
}

/// Four numbers in brackets.
fn numbers(text: &[u8]) -> Option<[usize; 4]> {
    let text = &text[..text.len().min(LONGEST_RANGE)];
    let inner = text.trim_ascii_start().strip_prefix(b"[")?;
    let end = inner.iter().position(|byte| *byte == b']')?;
    let mut numbers = str::from_utf8(&inner[..end]).ok()?.split_ascii_whitespace().map(str::parse);
    let four = [(); 4].map(|()| numbers.next().and_then(Result::ok));
    let [Some(first), Some(before), Some(second), Some(behind)] = four else { return None };
    numbers.next().is_none().then_some([first, before, second, behind])
}

const BYTE_RANGE: &[u8] = b"/ByteRange";
/// Signatures that are looked at.
const MOST: usize = 16;
const LONGEST_RANGE: usize = 256;
