//! Public keys of logs, and of those who sign notes.

mod batch;
mod digitally_signed;
mod larger_curves;
mod lazy_verifier;
#[cfg(test)]
mod tests;

use std::str::FromStr;

use ring::signature::{self, UnparsedPublicKey, VerificationAlgorithm};

pub use self::batch::{MixedBatch, SignatureBatch};
pub use self::digitally_signed::{DigitallySigned, ECDSA, RSA, SHA256, SHA384, SHA512};
use self::lazy_verifier::LazyVerifier;
use crate::encoding::{Base64Error, from_base64};
use crate::hash::{Hash, sha256};
use crate::keys::der::{self, DerError, Tlv};
use crate::keys::digest::DigestAlgorithm;
use crate::keys::scheme::SignatureScheme;

/// DER content of 1.2.840.10045.2.1, id-ecPublicKey.
const EC_PUBLIC_KEY: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01];
/// DER content of 1.2.840.10045.3.1.7, prime256v1.
const PRIME256V1: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07];
/// DER content of 1.3.132.0.34, secp384r1.
const SECP384R1: &[u8] = &[0x2b, 0x81, 0x04, 0x00, 0x22];
/// DER content of 1.3.132.0.35, secp521r1.
const SECP521R1: &[u8] = &[0x2b, 0x81, 0x04, 0x00, 0x23];
/// DER content of 1.2.840.113549.1.1.1, rsaEncryption.
const RSA_ENCRYPTION: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01];
/// DER content of 1.3.101.112, id-Ed25519.
const ID_ED25519: &[u8] = &[0x2b, 0x65, 0x70];
/// The DER of an Ed25519 `SubjectPublicKeyInfo` up to the 32 bytes of the key (RFC 8410 section 4).
const ED25519_SPKI: [u8; 12] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];

/// Why a key cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// The base64 is broken.
    #[error("read a public key: it is neither PEM nor base64")]
    Base64(#[from] Base64Error),
    /// The DER is broken.
    #[error("read a public key: it is no SubjectPublicKeyInfo in DER (RFC 5280 section 4.1): {0}")]
    Der(#[from] DerError),
    /// No `PUBLIC KEY` block in the PEM.
    #[error("read a public key: no PUBLIC KEY block in the PEM")]
    Pem,
    /// Neither P-256, P-384, P-521, RSA nor Ed25519: nothing that such a key signs is verified here.
    #[error("read a public key: neither P-256, P-384, P-521, RSA nor Ed25519")]
    Algorithm,
    /// A point of which no more than one coordinate and the parity of the other are there (SEC 1 section 2.3.3).
    #[error(
        "read a public key: its point is compressed, and only a whole one is read (as by openssl ec -pubin -conv_form uncompressed)"
    )]
    Compressed,
    /// RFC 6962 section 2.1.4 asks for RSA keys of at least 2048 bits.
    #[error("read a public key: an RSA key of {bits} bits is too short")]
    RsaTooShort {
        /// Bits of the modulus.
        bits: usize,
    },
    /// The key's bytes are not a key of its algorithm.
    #[error("read a public key: {what} is malformed")]
    Malformed {
        /// What is malformed.
        what: &'static str,
    },
}

impl KeyError {
    /// Whether the key may well be one, of an algorithm that is not verified here, or in a form that is not read.
    pub const fn is_unknown(&self) -> bool {
        matches!(self, Self::Algorithm | Self::Compressed)
    }
}

/// Why a signature does not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    /// The signature names algorithms that are not the key's.
    #[error("hash {hash} and signature algorithm {algorithm} are not those of a {key:?} key")]
    Algorithm {
        /// `HashAlgorithm` of the signature.
        hash: u8,
        /// `SignatureAlgorithm` of the signature.
        algorithm: u8,
        /// The key's algorithm.
        key: KeyAlgorithm,
    },
    /// An `AlgorithmIdentifier` names nothing that a key here can verify.
    #[error("the signature algorithm is unknown")]
    Unknown,
    /// The signature is by an algorithm that is not the key's.
    #[error("{scheme} is no signature algorithm of a {key:?} key")]
    Scheme {
        /// The signature's algorithm.
        scheme: SignatureScheme,
        /// The key's algorithm.
        key: KeyAlgorithm,
    },
    /// The signature is not the key's over these bytes.
    #[error("the signature does not verify")]
    Invalid,
}

impl SignatureError {
    /// Whether the signature may well hold, by an algorithm that is not verified here.
    pub const fn is_unknown(&self) -> bool {
        matches!(self, Self::Unknown)
    }
}

/// The algorithm of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KeyAlgorithm {
    /// ECDSA over NIST P-256, with SHA-256.
    P256,
    /// ECDSA over NIST P-384, with SHA-384.
    P384,
    /// ECDSA over NIST P-521, with SHA-512.
    P521,
    /// RSA PKCS #1 v1.5, with SHA-256.
    Rsa,
    /// Ed25519: in notes only, never in RFC 6962 structures.
    Ed25519,
}

impl KeyAlgorithm {
    /// How a bare signature of such a key is made.
    pub fn scheme(self) -> SignatureScheme {
        match self {
            Self::P256 => SignatureScheme::Ecdsa(DigestAlgorithm::Sha256),
            Self::P384 => SignatureScheme::Ecdsa(DigestAlgorithm::Sha384),
            Self::P521 => SignatureScheme::Ecdsa(DigestAlgorithm::Sha512),
            Self::Rsa => SignatureScheme::Rsa(DigestAlgorithm::Sha256),
            Self::Ed25519 => SignatureScheme::Ed25519,
        }
    }
}

/// A public key, with its `SubjectPublicKeyInfo` and the log id that follows from it. Clones of a P-256 key share what
/// the first verification by any of them computes.
#[derive(Debug, Clone)]
pub struct LogKey {
    algorithm: KeyAlgorithm,
    key: Vec<u8>,
    p256: LazyVerifier,
    spki: Vec<u8>,
    log_id: Hash,
}

impl PartialEq for LogKey {
    fn eq(&self, other: &Self) -> bool {
        self.spki == other.spki
    }
}

impl Eq for LogKey {}

impl LogKey {
    /// Reads the DER of a `SubjectPublicKeyInfo`.
    pub fn from_der(spki: &[u8]) -> Result<Self, KeyError> {
        let (algorithm, key) = read_spki(spki)?;
        Ok(Self {
            algorithm,
            key: key.to_vec(),
            p256: LazyVerifier::default(),
            spki: spki.to_vec(),
            log_id: sha256(spki),
        })
    }

    /// Reads the base64 of a `SubjectPublicKeyInfo`, as log lists have it; white space around it is skipped.
    pub fn from_base64(text: &str) -> Result<Self, KeyError> {
        Self::from_der(&from_base64(text.trim())?)
    }

    /// Reads the first `PUBLIC KEY` block of a PEM.
    pub fn from_pem(text: &str) -> Result<Self, KeyError> {
        let (_, rest) = text.split_once("-----BEGIN PUBLIC KEY-----").ok_or(KeyError::Pem)?;
        let (body, _) = rest.split_once("-----END PUBLIC KEY-----").ok_or(KeyError::Pem)?;
        let body: String = body.split_ascii_whitespace().collect();
        Self::from_base64(&body)
    }

    /// An Ed25519 key of 32 bytes.
    pub fn from_ed25519(key: &[u8; 32]) -> Result<Self, KeyError> {
        Self::from_der(&[&ED25519_SPKI, key.as_slice()].concat())
    }

    /// SHA-256 of the `SubjectPublicKeyInfo` (RFC 6962 section 3.2).
    pub fn log_id(&self) -> Hash {
        self.log_id
    }

    /// The DER of the `SubjectPublicKeyInfo`.
    pub fn spki(&self) -> &[u8] {
        &self.spki
    }

    /// The key's algorithm.
    pub fn algorithm(&self) -> KeyAlgorithm {
        self.algorithm
    }

    /// The key's own bytes: the point of P-256, P-384 or P-521, the `RSAPublicKey`, the 32 bytes of Ed25519.
    pub fn bytes(&self) -> &[u8] {
        &self.key
    }

    /// Whether that is the same key, however either names its algorithm: parameters may stand there or not.
    pub fn is_same_key(&self, other: &Self) -> bool {
        (self.algorithm, &self.key) == (other.algorithm, &other.key)
    }

    /// Verifies a `DigitallySigned` over `message` (not its hash); its algorithms must be the key's.
    pub fn verify(&self, message: &[u8], signed: &DigitallySigned<'_>) -> Result<(), SignatureError> {
        self.verify_scheme(self.scheme_of(signed)?, message, signed.signature)
    }

    /// How a `DigitallySigned` of this key is made.
    fn scheme_of(&self, signed: &DigitallySigned<'_>) -> Result<SignatureScheme, SignatureError> {
        match (self.algorithm, signed.hash, signed.algorithm) {
            (KeyAlgorithm::P256 | KeyAlgorithm::P384 | KeyAlgorithm::P521, SHA256, ECDSA) => {
                Ok(SignatureScheme::Ecdsa(DigestAlgorithm::Sha256))
            }
            (KeyAlgorithm::P384 | KeyAlgorithm::P521, SHA384, ECDSA) => {
                Ok(SignatureScheme::Ecdsa(DigestAlgorithm::Sha384))
            }
            (KeyAlgorithm::P521, SHA512, ECDSA) => Ok(SignatureScheme::Ecdsa(DigestAlgorithm::Sha512)),
            (KeyAlgorithm::Rsa, SHA256, RSA) => Ok(SignatureScheme::Rsa(DigestAlgorithm::Sha256)),
            (key, hash, algorithm) => Err(SignatureError::Algorithm { hash, algorithm, key }),
        }
    }

    /// Verifies a bare signature over `message` by the key's algorithm.
    pub fn verify_raw(&self, message: &[u8], signature: &[u8]) -> Result<(), SignatureError> {
        self.verify_scheme(self.algorithm.scheme(), message, signature)
    }

    /// Verifies a bare signature over `message` by the algorithm that the whole DER of an `AlgorithmIdentifier` names: that of
    /// a certificate, say.
    pub fn verify_as(
        &self,
        algorithm_identifier: &[u8],
        message: &[u8],
        signature: &[u8],
    ) -> Result<(), SignatureError> {
        let scheme = SignatureScheme::from_identifier(algorithm_identifier).ok_or(SignatureError::Unknown)?;
        self.verify_scheme(scheme, message, signature)
    }

    /// Verifies a bare signature over `message` that is made by `scheme`, which must be one of the key's.
    pub fn verify_scheme(
        &self,
        scheme: SignatureScheme,
        message: &[u8],
        signature: &[u8],
    ) -> Result<(), SignatureError> {
        let holds = match (self.algorithm, scheme) {
            (KeyAlgorithm::P256, SignatureScheme::Ecdsa(digest)) => {
                let digest = leftmost_256_bits(digest, message);
                self.p256.verify(&self.key, &digest, signature)
            }
            _ => self.library_verifies(scheme, message, signature)?,
        };
        if holds { Ok(()) } else { Err(SignatureError::Invalid) }
    }

    /// The same as [`LogKey::verify_scheme`] for a key that is met once or twice: it makes no table of a P-256 key, and
    /// takes longer where there is one.
    pub fn verify_scheme_once(
        &self,
        scheme: SignatureScheme,
        message: &[u8],
        signature: &[u8],
    ) -> Result<(), SignatureError> {
        if (self.algorithm, scheme) == (KeyAlgorithm::P256, SignatureScheme::Ecdsa(DigestAlgorithm::Sha512)) {
            return self.verify_scheme(scheme, message, signature);
        }
        let holds = self.library_verifies(scheme, message, signature)?;
        if holds { Ok(()) } else { Err(SignatureError::Invalid) }
    }

    /// Verifies a bare signature over another digest of SHA-2 than the one by which such keys sign as a rule, for signatures that do not
    /// say over which: Rekor signs SHA-256 by any key of ECDSA, and so do many who sign artifacts.
    pub fn verify_other_digest(&self, message: &[u8], signature: &[u8]) -> Result<(), SignatureError> {
        use DigestAlgorithm::{Sha256, Sha384, Sha512};
        let own = self.algorithm.scheme();
        let family = match own {
            SignatureScheme::Ecdsa(_) => SignatureScheme::Ecdsa,
            SignatureScheme::Rsa(_) => SignatureScheme::Rsa,
            SignatureScheme::Ed25519 => return Err(SignatureError::Invalid),
        };
        let mut others = [Sha256, Sha384, Sha512].map(family).into_iter().filter(|scheme| *scheme != own);
        let holds = others.any(|scheme| self.verify_scheme_once(scheme, message, signature).is_ok());
        if holds { Ok(()) } else { Err(SignatureError::Invalid) }
    }

    /// Verifies a bare signature of ECDSA over a message of which no more is at hand than a digest of SHA-2; only keys of elliptic
    /// curves can be asked.
    pub fn verify_digest(
        &self,
        algorithm: DigestAlgorithm,
        digest: &[u8],
        signature: &[u8],
    ) -> Result<(), SignatureError> {
        let holds = match self.algorithm {
            KeyAlgorithm::P256 => digest
                .first_chunk::<32>()
                .is_some_and(|digest| self.p256.verify(&self.key, digest, signature)),
            KeyAlgorithm::P384 => larger_curves::p384_verifies(&self.key, digest, signature),
            KeyAlgorithm::P521 => larger_curves::p521_verifies(&self.key, digest, signature),
            KeyAlgorithm::Rsa | KeyAlgorithm::Ed25519 => {
                let scheme = SignatureScheme::Ecdsa(algorithm);
                return Err(SignatureError::Scheme { scheme, key: self.algorithm });
            }
        };
        if holds { Ok(()) } else { Err(SignatureError::Invalid) }
    }

    /// What a library says, of all but P-256 over a digest that ring does not know.
    fn library_verifies(
        &self,
        scheme: SignatureScheme,
        message: &[u8],
        signature: &[u8],
    ) -> Result<bool, SignatureError> {
        let digest = match (self.algorithm, scheme) {
            (KeyAlgorithm::P384, SignatureScheme::Ecdsa(digest @ DigestAlgorithm::Sha512))
            | (KeyAlgorithm::P521, SignatureScheme::Ecdsa(digest)) => digest,
            _ => return Ok(self.ring_verifies(self.ring_algorithm(scheme)?, message, signature)),
        };
        let holds = self.verify_digest(digest, digest.digest(message).as_ref(), signature);
        Ok(holds.is_ok())
    }

    /// What ring calls `scheme` with this key.
    fn ring_algorithm(
        &self,
        scheme: SignatureScheme,
    ) -> Result<&'static dyn VerificationAlgorithm, SignatureError> {
        use DigestAlgorithm::{Sha256, Sha384, Sha512};
        use SignatureScheme::{Ecdsa, Rsa};
        Ok(match (self.algorithm, scheme) {
            (KeyAlgorithm::P256, Ecdsa(Sha256)) => &signature::ECDSA_P256_SHA256_ASN1,
            (KeyAlgorithm::P256, Ecdsa(Sha384)) => &signature::ECDSA_P256_SHA384_ASN1,
            (KeyAlgorithm::P384, Ecdsa(Sha256)) => &signature::ECDSA_P384_SHA256_ASN1,
            (KeyAlgorithm::P384, Ecdsa(Sha384)) => &signature::ECDSA_P384_SHA384_ASN1,
            (KeyAlgorithm::Rsa, Rsa(Sha256)) => &signature::RSA_PKCS1_2048_8192_SHA256,
            (KeyAlgorithm::Rsa, Rsa(Sha384)) => &signature::RSA_PKCS1_2048_8192_SHA384,
            (KeyAlgorithm::Rsa, Rsa(Sha512)) => &signature::RSA_PKCS1_2048_8192_SHA512,
            (KeyAlgorithm::Ed25519, SignatureScheme::Ed25519) => &signature::ED25519,
            (key, scheme) => return Err(SignatureError::Scheme { scheme, key }),
        })
    }

    fn ring_verifies(
        &self,
        algorithm: &'static dyn VerificationAlgorithm,
        message: &[u8],
        signature: &[u8],
    ) -> bool {
        UnparsedPublicKey::new(algorithm, &self.key).verify(message, signature).is_ok()
    }
}

/// What ECDSA on P-256 signs of a digest: its leftmost 256 bits (FIPS 186-4 section 6.4).
fn leftmost_256_bits(algorithm: DigestAlgorithm, message: &[u8]) -> [u8; 32] {
    if algorithm == DigestAlgorithm::Sha256 {
        return sha256(message).0;
    }
    let digest = algorithm.digest(message);
    std::array::from_fn(|at| digest.as_ref()[at])
}

impl FromStr for LogKey {
    type Err = KeyError;

    /// PEM, or else base64 of the DER.
    fn from_str(text: &str) -> Result<Self, KeyError> {
        if text.contains("-----BEGIN") { Self::from_pem(text) } else { Self::from_base64(text) }
    }
}

/// The algorithm of a `SubjectPublicKeyInfo`, and the key's own bytes.
fn read_spki(spki: &[u8]) -> Result<(KeyAlgorithm, &[u8]), KeyError> {
    let mut fields = Tlv::parse(spki, der::SEQUENCE)?.content();
    let mut identifier = fields.expect(der::SEQUENCE)?.content();
    let key = fields.expect(der::BIT_STRING)?.bits()?;
    fields.finish()?;
    let algorithm = identifier.expect(der::OBJECT_IDENTIFIER)?.value;
    if algorithm == EC_PUBLIC_KEY {
        let curve = identifier.expect(der::OBJECT_IDENTIFIER)?.value;
        return Ok((curve_of(curve, key)?, key));
    }
    if algorithm == RSA_ENCRYPTION {
        rsa_bits(key)?;
        return Ok((KeyAlgorithm::Rsa, key));
    }
    if algorithm == ID_ED25519 {
        let whole = key.len() == 32;
        return if whole { Ok((KeyAlgorithm::Ed25519, key)) } else { Err(malformed("Ed25519 key")) };
    }
    Err(KeyError::Algorithm)
}

/// The algorithm of a point on the curve of this identifier.
fn curve_of(curve: &[u8], point: &[u8]) -> Result<KeyAlgorithm, KeyError> {
    let (algorithm, length, what) = match curve {
        PRIME256V1 => (KeyAlgorithm::P256, 65, "P-256 point"),
        SECP384R1 => (KeyAlgorithm::P384, 97, "P-384 point"),
        SECP521R1 => (KeyAlgorithm::P521, 133, "P-521 point"),
        _ => return Err(KeyError::Algorithm),
    };
    // Uncompressed points are all that the signature library takes, and all that logs have.
    match point {
        [4, ..] if point.len() == length => Ok(algorithm),
        // The other coordinate is not there.
        [2 | 3, ..] if point.len() == length.div_ceil(2) => Err(KeyError::Compressed),
        _ => Err(malformed(what)),
    }
}

fn malformed(what: &'static str) -> KeyError {
    KeyError::Malformed { what }
}

/// Refuses a modulus below 2048 bits.
fn rsa_bits(key: &[u8]) -> Result<(), KeyError> {
    let modulus = Tlv::parse(key, der::SEQUENCE)?.content().expect(der::INTEGER)?.value;
    let digits = modulus.strip_prefix(&[0]).unwrap_or(modulus);
    let leading = digits.first().map_or(0, |digit| digit.leading_zeros() as usize);
    let bits = digits.len() * 8 - leading;
    if bits < 2048 { Err(KeyError::RsaTooShort { bits }) } else { Ok(()) }
}
