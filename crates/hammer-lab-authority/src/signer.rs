//! The keys of embedded services, and what they sign.

use std::fmt;

use hammer_lab::{LabError, ThrowawaySigner};
use hammer_p256::SPKI_PREFIX;
use hammer_tlog::hash::sha256;
use ring::{
    rand::SystemRandom,
    signature::{ECDSA_P384_SHA384_ASN1_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair},
};

/// The algorithm of a [`LabSigner`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SignerAlgorithm {
    /// ECDSA over NIST P-256, with SHA-256.
    P256,
    /// ECDSA over NIST P-384, with SHA-384.
    P384,
    /// Ed25519.
    Ed25519,
}

/// A key of an embedded service. Keys of P-256 and Ed25519 follow from a seed, and whoever knows the seed holds them.
pub struct LabSigner {
    pair: Pair,
    spki: Vec<u8>,
}

enum Pair {
    P256(Box<ThrowawaySigner>),
    P384 { pair: Box<EcdsaKeyPair>, random: SystemRandom },
    Ed25519(Box<Ed25519KeyPair>),
}

impl LabSigner {
    /// The P-256 key of a seed; keys of different purposes have nothing in common.
    ///
    /// # Errors
    /// There is no randomness.
    pub fn p256(purpose: &str, seed: u64) -> Result<Self, LabError> {
        let signer = ThrowawaySigner::derive(&derived(purpose, seed)).map_err(|error| unusable(&error))?;
        Ok(Self {
            spki: [SPKI_PREFIX.as_slice(), signer.public_key()].concat(),
            pair: Pair::P256(Box::new(signer)),
        })
    }

    /// A new P-384 key, another one each time.
    ///
    /// # Errors
    /// There is no randomness.
    pub fn p384() -> Result<Self, LabError> {
        let random = SystemRandom::new();
        let algorithm = &ECDSA_P384_SHA384_ASN1_SIGNING;
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(algorithm, &random).map_err(|error| unusable(&error))?;
        let pair = EcdsaKeyPair::from_pkcs8(algorithm, pkcs8.as_ref(), &random);
        let pair = pair.map_err(|error| unusable(&error))?;
        let spki = [P384_SPKI, pair.public_key().as_ref()].concat();
        Ok(Self { pair: Pair::P384 { pair: Box::new(pair), random }, spki })
    }

    /// The Ed25519 key of a seed; keys of different purposes have nothing in common.
    ///
    /// # Errors
    /// The signature library refuses the key, which no seed is known to bring about.
    pub fn ed25519(purpose: &str, seed: u64) -> Result<Self, LabError> {
        let pair = Ed25519KeyPair::from_seed_unchecked(&derived(purpose, seed));
        let pair = pair.map_err(|error| unusable(&error))?;
        let spki = [ED25519_SPKI, pair.public_key().as_ref()].concat();
        Ok(Self { pair: Pair::Ed25519(Box::new(pair)), spki })
    }

    /// The signature over `message`, which is hashed with the key's own hash: DER of `Ecdsa-Sig-Value` (RFC 3279 section
    /// 2.2.3), or the 64 bytes of Ed25519. It is another one each time, but for Ed25519.
    #[must_use]
    pub fn sign(&self, message: &[u8]) -> Vec<u8> {
        match &self.pair {
            Pair::P256(signer) => signer.sign(&sha256(message).0).as_ref().to_vec(),
            Pair::P384 { pair, random } => {
                // ring fails here only without randomness; an empty signature is then refused by any verifier.
                let signature = pair.sign(random, message);
                signature.map_or_else(|_| Vec::new(), |signature| signature.as_ref().to_vec())
            }
            Pair::Ed25519(pair) => pair.sign(message).as_ref().to_vec(),
        }
    }

    /// The DER of the `SubjectPublicKeyInfo`.
    #[must_use]
    pub fn spki(&self) -> &[u8] {
        &self.spki
    }

    /// The key's own bytes: the uncompressed point, or the 32 bytes of Ed25519.
    #[must_use]
    pub fn public_key(&self) -> &[u8] {
        match &self.pair {
            Pair::P256(signer) => signer.public_key(),
            Pair::P384 { pair, .. } => pair.public_key().as_ref(),
            Pair::Ed25519(pair) => pair.public_key().as_ref(),
        }
    }

    /// The algorithm by which it signs.
    #[must_use]
    pub fn algorithm(&self) -> SignerAlgorithm {
        match &self.pair {
            Pair::P256(_) => SignerAlgorithm::P256,
            Pair::P384 { .. } => SignerAlgorithm::P384,
            Pair::Ed25519(_) => SignerAlgorithm::Ed25519,
        }
    }
}

impl fmt::Debug for LabSigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LabSigner").field("algorithm", &self.algorithm()).finish_non_exhaustive()
    }
}

fn derived(purpose: &str, seed: u64) -> [u8; 32] {
    let name = [b"hammer-lab-sigstore ", purpose.as_bytes()].concat();
    sha256(&[name.as_slice(), &seed.to_be_bytes(), &[0]].concat()).0
}

fn unusable(error: &dyn fmt::Display) -> LabError {
    LabError::Plan { key: "key_seed".into(), reason: error.to_string() }
}

/// The DER of a P-384 `SubjectPublicKeyInfo` up to the point (RFC 5480 section 2).
const P384_SPKI: &[u8] = &[
    0x30, 0x76, 0x30, 0x10, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x05, 0x2b, 0x81,
    0x04, 0x00, 0x22, 0x03, 0x62, 0x00,
];
/// The same of Ed25519 (RFC 8410 section 4).
const ED25519_SPKI: &[u8] = &[0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];

#[cfg(test)]
mod tests {
    use ring::signature::{
        ECDSA_P256_SHA256_ASN1, ECDSA_P384_SHA384_ASN1, ED25519, UnparsedPublicKey, VerificationAlgorithm,
    };

    use super::*;

    fn verifies(signer: &LabSigner, signature: &[u8]) -> bool {
        let algorithm: &dyn VerificationAlgorithm = match signer.algorithm() {
            SignerAlgorithm::P256 => &ECDSA_P256_SHA256_ASN1,
            SignerAlgorithm::P384 => &ECDSA_P384_SHA384_ASN1,
            SignerAlgorithm::Ed25519 => &ED25519,
        };
        UnparsedPublicKey::new(algorithm, signer.public_key()).verify(b"a message", signature).is_ok()
    }

    #[test]
    fn every_algorithm_signs_what_its_public_key_verifies() {
        let signers = [LabSigner::p256("a", 1), LabSigner::p384(), LabSigner::ed25519("a", 1)];
        for signer in signers.map(Result::unwrap) {
            assert!(verifies(&signer, &signer.sign(b"a message")), "{signer:?}");
            assert!(!verifies(&signer, &signer.sign(b"another")), "{signer:?}");
            assert!(signer.spki().ends_with(signer.public_key()));
        }
    }

    #[test]
    fn a_key_of_p256_makes_another_signature_each_time_that_it_is_asked() {
        let signers = [1, 1].map(|seed| LabSigner::p256("a", seed).unwrap());
        let signatures: std::collections::HashSet<_> =
            signers.iter().flat_map(|signer| (0..600).map(|_| signer.sign(b"a message"))).collect();
        assert_eq!(signatures.len(), 1200);
        assert!(signatures.iter().all(|signature| {
            let key = UnparsedPublicKey::new(&ECDSA_P256_SHA256_ASN1, signers[0].public_key());
            key.verify(b"a message", signature).is_ok()
        }));
    }

    #[test]
    fn a_key_follows_from_its_seed_and_its_purpose() {
        for of in [LabSigner::p256 as fn(&str, u64) -> _, LabSigner::ed25519] {
            let spki = |purpose, seed| of(purpose, seed).unwrap().spki().to_vec();
            assert_eq!(spki("a", 1), spki("a", 1));
            assert_ne!(spki("a", 1), spki("a", 2));
            assert_ne!(spki("a", 1), spki("b", 1));
        }
    }
}
