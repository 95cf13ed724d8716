//! The keys of an issuer, which follow from the seed.

use std::fmt;

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use hammer_synth::{
    key::ThrowawayKey,
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

/// A key of an issuer that everybody may hold, since it follows from the seed: nothing but a service under test may trust it.
/// Cloning is cheap.
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

    /// How it signs.
    pub fn algorithm(&self) -> TokenAlgorithm {
        match self.key {
            SigningKey::P256(_) => TokenAlgorithm::Es256,
            SigningKey::Rsa2048(_) => TokenAlgorithm::Rs256,
        }
    }

    /// Its name in the header `kid`: the SHA-256 thumbprint of RFC 7638, in base64url.
    pub fn key_id(&self) -> &str {
        &self.key_id
    }

    /// The public key as a JSON Web Key (RFC 7517 section 4), an object.
    pub fn jwk(&self) -> String {
        let about = format!(r#""use":"sig","alg":"{}","kid":"{}""#, self.algorithm(), self.key_id);
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
            SigningKey::Rsa2048(key) => {
                let (modulus, exponent) = rsa_numbers(key.spki_der());
                Self::Rsa { n: text(modulus), e: text(exponent) }
            }
        }
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

/// Modulus and exponent of a key of 2048 bits, whose `SubjectPublicKeyInfo` ends with the modulus and the INTEGER 65537 (RFC 8017
/// appendix A.1.1).
fn rsa_numbers(spki_der: &[u8]) -> (&[u8], &[u8]) {
    let (modulus, integer) = spki_der[spki_der.len() - 256 - 5..].split_at(256);
    (modulus, &integer[2..])
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
