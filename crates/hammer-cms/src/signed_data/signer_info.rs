use hammer_tlog::keys::certificate::{Certificate, SUBJECT_KEY_IDENTIFIER};
use hammer_tlog::keys::der::{self, Tlv};
use hammer_tlog::keys::digest::DigestAlgorithm;
use hammer_tlog::keys::key::{LogKey, MixedBatch};
use hammer_tlog::keys::scheme::SignatureScheme;

use super::attributes::SignedAttributes;
use super::error::SignedDataError;

/// `subjectKeyIdentifier` of a `SignerIdentifier`: `[0]`, IMPLICIT OCTET STRING.
const SUBJECT_KEY_IDENTIFIER_CHOICE: u8 = 0x80;
/// DER content of 1.2.840.113549.1.9.16.2.14, id-aa-timeStampToken.
const SIGNATURE_TIMESTAMP: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x10, 0x02, 0x0e];

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
    /// The whole `unsignedAttrs`, of which nothing has been checked.
    unsigned_attributes: Option<Tlv<'a>>,
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
        let unsigned_attributes = reader.optional(der::context(1))?;
        reader.finish()?;
        Ok(Self {
            identifier,
            digest_algorithm,
            signed_attributes,
            signature_algorithm,
            signature,
            unsigned_attributes,
        })
    }

    /// The signed attributes, which all content but id-data needs.
    pub fn attributes(&self) -> Result<SignedAttributes<'a>, SignedDataError> {
        self.signed_attributes.ok_or(SignedDataError::NoAttributes)
    }

    /// Verifies that the signer of `key` signed `content` as one of this type (the content of an object identifier): the
    /// attributes name both, and the signature is over the attributes (RFC 5652 sections 5.4 and 5.6).
    pub fn verify(&self, content_type: &[u8], content: &[u8], key: &LogKey) -> Result<(), SignedDataError> {
        self.check_content(content_type, content)?;
        self.verify_attributes(key)
    }

    /// The same but for the signature, which is added to a batch; nothing is added where the rest does not hold.
    pub fn verify_in(
        &self,
        batch: &mut MixedBatch,
        (content_type, content): (&[u8], &[u8]),
        key: &LogKey,
    ) -> Result<(), SignedDataError> {
        self.check_content(content_type, content)?;
        let (scheme, message) = self.signed()?;
        batch.add(key, scheme, &message, self.signature);
        Ok(())
    }

    /// Verifies that the signer of `key` signed the attributes, whatever these say of the content.
    pub fn verify_attributes(&self, key: &LogKey) -> Result<(), SignedDataError> {
        let (scheme, message) = self.signed()?;
        Ok(key.verify_scheme(scheme, &message, self.signature)?)
    }

    /// Whether the attribute messageDigest is the digest of this content, in pieces that follow one another.
    pub fn check_digest(&self, content: &[&[u8]]) -> Result<(), SignedDataError> {
        let digest = self.digest()?;
        match self.attributes()?.message_digest()? == digest.digest_pieces(content).as_ref() {
            true => Ok(()),
            false => Err(SignedDataError::MessageDigest),
        }
    }

    /// The same of content that is known by its SHA-256: the digest by another algorithm is none of it.
    pub fn check_sha256(&self, sha256: &[u8; 32]) -> Result<(), SignedDataError> {
        let digest = self.attributes()?.message_digest()?;
        match self.digest()? == DigestAlgorithm::Sha256 && digest == sha256 {
            true => Ok(()),
            false => Err(SignedDataError::MessageDigest),
        }
    }

    /// The whole token of the timestamp over the signature, an unsigned attribute (RFC 3161 appendix A); none where there is none.
    pub fn signature_timestamp(&self) -> Result<Option<&'a [u8]>, SignedDataError> {
        match self.unsigned_attributes {
            None => Ok(None),
            Some(field) => {
                SignedAttributes::parse(field)?.only_value(SIGNATURE_TIMESTAMP, "signature-time-stamp")
            }
        }
    }

    /// Whether the attributes name the content and its type.
    fn check_content(&self, content_type: &[u8], content: &[u8]) -> Result<(), SignedDataError> {
        // What the signature is by comes first: content that is digested otherwise is not verified here at all.
        self.scheme()?;
        if self.attributes()?.content_type()? != content_type {
            return Err(SignedDataError::ContentType);
        }
        self.check_digest(&[content])
    }

    /// How and over what the signature is made.
    fn signed(&self) -> Result<(SignatureScheme, Vec<u8>), SignedDataError> {
        Ok((self.scheme()?, self.attributes()?.message()))
    }

    /// By what the content was digested.
    ///
    /// # Errors
    /// Where that is none of SHA-2.
    pub fn digest(&self) -> Result<DigestAlgorithm, SignedDataError> {
        DigestAlgorithm::from_identifier(self.digest_algorithm)
            .ok_or(SignedDataError::Unknown { what: "digest" })
    }

    fn scheme(&self) -> Result<SignatureScheme, SignedDataError> {
        self.attributes()?;
        let scheme = SignatureScheme::of_signer(self.signature_algorithm, self.digest()?);
        let is_known = || SignatureScheme::from_identifier(self.signature_algorithm).is_some();
        scheme.ok_or_else(|| match is_known() {
            true => SignedDataError::Algorithms,
            false => SignedDataError::Unknown { what: "signature" },
        })
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
