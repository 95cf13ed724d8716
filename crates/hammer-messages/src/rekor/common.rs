//! What is common to the messages of Sigstore (package dev.sigstore.common.v1, `sigstore_common.proto`).

use prost::{Enumeration, Message};
use serde::{Deserialize, Serialize};

use crate::json;

/// Which log.
#[derive(Clone, PartialEq, Eq, Hash, Message, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LogId {
    /// The identity of the log's key: of Rekor v1 the SHA-256 over its `SubjectPublicKeyInfo`, of Rekor v2 the SHA-256 of which the
    /// hint of its signatures under checkpoints is the beginning.
    #[prost(bytes = "vec", tag = "1")]
    #[serde(with = "json::bytes", alias = "key_id")]
    pub key_id: Vec<u8>,
}

/// A certificate.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct X509Certificate {
    /// In DER.
    #[prost(bytes = "vec", tag = "1")]
    pub raw_bytes: Vec<u8>,
}

/// How a key signs; what is deprecated is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Enumeration)]
#[repr(i32)]
pub enum PublicKeyDetails {
    /// Not said.
    Unspecified = 0,
    /// ECDSA over P-256 with SHA-256.
    PkixEcdsaP256Sha256 = 5,
    /// Ed25519 over the message itself.
    PkixEd25519 = 7,
    /// Ed25519ph over the SHA-512 of the message.
    PkixEd25519Ph = 8,
    /// RSA of 2048 bits, PKCS#1 v1.5, with SHA-256.
    PkixRsaPkcs1v152048Sha256 = 9,
    /// RSA of 3072 bits, PKCS#1 v1.5, with SHA-256.
    PkixRsaPkcs1v153072Sha256 = 10,
    /// RSA of 4096 bits, PKCS#1 v1.5, with SHA-256.
    PkixRsaPkcs1v154096Sha256 = 11,
    /// ECDSA over P-384 with SHA-384.
    PkixEcdsaP384Sha384 = 12,
    /// ECDSA over P-521 with SHA-512.
    PkixEcdsaP521Sha512 = 13,
    /// RSA of 2048 bits, PSS, with SHA-256.
    PkixRsaPss2048Sha256 = 16,
    /// RSA of 3072 bits, PSS, with SHA-256.
    PkixRsaPss3072Sha256 = 17,
    /// RSA of 4096 bits, PSS, with SHA-256.
    PkixRsaPss4096Sha256 = 18,
    /// ML-DSA-65 (FIPS 204).
    MlDsa65 = 21,
    /// ML-DSA-87 (FIPS 204).
    MlDsa87 = 22,
    /// ML-DSA-44 (FIPS 204).
    MlDsa44 = 23,
}

impl PublicKeyDetails {
    /// Its name in JSON: `PKIX_ECDSA_P256_SHA_256`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unspecified => "PUBLIC_KEY_DETAILS_UNSPECIFIED",
            Self::PkixEcdsaP256Sha256 => "PKIX_ECDSA_P256_SHA_256",
            Self::PkixEd25519 => "PKIX_ED25519",
            Self::PkixEd25519Ph => "PKIX_ED25519_PH",
            Self::PkixRsaPkcs1v152048Sha256 => "PKIX_RSA_PKCS1V15_2048_SHA256",
            Self::PkixRsaPkcs1v153072Sha256 => "PKIX_RSA_PKCS1V15_3072_SHA256",
            Self::PkixRsaPkcs1v154096Sha256 => "PKIX_RSA_PKCS1V15_4096_SHA256",
            Self::PkixEcdsaP384Sha384 => "PKIX_ECDSA_P384_SHA_384",
            Self::PkixEcdsaP521Sha512 => "PKIX_ECDSA_P521_SHA_512",
            Self::PkixRsaPss2048Sha256 => "PKIX_RSA_PSS_2048_SHA256",
            Self::PkixRsaPss3072Sha256 => "PKIX_RSA_PSS_3072_SHA256",
            Self::PkixRsaPss4096Sha256 => "PKIX_RSA_PSS_4096_SHA256",
            Self::MlDsa65 => "ML_DSA_65",
            Self::MlDsa87 => "ML_DSA_87",
            Self::MlDsa44 => "ML_DSA_44",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_details_of_a_key_have_the_numbers_and_names_of_their_definition() {
        for (number, name) in [
            (0, "PUBLIC_KEY_DETAILS_UNSPECIFIED"),
            (5, "PKIX_ECDSA_P256_SHA_256"),
            (7, "PKIX_ED25519"),
            (8, "PKIX_ED25519_PH"),
            (9, "PKIX_RSA_PKCS1V15_2048_SHA256"),
            (10, "PKIX_RSA_PKCS1V15_3072_SHA256"),
            (11, "PKIX_RSA_PKCS1V15_4096_SHA256"),
            (12, "PKIX_ECDSA_P384_SHA_384"),
            (13, "PKIX_ECDSA_P521_SHA_512"),
            (16, "PKIX_RSA_PSS_2048_SHA256"),
            (17, "PKIX_RSA_PSS_3072_SHA256"),
            (18, "PKIX_RSA_PSS_4096_SHA256"),
            (21, "ML_DSA_65"),
            (22, "ML_DSA_87"),
            (23, "ML_DSA_44"),
        ] {
            assert_eq!(PublicKeyDetails::try_from(number).map(PublicKeyDetails::name), Ok(name));
        }
    }
}
