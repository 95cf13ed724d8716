//! Altered twins of signed files: one byte is another one, of what is signed or of the signature, so that the last signature of it is not valid.

use std::ops::Range;

use hammer_cms::signed_data::{SignedData, SignedDataError};
use hammer_pdf::signed::{LastSignature, PdfFault};

/// Where a signed file is altered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AlterablePlaces {
    /// What is signed, of which any byte may be another: of a PDF what stands in its streams, so that it stays one.
    content: Vec<Range<usize>>,
    /// Where the bytes of the signature stand, as far as it is altered: in a PDF the lower one of the two digits of each.
    signature: Vec<usize>,
    /// Whether these are digits.
    is_digits: bool,
}

/// Why no twin of a file is made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnalterableFile {
    /// It is no PDF with a signature.
    #[error("alter it: failed to {0}")]
    Pdf(#[from] PdfFault),
    /// It is no CMS in DER.
    #[error("alter it: failed to {0}")]
    Cms(#[from] SignedDataError),
    /// Its document stays elsewhere, or what is signed is a timestamp.
    #[error("alter it: it has {0}")]
    Form(&'static str),
}

/// One byte that is another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Alteration {
    /// Where.
    pub(crate) at: usize,
    /// What stands there instead.
    pub(crate) byte: u8,
    /// Whether it is of the signature, or else of what is signed.
    pub(crate) is_of_signature: bool,
}

impl AlterablePlaces {
    /// Those of a CMS with its document in it.
    pub(crate) fn of_cms(file: &[u8]) -> Result<Self, UnalterableFile> {
        let signed = SignedData::parse(file)?;
        let content = signed.content.filter(|content| !content.is_empty());
        let content = content.ok_or(UnalterableFile::Form("no document in it (detached)"))?;
        let signature = last_bytes(file, signature_of(signed)?);
        let content = place(file, content);
        Ok(Self { content: vec![content], signature: signature.collect(), is_digits: false })
    }

    /// Those of a PDF by its last signature.
    pub(crate) fn of_pdf(file: &[u8]) -> Result<Self, UnalterableFile> {
        let last = LastSignature::read(file)?;
        let signed = SignedData::parse(&last.contents)?;
        if signed.content.is_some() {
            return Err(UnalterableFile::Form("a timestamp as its last signature"));
        }
        let signature = last_bytes(&last.contents, signature_of(signed)?);
        let lower = last.digits(file).skip(2 * signature.start + 1).step_by(2).take(signature.len());
        let signature: Vec<usize> = lower.collect();
        // The only byte may lack its last digit, which stands for a zero.
        if signature.is_empty() {
            return Err(UnalterableFile::Form("no signature"));
        }
        Ok(Self { content: last.streams(file), signature, is_digits: true })
    }

    /// The alteration of a draw.
    pub(crate) fn alteration(&self, file: &[u8], bits: u64) -> Alteration {
        let signed: usize = self.content.iter().map(Range::len).sum();
        let (is_of_signature, draw) = (bits & 1 == 1 || signed == 0, bits >> 1);
        let within = |count: usize| (draw % count.max(1) as u64) as usize;
        if is_of_signature {
            let at = self.signature[within(self.signature.len())];
            let byte = if self.is_digits { other_digit(file[at]) } else { file[at] ^ 1 };
            return Alteration { at, byte, is_of_signature };
        }
        let mut left = within(signed);
        let holds = |part: &&Range<usize>| {
            let is_there = left < part.len();
            left -= if is_there { 0 } else { part.len() };
            is_there
        };
        let at = self.content.iter().find(holds).map_or(0, |part| part.start) + left;
        Alteration { at, byte: file[at] ^ 1, is_of_signature }
    }
}

fn signature_of(signed: SignedData<'_>) -> Result<&[u8], UnalterableFile> {
    let signer = signed.signer_infos.last().ok_or(UnalterableFile::Form("no signer"))?;
    Some(signer.signature).filter(|value| !value.is_empty()).ok_or(UnalterableFile::Form("no signature"))
}

/// Where the last bytes of a signature stand: those of ECDSA are within a number, so that it stays two of them.
fn last_bytes(file: &[u8], signature: &[u8]) -> Range<usize> {
    let Range { start, end } = place(file, signature);
    start.max(end.saturating_sub(LAST))..end
}

/// Where a part of `whole` stands in it.
fn place(whole: &[u8], part: &[u8]) -> Range<usize> {
    let start = part.as_ptr().addr() - whole.as_ptr().addr();
    start..start + part.len()
}

/// The digit of a number that differs in its lowest bit.
fn other_digit(digit: u8) -> u8 {
    let value = char::from(digit).to_digit(16).unwrap_or_default() ^ 1;
    char::from_digit(value, 16).map_or(b'0', |digit| digit as u8)
}

/// As many as no length of a number in it, nor its sign, is among.
const LAST: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    const PDF: [&[u8]; 2] = [
        include_bytes!("../../../hammer-pdf/testdata/dss-t.pdf"),
        include_bytes!("../../../hammer-pdf/testdata/pyhanko-b.pdf"),
    ];

    /// Each draw alters one byte: of what is signed, or of the signature's number, and of both as many.
    fn drawn(
        file: &[u8],
        places: &AlterablePlaces,
        is_content: impl Fn(usize) -> bool,
        signature: Range<usize>,
    ) {
        let mut of_signature = 0;
        for draw in 0..400_u64 {
            let found = places.alteration(file, draw.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            assert_ne!(file[found.at], found.byte);
            let is_within =
                if found.is_of_signature { signature.contains(&found.at) } else { is_content(found.at) };
            assert!(is_within, "{found:?}");
            of_signature += u32::from(found.is_of_signature);
        }
        assert!((150..250).contains(&of_signature), "{of_signature} of 400");
    }

    #[test]
    fn a_pdf_is_altered_in_its_streams_and_in_the_digits_of_its_signature() {
        for file in PDF {
            let (places, last) = (AlterablePlaces::of_pdf(file).unwrap(), LastSignature::read(file).unwrap());
            let streams = last.streams(file);
            let is_content = |at: usize| streams.iter().any(|stream| stream.contains(&at));
            drawn(file, &places, is_content, last.gap.clone());
            let signature = |file: &[u8]| {
                let contents = LastSignature::read(file).unwrap().contents;
                signature_of(SignedData::parse(&contents).unwrap()).unwrap().to_vec()
            };
            for (place, at) in places.signature.iter().copied().enumerate() {
                let mut altered = file.to_vec();
                altered[at] = other_digit(file[at]);
                let [one, other] = [signature(file), signature(&altered)];
                let differ: Vec<usize> = (0..one.len()).filter(|at| one[*at] != other[*at]).collect();
                assert_eq!(differ, [one.len() - places.signature.len() + place]);
            }
        }
    }

    /// Some write the digits in pairs.
    #[test]
    fn a_digit_of_the_signature_is_altered_though_white_space_stands_among_the_digits() {
        let contents = LastSignature::read(PDF[1]).unwrap().contents;
        let digits: String = contents.iter().map(|byte| format!("{byte:02x} \n")).collect();
        let head = "%PDF-1.7\n1 0 obj<</ByteRange[0 ";
        let gap = head.len() + "000000 000000 0]/Contents".len();
        let file = format!("{head}{gap:06} {:06} 0]/Contents<{digits}>", gap + digits.len() + 2).into_bytes();
        let places = AlterablePlaces::of_pdf(&file).unwrap();
        for at in places.signature {
            let mut altered = file.clone();
            altered[at] = other_digit(file[at]);
            assert_ne!(LastSignature::read(&altered).unwrap().contents, contents);
            assert!(file[at].is_ascii_hexdigit() && file[at + 1] == b' ', "the lower digit of a byte");
        }
    }

    #[test]
    fn a_cms_is_altered_in_its_content_and_in_its_signature_and_one_without_content_is_not() {
        let file = include_bytes!("../../../hammer-cms/testdata/signatures/dss-b-enveloping.p7m");
        let places = AlterablePlaces::of_cms(file).unwrap();
        let content = places.content[0].clone();
        let signature = places.signature[0]..places.signature[places.signature.len() - 1] + 1;
        drawn(file, &places, |at| content.contains(&at), signature);
        let contents = LastSignature::read(PDF[0]).unwrap().contents;
        assert!(matches!(AlterablePlaces::of_cms(&contents), Err(UnalterableFile::Form(_))));
    }
}
