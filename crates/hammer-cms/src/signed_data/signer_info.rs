use hammer_tlog::keys::certificate::{Certificate, SUBJECT_KEY_IDENTIFIER};
use hammer_tlog::keys::der::{self, Tlv};
use hammer_tlog::keys::digest::DigestAlgorithm;
use hammer_tlog::keys::key::{LogKey, MixedBatch};
use hammer_tlog::keys::scheme::SignatureScheme;

use super::attributes::SignedAttributes;
use super::error::SignedDataError;

/// `subjectKeyIdentifier` of a `SignerIdentifier`: `[0]`, IMPLICIT OCTET STRING.
const SUBJECT_KEY_IDENTIFIER_CHOICE: u8 = 0x80;

/// One signer and its signature (RFC 5652 section 5.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignerInfo<'a> {
    /// `sid`: whose certificate has the key.
    pub identifier: SignerIdentifier<'a>,
    /// The whole `digestAlgorithm`.
    pub digest_algorithm: &'a [u8],
    /// `signedAttrs`.
    pub signed_attributes: Option<SignedAttributes<'a>>,
    /// The whole `signatureAlgorithm`.
    pub signature_algorithm: &'a [u8],
    /// `signature`.
    pub signature: &'a [u8],
}

impl<'a> SignerInfo<'a> {
    pub(super) fn parse(element: Tlv<'a>) -> Result<Self, SignedDataError> {
        let mut reader = element.content();
        match reader.expect(der::INTEGER)?.value {
            [1 | 3] => {}
            version => {
                return Err(SignedDataError::Version { version: version.first().copied().unwrap_or(0) });
            }
        }
        let identifier = SignerIdentifier::parse(reader.read()?)?;
        let digest_algorithm = reader.expect(der::SEQUENCE)?.raw;
        let signed_attributes = reader.optional(der::context(0))?.map(SignedAttributes::parse).transpose()?;
        let signature_algorithm = reader.expect(der::SEQUENCE)?.raw;
        let signature = reader.expect(der::OCTET_STRING)?.value;
        // Unsigned attributes.
        reader.optional(der::context(1))?;
        reader.finish()?;
        Ok(Self { identifier, digest_algorithm, signed_attributes, signature_algorithm, signature })
    }

    /// The signed attributes, which all content but id-data needs.
    pub fn attributes(&self) -> Result<SignedAttributes<'a>, SignedDataError> {
        self.signed_attributes.ok_or(SignedDataError::NoAttributes)
    }

    /// Verifies that the signer of `key` signed `content` as one of this type (the content of an object identifier): the
    /// attributes name both, and the signature is over the attributes (RFC 5652 sections 5.4 and 5.6).
    pub fn verify(&self, content_type: &[u8], content: &[u8], key: &LogKey) -> Result<(), SignedDataError> {
        let (scheme, message) = self.signed(content_type, content)?;
        Ok(key.verify_scheme(scheme, &message, self.signature)?)
    }

    /// The same but for the signature, which is added to a batch; nothing is added where the rest does not hold.
    pub fn verify_in(
        &self,
        batch: &mut MixedBatch,
        (content_type, content): (&[u8], &[u8]),
        key: &LogKey,
    ) -> Result<(), SignedDataError> {
        let (scheme, message) = self.signed(content_type, content)?;
        batch.add(key, scheme, &message, self.signature);
        Ok(())
    }

    /// How and over what the signature is made, where the attributes name the content and its type.
    fn signed(
        &self,
        content_type: &[u8],
        content: &[u8],
    ) -> Result<(SignatureScheme, Vec<u8>), SignedDataError> {
        let attributes = self.attributes()?;
        let digest = DigestAlgorithm::from_identifier(self.digest_algorithm)
            .ok_or(SignedDataError::Unknown { what: "digest" })?;
        let scheme = SignatureScheme::of_signer(self.signature_algorithm, digest);
        let is_known = || SignatureScheme::from_identifier(self.signature_algorithm).is_some();
        let scheme = scheme.ok_or_else(|| match is_known() {
            true => SignedDataError::Algorithms,
            false => SignedDataError::Unknown { what: "signature" },
        })?;
        if attributes.content_type()? != content_type {
            return Err(SignedDataError::ContentType);
        }
        if attributes.message_digest()? != digest.digest(content).as_ref() {
            return Err(SignedDataError::MessageDigest);
        }
        Ok((scheme, attributes.message()))
    }
}

/// How a signer names its certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignerIdentifier<'a> {
    /// By its issuer and its number.
    IssuerAndSerial {
        /// The whole `issuer`.
        issuer: &'a [u8],
        /// The content of `serialNumber`.
        serial: &'a [u8],
    },
    /// By the content of its `SubjectKeyIdentifier`.
    SubjectKey(&'a [u8]),
}

impl<'a> SignerIdentifier<'a> {
    fn parse(element: Tlv<'a>) -> Result<Self, SignedDataError> {
        if element.tag == SUBJECT_KEY_IDENTIFIER_CHOICE {
            return Ok(Self::SubjectKey(element.value));
        }
        let mut reader = Tlv::parse(element.raw, der::SEQUENCE)?.content();
        let issuer = reader.expect(der::SEQUENCE)?.raw;
        let serial = reader.expect(der::INTEGER)?.value;
        reader.finish()?;
        Ok(Self::IssuerAndSerial { issuer, serial })
    }

    /// Whether it names this certificate.
    pub fn names(&self, certificate: &Certificate<'_>) -> bool {
        match *self {
            Self::IssuerAndSerial { issuer, serial } => {
                certificate.issuer == issuer && certificate.serial == serial
            }
            Self::SubjectKey(identifier) => {
                let extension = certificate.extension(SUBJECT_KEY_IDENTIFIER);
                let content = extension.and_then(|named| Tlv::parse(named.value, der::OCTET_STRING).ok());
                content.is_some_and(|content| content.value == identifier)
            }
        }
    }
}
