//! `GeneralName` (RFC 5280 section 4.2.1.6): who a certificate is for.

use crate::keys::der::{self, DerError, DerReader, Tlv};

/// The kind of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GeneralNameKind {
    /// `rfc822Name`: a mailbox.
    Email,
    /// `dNSName`.
    Dns,
    /// `uniformResourceIdentifier`.
    Uri,
    /// Any other, by its identifier byte.
    Other(u8),
}

/// One name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GeneralName<'a> {
    /// Its kind.
    pub kind: GeneralNameKind,
    /// The content: the text of a mailbox, a DNS name or a URI.
    pub value: &'a [u8],
}

impl<'a> GeneralName<'a> {
    fn of(element: &Tlv<'a>) -> Self {
        let kind = match element.tag {
            0x81 => GeneralNameKind::Email,
            0x82 => GeneralNameKind::Dns,
            0x86 => GeneralNameKind::Uri,
            tag => GeneralNameKind::Other(tag),
        };
        Self { kind, value: element.value }
    }
}

/// The names of a `GeneralNames`, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GeneralNames<'a> {
    rest: &'a [u8],
}

impl<'a> GeneralNames<'a> {
    /// No names.
    pub(super) const NONE: Self = Self { rest: &[] };

    /// Reads the whole of `der`, a `SEQUENCE`; each name has been checked to be an element.
    pub fn parse(der: &'a [u8]) -> Result<Self, DerError> {
        let names = Tlv::parse(der, der::SEQUENCE)?;
        let mut reader = names.content();
        while !reader.is_empty() {
            reader.read()?;
        }
        Ok(Self { rest: names.value })
    }
}

impl<'a> Iterator for GeneralNames<'a> {
    type Item = GeneralName<'a>;

    fn next(&mut self) -> Option<GeneralName<'a>> {
        let mut reader = DerReader::new(self.rest);
        let element = reader.read().ok()?;
        self.rest = reader.rest();
        Some(GeneralName::of(&element))
    }
}
