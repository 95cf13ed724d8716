//! The keys of an issuer: those that follow from a seed, and those of files.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use hammer_synth::{
    key::{FileKey, ThrowawayKey},
    seed::Seed,
    signer::{Algorithm, Signer as _},
};
use ring::digest;

/// How tokens are signed (RFC 7518 section 3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TokenAlgorithm {
    /// ECDSA over P-256 with SHA-256: by far the cheaper one to mint with.
    Es256,
    /// RSASSA-PKCS1-v1_5 with SHA-256 and a modulus of 2048 bits: the one that every issuer and verifier has.
    Rs256,
}

impl TokenAlgorithm {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Es256, Self::Rs256];

    /// Its name in the header `alg`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Es256 => "ES256",
            Self::Rs256 => "RS256",
        }
    }
}

impl fmt::Display for TokenAlgorithm {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.name())
    }
}

/// A key of an issuer: one that follows from a seed, which everybody may hold and nothing but a service under test may trust, or one of a
/// file. Cloning is cheap.
#[derive(Clone)]
pub struct IssuerKeys {
    pub(crate) key: SigningKey,
    /// 32 bytes that differ for each key, from which the nonces follow.
    pub(crate) nonce_seed: [u8; 32],
    key_id: String,
}

#[derive(Clone)]
pub(crate) enum SigningKey {
    P256(hammer_p256::throwaway::ThrowawayKey),
    Rsa2048(ThrowawayKey),
    /// Of P-256 or RSA-2048.
    File(Arc<FileKey>),
}

/// Why a file has no key that signs tokens: a fragment that completes "failed to ...".
#[derive(Debug, thiserror::Error)]
pub enum IssuerKeyError {
    /// It cannot be read.
    #[error(transparent)]
    File(#[from] hammer_synth::Error),
    /// It is of another kind.
    #[error("use the key in {0}: tokens are signed by P-256 or RSA-2048")]
    Kind(String),
}

impl IssuerKeys {
    /// The key of a seed; an issuer that changes its key has rotation 0, 1, 2, ... one after another.
    ///
    /// A key for [`TokenAlgorithm::Rs256`] takes the search for two primes, about a tenth of a second, once in a process.
    pub fn derive(seed: &Seed, algorithm: TokenAlgorithm, rotation: u64) -> Self {
        let seed = seed.child("token issuer", rotation);
        let key = match algorithm {
            TokenAlgorithm::Es256 => {
                SigningKey::P256(hammer_p256::throwaway::ThrowawayKey::derive(&seed.derive("es256", 0)))
            }
            TokenAlgorithm::Rs256 => {
                SigningKey::Rsa2048(ThrowawayKey::derive(&seed, Algorithm::Rsa2048, "rs256", 0))
            }
        };
        let key_id = PublicNumbers::of(&key).thumbprint();
        Self { key, nonce_seed: seed.derive("es256 nonces", 0), key_id }
    }

    /// As [`IssuerKeys::derive`], of the seed of that number.
    pub fn of_seed(seed: u64, algorithm: TokenAlgorithm, rotation: u64) -> Self {
        Self::derive(&Seed::from_u64(seed), algorithm, rotation)
    }

    /// The key of a PEM file: P-256 or RSA-2048.
    ///
    /// # Errors
    /// A file that cannot be read, or holds another key.
    pub fn of_file(path: &Path) -> Result<Self, IssuerKeyError> {
        let key = FileKey::from_pem_file(path)?;
        if key.algorithm() == Algorithm::Ed25519 {
            return Err(IssuerKeyError::Kind(path.display().to_string()));
        }
        let key = SigningKey::File(Arc::new(key));
        let key_id = PublicNumbers::of(&key).thumbprint();
        // Its nonces are its own affair.
        Ok(Self { key, nonce_seed: [0; 32], key_id })
    }

    /// The same key with nonces of its own for tokens of that purpose: two minters of one key may not use one nonce for two messages.
    #[must_use]
    pub fn with_nonces_for(self, purpose: &[u8]) -> Self {
        let hash = digest::digest(&digest::SHA256, &[&self.nonce_seed[..], purpose].concat());
        let mut nonce_seed = [0; 32];
        nonce_seed.copy_from_slice(hash.as_ref());
        Self { nonce_seed, ..self }
    }

    /// The same key by another name.
    #[must_use]
    pub fn named(self, key_id: &str) -> Self {
        Self { key_id: key_id.to_owned(), ..self }
    }

    /// How it signs.
    pub fn algorithm(&self) -> TokenAlgorithm {
        match &self.key {
            SigningKey::P256(_) => TokenAlgorithm::Es256,
            SigningKey::Rsa2048(_) => TokenAlgorithm::Rs256,
            SigningKey::File(key) if key.algorithm() == Algorithm::Rsa2048 => TokenAlgorithm::Rs256,
            SigningKey::File(_) => TokenAlgorithm::Es256,
        }
    }

    /// Its name in the header `kid`: the SHA-256 thumbprint of RFC 7638, in base64url, unless it was given another one.
    pub fn key_id(&self) -> &str {
        &self.key_id
    }

    /// The public key as a JSON Web Key (RFC 7517 section 4), an object.
    pub fn jwk(&self) -> String {
        let kid = serde_json::Value::from(self.key_id.as_str());
        let about = format!(r#""use":"sig","alg":"{}","kid":{kid}"#, self.algorithm());
        match PublicNumbers::of(&self.key) {
            PublicNumbers::Ec { x, y } => {
                format!(r#"{{"kty":"EC",{about},"crv":"P-256","x":"{x}","y":"{y}"}}"#)
            }
            PublicNumbers::Rsa { n, e } => format!(r#"{{"kty":"RSA",{about},"n":"{n}","e":"{e}"}}"#),
        }
    }
}

impl fmt::Debug for IssuerKeys {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("IssuerKeys")
            .field("algorithm", &self.algorithm())
            .field("key_id", &self.key_id)
            .finish_non_exhaustive()
    }
}

/// The numbers of a public key, each in base64url (RFC 7518 sections 6.2.1 and 6.3.1).
enum PublicNumbers {
    Ec { x: String, y: String },
    Rsa { n: String, e: String },
}

impl PublicNumbers {
    fn of(key: &SigningKey) -> Self {
        let text = |bytes: &[u8]| BASE64_URL_SAFE_NO_PAD.encode(bytes);
        match key {
            SigningKey::P256(key) => {
                let (x, y) = key.public_key()[1..].split_at(32);
                Self::Ec { x: text(x), y: text(y) }
            }
            SigningKey::Rsa2048(key) => Self::of_rsa(key.spki_der()),
            SigningKey::File(key) if key.algorithm() == Algorithm::Rsa2048 => Self::of_rsa(key.spki_der()),
            SigningKey::File(key) => {
                // The point stands at the end, uncompressed (RFC 5480 section 2.2).
                let spki = key.spki_der();
                let (x, y) = spki[spki.len() - 64..].split_at(32);
                Self::Ec { x: text(x), y: text(y) }
            }
        }
    }

    fn of_rsa(spki_der: &[u8]) -> Self {
        let (modulus, exponent) = rsa_numbers(spki_der);
        let text = |bytes: &[u8]| BASE64_URL_SAFE_NO_PAD.encode(bytes);
        Self::Rsa { n: text(modulus), e: text(exponent) }
    }

    /// The SHA-256 thumbprint, in base64url (RFC 7638 section 3).
    fn thumbprint(&self) -> String {
        let canonical = match self {
            Self::Ec { x, y } => format!(r#"{{"crv":"P-256","kty":"EC","x":"{x}","y":"{y}"}}"#),
            Self::Rsa { n, e } => format!(r#"{{"e":"{e}","kty":"RSA","n":"{n}"}}"#),
        };
        BASE64_URL_SAFE_NO_PAD.encode(digest::digest(&digest::SHA256, canonical.as_bytes()))
    }
}

/// Modulus and exponent of a key of 2048 bits, whose `SubjectPublicKeyInfo` ends with both INTEGERs (RFC 8017 appendix A.1.1): the modulus
/// behind a zero, since its highest bit is set, and an exponent of few bytes.
fn rsa_numbers(spki_der: &[u8]) -> (&[u8], &[u8]) {
    let end = spki_der.len();
    let length = (1..9).find(|length| spki_der[end - length - 2..end - length] == [2, *length as u8]);
    let exponent = length.unwrap_or(3);
    let modulus = end - exponent - 2;
    (&spki_der[modulus - 256..modulus], &spki_der[end - exponent..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seed_algorithm_and_rotation_each_give_another_key() {
        let id = |seed, algorithm, rotation| {
            IssuerKeys::derive(&Seed::from_u64(seed), algorithm, rotation).key_id().to_owned()
        };
        let first = id(1, TokenAlgorithm::Es256, 0);
        assert_eq!(first, id(1, TokenAlgorithm::Es256, 0));
        assert_eq!(first.len(), 43);
        for other in [
            id(2, TokenAlgorithm::Es256, 0),
            id(1, TokenAlgorithm::Es256, 1),
            id(1, TokenAlgorithm::Rs256, 0),
        ] {
            assert_ne!(first, other);
        }
    }

    #[test]
    fn a_key_says_what_verifies_it_and_nothing_else() {
        for algorithm in TokenAlgorithm::ALL {
            let keys = IssuerKeys::derive(&Seed::from_u64(1), algorithm, 0);
            let jwk: serde_json::Value = serde_json::from_str(&keys.jwk()).unwrap();
            let mut members: Vec<&str> = jwk.as_object().unwrap().keys().map(String::as_str).collect();
            members.sort_unstable();
            let expected: &[&str] = match algorithm {
                TokenAlgorithm::Es256 => &["alg", "crv", "kid", "kty", "use", "x", "y"],
                TokenAlgorithm::Rs256 => &["alg", "e", "kid", "kty", "n", "use"],
            };
            assert_eq!(members, expected);
            assert_eq!((&jwk["alg"], &jwk["kid"]), (&algorithm.name().into(), &keys.key_id().into()));
        }
    }

    #[test]
    fn a_thumbprint_is_that_of_rfc_7638() {
        // Section 3.1.
        let n = "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc\
             _BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQ\
             R0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bF\
             TWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw";
        let numbers = PublicNumbers::Rsa { n: n.to_owned(), e: "AQAB".to_owned() };
        assert_eq!(numbers.thumbprint(), "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs");
    }

    #[test]
    fn an_exponent_is_65537() {
        let keys = IssuerKeys::derive(&Seed::from_u64(1), TokenAlgorithm::Rs256, 0);
        let jwk: serde_json::Value = serde_json::from_str(&keys.jwk()).unwrap();
        assert_eq!(jwk["e"], "AQAB");
        let modulus = BASE64_URL_SAFE_NO_PAD.decode(jwk["n"].as_str().unwrap()).unwrap();
        assert_eq!((modulus.len(), modulus[0] >> 7, modulus[255] & 1), (256, 1, 1));
    }
}
