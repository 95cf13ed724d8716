//! The signature of a timestamp (RFC 3161 section 2.4.2) by the certificate that it carries.

use hammer_tlog::keys::{
    certificate::Certificate,
    der::{self, DerError, DerReader, Tlv},
};

use crate::artifact::{ArtifactError, ArtifactKey, HashAlgorithm};

/// Why a timestamp is not believed. The texts are those that Rekor puts behind "error processing entry: ".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum TimestampError {
    #[error("asn1: structure error: {0}")]
    Der(#[from] DerError),
    #[error("tsr status not granted: {0}")]
    NotGranted(u8),
    #[error("tsr wrong content type")]
    ContentType,
    #[error("tsr verification error: certificate missing from signedData")]
    NoCertificate,
    #[error("tsr verification error: unknown digest algorithm")]
    Hash,
    #[error("tsr verification error: content digest does not match")]
    Content,
    #[error("tsr verification error: {0}")]
    Signature(#[from] ArtifactError),
}

/// Verifies a `TimeStampResp`: it is granted, its token is signed over its content, and by a certificate within it.
pub(super) fn verify(response: &[u8]) -> Result<(), TimestampError> {
    let mut fields = Tlv::parse(response, der::SEQUENCE)?.content();
    match fields.expect(der::SEQUENCE)?.content().expect(der::INTEGER)?.value {
        [GRANTED | GRANTED_WITH_MODS] => {}
        status => return Err(TimestampError::NotGranted(status.last().copied().unwrap_or(0))),
    }
    let mut token = fields.expect(der::SEQUENCE)?.content();
    if token.expect(der::OBJECT_IDENTIFIER)?.value != SIGNED_DATA {
        return Err(TimestampError::ContentType);
    }
    let signed_data = Tlv::parse(token.expect(der::context(0))?.value, der::SEQUENCE)?;
    SignedData::read(signed_data)?.verify()
}

/// The parts of a `SignedData` (RFC 5652 section 5.1) with one signer.
struct SignedData<'a> {
    content: &'a [u8],
    /// The content of `certificates`.
    certificates: Option<&'a [u8]>,
    signer: SignerInfo<'a>,
}

/// The parts of a `SignerInfo` (RFC 5652 section 5.3).
struct SignerInfo<'a> {
    /// The whole `issuer`, and the content of `serialNumber`.
    issuer: &'a [u8],
    serial: &'a [u8],
    hash: HashAlgorithm,
    /// The whole `signedAttrs`, `[0]` in its place.
    attributes: Option<Tlv<'a>>,
    signature: &'a [u8],
}

impl<'a> SignedData<'a> {
    fn read(signed_data: Tlv<'a>) -> Result<Self, TimestampError> {
        let mut fields = signed_data.content();
        fields.expect(der::INTEGER)?;
        fields.expect(SET)?;
        let mut encapsulated = fields.expect(der::SEQUENCE)?.content();
        if encapsulated.expect(der::OBJECT_IDENTIFIER)?.value != TST_INFO {
            return Err(TimestampError::ContentType);
        }
        let content = Tlv::parse(encapsulated.expect(der::context(0))?.value, der::OCTET_STRING)?.value;
        let certificates = fields.optional(der::context(0))?.map(|certificates| certificates.value);
        fields.optional(der::context(1))?;
        let mut signers = fields.expect(SET)?.content();
        Ok(Self { content, certificates, signer: SignerInfo::read(signers.expect(der::SEQUENCE)?)? })
    }

    fn verify(&self) -> Result<(), TimestampError> {
        let signer = &self.signer;
        let certificate = self.certificate().ok_or(TimestampError::NoCertificate)?;
        let key = ArtifactKey::from_spki(certificate.spki)?;
        let Some(attributes) = signer.attributes else {
            return Ok(key.verify_message(signer.hash, self.content, signer.signature)?);
        };
        if attribute(attributes.content(), MESSAGE_DIGEST)? != Some(&*signer.hash.hash(self.content)) {
            return Err(TimestampError::Content);
        }
        // What is signed has the tag of a set (RFC 5652 section 5.4).
        let mut signed = attributes.raw.to_vec();
        signed[0] = SET;
        Ok(key.verify_message(signer.hash, &signed, signer.signature)?)
    }

    /// The signer's certificate.
    fn certificate(&self) -> Option<Certificate<'a>> {
        let mut certificates = DerReader::new(self.certificates?);
        let mut all = std::iter::from_fn(|| certificates.read().ok());
        all.find_map(|element| {
            let certificate = Certificate::parse(element.raw).ok()?;
            let is_signer =
                certificate.issuer == self.signer.issuer && certificate.serial == self.signer.serial;
            is_signer.then_some(certificate)
        })
    }
}

impl<'a> SignerInfo<'a> {
    fn read(signer: Tlv<'a>) -> Result<Self, TimestampError> {
        let mut fields = signer.content();
        fields.expect(der::INTEGER)?;
        let mut identifier = fields.expect(der::SEQUENCE)?.content();
        let issuer = identifier.expect(der::SEQUENCE)?.raw;
        let serial = identifier.expect(der::INTEGER)?.value;
        let algorithm = fields.expect(der::SEQUENCE)?.content().expect(der::OBJECT_IDENTIFIER)?.value;
        let hash = HashAlgorithm::from_oid(algorithm).ok_or(TimestampError::Hash)?;
        let attributes = fields.optional(der::context(0))?;
        fields.expect(der::SEQUENCE)?;
        let signature = fields.expect(der::OCTET_STRING)?.value;
        Ok(Self { issuer, serial, hash, attributes, signature })
    }
}

/// The content of the first value of an attribute, where it is an octet string.
fn attribute<'a>(mut attributes: DerReader<'a>, oid: &[u8]) -> Result<Option<&'a [u8]>, DerError> {
    while !attributes.is_empty() {
        let mut fields = attributes.expect(der::SEQUENCE)?.content();
        let identifier = fields.expect(der::OBJECT_IDENTIFIER)?.value;
        let mut values = fields.expect(SET)?.content();
        if identifier == oid {
            return Ok(Some(values.expect(der::OCTET_STRING)?.value));
        }
    }
    Ok(None)
}

const GRANTED: u8 = 0;
const GRANTED_WITH_MODS: u8 = 1;
/// `SET`, `SET OF`.
const SET: u8 = 0x31;
/// DER content of 1.2.840.113549.1.7.2, id-signedData.
const SIGNED_DATA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x02];
/// DER content of 1.2.840.113549.1.9.16.1.4, id-ct-TSTInfo.
const TST_INFO: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x10, 0x01, 0x04];
/// DER content of 1.2.840.113549.1.9.4, id-messageDigest.
const MESSAGE_DIGEST: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x04];
