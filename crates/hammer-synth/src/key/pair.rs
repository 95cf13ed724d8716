//! A private key of any algorithm, with its public half in DER.

use p256::ecdsa::signature::Signer as _;
use p256::ecdsa::{DerSignature, SigningKey};
use ring::rand::SystemRandom;
use ring::signature::{Ed25519KeyPair, KeyPair as _, RSA_PKCS1_SHA256, RsaKeyPair};

use crate::der::Der;
use crate::signer::Algorithm;
use crate::spki;

pub(super) struct KeyPair {
    secret: Secret,
    spki_der: Vec<u8>,
}

enum Secret {
    P256(Box<SigningKey>),
    Rsa2048(Box<RsaKeyPair>),
    Ed25519(Box<Ed25519KeyPair>),
}

impl KeyPair {
    pub(super) fn p256(key: SigningKey) -> Self {
        let point = key.verifying_key().to_sec1_point(false);
        let spki_der = Der::build(|der| spki::write_p256(der, point.as_bytes()));
        Self { secret: Secret::P256(Box::new(key)), spki_der }
    }

    pub(super) fn rsa2048(key: RsaKeyPair) -> Self {
        let spki_der = Der::build(|der| spki::write_rsa(der, key.public_key().as_ref()));
        Self { secret: Secret::Rsa2048(Box::new(key)), spki_der }
    }

    pub(super) fn ed25519(key: Ed25519KeyPair) -> Self {
        let spki_der = Der::build(|der| spki::write_ed25519(der, key.public_key().as_ref()));
        Self { secret: Secret::Ed25519(Box::new(key)), spki_der }
    }

    pub(super) fn algorithm(&self) -> Algorithm {
        match self.secret {
            Secret::P256(_) => Algorithm::P256,
            Secret::Rsa2048(_) => Algorithm::Rsa2048,
            Secret::Ed25519(_) => Algorithm::Ed25519,
        }
    }

    pub(super) fn spki_der(&self) -> &[u8] {
        &self.spki_der
    }

    pub(super) fn sign(&self, message: &[u8], out: &mut Vec<u8>) {
        match &self.secret {
            Secret::P256(key) => {
                let signature: DerSignature = key.sign(message);
                out.extend_from_slice(signature.as_bytes());
            }
            Secret::Rsa2048(key) => {
                let start = out.len();
                out.resize(start + key.public().modulus_len(), 0);
                // ring checks its own result; it fails only where the arithmetic itself went wrong.
                key.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), message, &mut out[start..])
                    .expect("an RSA key that was accepted signs");
            }
            Secret::Ed25519(key) => out.extend_from_slice(key.sign(message).as_ref()),
        }
    }
}
