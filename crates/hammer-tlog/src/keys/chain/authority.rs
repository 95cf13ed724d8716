//! Certificate authorities that are known beforehand.

use super::error::ChainError;
use super::name::{display_name, label_of};
use super::terms::{IssuerTerms, check_extensions, check_purpose};
use crate::hash::Hash;
use crate::keys::certificate::Certificate;
use crate::keys::key::{LogKey, SignatureError};
use crate::keys::scheme::SignatureScheme;

/// A CA that is known beforehand.
#[derive(Debug)]
pub struct Authority {
    certificate: Vec<u8>,
    /// The whole `subject`.
    subject: Vec<u8>,
    key: LogKey,
    pub(super) terms: IssuerTerms,
    /// Which of the authorities signed it, each of which has been verified; a root has none.
    pub(super) issuers: Vec<usize>,
}

impl Authority {
    /// Reads the certificate of a CA.
    pub(super) fn read(certificate: &Certificate<'_>) -> Result<Self, ChainError> {
        check_extensions(certificate)?;
        Ok(Self {
            certificate: certificate.raw.to_vec(),
            subject: certificate.subject.to_vec(),
            key: key_of(certificate)?,
            terms: IssuerTerms::read(certificate)?,
            issuers: Vec::new(),
        })
    }

    /// The DER of its certificate.
    pub fn certificate(&self) -> &[u8] {
        &self.certificate
    }

    /// The DER of its name.
    pub fn subject(&self) -> &[u8] {
        &self.subject
    }

    /// Its key.
    pub fn key(&self) -> &LogKey {
        &self.key
    }

    /// SHA-256 of its `SubjectPublicKeyInfo`: the `issuer_key_hash` of RFC 6962 section 3.2.
    pub fn key_hash(&self) -> Hash {
        self.key.log_id()
    }

    /// Whether its certificate is self-issued, and so trusted by itself.
    pub fn is_root(&self) -> bool {
        self.terms.self_issued
    }

    /// Refuses what its extended key usage restricts to other purposes; a root is trusted as it was given.
    pub(super) fn check_purpose(&self, purpose: &[u8]) -> Result<(), ChainError> {
        if self.is_root() { Ok(()) } else { check_purpose(&Certificate::parse(&self.certificate)?, purpose) }
    }

    /// Verifies its signature over a certificate. Many are expected, so that the table of a P-256 key pays.
    ///
    /// # Errors
    /// When it is not its own, or of an algorithm that is not verified here ([`ChainError::is_unverified`]).
    pub fn signed(&self, certificate: &Certificate<'_>) -> Result<(), ChainError> {
        let Certificate { tbs, signature_algorithm, signature, .. } = *certificate;
        self.key.verify_as(signature_algorithm, tbs, signature).map_err(|why| bad_signature(certificate, why))
    }
}

/// The key of a certificate.
pub(super) fn key_of(certificate: &Certificate<'_>) -> Result<LogKey, ChainError> {
    LogKey::from_der(certificate.spki)
        .map_err(|source| ChainError::Key { subject: display_name(certificate.subject), source })
}

/// Verifies the signature over a certificate with a key that is met once.
pub(super) fn signed_once(key: &LogKey, certificate: &Certificate<'_>) -> Result<(), ChainError> {
    let scheme = SignatureScheme::from_identifier(certificate.signature_algorithm);
    scheme
        .ok_or(SignatureError::Unknown)
        .and_then(|scheme| key.verify_scheme_once(scheme, certificate.tbs, certificate.signature))
        .map_err(|why| bad_signature(certificate, why))
}

fn bad_signature(certificate: &Certificate<'_>, source: SignatureError) -> ChainError {
    ChainError::BadSignature { subject: label_of(certificate), source }
}

/// Verifies who of the authorities signed whom. Fails for one whose issuer is among them by name, but did not sign it: a
/// root has to have signed itself.
pub(super) fn link(authorities: &mut [Authority]) -> Result<(), ChainError> {
    for at in 0..authorities.len() {
        let certificate = Certificate::parse(&authorities[at].certificate)?;
        if authorities[at].is_root() {
            signed_once(&authorities[at].key, &certificate)?;
            continue;
        }
        let (mut issuers, mut fault) = (Vec::new(), None);
        for (issuer, authority) in authorities.iter().enumerate() {
            if authority.subject == certificate.issuer {
                match signed_once(&authority.key, &certificate) {
                    Ok(()) => issuers.push(issuer),
                    Err(why) => fault = Some(why),
                }
            }
        }
        match fault {
            Some(why) if issuers.is_empty() => return Err(why),
            _ => authorities[at].issuers = issuers,
        }
    }
    Ok(())
}
