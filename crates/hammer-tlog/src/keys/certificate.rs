//! An X.509 certificate in place (RFC 5280 section 4.1): the fields that a log looks at, as slices of its DER.

use crate::hash::{Hash, sha256};
use crate::keys::der::{self, DerError, DerReader, Tlv};

mod distinguished_name;
mod names;
mod time;
mod usage;

pub use distinguished_name::same_name;
pub use names::{GeneralName, GeneralNameKind, GeneralNames};
pub use time::unix_seconds;
pub use usage::{BasicConstraints, KeyUsage};

/// DER content of 1.3.6.1.4.1.11129.2.4.3, the poison of a precertificate (RFC 6962 section 3.1).
pub const POISON: &[u8] = &[0x2b, 0x06, 0x01, 0x04, 0x01, 0xd6, 0x79, 0x02, 0x04, 0x03];
/// DER content of 1.3.6.1.4.1.11129.2.4.4, the extended key usage of a precertificate signing certificate (RFC 6962
/// section 3.1).
pub const PRECERT_SIGNING: &[u8] = &[0x2b, 0x06, 0x01, 0x04, 0x01, 0xd6, 0x79, 0x02, 0x04, 0x04];
/// DER content of 2.5.29.35, `AuthorityKeyIdentifier`.
pub const AUTHORITY_KEY_IDENTIFIER: &[u8] = &[0x55, 0x1d, 0x23];
/// DER content of 2.5.29.14, `SubjectKeyIdentifier`.
pub const SUBJECT_KEY_IDENTIFIER: &[u8] = &[0x55, 0x1d, 0x0e];
/// DER content of 2.5.29.37, `ExtKeyUsageSyntax`.
pub const EXTENDED_KEY_USAGE: &[u8] = &[0x55, 0x1d, 0x25];
/// DER content of 2.5.29.19, `BasicConstraints`.
pub const BASIC_CONSTRAINTS: &[u8] = &[0x55, 0x1d, 0x13];
/// DER content of 2.5.29.15, `KeyUsage`.
pub const KEY_USAGE: &[u8] = &[0x55, 0x1d, 0x0f];
/// DER content of 2.5.29.32, `CertificatePolicies`.
pub const CERTIFICATE_POLICIES: &[u8] = &[0x55, 0x1d, 0x20];
/// DER content of 2.5.29.17, `SubjectAltName`.
pub const SUBJECT_ALTERNATIVE_NAME: &[u8] = &[0x55, 0x1d, 0x11];

/// A certificate's parts. Names, keys and times are whole DER elements, so that they compare byte by byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Certificate<'a> {
    /// The whole certificate.
    pub raw: &'a [u8],
    /// The whole `TBSCertificate`: what the issuer signs.
    pub tbs: &'a [u8],
    /// The content of `serialNumber`.
    pub serial: &'a [u8],
    /// The whole `issuer`.
    pub issuer: &'a [u8],
    /// `notBefore`.
    pub not_before: Tlv<'a>,
    /// `notAfter`.
    pub not_after: Tlv<'a>,
    /// The whole `subject`.
    pub subject: &'a [u8],
    /// The whole `subjectPublicKeyInfo`.
    pub spki: &'a [u8],
    /// `extensions`, in order.
    pub extensions: Extensions<'a>,
    /// The whole `signature` of the `TBSCertificate`, which has to be the same as [`Self::signature_algorithm`].
    pub tbs_signature_algorithm: &'a [u8],
    /// The whole outer `signatureAlgorithm`.
    pub signature_algorithm: &'a [u8],
    /// The content of `signatureValue`, whole bytes.
    pub signature: &'a [u8],
}

impl<'a> Certificate<'a> {
    /// Reads the whole of `der`. The structure is checked, down to each extension; what it says is not.
    pub fn parse(der: &'a [u8]) -> Result<Self, DerError> {
        let outer = Tlv::parse(der, der::SEQUENCE)?;
        let mut reader = outer.content();
        let tbs = reader.expect(der::SEQUENCE)?;
        let signature_algorithm = reader.expect(der::SEQUENCE)?.raw;
        let signature = reader.expect(der::BIT_STRING)?.bits()?;
        reader.finish()?;
        let fields = Tbs::parse(tbs)?;
        let mut validity = fields.validity.content();
        let (not_before, not_after) = (validity.read()?, validity.read()?);
        validity.finish()?;
        Ok(Self {
            raw: outer.raw,
            tbs: tbs.raw,
            serial: fields.serial.value,
            issuer: fields.issuer.raw,
            not_before,
            not_after,
            subject: fields.subject.raw,
            spki: fields.spki.raw,
            extensions: fields.extensions,
            tbs_signature_algorithm: fields.algorithm,
            signature_algorithm,
            signature,
        })
    }

    /// SHA-256 of the DER: the name of an issuer in static-ct-api.
    pub fn fingerprint(&self) -> Hash {
        sha256(self.raw)
    }

    /// SHA-256 of the `SubjectPublicKeyInfo`: `issuer_key_hash` of what this certificate issues.
    pub fn key_hash(&self) -> Hash {
        sha256(self.spki)
    }

    /// `notBefore`, in seconds since 1970; none where it is no time.
    pub fn not_before_seconds(&self) -> Option<i64> {
        unix_seconds(&self.not_before)
    }

    /// `notAfter`, in seconds since 1970; none where it is no time.
    pub fn not_after_seconds(&self) -> Option<i64> {
        unix_seconds(&self.not_after)
    }

    /// The first extension with this identifier.
    pub fn extension(&self, oid: &[u8]) -> Option<Extension<'a>> {
        self.extensions.clone().find(|extension| extension.oid == oid)
    }

    /// Whether it has the poison, well-formed or not.
    pub fn is_poisoned(&self) -> bool {
        self.extension(POISON).is_some()
    }

    /// Whether it is a precertificate signing certificate, by its extended key usage (RFC 6962 section 3.1).
    pub fn is_precert_signing(&self) -> bool {
        self.has_extended_key_usage(PRECERT_SIGNING)
    }

    /// Whether its extended key usage names this purpose.
    pub fn has_extended_key_usage(&self, purpose: &[u8]) -> bool {
        self.extended_key_usages().any(|usage| usage == purpose)
    }

    /// The purposes of its extended key usage, in order; none where that is malformed or not there.
    pub fn extended_key_usages(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let usages = self.extension(EXTENDED_KEY_USAGE);
        let mut usages = usages
            .and_then(|extension| Tlv::parse(extension.value, der::SEQUENCE).ok())
            .map(|usages| usages.content());
        std::iter::from_fn(move || Some(usages.as_mut()?.read().ok()?.value))
    }

    /// Whether it has an extension more than once, which no certificate may (RFC 5280 section 4.2).
    pub fn repeats_an_extension(&self) -> bool {
        let mut rest = self.extensions;
        while let Some(extension) = rest.next() {
            if { rest }.any(|later| later.oid == extension.oid) {
                return true;
            }
        }
        false
    }

    /// The names in its `SubjectAltName`, in order; none where that is malformed or not there.
    pub fn subject_alternative_names(&self) -> GeneralNames<'a> {
        let names =
            self.extension(SUBJECT_ALTERNATIVE_NAME).and_then(|names| GeneralNames::parse(names.value).ok());
        names.unwrap_or(GeneralNames::NONE)
    }

    /// Its `KeyUsage`; none where there is none, which leaves the key to any use.
    pub fn key_usage(&self) -> Result<Option<KeyUsage>, DerError> {
        self.extension(KEY_USAGE).map(|usage| KeyUsage::parse(usage.value)).transpose()
    }

    /// Its `BasicConstraints`; without them it is no CA's.
    pub fn basic_constraints(&self) -> Result<BasicConstraints, DerError> {
        let constraints = self.extension(BASIC_CONSTRAINTS);
        constraints
            .map_or(Ok(BasicConstraints::default()), |constraints| BasicConstraints::parse(constraints.value))
    }

    /// Whether its basic constraints say that it is a CA.
    pub fn is_ca(&self) -> bool {
        let Some(extension) = self.extension(BASIC_CONSTRAINTS) else { return false };
        let Ok(constraints) = Tlv::parse(extension.value, der::SEQUENCE) else { return false };
        matches!(constraints.content().optional(der::BOOLEAN), Ok(Some(Tlv { value: [0xff], .. })))
    }
}

/// The fields of a `TBSCertificate`, as whole elements.
pub(crate) struct Tbs<'a> {
    /// All that stands before the issuer: version, serial number, signature algorithm.
    pub(crate) before_issuer: &'a [u8],
    pub(crate) serial: Tlv<'a>,
    /// `signature`, the whole element.
    pub(crate) algorithm: &'a [u8],
    pub(crate) issuer: Tlv<'a>,
    pub(crate) validity: Tlv<'a>,
    pub(crate) subject: Tlv<'a>,
    pub(crate) spki: Tlv<'a>,
    /// All between the issuer and the extensions.
    pub(crate) after_issuer: &'a [u8],
    pub(crate) extensions: Extensions<'a>,
}

impl<'a> Tbs<'a> {
    pub(crate) fn parse(tbs: Tlv<'a>) -> Result<Self, DerError> {
        let mut reader = tbs.content();
        let version = reader.optional(der::context(0))?;
        let serial = reader.expect(der::INTEGER)?;
        let algorithm = reader.expect(der::SEQUENCE)?;
        let before_issuer =
            version.map_or(0, |version| version.raw.len()) + serial.raw.len() + algorithm.raw.len();
        let issuer = reader.expect(der::SEQUENCE)?;
        let after_issuer = reader.rest();
        let validity = reader.expect(der::SEQUENCE)?;
        let subject = reader.expect(der::SEQUENCE)?;
        let spki = reader.expect(der::SEQUENCE)?;
        // issuerUniqueID and subjectUniqueID are [1] and [2], IMPLICIT BIT STRING.
        reader.optional(0x81)?;
        reader.optional(0x82)?;
        let after_issuer = &after_issuer[..after_issuer.len() - reader.rest().len()];
        let extensions = Extensions::parse(reader.optional(der::context(3))?)?;
        reader.finish()?;
        let before_issuer = &tbs.value[..before_issuer];
        let algorithm = algorithm.raw;
        Ok(Self {
            before_issuer,
            serial,
            algorithm,
            issuer,
            validity,
            subject,
            spki,
            after_issuer,
            extensions,
        })
    }
}

/// One `Extension`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extension<'a> {
    /// The content of `extnID`.
    pub oid: &'a [u8],
    /// `critical`.
    pub critical: bool,
    /// The content of `extnValue`.
    pub value: &'a [u8],
    /// The whole element.
    pub raw: &'a [u8],
}

impl<'a> Extension<'a> {
    fn parse(element: Tlv<'a>) -> Result<Self, DerError> {
        let mut reader = element.content();
        let oid = reader.expect(der::OBJECT_IDENTIFIER)?.value;
        let critical = match reader.optional(der::BOOLEAN)?.map(|critical| critical.value) {
            None | Some([0]) => false,
            Some([0xff]) => true,
            Some(_) => return Err(DerError::Value { what: "critical" }),
        };
        let value = reader.expect(der::OCTET_STRING)?.value;
        reader.finish()?;
        Ok(Self { oid, critical, value, raw: element.raw })
    }
}

/// The extensions of a certificate, in order; each has been checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extensions<'a> {
    rest: &'a [u8],
}

impl<'a> Extensions<'a> {
    /// `field` is the whole `[3]`, if there is one.
    fn parse(field: Option<Tlv<'a>>) -> Result<Self, DerError> {
        let Some(field) = field else { return Ok(Self { rest: &[] }) };
        let rest = Tlv::parse(field.value, der::SEQUENCE)?.value;
        let mut reader = DerReader::new(rest);
        while !reader.is_empty() {
            Extension::parse(reader.expect(der::SEQUENCE)?)?;
        }
        Ok(Self { rest })
    }
}

impl<'a> Iterator for Extensions<'a> {
    type Item = Extension<'a>;

    fn next(&mut self) -> Option<Extension<'a>> {
        let mut reader = DerReader::new(self.rest);
        let extension = Extension::parse(reader.read().ok()?).ok()?;
        self.rest = reader.rest();
        Some(extension)
    }
}

#[cfg(test)]
mod tests;
