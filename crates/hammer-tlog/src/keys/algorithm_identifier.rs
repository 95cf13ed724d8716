//! `AlgorithmIdentifier` (RFC 5280 section 4.1.1.2): an algorithm by its object identifier.

use crate::keys::der::{self, DerError, DerReader, Tlv};

/// An algorithm and its parameters, in place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AlgorithmIdentifier<'a> {
    /// The content of `algorithm`.
    pub oid: &'a [u8],
    /// `parameters`, whatever they are.
    pub parameters: Option<Tlv<'a>>,
}

impl<'a> AlgorithmIdentifier<'a> {
    /// Reads the whole of `der`, a `SEQUENCE`.
    pub fn parse(der: &'a [u8]) -> Result<Self, DerError> {
        let mut reader = Tlv::parse(der, der::SEQUENCE)?.content();
        let oid = reader.expect(der::OBJECT_IDENTIFIER)?.value;
        let parameters = next(&mut reader)?;
        reader.finish()?;
        Ok(Self { oid, parameters })
    }

    /// Whether there are no parameters.
    pub fn is_bare(&self) -> bool {
        self.parameters.is_none()
    }

    /// Whether there are no parameters, or `NULL` in their place (RFC 5754 section 2).
    pub fn is_bare_or_null(&self) -> bool {
        self.parameters.is_none_or(|parameters| parameters.tag == der::NULL && parameters.value.is_empty())
    }
}

/// The next element, where there is one.
fn next<'a>(reader: &mut DerReader<'a>) -> Result<Option<Tlv<'a>>, DerError> {
    if reader.is_empty() { Ok(None) } else { reader.read().map(Some) }
}
