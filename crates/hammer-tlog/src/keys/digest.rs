//! Digest algorithms, as certificates and CMS name them.

use std::fmt;

use ring::digest::{self, Digest};

use crate::keys::algorithm_identifier::AlgorithmIdentifier;

/// DER content of 2.16.840.1.101.3.4.2, the arc of NIST's digests, whose last number tells them apart.
const NIST_DIGESTS: &[u8] = &[0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02];

/// A digest of the SHA-2 family (FIPS 180-4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DigestAlgorithm {
    /// SHA-256: 32 bytes.
    Sha256,
    /// SHA-384: 48 bytes.
    Sha384,
    /// SHA-512: 64 bytes.
    Sha512,
}

impl DigestAlgorithm {
    /// The digest that the whole DER of an `AlgorithmIdentifier` names; none where it is malformed or names another one.
    pub fn from_identifier(der: &[u8]) -> Option<Self> {
        let identifier = AlgorithmIdentifier::parse(der).ok()?;
        if identifier.is_bare_or_null() { Self::from_oid(identifier.oid) } else { None }
    }

    /// The digest with this content of an object identifier.
    pub fn from_oid(oid: &[u8]) -> Option<Self> {
        match oid.strip_prefix(NIST_DIGESTS)? {
            [1] => Some(Self::Sha256),
            [2] => Some(Self::Sha384),
            [3] => Some(Self::Sha512),
            _ => None,
        }
    }

    /// The digest of `bytes`.
    pub fn digest(self, bytes: &[u8]) -> Digest {
        digest::digest(self.algorithm(), bytes)
    }

    /// The digest of these pieces, one after the other.
    pub fn digest_pieces(self, pieces: &[&[u8]]) -> Digest {
        let mut context = digest::Context::new(self.algorithm());
        pieces.iter().for_each(|piece| context.update(piece));
        context.finish()
    }

    fn algorithm(self) -> &'static digest::Algorithm {
        match self {
            Self::Sha256 => &digest::SHA256,
            Self::Sha384 => &digest::SHA384,
            Self::Sha512 => &digest::SHA512,
        }
    }
}

impl fmt::Display for DigestAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sha256 => "SHA-256",
            Self::Sha384 => "SHA-384",
            Self::Sha512 => "SHA-512",
        })
    }
}
