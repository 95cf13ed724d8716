//! Requests by fresh keys.

use hammer_lab_sigstore::artifact::public_key_pem;
use hammer_tlog::{encoding::base64, logs::merkle::sha256};
use ring::{
    rand::SystemRandom,
    signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair},
};
use serde_json::{Value, json};

/// A P-256 key.
pub(crate) struct Signer {
    pair: EcdsaKeyPair,
    pub(crate) spki: Vec<u8>,
}

impl Signer {
    pub(crate) fn new() -> Self {
        let (random, algorithm) = (SystemRandom::new(), &ECDSA_P256_SHA256_ASN1_SIGNING);
        let document = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
        let pair = EcdsaKeyPair::from_pkcs8(algorithm, document.as_ref(), &random).unwrap();
        let prefix = [
            0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a,
            0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
        ];
        let spki = [&prefix, pair.public_key().as_ref()].concat();
        Self { pair, spki }
    }

    pub(crate) fn sign(&self, message: &[u8]) -> Vec<u8> {
        self.pair.sign(&SystemRandom::new(), message).unwrap().as_ref().to_vec()
    }

    pub(crate) fn pem(&self) -> String {
        public_key_pem(&self.spki)
    }
}

/// A `hashedrekord` 0.0.1 over an artifact.
pub(crate) fn hashedrekord(artifact: &[u8]) -> Value {
    let signer = Signer::new();
    proposed(&base64(&signer.sign(artifact)), &signer.pem(), "sha256", &sha256(artifact).to_hex())
}

/// A `hashedrekord` 0.0.1 of these parts.
pub(crate) fn proposed(signature: &str, pem: &str, algorithm: &str, hash: &str) -> Value {
    json!({ "apiVersion": "0.0.1", "kind": "hashedrekord", "spec": {
        "signature": { "content": signature, "publicKey": { "content": base64(pem.as_bytes()) } },
        "data": { "hash": { "algorithm": algorithm, "value": hash } },
    }})
}

/// A request of Rekor v2 over an artifact.
pub(crate) fn hashedrekord_v2(artifact: &[u8]) -> Value {
    let signer = Signer::new();
    json!({ "hashedRekordRequestV002": {
        "digest": base64(&sha256(artifact).0),
        "signature": { "content": base64(&signer.sign(artifact)), "verifier": {
            "publicKey": { "rawBytes": base64(&signer.spki) }, "keyDetails": "PKIX_ECDSA_P256_SHA_256",
        }},
    }})
}

/// What is signed of an envelope.
pub(crate) fn pre_authentication_encoding(payload_type: &str, payload: &[u8]) -> Vec<u8> {
    let head = format!("DSSEv1 {} {payload_type} {} ", payload_type.len(), payload.len());
    [head.as_bytes(), payload].concat()
}

/// An Ed25519 key and its SubjectPublicKeyInfo.
pub(crate) fn ed25519() -> (Ed25519KeyPair, Vec<u8>) {
    let document = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
    let pair = Ed25519KeyPair::from_pkcs8(document.as_ref()).unwrap();
    let prefix = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];
    let spki = [&prefix, pair.public_key().as_ref()].concat();
    (pair, spki)
}
