//! Signatures of certificates, checked with ring.

pub(crate) mod checks;
pub(crate) mod fixed_keys;

use hammer_tlog::keys::der::{BIT_STRING, DerError, DerReader, OBJECT_IDENTIFIER, SEQUENCE, Tlv, context};
use ring::signature::{self as algorithms, UnparsedPublicKey, VerificationAlgorithm};

/// A certificate's public key, kept with its kind so that it is parsed once.
#[derive(Debug, Clone)]
pub(crate) struct PublicKey {
    kind: Kind,
    bytes: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    P256,
    P384,
    Rsa,
    Ed25519,
    /// A key that no signature is checked with here, such as P-521.
    Other,
}

/// Why a signature was not believed, in the words of Go's crypto/x509.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SignatureError {
    #[error("x509: ECDSA verification failure")]
    Ecdsa,
    #[error("crypto/rsa: verification error")]
    Rsa,
    #[error("x509: Ed25519 verification failure")]
    Ed25519,
    #[error("x509: cannot verify signature: algorithm unimplemented")]
    Unknown,
}

impl PublicKey {
    /// Reads a SubjectPublicKeyInfo. A key of an unknown kind is no error until something is to be verified with it.
    pub(crate) fn parse(spki: &[u8]) -> Result<Self, DerError> {
        let mut fields = Tlv::parse(spki, SEQUENCE)?.content();
        let mut algorithm = fields.expect(SEQUENCE)?.content();
        let oid = algorithm.expect(OBJECT_IDENTIFIER)?.value;
        let kind = match (oid, algorithm.rest()) {
            (EC_PUBLIC_KEY, P256) => Kind::P256,
            (EC_PUBLIC_KEY, P384) => Kind::P384,
            (RSA_ENCRYPTION, _) => Kind::Rsa,
            (ED25519, []) => Kind::Ed25519,
            _ => Kind::Other,
        };
        Ok(Self { kind, bytes: fields.expect(BIT_STRING)?.bits()?.to_vec() })
    }

    /// Checks a signature whose algorithm is given as an AlgorithmIdentifier.
    pub(crate) fn verify(
        &self,
        algorithm: &[u8],
        message: &[u8],
        signature: &[u8],
    ) -> Result<(), SignatureError> {
        let algorithm = self.algorithm(algorithm).ok_or(SignatureError::Unknown)?;
        UnparsedPublicKey::new(algorithm, &self.bytes).verify(message, signature).map_err(|_| {
            match self.kind {
                Kind::P256 | Kind::P384 => SignatureError::Ecdsa,
                Kind::Rsa => SignatureError::Rsa,
                Kind::Ed25519 => SignatureError::Ed25519,
                Kind::Other => SignatureError::Unknown,
            }
        })
    }

    /// The point of a P-256 key, where the algorithm is ECDSA with SHA-256.
    pub(crate) fn p256_with_sha256(&self, identifier: &[u8]) -> Option<&[u8]> {
        (self.kind == Kind::P256 && identifier == ECDSA_WITH_SHA256).then_some(&self.bytes)
    }

    fn algorithm(&self, identifier: &[u8]) -> Option<&'static dyn VerificationAlgorithm> {
        let mut fields = Tlv::parse(identifier, SEQUENCE).ok()?.content();
        let oid = fields.expect(OBJECT_IDENTIFIER).ok()?.value;
        match (self.kind, oid, fields.rest()) {
            (Kind::P256, ECDSA_SHA256, []) => Some(&algorithms::ECDSA_P256_SHA256_ASN1),
            (Kind::P256, ECDSA_SHA384, []) => Some(&algorithms::ECDSA_P256_SHA384_ASN1),
            (Kind::P384, ECDSA_SHA256, []) => Some(&algorithms::ECDSA_P384_SHA256_ASN1),
            (Kind::P384, ECDSA_SHA384, []) => Some(&algorithms::ECDSA_P384_SHA384_ASN1),
            (Kind::Ed25519, ED25519, []) => Some(&algorithms::ED25519),
            (Kind::Rsa, RSA_PSS, parameters) => pss(parameters),
            // RFC 4055 section 5 asks for NULL; some issuers leave it out.
            (Kind::Rsa, RSA_SHA256, [] | NULL) => Some(&algorithms::RSA_PKCS1_2048_8192_SHA256),
            (Kind::Rsa, RSA_SHA384, [] | NULL) => Some(&algorithms::RSA_PKCS1_2048_8192_SHA384),
            (Kind::Rsa, RSA_SHA512, [] | NULL) => Some(&algorithms::RSA_PKCS1_2048_8192_SHA512),
            (Kind::Rsa, RSA_SHA1, [] | NULL) => {
                Some(&algorithms::RSA_PKCS1_2048_8192_SHA1_FOR_LEGACY_USE_ONLY)
            }
            _ => None,
        }
    }
}

/// RSASSA-PSS-params (RFC 4055 section 3.1): its hash; ring holds the salt to the hash's length.
fn pss(parameters: &[u8]) -> Option<&'static dyn VerificationAlgorithm> {
    let mut fields = Tlv::parse(parameters, SEQUENCE).ok()?.content();
    let hash = fields.optional(context(0)).ok()??;
    let mut hash = DerReader::new(Tlv::parse(hash.value, SEQUENCE).ok()?.value);
    match hash.expect(OBJECT_IDENTIFIER).ok()?.value {
        SHA256 => Some(&algorithms::RSA_PSS_2048_8192_SHA256),
        SHA384 => Some(&algorithms::RSA_PSS_2048_8192_SHA384),
        SHA512 => Some(&algorithms::RSA_PSS_2048_8192_SHA512),
        _ => None,
    }
}

const NULL: &[u8] = &[0x05, 0x00];
// Keys (RFC 5480, RFC 3279, RFC 8410).
const EC_PUBLIC_KEY: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01];
const P256: &[u8] = &[0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07];
const P384: &[u8] = &[0x06, 0x05, 0x2b, 0x81, 0x04, 0x00, 0x22];
const RSA_ENCRYPTION: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01];
const ED25519: &[u8] = &[0x2b, 0x65, 0x70];
// Signatures (RFC 5758, RFC 4055).
const ECDSA_SHA256: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02];
/// The whole AlgorithmIdentifier, which has no parameters (RFC 5758 section 3.2).
const ECDSA_WITH_SHA256: &[u8] = &[0x30, 10, 6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 2];
const ECDSA_SHA384: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x03];
const RSA_SHA1: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x05];
const RSA_PSS: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x0a];
const RSA_SHA256: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x0b];
const RSA_SHA384: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x0c];
const RSA_SHA512: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x0d];
// Hashes (RFC 5754).
const SHA256: &[u8] = &[0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01];
const SHA384: &[u8] = &[0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x02];
const SHA512: &[u8] = &[0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x03];
