//! Public keys for which certificates are asked: which ones Fulcio takes, and what they verify.

use hammer_tlog::keys::der::{self, DerError, Tlv};
use ring::signature::{
    ECDSA_P256_SHA256_ASN1, ECDSA_P384_SHA384_ASN1, ED25519, RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey,
    VerificationAlgorithm,
};

use hammer_lab_authority::pem;

/// A public key of an algorithm that Fulcio certifies by default: P-256, P-384, RSA of 2048, 3072 or 4096 bits, Ed25519.
/// (The real one takes P-521 as well.)
pub(crate) struct SubjectKey {
    spki: Vec<u8>,
    /// The key's own bytes within `spki`, which they end.
    key_at: usize,
    algorithm: SubjectAlgorithm,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SubjectAlgorithm {
    P256,
    P384,
    Rsa,
    Ed25519,
}

/// Why a key is not certified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SubjectKeyFault {
    /// It is neither PEM nor DER of a `SubjectPublicKeyInfo`, or of an unknown algorithm.
    #[error("read the public key")]
    Unreadable,
    /// An RSA key of another length or exponent than those that are thought safe.
    #[error("trust the public key's parameters")]
    Insecure,
}

impl From<DerError> for SubjectKeyFault {
    fn from(_: DerError) -> Self {
        Self::Unreadable
    }
}

impl SubjectKey {
    /// Reads PEM or DER.
    pub(crate) fn parse(content: &[u8]) -> Result<Self, SubjectKeyFault> {
        match pem::decode(content, &["PUBLIC KEY"]) {
            Some(spki) => Self::from_der(&spki),
            None => Self::from_der(content),
        }
    }

    /// Reads the DER of a `SubjectPublicKeyInfo` (RFC 5280 section 4.1).
    pub(crate) fn from_der(spki: &[u8]) -> Result<Self, SubjectKeyFault> {
        let mut fields = Tlv::parse(spki, der::SEQUENCE)?.content();
        let mut identifier = fields.expect(der::SEQUENCE)?.content();
        let key = fields.expect(der::BIT_STRING)?.bits()?;
        fields.finish()?;
        let kind = identifier.expect(der::OBJECT_IDENTIFIER)?.value;
        let curve = identifier.optional(der::OBJECT_IDENTIFIER)?.map(|curve| curve.value);
        let algorithm = match (kind, curve) {
            (EC_PUBLIC_KEY, Some(PRIME256V1)) if key.len() == 65 => SubjectAlgorithm::P256,
            (EC_PUBLIC_KEY, Some(SECP384R1)) if key.len() == 97 => SubjectAlgorithm::P384,
            (RSA_ENCRYPTION, None) => rsa(key)?,
            (ED25519_KEY, None) if key.len() == 32 => SubjectAlgorithm::Ed25519,
            _ => return Err(SubjectKeyFault::Unreadable),
        };
        Ok(Self { spki: spki.to_vec(), key_at: spki.len() - key.len(), algorithm })
    }

    /// The DER of the `SubjectPublicKeyInfo`, as it came.
    pub(crate) fn spki(&self) -> &[u8] {
        &self.spki
    }

    /// The content of the `BIT STRING`.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.spki[self.key_at..]
    }

    /// Whether the signature is the key's over `message`, with the algorithm's default hash.
    pub(crate) fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        let algorithm: &'static dyn VerificationAlgorithm = match self.algorithm {
            SubjectAlgorithm::P256 => &ECDSA_P256_SHA256_ASN1,
            SubjectAlgorithm::P384 => &ECDSA_P384_SHA384_ASN1,
            SubjectAlgorithm::Rsa => &RSA_PKCS1_2048_8192_SHA256,
            SubjectAlgorithm::Ed25519 => &ED25519,
        };
        UnparsedPublicKey::new(algorithm, self.bytes()).verify(message, signature).is_ok()
    }

    /// Whether a signature of this `AlgorithmIdentifier`'s object identifier is one that [`SubjectKey::verifies`] checks.
    pub(crate) fn signs_by(&self, signature_algorithm: &[u8]) -> bool {
        signature_algorithm
            == match self.algorithm {
                SubjectAlgorithm::P256 => ECDSA_WITH_SHA256,
                SubjectAlgorithm::P384 => ECDSA_WITH_SHA384,
                SubjectAlgorithm::Rsa => SHA256_WITH_RSA,
                SubjectAlgorithm::Ed25519 => ED25519_KEY,
            }
    }
}

/// An RSA key of a length that is certified, and of the usual exponent.
fn rsa(key: &[u8]) -> Result<SubjectAlgorithm, SubjectKeyFault> {
    let mut fields = Tlv::parse(key, der::SEQUENCE)?.content();
    let modulus = fields.expect(der::INTEGER)?.value;
    let exponent = fields.expect(der::INTEGER)?.value;
    fields.finish()?;
    let digits = modulus.strip_prefix(&[0]).unwrap_or(modulus);
    let whole = digits.first().is_some_and(|first| first & 0x80 != 0);
    let sound = whole && [256, 384, 512].contains(&digits.len()) && exponent == [1, 0, 1];
    if sound { Ok(SubjectAlgorithm::Rsa) } else { Err(SubjectKeyFault::Insecure) }
}

/// 1.2.840.10045.2.1.
const EC_PUBLIC_KEY: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01];
/// 1.2.840.10045.3.1.7.
const PRIME256V1: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07];
/// 1.3.132.0.34.
const SECP384R1: &[u8] = &[0x2b, 0x81, 0x04, 0x00, 0x22];
/// 1.2.840.113549.1.1.1.
const RSA_ENCRYPTION: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01];
/// 1.3.101.112: key and signature alike.
const ED25519_KEY: &[u8] = &[0x2b, 0x65, 0x70];
/// 1.2.840.10045.4.3.2.
const ECDSA_WITH_SHA256: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02];
/// 1.2.840.10045.4.3.3.
const ECDSA_WITH_SHA384: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x03];
/// 1.2.840.113549.1.1.11.
const SHA256_WITH_RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x0b];

#[cfg(test)]
mod tests {
    use super::*;
    use hammer_lab_authority::{
        LabSigner,
        der::{bit_string, oid, sequence, unsigned},
    };

    fn rsa_spki(modulus: &[u8], exponent: &[u8]) -> Vec<u8> {
        let key = sequence(&[&unsigned(modulus), &unsigned(exponent)]);
        sequence(&[&sequence(&[&oid(RSA_ENCRYPTION), hammer_lab_authority::der::NULL]), &bit_string(&key)])
    }

    fn fault(spki: &[u8]) -> Option<SubjectKeyFault> {
        SubjectKey::from_der(spki).err()
    }

    #[test]
    fn a_key_verifies_its_own_signature_and_no_other() {
        let signers = [LabSigner::p256("key", 1), LabSigner::p384(), LabSigner::ed25519("key", 1)];
        for signer in signers.map(Result::unwrap) {
            let key = SubjectKey::from_der(signer.spki()).unwrap();
            assert!(key.verifies(b"jdoe@redhat.com", &signer.sign(b"jdoe@redhat.com")));
            assert!(!key.verifies(b"jdoe@redhat.com", &signer.sign(b"joe@redhat.com")));
            assert_eq!(key.bytes(), signer.public_key());
        }
    }

    #[test]
    fn an_rsa_key_is_insecure_where_its_length_or_its_exponent_is_unusual() {
        let modulus = |bytes: usize| [&[0xc1][..], &vec![0x5b; bytes - 1]].concat();
        for bytes in [256, 384, 512] {
            assert_eq!(fault(&rsa_spki(&modulus(bytes), &[1, 0, 1])), None);
        }
        for bytes in [128, 255, 257, 1024] {
            assert_eq!(fault(&rsa_spki(&modulus(bytes), &[1, 0, 1])), Some(SubjectKeyFault::Insecure));
        }
        assert_eq!(fault(&rsa_spki(&modulus(256), &[3])), Some(SubjectKeyFault::Insecure));
        let short = [&[0x41][..], &[0x5b; 255]].concat();
        assert_eq!(fault(&rsa_spki(&short, &[1, 0, 1])), Some(SubjectKeyFault::Insecure));
    }

    #[test]
    fn what_is_no_key_is_unreadable() {
        let spki = LabSigner::p256("key", 1).unwrap().spki().to_vec();
        for bytes in [&b""[..], b"key", &spki[..spki.len() - 1], &[&spki[..], &[0]].concat()] {
            assert_eq!(SubjectKey::parse(bytes).err(), Some(SubjectKeyFault::Unreadable));
        }
    }
}
