//! A public key, and the signatures that it verifies.

use hammer_p256::verify_once;
use hammer_tlog::keys::der::{BIT_STRING, OBJECT_IDENTIFIER, SEQUENCE, Tlv};
use p384::ecdsa::signature::hazmat::PrehashVerifier as _;
use ring::signature::{self as algorithms, UnparsedPublicKey, VerificationAlgorithm};

use super::{ArtifactError, hash_algorithm::HashAlgorithm, rsa};

/// What a key is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyKind {
    /// ECDSA over NIST P-256.
    P256,
    /// ECDSA over NIST P-384.
    P384,
    /// RSA, PKCS #1 v1.5.
    Rsa,
    /// Ed25519, over whole messages alone.
    Ed25519,
}

/// A public key of those who sign artifacts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArtifactKey {
    /// What it is.
    pub kind: KeyKind,
    /// The point, the `RSAPublicKey`, or the 32 bytes of Ed25519.
    bytes: Vec<u8>,
}

impl ArtifactKey {
    /// Reads the DER of a `SubjectPublicKeyInfo`.
    ///
    /// # Errors
    /// Broken DER, and a key of another kind.
    pub fn from_spki(spki: &[u8]) -> Result<Self, ArtifactError> {
        let mut fields = Tlv::parse(spki, SEQUENCE)?.content();
        let mut identifier = fields.expect(SEQUENCE)?.content();
        let oid = identifier.expect(OBJECT_IDENTIFIER)?.value;
        let kind = match (oid, identifier.rest()) {
            (EC_PUBLIC_KEY, P256) => KeyKind::P256,
            (EC_PUBLIC_KEY, P384) => KeyKind::P384,
            (RSA_ENCRYPTION, _) => KeyKind::Rsa,
            (ED25519, []) => KeyKind::Ed25519,
            _ => return Err(ArtifactError::UnsupportedKey),
        };
        let bytes = fields.expect(BIT_STRING)?.bits()?.to_vec();
        fields.finish()?;
        Ok(Self { kind, bytes })
    }

    /// Verifies a signature over a hash that was computed elsewhere. Ed25519 is refused: Rekor takes it over hashes only
    /// as Ed25519ph (RFC 8032 section 5.1), which is not offered here.
    ///
    /// # Errors
    /// A hash of the wrong length, and a signature that does not hold.
    pub fn verify_hash(
        &self,
        algorithm: HashAlgorithm,
        hash: &[u8],
        signature: &[u8],
    ) -> Result<(), ArtifactError> {
        if hash.len() != algorithm.length() {
            return Err(ArtifactError::HashLength);
        }
        let holds = match self.kind {
            KeyKind::P256 => self.p256_verifies(hash, signature),
            KeyKind::P384 => self.p384_verifies(hash, signature),
            KeyKind::Rsa => rsa::verifies(&self.bytes, algorithm, hash, signature),
            KeyKind::Ed25519 => return Err(ArtifactError::UnsupportedKey),
        };
        self.judged(holds)
    }

    /// Verifies a signature over a message, which Ed25519 takes as it is, and the others by its hash.
    ///
    /// # Errors
    /// A hash that does not go with the key, and a signature that does not hold.
    pub fn verify_message(
        &self,
        algorithm: HashAlgorithm,
        message: &[u8],
        signature: &[u8],
    ) -> Result<(), ArtifactError> {
        let Some(by_ring) = self.message_algorithm(algorithm) else {
            return self.verify_hash(algorithm, &algorithm.hash(message), signature);
        };
        let verified = UnparsedPublicKey::new(by_ring, &self.bytes).verify(message, signature);
        self.judged(verified.is_ok())
    }

    fn message_algorithm(&self, algorithm: HashAlgorithm) -> Option<&'static dyn VerificationAlgorithm> {
        match (self.kind, algorithm) {
            (KeyKind::P256, HashAlgorithm::Sha256) => Some(&algorithms::ECDSA_P256_SHA256_ASN1),
            (KeyKind::P256, HashAlgorithm::Sha384) => Some(&algorithms::ECDSA_P256_SHA384_ASN1),
            (KeyKind::P384, HashAlgorithm::Sha256) => Some(&algorithms::ECDSA_P384_SHA256_ASN1),
            (KeyKind::P384, HashAlgorithm::Sha384) => Some(&algorithms::ECDSA_P384_SHA384_ASN1),
            (KeyKind::Rsa, HashAlgorithm::Sha256) => Some(&algorithms::RSA_PKCS1_2048_8192_SHA256),
            (KeyKind::Rsa, HashAlgorithm::Sha384) => Some(&algorithms::RSA_PKCS1_2048_8192_SHA384),
            (KeyKind::Rsa, HashAlgorithm::Sha512) => Some(&algorithms::RSA_PKCS1_2048_8192_SHA512),
            (KeyKind::Ed25519, _) => Some(&algorithms::ED25519),
            (KeyKind::P256 | KeyKind::P384, HashAlgorithm::Sha512) => None,
        }
    }

    fn p256_verifies(&self, hash: &[u8], signature: &[u8]) -> bool {
        // Of a longer hash the leftmost bits are signed (FIPS 186-4 section 6.4).
        hash.first_chunk().is_some_and(|digest| verify_once(&self.bytes, digest, signature))
    }

    fn p384_verifies(&self, hash: &[u8], signature: &[u8]) -> bool {
        let key = p384::ecdsa::VerifyingKey::from_sec1_bytes(&self.bytes);
        let signature = p384::ecdsa::Signature::from_der(signature);
        matches!((key, signature), (Ok(key), Ok(signature)) if key.verify_prehash(hash, &signature).is_ok())
    }

    const fn judged(&self, holds: bool) -> Result<(), ArtifactError> {
        match self.kind {
            _ if holds => Ok(()),
            KeyKind::P256 | KeyKind::P384 => Err(ArtifactError::Ecdsa),
            KeyKind::Rsa => Err(ArtifactError::Rsa),
            KeyKind::Ed25519 => Err(ArtifactError::Ed25519),
        }
    }
}

/// DER content of 1.2.840.10045.2.1, id-ecPublicKey.
const EC_PUBLIC_KEY: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01];
/// DER of 1.2.840.10045.3.1.7, prime256v1.
const P256: &[u8] = &[0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07];
/// DER of 1.3.132.0.34, secp384r1.
const P384: &[u8] = &[0x06, 0x05, 0x2b, 0x81, 0x04, 0x00, 0x22];
/// DER content of 1.2.840.113549.1.1.1, rsaEncryption.
const RSA_ENCRYPTION: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01];
/// DER content of 1.3.101.112, id-Ed25519.
const ED25519: &[u8] = &[0x2b, 0x65, 0x70];
