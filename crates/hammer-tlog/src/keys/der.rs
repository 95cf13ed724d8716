//! DER (X.690), read in place: one element at a time, no tree, no allocation; and written with its lengths anew.

/// `SEQUENCE`, `SEQUENCE OF`.
pub const SEQUENCE: u8 = 0x30;
/// `SET`, `SET OF`.
pub const SET: u8 = 0x31;
/// `BOOLEAN`.
pub const BOOLEAN: u8 = 0x01;
/// `INTEGER`.
pub const INTEGER: u8 = 0x02;
/// `BIT STRING`.
pub const BIT_STRING: u8 = 0x03;
/// `OCTET STRING`.
pub const OCTET_STRING: u8 = 0x04;
/// `NULL`.
pub const NULL: u8 = 0x05;
/// `OBJECT IDENTIFIER`.
pub const OBJECT_IDENTIFIER: u8 = 0x06;
/// `UTCTime`.
pub const UTC_TIME: u8 = 0x17;
/// `GeneralizedTime`.
pub const GENERALIZED_TIME: u8 = 0x18;

/// The tag `[number]`, constructed, of a number below 31.
pub const fn context(number: u8) -> u8 {
    0xa0 | number
}

/// Why bytes are not the DER that they should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DerError {
    /// The bytes end inside of an element.
    #[error("the element is cut off")]
    Truncated,
    /// The length is indefinite, not the shortest, or of more than four bytes.
    #[error("the length is not DER")]
    Length,
    /// A tag number of 31 or more, which no certificate has.
    #[error("the tag is of more than one byte")]
    Tag,
    /// Another element stands in its place.
    #[error("tag {got:#04x} stands where {expected:#04x} should")]
    UnexpectedTag {
        /// The tag that the structure has here.
        expected: u8,
        /// The tag found.
        got: u8,
    },
    /// Bytes follow where the structure ends.
    #[error("{count} bytes follow the structure")]
    Trailing {
        /// Bytes left over.
        count: usize,
    },
    /// The element's content breaks the rules of its type.
    #[error("the {what} is malformed")]
    Value {
        /// What it should have been.
        what: &'static str,
    },
}

/// One element: identifier, length, content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tlv<'a> {
    /// The identifier byte.
    pub tag: u8,
    /// The content.
    pub value: &'a [u8],
    /// The whole element, identifier and length included.
    pub raw: &'a [u8],
}

impl<'a> Tlv<'a> {
    /// The one element that `bytes` are.
    pub fn parse(bytes: &'a [u8], tag: u8) -> Result<Self, DerError> {
        let mut reader = DerReader::new(bytes);
        let element = reader.expect(tag)?;
        reader.finish()?;
        Ok(element)
    }

    /// A reader over the content.
    pub fn content(&self) -> DerReader<'a> {
        DerReader::new(self.value)
    }

    /// The content of a `BIT STRING` of whole bytes.
    pub fn bits(&self) -> Result<&'a [u8], DerError> {
        match self.value {
            [0, bytes @ ..] => Ok(bytes),
            _ => Err(DerError::Value { what: "bit string" }),
        }
    }
}

/// Reads elements from the front.
#[derive(Debug, Clone, Copy)]
pub struct DerReader<'a> {
    rest: &'a [u8],
}

impl<'a> DerReader<'a> {
    /// A reader at the first byte.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// Whether all is read.
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// What has not been read.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// The next element, whatever it is.
    pub fn read(&mut self) -> Result<Tlv<'a>, DerError> {
        let (&tag, rest) = self.rest.split_first().ok_or(DerError::Truncated)?;
        if tag & 0x1f == 0x1f {
            return Err(DerError::Tag);
        }
        let (length, rest) = read_length(rest)?;
        let value = rest.get(..length).ok_or(DerError::Truncated)?;
        let (raw, rest) = self.rest.split_at(self.rest.len() - rest.len() + length);
        self.rest = rest;
        Ok(Tlv { tag, value, raw })
    }

    /// The next element, which must have this tag.
    pub fn expect(&mut self, tag: u8) -> Result<Tlv<'a>, DerError> {
        let element = self.read()?;
        if element.tag != tag {
            return Err(DerError::UnexpectedTag { expected: tag, got: element.tag });
        }
        Ok(element)
    }

    /// The next element if it has this tag, for `OPTIONAL` and `DEFAULT`.
    pub fn optional(&mut self, tag: u8) -> Result<Option<Tlv<'a>>, DerError> {
        if self.rest.first() == Some(&tag) { self.read().map(Some) } else { Ok(None) }
    }

    /// Fails where bytes are left.
    pub fn finish(self) -> Result<(), DerError> {
        if self.rest.is_empty() { Ok(()) } else { Err(DerError::Trailing { count: self.rest.len() }) }
    }
}

/// The length, which must be in its shortest form, and what follows it.
fn read_length(bytes: &[u8]) -> Result<(usize, &[u8]), DerError> {
    let (&first, rest) = bytes.split_first().ok_or(DerError::Truncated)?;
    if first < 0x80 {
        return Ok((usize::from(first), rest));
    }
    let count = usize::from(first & 0x7f);
    if count == 0 || count > 4 {
        return Err(DerError::Length);
    }
    let (digits, rest) = rest.split_at_checked(count).ok_or(DerError::Truncated)?;
    let length = digits.iter().fold(0_u64, |length, digit| length << 8 | u64::from(*digit));
    if digits[0] == 0 || length < 0x80 {
        return Err(DerError::Length);
    }
    Ok((usize::try_from(length).map_err(|_| DerError::Length)?, rest))
}

/// Appends the identifier and the length of an element with `length` bytes of content.
pub fn write_header(out: &mut Vec<u8>, tag: u8, length: usize) {
    out.push(tag);
    if length < 0x80 {
        out.push(length as u8);
        return;
    }
    let digits = length.to_be_bytes();
    let leading = (length.leading_zeros() / 8) as usize;
    out.push(0x80 | (digits.len() - leading) as u8);
    out.extend_from_slice(&digits[leading..]);
}

/// Appends an element.
pub fn write(out: &mut Vec<u8>, tag: u8, value: &[u8]) {
    write_header(out, tag, value.len());
    out.extend_from_slice(value);
}

/// Bytes of an element with `length` bytes of content, its identifier and length included.
pub fn element_length(length: usize) -> usize {
    let digits = if length < 0x80 { 0 } else { (usize::BITS - length.leading_zeros()).div_ceil(8) as usize };
    2 + digits + length
}
