use hammer_tlog::keys::certificate::Certificate;
use hammer_tlog::keys::der::{self, DerError, Tlv};
use hammer_tlog::keys::digest::DigestAlgorithm;
use ring::digest::{self, SHA1_FOR_LEGACY_USE_ONLY};

/// The tag of `directoryName` among the kinds of `GeneralName`.
const DIRECTORY_NAME: u8 = der::context(4);

/// `ESSCertID` (RFC 2634 section 5.4.1) or `ESSCertIDv2` (RFC 5035 section 4): a certificate by its hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CertificateId<'a> {
    /// None for SHA-1, which version 1 is bound to.
    digest: Option<DigestAlgorithm>,
    hash: &'a [u8],
    issuer: Option<IssuerSerial<'a>>,
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
        Ok(Self { digest: None, hash, issuer })
    }

    /// The first one of a whole `SigningCertificateV2`.
    pub(super) fn parse_v2(der: &'a [u8]) -> Result<Self, DerError> {
        let mut reader = first_of(der)?.content();
        let digest = match reader.optional(der::SEQUENCE)? {
            None => DigestAlgorithm::Sha256,
            Some(identifier) => DigestAlgorithm::from_identifier(identifier.raw)
                .ok_or(DerError::Value { what: "certificate hash algorithm" })?,
        };
        let hash = reader.expect(der::OCTET_STRING)?.value;
        let issuer = reader.optional(der::SEQUENCE)?.map(IssuerSerial::parse).transpose()?;
        reader.finish()?;
        Ok(Self { digest: Some(digest), hash, issuer })
    }

    /// Whether it names this certificate.
    pub fn names(&self, certificate: &Certificate<'_>) -> bool {
        let hash = match self.digest {
            None => digest::digest(&SHA1_FOR_LEGACY_USE_ONLY, certificate.raw),
            Some(digest) => digest.digest(certificate.raw),
        };
        hash.as_ref() == self.hash && self.issuer.is_none_or(|issuer| issuer.names(certificate))
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
