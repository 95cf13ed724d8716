//! Chains of certificates up to trusted roots (RFC 5280 section 6): names, signatures, validity, basic constraints, key
//! usage. It never looks at revocation, policies or name constraints: a chain that holds but for a critical extension which is not
//! read here is [unverified](ChainError::is_unverified), and an authority that has one is not taken in.

mod authority;
mod climb;
mod error;
mod name;
mod terms;

use std::sync::Arc;

pub use self::authority::Authority;
use self::authority::{key_of, link, signed_once};
use self::climb::{Climb, SENT_ALONG};
pub use self::error::ChainError;
use self::name::{display_name, label_of};
pub use self::terms::Validity;
use self::terms::{check_extensions, check_form, validity_of};
use crate::encoding::from_base64;
use crate::hash::Hash;
use crate::keys::certificate::Certificate;

/// Roots, and the intermediate and other certificates that are known beforehand. Clones share what is computed for a key,
/// such as its table, and what was verified when the certificates were read: the signatures of the authorities.
#[derive(Debug, Clone)]
pub struct TrustedAuthorities {
    known: Arc<KnownCertificates>,
}

/// What is known beforehand.
#[derive(Debug)]
struct KnownCertificates {
    authorities: Vec<Authority>,
    /// The DER of all certificates, those of no CA among them, in the order in which they were given.
    certificates: Vec<Vec<u8>>,
}

impl TrustedAuthorities {
    /// Reads every `CERTIFICATE` block of a PEM: one or more chains, as Fulcio and timestamp authorities hand them out. The
    /// certificates of CAs that are self-issued are roots, those of other CAs are intermediates.
    pub fn from_pem(text: &str) -> Result<Self, ChainError> {
        certificates_of_pem(text).and_then(Self::from_der)
    }

    /// The same of certificates in DER. Fails where one of them is broken, where one of a CA is not signed by its issuer
    /// among them, and where there is no root.
    pub fn from_der(certificates: impl IntoIterator<Item = Vec<u8>>) -> Result<Self, ChainError> {
        let certificates: Vec<Vec<u8>> = certificates.into_iter().collect();
        let mut authorities: Vec<Authority> = Vec::new();
        for der in &certificates {
            let certificate = Certificate::parse(der)?;
            let twice = || authorities.iter().any(|authority| authority.certificate() == der.as_slice());
            if is_authority(&certificate)? && !twice() {
                authorities.push(Authority::read(&certificate)?);
            }
        }
        link(&mut authorities)?;
        if !authorities.iter().any(Authority::is_root) {
            return Err(ChainError::NoRoot);
        }
        Ok(Self { known: Arc::new(KnownCertificates { authorities, certificates }) })
    }

    /// The CAs, in the order in which they were given.
    pub fn authorities(&self) -> &[Authority] {
        &self.known.authorities
    }

    /// The DER of every certificate that was given, in order: that of a timestamp authority, say, is one of no CA.
    pub fn certificates(&self) -> impl Iterator<Item = &[u8]> {
        self.known.certificates.iter().map(Vec::as_slice)
    }

    /// Verifies that `leaf` leads to a root at `unix_seconds`. `others` are certificates sent along, in any order, of which
    /// the first 16 are looked at. What `leaf` may be used for is left to the caller.
    pub fn verify(
        &self,
        leaf: &Certificate<'_>,
        others: &[Certificate<'_>],
        unix_seconds: i64,
    ) -> Result<(), ChainError> {
        self.verify_path(leaf, others, unix_seconds).map(drop)
    }

    /// The same as [`TrustedAuthorities::verify`], with the time in which the path that was found is valid: at any second of
    /// it the same certificates would be verified again.
    pub fn verify_path(
        &self,
        leaf: &Certificate<'_>,
        others: &[Certificate<'_>],
        unix_seconds: i64,
    ) -> Result<Validity, ChainError> {
        self.find_path(None, leaf, others, unix_seconds)
    }

    /// The same for a purpose (DER content of its identifier): a path is [unverified](ChainError::is_unverified) where the extended key
    /// usage of an intermediate certificate names others alone.
    pub fn verify_path_for(
        &self,
        purpose: &[u8],
        leaf: &Certificate<'_>,
        others: &[Certificate<'_>],
        unix_seconds: i64,
    ) -> Result<Validity, ChainError> {
        self.find_path(Some(purpose), leaf, others, unix_seconds)
    }

    fn find_path(
        &self,
        purpose: Option<&[u8]>,
        leaf: &Certificate<'_>,
        others: &[Certificate<'_>],
        unix_seconds: i64,
    ) -> Result<Validity, ChainError> {
        let validity = validity_of(leaf)?;
        validity.check(|| label_of(leaf), unix_seconds)?;
        check_form(leaf)?;
        let mut climb = Climb::new(&self.known.authorities, others, unix_seconds, purpose);
        let path = match climb.path_of(leaf) {
            Some(path) => path.intersect(validity),
            None => return Err(climb.into_fault(leaf)),
        };
        // Last: a chain that is wrong is no better for what is not read of it.
        check_extensions(leaf)?;
        Ok(path)
    }

    /// The known CA that issued `leaf`: the only one of that name, or else the one of that name whose signature it bears.
    /// Whether it leads to a root is said by [`TrustedAuthorities::verify`] alone.
    pub fn issuer_of(&self, leaf: &Certificate<'_>) -> Option<&Authority> {
        let named = || self.known.authorities.iter().filter(|authority| authority.subject() == leaf.issuer);
        if named().count() > 1 {
            named().find(|authority| authority.signed(leaf).is_ok())
        } else {
            named().next()
        }
    }
}

impl TrustedAuthorities {
    /// The `issuer_key_hash` (RFC 6962 section 3.2) of what issued `leaf`: a known CA, or one of `others`, which were sent along. Where
    /// several have the issuer's name, that whose signature the leaf bears.
    pub fn issuer_key_hash(&self, leaf: &Certificate<'_>, others: &[Certificate<'_>]) -> Option<Hash> {
        let known = self.issuer_of(leaf);
        let is_other = |other: &&Certificate<'_>| {
            other.subject == leaf.issuer && known.is_none_or(|known| known.key().spki() != other.spki)
        };
        let mut others = others.iter().take(SENT_ALONG).filter(is_other).peekable();
        if others.peek().is_none() || known.is_some_and(|known| known.signed(leaf).is_ok()) {
            return known.map(Authority::key_hash);
        }
        let signed =
            |other: &&Certificate<'_>| key_of(other).is_ok_and(|key| signed_once(&key, leaf).is_ok());
        others.find(signed).map(Certificate::key_hash).or(known.map(Authority::key_hash))
    }
}

/// The DER of every `CERTIFICATE` block of a PEM, of which there has to be one.
pub fn certificates_of_pem(text: &str) -> Result<Vec<Vec<u8>>, ChainError> {
    let mut certificates = Vec::new();
    for block in text.split("-----BEGIN CERTIFICATE-----").skip(1) {
        let (body, _) = block.split_once("-----END CERTIFICATE-----").ok_or(ChainError::Pem)?;
        let body: String = body.split_ascii_whitespace().collect();
        let der = from_base64(&body)?;
        Certificate::parse(&der)?;
        certificates.push(der);
    }
    if certificates.is_empty() { Err(ChainError::Pem) } else { Ok(certificates) }
}

/// Whether a certificate is one of a CA. One that is self-issued, and so could only be a root, has to be.
fn is_authority(certificate: &Certificate<'_>) -> Result<bool, ChainError> {
    let ca = certificate.basic_constraints()?.ca;
    if !ca && certificate.issuer == certificate.subject {
        return Err(ChainError::NotACa { subject: display_name(certificate.subject) });
    }
    Ok(ca)
}
