//! `SignedData` (RFC 5652 section 5) as whoever validates it reads it.

use hammer_lab_authority::der::{SET, element};
use hammer_tlog::hash::sha256;
use hammer_tlog::keys::certificate::Certificate;
use hammer_tlog::keys::der::{self, DerError, DerReader, Tlv, context};

/// A file that is not of the form that is read here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("read the signed file: {0}")]
pub(crate) struct UnreadableFile(pub(crate) &'static str);

impl From<DerError> for UnreadableFile {
    fn from(_: DerError) -> Self {
        Self("it is no CMS in DER")
    }
}

/// A CMS.
#[derive(Debug)]
pub(super) struct SignedMessage<'a> {
    /// The content of the object identifier of what is signed.
    pub(super) content_type: &'a [u8],
    /// What is signed, where it is within.
    pub(super) content: Option<&'a [u8]>,
    certificates: Vec<&'a [u8]>,
    pub(super) signers: Vec<Signer<'a>>,
}

/// One `SignerInfo`.
#[derive(Debug)]
pub(super) struct Signer<'a> {
    /// `IssuerAndSerialNumber`: the issuer, and the content of the number.
    identifier: (&'a [u8], &'a [u8]),
    /// Whether its hash is SHA-256, the one that is known here.
    pub(super) is_sha256: bool,
    /// The signed attributes, one behind the other.
    attributes: &'a [u8],
    pub(super) content_type: Option<&'a [u8]>,
    pub(super) message_digest: Option<&'a [u8]>,
    /// The hash by which its certificate is named.
    certificate_hash: Option<&'a [u8]>,
    pub(super) signature: &'a [u8],
    /// The token of a timestamp over the signature.
    pub(super) timestamp: Option<&'a [u8]>,
}

impl<'a> SignedMessage<'a> {
    pub(super) fn read(cms: &'a [u8]) -> Result<Self, UnreadableFile> {
        let mut info = Tlv::parse(cms, der::SEQUENCE)?.content();
        if info.expect(der::OBJECT_IDENTIFIER)?.value != SIGNED_DATA {
            return Err(UnreadableFile("it is no signed data"));
        }
        let content = info.expect(context(0))?;
        let mut fields = content.content().expect(der::SEQUENCE)?.content();
        fields.expect(der::INTEGER)?;
        fields.expect(der::SET)?;
        let mut encapsulated = fields.expect(der::SEQUENCE)?.content();
        let content_type = encapsulated.expect(der::OBJECT_IDENTIFIER)?.value;
        let content = encapsulated.optional(context(0))?;
        let content = content.map(|content| content.content().expect(der::OCTET_STRING)).transpose()?;
        let mut certificates = Vec::new();
        if let Some(all) = fields.optional(context(0))? {
            each(all, |certificate| certificates.push(certificate.raw))?;
        }
        fields.optional(context(1))?;
        let mut infos = Vec::new();
        each(fields.expect(der::SET)?, |signer| infos.push(signer))?;
        let signers = infos.into_iter().map(Signer::read).collect::<Result<_, _>>()?;
        Ok(Self { content_type, content: content.map(|content| content.value), certificates, signers })
    }

    /// The certificate that a signer names.
    pub(super) fn certificate_of(&self, signer: &Signer<'_>) -> Option<&'a [u8]> {
        let is_named = |der: &&[u8]| {
            Certificate::parse(der).is_ok_and(|parsed| (parsed.issuer, parsed.serial) == signer.identifier)
        };
        self.certificates.iter().copied().find(is_named)
    }
}

impl<'a> Signer<'a> {
    fn read(info: Tlv<'a>) -> Result<Self, UnreadableFile> {
        let mut fields = info.content();
        fields.expect(der::INTEGER)?;
        let mut identifier = fields.expect(der::SEQUENCE)?.content();
        let identifier = (identifier.expect(der::SEQUENCE)?.raw, identifier.expect(der::INTEGER)?.value);
        let digest = fields.expect(der::SEQUENCE)?.content().expect(der::OBJECT_IDENTIFIER)?.value;
        let signed = fields.expect(context(0))?;
        fields.expect(der::SEQUENCE)?;
        let signature = fields.expect(der::OCTET_STRING)?.value;
        let unsigned = fields.optional(context(1))?;
        let certificate_hash =
            value_of(signed, SIGNING_CERTIFICATE_V2)?.map(hash_of_certificate).transpose()?;
        let content_type = value_of(signed, CONTENT_TYPE)?.map(|value| value.value);
        let message_digest = value_of(signed, MESSAGE_DIGEST)?.map(|value| value.value);
        let timestamp =
            unsigned.map(|unsigned| value_of(unsigned, SIGNATURE_TIMESTAMP)).transpose()?.flatten();
        Ok(Self {
            identifier,
            is_sha256: digest == SHA_256,
            attributes: signed.value,
            content_type,
            message_digest,
            certificate_hash,
            signature,
            timestamp: timestamp.map(|token| token.raw),
        })
    }

    /// Whether its attributes name that certificate.
    pub(super) fn names_certificate(&self, certificate: &[u8]) -> bool {
        self.certificate_hash == Some(sha256(certificate).0.as_slice())
    }

    /// What was signed: the attributes as a SET OF (RFC 5652 section 5.4).
    pub(super) fn attributes_to_be_signed(&self) -> Vec<u8> {
        element(SET, &[self.attributes])
    }
}

/// The hash of the imprint in a `TSTInfo` (RFC 3161 section 2.4.2).
pub(super) fn imprint(info: &[u8]) -> Option<&[u8]> {
    let mut fields = Tlv::parse(info, der::SEQUENCE).ok()?.content();
    fields.expect(der::INTEGER).ok()?;
    fields.expect(der::OBJECT_IDENTIFIER).ok()?;
    let mut imprint = fields.expect(der::SEQUENCE).ok()?.content();
    imprint.expect(der::SEQUENCE).ok()?;
    Some(imprint.expect(der::OCTET_STRING).ok()?.value)
}

/// The hash in a `SigningCertificateV2` (RFC 5035 section 4) whose algorithm is the default.
fn hash_of_certificate(value: Tlv<'_>) -> Result<&[u8], DerError> {
    let mut id = value.content().expect(der::SEQUENCE)?.content().expect(der::SEQUENCE)?.content();
    // Another algorithm stands before the hash.
    id.optional(der::SEQUENCE)?;
    Ok(id.expect(der::OCTET_STRING)?.value)
}

/// The one value of the attribute of that type.
fn value_of<'a>(attributes: Tlv<'a>, kind: &[u8]) -> Result<Option<Tlv<'a>>, DerError> {
    let mut reader = attributes.content();
    while !reader.is_empty() {
        let mut attribute = reader.expect(der::SEQUENCE)?.content();
        if attribute.expect(der::OBJECT_IDENTIFIER)?.value == kind {
            return attribute.expect(der::SET)?.content().read().map(Some);
        }
    }
    Ok(None)
}

fn each<'a>(all: Tlv<'a>, mut take: impl FnMut(Tlv<'a>)) -> Result<(), DerError> {
    let mut reader: DerReader<'a> = all.content();
    while !reader.is_empty() {
        take(reader.expect(der::SEQUENCE)?);
    }
    Ok(())
}

/// 1.2.840.113549.1.7.1.
pub(super) const ID_DATA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x01];
/// 1.2.840.113549.1.9.16.1.4.
pub(super) const TST_INFO: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x10, 0x01, 0x04];
/// 1.2.840.113549.1.7.2.
const SIGNED_DATA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x02];
/// 2.16.840.1.101.3.4.2.1.
const SHA_256: &[u8] = &[0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01];
/// 1.2.840.113549.1.9.3.
const CONTENT_TYPE: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x03];
/// 1.2.840.113549.1.9.4.
const MESSAGE_DIGEST: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x04];
/// 1.2.840.113549.1.9.16.2.14.
const SIGNATURE_TIMESTAMP: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x10, 0x02, 0x0e];
/// 1.2.840.113549.1.9.16.2.47.
const SIGNING_CERTIFICATE_V2: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x10, 0x02, 0x2f];
