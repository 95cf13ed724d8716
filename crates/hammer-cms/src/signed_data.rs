//! `SignedData` (RFC 5652 section 5), in place.

mod attributes;
mod certificate_id;
mod error;
mod signer_info;

use hammer_tlog::keys::certificate::Certificate;
use hammer_tlog::keys::der::{self, DerError, DerReader, Tlv};

pub use self::attributes::{Attribute, SignedAttributes};
pub use self::certificate_id::CertificateId;
pub(crate) use self::certificate_id::check_named;
pub use self::error::SignedDataError;
pub use self::signer_info::{SignerIdentifier, SignerInfo};

/// DER content of 1.2.840.113549.1.7.2, id-signedData.
const ID_SIGNED_DATA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x02];

/// The parts of a `SignedData`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignedData<'a> {
    /// The content of `eContentType`.
    pub content_type: &'a [u8],
    /// The content of `eContent`: what the signers sign. None where it is kept elsewhere.
    pub content: Option<&'a [u8]>,
    /// `certificates`, in order.
    pub certificates: EmbeddedCertificates<'a>,
    /// `signerInfos`, in order.
    pub signer_infos: SignerInfos<'a>,
}

impl<'a> SignedData<'a> {
    /// Reads the whole of `der`, a `ContentInfo` (RFC 5652 section 3) of signed data. The structure is checked, down to each
    /// `SignerInfo`; embedded certificates are only told apart.
    pub fn parse(der: &'a [u8]) -> Result<Self, SignedDataError> {
        let mut info = Tlv::parse(der, der::SEQUENCE)?.content();
        let content_type = info.expect(der::OBJECT_IDENTIFIER)?.value;
        if content_type != ID_SIGNED_DATA {
            return Err(SignedDataError::NotSignedData);
        }
        let content = info.expect(der::context(0))?;
        info.finish()?;
        Self::parse_content(Tlv::parse(content.value, der::SEQUENCE)?)
    }

    fn parse_content(signed_data: Tlv<'a>) -> Result<Self, SignedDataError> {
        let mut reader = signed_data.content();
        match reader.expect(der::INTEGER)?.value {
            [1 | 3..=5] => {}
            version => {
                return Err(SignedDataError::Version { version: version.first().copied().unwrap_or(0) });
            }
        }
        reader.expect(der::SET)?;
        let mut encapsulated = reader.expect(der::SEQUENCE)?.content();
        let content_type = encapsulated.expect(der::OBJECT_IDENTIFIER)?.value;
        let content = encapsulated.optional(der::context(0))?;
        encapsulated.finish()?;
        let content = content.map(|content| Tlv::parse(content.value, der::OCTET_STRING)).transpose()?;
        let certificates = EmbeddedCertificates::parse(reader.optional(der::context(0))?)?;
        // Revocation lists.
        reader.optional(der::context(1))?;
        let signer_infos = SignerInfos::parse(reader.expect(der::SET)?)?;
        reader.finish()?;
        Ok(Self { content_type, content: content.map(|content| content.value), certificates, signer_infos })
    }
}

/// The certificates that are sent with the signatures, each as a whole element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EmbeddedCertificates<'a> {
    rest: &'a [u8],
}

impl<'a> EmbeddedCertificates<'a> {
    /// `field` is the whole `[0]`, if there is one. What is no X.509 certificate, such as an attribute certificate, stays in
    /// and is passed over.
    fn parse(field: Option<Tlv<'a>>) -> Result<Self, DerError> {
        let Some(field) = field else { return Ok(Self { rest: &[] }) };
        let mut reader = field.content();
        while !reader.is_empty() {
            reader.read()?;
        }
        Ok(Self { rest: field.value })
    }

    /// Each of them that can be read.
    pub fn parsed(self) -> impl Iterator<Item = Certificate<'a>> {
        self.filter_map(|der| Certificate::parse(der).ok())
    }
}

impl<'a> Iterator for EmbeddedCertificates<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let mut reader = DerReader::new(self.rest);
        loop {
            let element = reader.read().ok()?;
            self.rest = reader.rest();
            if element.tag == der::SEQUENCE {
                return Some(element.raw);
            }
        }
    }
}

/// The signers of a `SignedData`; each has been checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignerInfos<'a> {
    rest: &'a [u8],
}

impl<'a> SignerInfos<'a> {
    fn parse(set: Tlv<'a>) -> Result<Self, SignedDataError> {
        let mut reader = set.content();
        while !reader.is_empty() {
            SignerInfo::parse(reader.expect(der::SEQUENCE)?)?;
        }
        Ok(Self { rest: set.value })
    }

    /// The signer, where there is exactly one.
    pub fn only(mut self) -> Option<SignerInfo<'a>> {
        let signer = self.next()?;
        self.next().is_none().then_some(signer)
    }
}

impl<'a> Iterator for SignerInfos<'a> {
    type Item = SignerInfo<'a>;

    fn next(&mut self) -> Option<SignerInfo<'a>> {
        let mut reader = DerReader::new(self.rest);
        let signer = SignerInfo::parse(reader.read().ok()?).ok()?;
        self.rest = reader.rest();
        Some(signer)
    }
}
