//! Keys that follow from the seed.

use std::fmt;
use std::sync::Arc;

use p256::ecdsa::SigningKey;
use ring::signature::Ed25519KeyPair;

use super::pair::KeyPair;
use super::rsa;
use crate::seed::Seed;
use crate::signer::{Algorithm, Signer};

/// A signing key that is **public**: it follows from the seed, so whoever knows the seed holds the key. What it signs
/// proves nothing, and a root with such a key must never be trusted by anything but a log or CA under test.
///
/// It cannot be made from bytes or from a file; for a key that somebody keeps there is [`crate::FileKey`].
/// Cloning shares the key.
#[derive(Clone)]
pub struct ThrowawayKey {
    pair: Arc<KeyPair>,
    walking: Option<hammer_p256::ThrowawayKey>,
}

impl ThrowawayKey {
    /// The key that (seed, label, index) stand for, always the same one.
    ///
    /// An RSA key takes the search for two primes, about a tenth of a second where the bignum crates are optimised; each
    /// key is found once in a process.
    pub fn derive(seed: &Seed, algorithm: Algorithm, label: &str, index: u64) -> Self {
        let seed = seed.child(label, index);
        let walking = (algorithm == Algorithm::P256)
            .then(|| hammer_p256::ThrowawayKey::derive(&seed.derive("p256", 0)));
        let pair = match (algorithm, &walking) {
            (Algorithm::P256, Some(key)) => Arc::new(KeyPair::p256(p256_key(key))),
            (Algorithm::Rsa2048, _) => rsa::derive(&seed),
            _ => Arc::new(KeyPair::ed25519(ed25519_key(&seed))),
        };
        Self { pair, walking }
    }

    /// The key that signs by walking nonces; none unless it is on P-256.
    pub(crate) fn walking(&self) -> Option<&hammer_p256::ThrowawayKey> {
        self.walking.as_ref()
    }
}

impl Signer for ThrowawayKey {
    fn algorithm(&self) -> Algorithm {
        self.pair.algorithm()
    }

    fn spki_der(&self) -> &[u8] {
        self.pair.spki_der()
    }

    fn sign(&self, message: &[u8], out: &mut Vec<u8>) {
        self.pair.sign(message, out);
    }
}

impl fmt::Debug for ThrowawayKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThrowawayKey").field("algorithm", &self.algorithm()).finish_non_exhaustive()
    }
}

fn p256_key(key: &hammer_p256::ThrowawayKey) -> SigningKey {
    SigningKey::from_slice(&key.to_be_bytes()).expect("a scalar between 1 and the order of the curve")
}

fn ed25519_key(seed: &Seed) -> Ed25519KeyPair {
    Ed25519KeyPair::from_seed_unchecked(&seed.derive("ed25519", 0)).expect("any 32 bytes are an Ed25519 seed")
}

#[cfg(test)]
mod tests {
    use ring::signature::{
        ECDSA_P256_SHA256_ASN1, ED25519, RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey, VerificationAlgorithm,
    };

    use super::*;
    use crate::der::Der;
    use crate::spki;

    #[test]
    fn signatures_of_every_algorithm_are_deterministic_and_verify() {
        let seed = Seed::from_u64(1);
        for algorithm in Algorithm::ALL {
            let key = ThrowawayKey::derive(&seed, algorithm, "test", 0);
            let (mut first, mut second) = (Vec::new(), Vec::new());
            key.sign(b"message", &mut first);
            ThrowawayKey::derive(&seed, algorithm, "test", 0).sign(b"message", &mut second);
            assert_eq!(first, second, "{algorithm}");
            let verifier: &'static dyn VerificationAlgorithm = match algorithm {
                Algorithm::P256 => &ECDSA_P256_SHA256_ASN1,
                Algorithm::Rsa2048 => &RSA_PKCS1_2048_8192_SHA256,
                Algorithm::Ed25519 => &ED25519,
            };
            let public = UnparsedPublicKey::new(verifier, &key.spki_der()[spki::prefix_length(algorithm)..]);
            assert!(public.verify(b"message", &first).is_ok(), "{algorithm}");
            assert!(public.verify(b"massage", &first).is_err(), "{algorithm}");
        }
    }

    #[test]
    fn seed_label_and_index_each_give_another_key() {
        let key = |seed, label, index| {
            ThrowawayKey::derive(&Seed::from_u64(seed), Algorithm::P256, label, index).spki_der().to_vec()
        };
        assert_ne!(key(1, "a", 0), key(2, "a", 0));
        assert_ne!(key(1, "a", 0), key(1, "b", 0));
        assert_ne!(key(1, "a", 0), key(1, "a", 1));
    }

    #[test]
    fn the_nonces_are_those_of_rfc_6979() {
        // RFC 6979 appendix A.2.5, P-256 with SHA-256, message "sample".
        let scalar = hex("C9AFA9D845BA75166B5C215767B1D6934E50C3DB36E89B127B8A622B120F6721");
        let pair = KeyPair::p256(SigningKey::from_slice(&scalar).unwrap());
        let mut signature = Vec::new();
        pair.sign(b"sample", &mut signature);
        let r = hex("EFD48B2AACB6A8FD1140DD9CD45E81D69D2C877B56AAF991C34D0EA84EAF3716");
        let s = hex("F7CB1C942D657C41D436C7A1B6E29F65F3E900DBB9AFF4064DC4AB2F843ACDA8");
        let expected = Der::build(|der| {
            der.sequence(|der| {
                der.unsigned(&r);
                der.unsigned(&s);
            });
        });
        assert_eq!(signature, expected);
    }

    fn hex(text: &str) -> Vec<u8> {
        (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
    }
}
