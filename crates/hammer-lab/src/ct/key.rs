//! The log's P-256 key and everything that it signs.

use hammer_tlog::merkle::{Hash, sha256};
use p256::{SecretKey, elliptic_curve::sec1::ToSec1Point, pkcs8::DecodePrivateKey};
use ring::{
    rand::SystemRandom,
    signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair},
};
use rustls::pki_types::{PrivateKeyDer, pem::PemObject};

use super::config::KeySource;
use crate::error::LabError;

/// A P-256 key that signs as RFC 6962 section 2.1.4 says, with random nonces.
#[derive(Debug)]
pub(crate) struct LogSigner {
    pair: EcdsaKeyPair,
    random: SystemRandom,
    /// DER SubjectPublicKeyInfo.
    pub(crate) spki: Vec<u8>,
    /// SHA-256 of `spki`.
    pub(crate) log_id: Hash,
}

impl LogSigner {
    pub(crate) fn new(source: &KeySource) -> Result<Self, LabError> {
        let secret = match source {
            KeySource::Seed(seed) => seeded(*seed),
            KeySource::Pem(text) => from_pem(text),
        }
        .map_err(|reason| LabError::Plan { key: "private_key", reason })?;
        let public = secret.public_key().to_sec1_point(false);
        let random = SystemRandom::new();
        let pair = EcdsaKeyPair::from_private_key_and_public_key(
            &ECDSA_P256_SHA256_ASN1_SIGNING,
            &secret.to_bytes(),
            public.as_bytes(),
            &random,
        )
        .map_err(|error| LabError::Plan { key: "private_key", reason: error.to_string() })?;
        let spki = [SPKI_PREFIX, public.as_bytes()].concat();
        let log_id = sha256(&spki);
        Ok(Self { pair, random, spki, log_id })
    }

    /// A `digitally-signed` struct (RFC 5246 section 4.7): sha256, ecdsa, length, DER signature.
    pub(crate) fn digitally_signed(&self, message: &[u8]) -> Vec<u8> {
        // ring fails here only without randomness; an empty signature is then refused by any verifier.
        let signature = self.pair.sign(&self.random, message);
        let signature = signature.as_ref().map_or(&[][..], AsRef::as_ref);
        let mut signed = Vec::with_capacity(4 + signature.len());
        signed.extend_from_slice(&[4, 3, 0, signature.len() as u8]);
        signed.extend_from_slice(signature);
        signed
    }
}

fn seeded(seed: u64) -> Result<SecretKey, String> {
    let digest = sha256(&[b"hammer-lab log key ".as_slice(), &seed.to_be_bytes()].concat());
    SecretKey::from_slice(digest.as_bytes()).map_err(|error| error.to_string())
}

fn from_pem(text: &str) -> Result<SecretKey, String> {
    match PrivateKeyDer::from_pem_slice(text.as_bytes()).map_err(|error| error.to_string())? {
        PrivateKeyDer::Sec1(der) => {
            SecretKey::from_sec1_der(der.secret_sec1_der()).map_err(|e| e.to_string())
        }
        PrivateKeyDer::Pkcs8(der) => {
            SecretKey::from_pkcs8_der(der.secret_pkcs8_der()).map_err(|e| e.to_string())
        }
        _ => Err("the log's key is not a P-256 key in SEC1 or PKCS#8".into()),
    }
}

/// AlgorithmIdentifier of a P-256 key and the begin of its BIT STRING (RFC 5480 section 2).
const SPKI_PREFIX: &[u8] = &[
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86,
    0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
];
