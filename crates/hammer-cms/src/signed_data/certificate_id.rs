use hammer_tlog::keys::algorithm_identifier::AlgorithmIdentifier;
use hammer_tlog::keys::certificate::Certificate;
use hammer_tlog::keys::der::{self, DerError, Tlv};
use hammer_tlog::keys::digest::DigestAlgorithm;
use ring::digest::{self, SHA1_FOR_LEGACY_USE_ONLY};

use super::error::SignedDataError;

/// The tag of `directoryName` among the kinds of `GeneralName`.
const DIRECTORY_NAME: u8 = der::context(4);

/// `ESSCertID` (RFC 2634 section 5.4.1) or `ESSCertIDv2` (RFC 5035 section 4): a certificate by its hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CertificateId<'a> {
    digest: CertificateDigest,
    hash: &'a [u8],
    issuer: Option<IssuerSerial<'a>>,
}

/// What a certificate is hashed by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CertificateDigest {
    /// SHA-1, which version 1 is bound to.
    Sha1,
    Sha2(DigestAlgorithm),
    /// One that is not verified here.
    Unknown,
}

/// `issuerSerial`: a certificate by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct IssuerSerial<'a> {
    /// The whole DER of the issuer's `Name`; none where another kind of name is there as well, or instead.
    name: Option<&'a [u8]>,
    /// The content of the number.
    serial: &'a [u8],
}

impl<'a> CertificateId<'a> {
    /// The first one of a whole `SigningCertificate`.
    pub(super) fn parse(der: &'a [u8]) -> Result<Self, DerError> {
        let mut reader = first_of(der)?.content();
        let hash = reader.expect(der::OCTET_STRING)?.value;
        let issuer = reader.optional(der::SEQUENCE)?.map(IssuerSerial::parse).transpose()?;
        reader.finish()?;
        Ok(Self { digest: CertificateDigest::Sha1, hash, issuer })
    }

    /// The first one of a whole `SigningCertificateV2`.
    pub(super) fn parse_v2(der: &'a [u8]) -> Result<Self, DerError> {
        let mut reader = first_of(der)?.content();
        let digest = match reader.optional(der::SEQUENCE)? {
            None => CertificateDigest::Sha2(DigestAlgorithm::Sha256),
            Some(identifier) => {
                AlgorithmIdentifier::parse(identifier.raw)?;
                DigestAlgorithm::from_identifier(identifier.raw)
                    .map_or(CertificateDigest::Unknown, CertificateDigest::Sha2)
            }
        };
        let hash = reader.expect(der::OCTET_STRING)?.value;
        let issuer = reader.optional(der::SEQUENCE)?.map(IssuerSerial::parse).transpose()?;
        reader.finish()?;
        Ok(Self { digest, hash, issuer })
    }

    /// Whether it names this certificate; none where all but the hash does, which is by an algorithm that is not verified here.
    pub fn names(&self, certificate: &Certificate<'_>) -> Option<bool> {
        if self.issuer.is_some_and(|issuer| !issuer.names(certificate)) {
            return Some(false);
        }
        let hash = match self.digest {
            CertificateDigest::Sha1 => digest::digest(&SHA1_FOR_LEGACY_USE_ONLY, certificate.raw),
            CertificateDigest::Sha2(digest) => digest.digest(certificate.raw),
            CertificateDigest::Unknown => return None,
        };
        Some(hash.as_ref() == self.hash)
    }
}

/// Whether the attributes signingCertificate and signingCertificateV2, where they are there, name this certificate, or else `another`.
///
/// # Errors
/// One names another certificate; or none does, and one names it by a hash that is not verified here.
pub(crate) fn check_named<E: From<SignedDataError>>(
    named: [Option<CertificateId<'_>>; 2],
    certificate: &Certificate<'_>,
    another: E,
) -> Result<(), E> {
    let named = named.map(|named| named.map_or(Some(true), |named| named.names(certificate)));
    if named.contains(&Some(false)) {
        return Err(another);
    }
    match named.contains(&None) {
        true => Err(SignedDataError::Unknown { what: "certificate hash" }.into()),
        false => Ok(()),
    }
}

impl<'a> IssuerSerial<'a> {
    fn parse(element: Tlv<'a>) -> Result<Self, DerError> {
        let mut reader = element.content();
        let mut names = reader.expect(der::SEQUENCE)?.content();
        let name = names.optional(DIRECTORY_NAME)?.map(|name| name.value);
        let name = if names.is_empty() { name } else { None };
        let serial = reader.expect(der::INTEGER)?.value;
        reader.finish()?;
        Ok(Self { name, serial })
    }

    fn names(&self, certificate: &Certificate<'_>) -> bool {
        self.serial == certificate.serial && self.name == Some(certificate.issuer)
    }
}

/// The first element of the first field: both versions have a sequence of certificates there, and policies after it.
fn first_of(der: &[u8]) -> Result<Tlv<'_>, DerError> {
    let mut fields = Tlv::parse(der, der::SEQUENCE)?.content();
    let first = fields.expect(der::SEQUENCE)?.content().expect(der::SEQUENCE)?;
    fields.optional(der::SEQUENCE)?;
    fields.finish()?;
    Ok(first)
}
