//! The seam between certificates and the keys that sign them.

use std::fmt;
use std::str::FromStr;

use ring::digest;

use crate::error::Error;

/// What a key is and how it signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// ECDSA over P-256 with SHA-256, nonces of RFC 6979.
    P256,
    /// RSASSA-PKCS1-v1_5 with SHA-256 and a modulus of 2048 bits.
    Rsa2048,
    /// Ed25519 (RFC 8032).
    Ed25519,
}

impl Algorithm {
    /// All algorithms.
    pub const ALL: [Self; 3] = [Self::P256, Self::Rsa2048, Self::Ed25519];

    /// The word that a plan uses: `p256`, `rsa2048` or `ed25519`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::P256 => "p256",
            Self::Rsa2048 => "rsa2048",
            Self::Ed25519 => "ed25519",
        }
    }

    /// The `AlgorithmIdentifier` of its signatures in DER (RFC 5758 section 3.2, RFC 4055 section 5, RFC 8410
    /// section 3).
    pub const fn identifier_der(self) -> &'static [u8] {
        match self {
            Self::P256 => &[0x30, 10, 6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 2],
            Self::Rsa2048 => &[0x30, 13, 6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 11, 5, 0],
            Self::Ed25519 => &[0x30, 5, 6, 3, 0x2b, 0x65, 0x70],
        }
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Algorithm {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::ALL
            .into_iter()
            .find(|algorithm| algorithm.name() == text)
            .ok_or_else(|| Error::Unknown { text: text.to_owned(), expected: "p256, rsa2048 or ed25519" })
    }
}

/// A private key that signs messages.
pub trait Signer: fmt::Debug + Send + Sync {
    /// What the key is.
    fn algorithm(&self) -> Algorithm;

    /// The public key as a DER `SubjectPublicKeyInfo`.
    fn spki_der(&self) -> &[u8];

    /// Appends the signature over `message` to `out`: a DER `Ecdsa-Sig-Value`, 256 bytes of RSA, or 64 bytes of
    /// Ed25519.
    fn sign(&self, message: &[u8], out: &mut Vec<u8>);

    /// SHA-256 over the `SubjectPublicKeyInfo`: the LogID of a log's key, the `issuer_key_hash` of an issuer's
    /// (RFC 6962 section 3.2).
    fn key_hash(&self) -> [u8; 32] {
        let mut hash = [0; 32];
        hash.copy_from_slice(digest::digest(&digest::SHA256, self.spki_der()).as_ref());
        hash
    }
}
