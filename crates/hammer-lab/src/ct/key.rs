//! The log's P-256 key and everything that it signs.

use hammer_p256::SPKI_PREFIX;
use hammer_tlog::logs::merkle::{Hash, sha256};
use hammer_values::plain_key_labels;
use p256::{SecretKey, elliptic_curve::sec1::ToSec1Point, pkcs8::DecodePrivateKey};
use ring::{
    rand::SystemRandom,
    signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair},
};
use rustls::pki_types::PrivateKeyDer;
use rustls::pki_types::pem::{self, PemObject};

use super::plan::config::KeySource;
use crate::error::LabError;
use crate::throwaway::ThrowawaySigner;

/// A P-256 key that signs as RFC 6962 section 2.1.4 says, another signature each time.
#[derive(Debug)]
pub(crate) struct LogSigner {
    secret: Secret,
    /// DER SubjectPublicKeyInfo.
    pub(crate) spki: Vec<u8>,
    /// SHA-256 of `spki`.
    pub(crate) log_id: Hash,
    /// That in base64.
    pub(crate) id: String,
}

#[derive(Debug)]
enum Secret {
    /// Whose nonces walk: whoever knows the seed holds the key in any case.
    Throwaway(Box<ThrowawaySigner>),
    /// From a file, and somebody's to keep.
    Kept { pair: Box<EcdsaKeyPair>, random: SystemRandom },
}

impl LogSigner {
    pub(crate) fn new(source: &KeySource) -> Result<Self, LabError> {
        let (secret, public) = match source {
            KeySource::Seed(seed) => seeded(*seed),
            KeySource::Pem(text) => from_pem(text).and_then(|secret| kept(&secret)),
        }
        .map_err(|reason| LabError::Plan { key: "private_key".into(), reason })?;
        let spki = [SPKI_PREFIX.as_slice(), &public].concat();
        let log_id = sha256(&spki);
        Ok(Self { secret, spki, log_id, id: log_id.to_base64() })
    }

    /// A `digitally-signed` struct (RFC 5246 section 4.7): sha256, ecdsa, length, DER signature.
    pub(crate) fn digitally_signed(&self, message: &[u8]) -> Vec<u8> {
        match &self.secret {
            Secret::Throwaway(signer) => framed(signer.sign(&sha256(message).0).as_ref()),
            Secret::Kept { pair, random } => {
                // ring fails here only without randomness; an empty signature is then refused by any verifier.
                let signature = pair.sign(random, message);
                framed(signature.as_ref().map_or(&[][..], AsRef::as_ref))
            }
        }
    }
}

fn framed(signature: &[u8]) -> Vec<u8> {
    let mut signed = Vec::with_capacity(4 + signature.len());
    signed.extend_from_slice(&[4, 3, 0, signature.len() as u8]);
    signed.extend_from_slice(signature);
    signed
}

/// The key of a seed, and its public half.
fn seeded(seed: u64) -> Result<(Secret, Vec<u8>), String> {
    let digest = sha256(&[b"hammer-lab log key ".as_slice(), &seed.to_be_bytes()].concat());
    let signer = ThrowawaySigner::derive(digest.as_bytes())?;
    let public = signer.public_key().to_vec();
    Ok((Secret::Throwaway(Box::new(signer)), public))
}

/// A key that somebody keeps, and its public half.
fn kept(secret: &SecretKey) -> Result<(Secret, Vec<u8>), String> {
    let public = secret.public_key().to_sec1_point(false);
    let (algorithm, random) = (&ECDSA_P256_SHA256_ASN1_SIGNING, SystemRandom::new());
    let pair = EcdsaKeyPair::from_private_key_and_public_key(
        algorithm,
        &secret.to_bytes(),
        public.as_bytes(),
        &random,
    )
    .map_err(|error| error.to_string())?;
    let public = pair.public_key().as_ref().to_vec();
    Ok((Secret::Kept { pair: Box::new(pair), random }, public))
}

fn from_pem(text: &str) -> Result<SecretKey, String> {
    let key =
        PrivateKeyDer::from_pem_slice(&plain_key_labels(text.as_bytes())).map_err(|error| match error {
            pem::Error::NoItemsFound => "no private key in it".to_owned(),
            error => error.to_string(),
        })?;
    match key {
        PrivateKeyDer::Sec1(der) => {
            SecretKey::from_sec1_der(der.secret_sec1_der()).map_err(|e| e.to_string())
        }
        PrivateKeyDer::Pkcs8(der) => {
            SecretKey::from_pkcs8_der(der.secret_pkcs8_der()).map_err(|e| e.to_string())
        }
        _ => Err("the log's key is not a P-256 key in SEC1 or PKCS#8".into()),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use hammer_tlog::{
        encoding::base64,
        keys::key::{DigitallySigned, LogKey},
    };
    use p256::pkcs8::EncodePrivateKey;
    use ring::signature::{ECDSA_P256_SHA256_ASN1, UnparsedPublicKey};

    use super::*;

    fn by_seed(seed: u64) -> LogSigner {
        LogSigner::new(&KeySource::Seed(seed)).unwrap()
    }

    /// The DER of a good signature over `message`.
    fn sign(signer: &LogSigner, message: &[u8]) -> Vec<u8> {
        let signed = signer.digitally_signed(message);
        let signed = DigitallySigned::parse(&signed).unwrap();
        let point = &signer.spki[SPKI_PREFIX.len()..];
        let ring = UnparsedPublicKey::new(&ECDSA_P256_SHA256_ASN1, point);
        assert!(ring.verify(message, signed.signature).is_ok());
        signed.signature.to_vec()
    }

    /// The r of a signature, by which its nonce is known.
    fn r(signature: &[u8]) -> Vec<u8> {
        signature[4..4 + usize::from(signature[3])].to_vec()
    }

    #[test]
    fn a_seeds_key_is_always_the_same_and_no_nonce_signs_twice() {
        let (one, other) = (by_seed(1), by_seed(1));
        assert_eq!(one.log_id, other.log_id);
        assert_ne!(one.log_id, by_seed(2).log_id);
        let signed = one.digitally_signed(b"note");
        let signed = DigitallySigned::parse(&signed).unwrap();
        LogKey::from_der(&one.spki).unwrap().verify(b"note", &signed).unwrap();
        let mut nonces = HashSet::new();
        for number in 0..600u32 {
            // The same message now and then: it does not decide about its nonce.
            let message = (number / 3).to_be_bytes();
            assert!(nonces.insert(r(&sign(&one, &message))), "{number}");
            assert!(nonces.insert(r(&sign(&other, &message))), "{number}");
        }
    }

    #[test]
    fn threads_that_sign_at_once_share_no_nonce() {
        let signer = by_seed(3);
        let signatures = std::thread::scope(|scope| {
            let sign_many = || (0..300).map(|_| sign(&signer, b"a tree head")).collect::<Vec<_>>();
            let threads: Vec<_> = (0..3).map(|_| scope.spawn(sign_many)).collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
        });
        let nonces: HashSet<_> = signatures.iter().map(|signature| r(signature)).collect();
        assert_eq!(nonces.len(), 900);
    }

    #[test]
    fn a_key_from_a_file_signs_with_random_nonces() {
        let secret = SecretKey::from_slice(&[7; 32]).unwrap();
        let text = base64(secret.to_pkcs8_der().unwrap().as_bytes());
        for label in ["PRIVATE KEY", "TEST PRIVATE KEY"] {
            let pem = format!("-----BEGIN {label}-----\n{text}\n-----END {label}-----\n");
            let signer = LogSigner::new(&KeySource::Pem(pem)).unwrap();
            assert!(matches!(signer.secret, Secret::Kept { .. }));
            let point = secret.public_key().to_sec1_point(false);
            assert_eq!(signer.spki[SPKI_PREFIX.len()..], *point.as_bytes());
            assert_ne!(r(&sign(&signer, b"note")), r(&sign(&signer, b"note")));
        }
    }
}
