//! `SubjectPublicKeyInfo` in DER (RFC 5280 section 4.1.2.7) and key identifiers.

use ring::digest;

use crate::der::{Der, Field, NULL};
use crate::oid;
use crate::signer::Algorithm;

/// Writes the key whose subjectPublicKey content is `point` (uncompressed, 65 bytes).
pub(crate) fn write_p256(der: &mut Der, point: &[u8]) {
    der.sequence(|der| {
        der.sequence(|der| {
            der.oid(oid::EC_PUBLIC_KEY);
            der.oid(oid::PRIME256V1);
        });
        der.bit_string(|der| der.field(Field::SubjectKey, point));
    });
}

/// Writes the key whose subjectPublicKey content is `public_key`, a DER `RSAPublicKey`.
pub(crate) fn write_rsa(der: &mut Der, public_key: &[u8]) {
    der.sequence(|der| {
        der.sequence(|der| {
            der.oid(oid::RSA_ENCRYPTION);
            der.primitive(NULL, &[]);
        });
        der.bit_string(|der| der.field(Field::SubjectKey, public_key));
    });
}

/// Writes an Ed25519 key of 32 bytes (RFC 8410 section 4).
pub(crate) fn write_ed25519(der: &mut Der, public_key: &[u8]) {
    der.sequence(|der| {
        der.sequence(|der| der.oid(oid::ED25519));
        der.bit_string(|der| der.field(Field::SubjectKey, public_key));
    });
}

/// How many bytes of a SubjectPublicKeyInfo precede the subjectPublicKey content.
pub(crate) const fn prefix_length(algorithm: Algorithm) -> usize {
    match algorithm {
        Algorithm::P256 => 26,
        Algorithm::Rsa2048 => 24,
        Algorithm::Ed25519 => 12,
    }
}

/// The key identifier of RFC 7093 section 2, method 1: the first 160 bits of SHA-256 over the subjectPublicKey content.
pub(crate) fn key_id(subject_public_key: &[u8]) -> [u8; 20] {
    let mut id = [0; 20];
    id.copy_from_slice(&sha256(subject_public_key)[..20]);
    id
}

pub(crate) fn sha256(bytes: &[u8]) -> [u8; 32] {
    let mut hash = [0; 32];
    hash.copy_from_slice(digest::digest(&digest::SHA256, bytes).as_ref());
    hash
}
