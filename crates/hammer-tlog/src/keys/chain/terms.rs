//! What a certificate says of its time and its use.

use super::error::ChainError;
use super::name::{display_name, hex, label_of};
use crate::keys::certificate::{
    BASIC_CONSTRAINTS, CERTIFICATE_POLICIES, Certificate, EXTENDED_KEY_USAGE, KEY_USAGE, POISON,
    SUBJECT_ALTERNATIVE_NAME,
};

/// The critical extensions that are understood. The purposes of a leaf are the caller's to look at, and policies nobody's: any will do
/// (RFC 5280 section 6.1.1), unless an extension that is not read demands one.
const UNDERSTOOD: [&[u8]; 5] =
    [BASIC_CONSTRAINTS, KEY_USAGE, EXTENDED_KEY_USAGE, SUBJECT_ALTERNATIVE_NAME, CERTIFICATE_POLICIES];
/// DER content of 2.5.29.37.0, `anyExtendedKeyUsage`.
const ANY_PURPOSE: &[u8] = &[0x55, 0x1d, 0x25, 0x00];

/// When a certificate, or all of a path, is valid: both ends included, in seconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Validity {
    /// The first valid second.
    pub not_before: i64,
    /// The last valid second.
    pub not_after: i64,
}

impl Validity {
    /// Whether that second is one of it.
    pub fn contains(self, unix_seconds: i64) -> bool {
        (self.not_before..=self.not_after).contains(&unix_seconds)
    }

    pub(super) fn intersect(self, other: Self) -> Self {
        Self {
            not_before: self.not_before.max(other.not_before),
            not_after: self.not_after.min(other.not_after),
        }
    }

    /// Refuses a time outside of it; `subject` says whose it is.
    pub(super) fn check(self, subject: impl FnOnce() -> String, at: i64) -> Result<(), ChainError> {
        if at < self.not_before {
            let subject = subject();
            return Err(ChainError::NotYetValid { subject, not_before: self.not_before, at });
        }
        if at > self.not_after {
            let subject = subject();
            return Err(ChainError::Expired { subject, not_after: self.not_after, at });
        }
        Ok(())
    }
}

/// The validity of one certificate.
pub(super) fn validity_of(certificate: &Certificate<'_>) -> Result<Validity, ChainError> {
    match (certificate.not_before_seconds(), certificate.not_after_seconds()) {
        (Some(not_before), Some(not_after)) => Ok(Validity { not_before, not_after }),
        _ => Err(ChainError::Validity { subject: label_of(certificate) }),
    }
}

/// What holds of any certificate of a path: one signature algorithm, and no critical poison.
pub(super) fn check_form(certificate: &Certificate<'_>) -> Result<(), ChainError> {
    if certificate.tbs_signature_algorithm != certificate.signature_algorithm {
        return Err(ChainError::TwoAlgorithms { subject: label_of(certificate) });
    }
    match certificate.extension(POISON).is_some_and(|poison| poison.critical) {
        true => Err(ChainError::Poisoned { subject: label_of(certificate) }),
        false => Ok(()),
    }
}

/// Refuses a critical extension that is not read here.
pub(super) fn check_extensions(certificate: &Certificate<'_>) -> Result<(), ChainError> {
    let is_unread = |oid: &[u8], critical: bool| critical && !UNDERSTOOD.contains(&oid);
    let unread = { certificate.extensions }.find(|extension| is_unread(extension.oid, extension.critical));
    unread.map_or(Ok(()), |extension| {
        let (subject, oid) = (label_of(certificate), hex(extension.oid));
        Err(ChainError::CriticalExtension { subject, oid })
    })
}

/// Refuses an issuer whose extended key usage names neither this purpose nor any.
pub(super) fn check_purpose(issuer: &Certificate<'_>, purpose: &[u8]) -> Result<(), ChainError> {
    let is_for_it = |named: &[u8]| named == purpose || named == ANY_PURPOSE;
    let is_restricted = issuer.extension(EXTENDED_KEY_USAGE).is_some();
    match is_restricted && !issuer.extended_key_usages().any(is_for_it) {
        true => Err(ChainError::IssuerPurpose { subject: display_name(issuer.subject) }),
        false => Ok(()),
    }
}

/// On which terms a CA's certificate may stand in a path.
#[derive(Debug, Clone, Copy)]
pub(super) struct IssuerTerms {
    pub(super) validity: Validity,
    pub(super) path_length: Option<u8>,
    /// Its issuer has its own name: such certificates do not count towards the length of a path.
    pub(super) self_issued: bool,
}

impl IssuerTerms {
    /// Reads them; what is no certificate of a CA, or not for signing certificates, has none.
    pub(super) fn read(certificate: &Certificate<'_>) -> Result<Self, ChainError> {
        check_form(certificate)?;
        let constraints = certificate.basic_constraints()?;
        if !constraints.ca {
            return Err(ChainError::NotACa { subject: display_name(certificate.subject) });
        }
        if certificate.key_usage()?.is_some_and(|usage| !usage.key_cert_sign()) {
            return Err(ChainError::Usage { subject: display_name(certificate.subject) });
        }
        Ok(Self {
            validity: validity_of(certificate)?,
            path_length: constraints.path_length,
            self_issued: certificate.issuer == certificate.subject,
        })
    }

    /// Refuses a time outside of the validity, and a path that is too long: `below` CAs, not self-issued, stand between it
    /// and the leaf.
    pub(super) fn admit(&self, subject: &[u8], below: u32, at: i64) -> Result<(), ChainError> {
        self.validity.check(|| display_name(subject), at)?;
        match self.path_length {
            Some(path_length) if below > u32::from(path_length) => {
                Err(ChainError::PathLength { subject: display_name(subject), path_length, below })
            }
            _ => Ok(()),
        }
    }

    /// How many CAs stand below an issuer of this one, if `below` stand below this one.
    pub(super) fn above(&self, below: u32) -> u32 {
        below + u32::from(!self.self_issued)
    }
}
