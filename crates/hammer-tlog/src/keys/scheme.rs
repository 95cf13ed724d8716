//! Signature algorithms, as certificates and CMS name them.

use std::fmt;

use crate::keys::algorithm_identifier::AlgorithmIdentifier;
use crate::keys::digest::DigestAlgorithm;

/// DER content of 1.2.840.10045.4.3, the arc of ECDSA with SHA-2 (RFC 5758 section 3.2).
const ECDSA_WITH_SHA2: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03];
/// DER content of 1.2.840.113549.1.1, the arc of PKCS #1 (RFC 8017 appendix C).
const PKCS1: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01];
/// DER content of 1.3.101.112, id-Ed25519 (RFC 8410 section 3).
const ID_ED25519: &[u8] = &[0x2b, 0x65, 0x70];

/// How a signature is made: the signature algorithm with its digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SignatureScheme {
    /// ECDSA over the digest, on the curve of the key.
    Ecdsa(DigestAlgorithm),
    /// RSA PKCS #1 v1.5 over the digest.
    Rsa(DigestAlgorithm),
    /// Ed25519.
    Ed25519,
}

impl SignatureScheme {
    /// What the whole DER of a signature's `AlgorithmIdentifier` names; none where it is malformed or names another one.
    pub fn from_identifier(der: &[u8]) -> Option<Self> {
        let identifier = AlgorithmIdentifier::parse(der).ok()?;
        if let Some(last) = identifier.oid.strip_prefix(ECDSA_WITH_SHA2) {
            let scheme = Self::Ecdsa(match last {
                [2] => DigestAlgorithm::Sha256,
                [3] => DigestAlgorithm::Sha384,
                [4] => DigestAlgorithm::Sha512,
                _ => return None,
            });
            return identifier.is_bare().then_some(scheme);
        }
        if let Some(last) = identifier.oid.strip_prefix(PKCS1) {
            let scheme = Self::Rsa(match last {
                [11] => DigestAlgorithm::Sha256,
                [12] => DigestAlgorithm::Sha384,
                [13] => DigestAlgorithm::Sha512,
                _ => return None,
            });
            return identifier.is_bare_or_null().then_some(scheme);
        }
        (identifier.oid == ID_ED25519 && identifier.is_bare()).then_some(Self::Ed25519)
    }

    /// What a `SignerInfo` names by its `signatureAlgorithm` (whole DER) and its digest algorithm: rsaEncryption leaves the
    /// digest to the latter (RFC 5754 section 3.2), and what names both has to name the same. None for anything else.
    pub fn of_signer(der: &[u8], digest: DigestAlgorithm) -> Option<Self> {
        let identifier = AlgorithmIdentifier::parse(der).ok()?;
        if identifier.oid.strip_prefix(PKCS1) == Some(&[1]) && identifier.is_bare_or_null() {
            return Some(Self::Rsa(digest));
        }
        Self::from_identifier(der).filter(|scheme| scheme.digest().is_none_or(|named| named == digest))
    }

    /// The digest that is signed; none for Ed25519, which signs the message.
    pub fn digest(self) -> Option<DigestAlgorithm> {
        match self {
            Self::Ecdsa(digest) | Self::Rsa(digest) => Some(digest),
            Self::Ed25519 => None,
        }
    }
}

impl fmt::Display for SignatureScheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ecdsa(digest) => write!(f, "ECDSA with {digest}"),
            Self::Rsa(digest) => write!(f, "RSA with {digest}"),
            Self::Ed25519 => f.write_str("Ed25519"),
        }
    }
}
