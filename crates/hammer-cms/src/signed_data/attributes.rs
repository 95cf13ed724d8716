use hammer_tlog::keys::certificate::unix_seconds;
use hammer_tlog::keys::der::{self, DerError, DerReader, Tlv};

use super::certificate_id::CertificateId;
use super::error::SignedDataError;

/// DER content of 1.2.840.113549.1.9.3, id-contentType.
const CONTENT_TYPE: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x03];
/// DER content of 1.2.840.113549.1.9.4, id-messageDigest.
const MESSAGE_DIGEST: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x04];
/// DER content of 1.2.840.113549.1.9.5, id-signingTime.
const SIGNING_TIME: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x05];
/// DER content of 1.2.840.113549.1.9.16.2.12, id-aa-signingCertificate (RFC 2634 section 5.4).
const SIGNING_CERTIFICATE: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x10, 0x02, 0x0c];
/// DER content of 1.2.840.113549.1.9.16.2.47, id-aa-signingCertificateV2 (RFC 5035 section 3).
const SIGNING_CERTIFICATE_V2: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x10, 0x02, 0x2f];

/// One attribute: a type and its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attribute<'a> {
    /// The content of `attrType`.
    pub oid: &'a [u8],
    /// `attrValues`, one element after the other.
    pub values: &'a [u8],
}

impl<'a> Attribute<'a> {
    fn parse(element: Tlv<'a>) -> Result<Self, DerError> {
        let mut reader = element.content();
        let oid = reader.expect(der::OBJECT_IDENTIFIER)?.value;
        let values = reader.expect(der::SET)?.value;
        reader.finish()?;
        Ok(Self { oid, values })
    }
}

/// `signedAttrs` of a signer, or its `unsignedAttrs`; each has been checked to be an attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignedAttributes<'a> {
    /// The whole `[0]`.
    raw: &'a [u8],
    rest: &'a [u8],
}

impl<'a> SignedAttributes<'a> {
    /// `field` is the whole `[0]`.
    pub(super) fn parse(field: Tlv<'a>) -> Result<Self, DerError> {
        let mut reader = field.content();
        while !reader.is_empty() {
            Attribute::parse(reader.expect(der::SEQUENCE)?)?;
        }
        Ok(Self { raw: field.raw, rest: field.value })
    }

    /// What is signed: the same attributes under the tag of `SET OF` (RFC 5652 section 5.4).
    pub fn message(&self) -> Vec<u8> {
        let mut message = self.raw.to_vec();
        message[0] = der::SET;
        message
    }

    /// The value of contentType: the content of an object identifier.
    pub fn content_type(&self) -> Result<&'a [u8], SignedDataError> {
        let value = self.needed(CONTENT_TYPE, "contentType")?;
        Ok(Tlv::parse(value, der::OBJECT_IDENTIFIER)?.value)
    }

    /// The value of messageDigest.
    pub fn message_digest(&self) -> Result<&'a [u8], SignedDataError> {
        let value = self.needed(MESSAGE_DIGEST, "messageDigest")?;
        Ok(Tlv::parse(value, der::OCTET_STRING)?.value)
    }

    /// The value of signingTime, in seconds since 1970; none where there is none.
    pub fn signing_time(&self) -> Result<Option<i64>, SignedDataError> {
        let Some(value) = self.only_value(SIGNING_TIME, "signingTime")? else { return Ok(None) };
        let time = unix_seconds(&DerReader::new(value).read()?);
        time.ok_or(DerError::Value { what: "signing time" }.into()).map(Some)
    }

    /// The first certificate that signingCertificate names, by SHA-1: the signer's (RFC 2634 section 5.4).
    pub fn signing_certificate(&self) -> Result<Option<CertificateId<'a>>, SignedDataError> {
        let [value, _] = self.signing_certificates()?;
        Ok(value.map(CertificateId::parse).transpose()?)
    }

    /// The first certificate that signingCertificateV2 names: the signer's (RFC 5035 section 3).
    pub fn signing_certificate_v2(&self) -> Result<Option<CertificateId<'a>>, SignedDataError> {
        let [_, value] = self.signing_certificates()?;
        Ok(value.map(CertificateId::parse_v2).transpose()?)
    }

    /// The values of signingCertificate and of signingCertificateV2, each a whole element.
    pub fn signing_certificates(&self) -> Result<[Option<&'a [u8]>; 2], SignedDataError> {
        Ok([
            self.only_value(SIGNING_CERTIFICATE, "signingCertificate")?,
            self.only_value(SIGNING_CERTIFICATE_V2, "signingCertificateV2")?,
        ])
    }

    fn needed(&self, oid: &[u8], attribute: &'static str) -> Result<&'a [u8], SignedDataError> {
        self.only_value(oid, attribute)?.ok_or(SignedDataError::MissingAttribute { attribute })
    }

    /// The one value of an attribute, a whole element; none where there is no such attribute.
    pub(super) fn only_value(
        &self,
        oid: &[u8],
        attribute: &'static str,
    ) -> Result<Option<&'a [u8]>, SignedDataError> {
        let mut found = self.filter(|attribute| attribute.oid == oid);
        let Some(first) = found.next() else { return Ok(None) };
        let mut values = DerReader::new(first.values);
        let ambiguous = SignedDataError::AmbiguousAttribute { attribute };
        let value = values.read().map_err(|_| ambiguous)?;
        if values.is_empty() && found.next().is_none() { Ok(Some(value.raw)) } else { Err(ambiguous) }
    }
}

impl<'a> Iterator for SignedAttributes<'a> {
    type Item = Attribute<'a>;

    fn next(&mut self) -> Option<Attribute<'a>> {
        let mut reader = DerReader::new(self.rest);
        let attribute = Attribute::parse(reader.read().ok()?).ok()?;
        self.rest = reader.rest();
        Some(attribute)
    }
}
