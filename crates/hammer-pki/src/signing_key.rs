//! The key of a signer.

use std::fmt;

use hammer_tlog::keys::certificate::Certificate;
use hammer_tlog::keys::der::{self, DerError, Tlv};
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair as _, RSA_PKCS1_SHA256, RsaKeyPair,
};

/// A key that signs with SHA-256, and the certificate of it.
pub struct SigningKey {
    pair: Pair,
    certificate: Vec<u8>,
    random: SystemRandom,
}

enum Pair {
    /// PKCS #1 v1.5 (RFC 8017 section 8.2).
    Rsa(Box<RsaKeyPair>),
    P256(Box<EcdsaKeyPair>),
}

/// Why a key cannot sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyFault {
    /// Neither an RSA key of 2048 to 4096 bits nor one of P-256, in PKCS #8 (RFC 5208).
    #[error("read the signer's key: it is neither RSA of 2048 to 4096 bits nor P-256, in PKCS #8")]
    Key,
    /// The certificate cannot be read.
    #[error("read the signer's certificate: {0}")]
    Certificate(#[from] DerError),
    /// The certificate is of another key.
    #[error("use the signer's certificate: it is of another key")]
    Other,
    /// ring could not sign.
    #[error("sign: there is no randomness")]
    Random,
}

impl SigningKey {
    /// The key in the DER of a PKCS #8, with its certificate in DER.
    ///
    /// # Errors
    /// A key or a certificate that cannot be read, or that do not belong together.
    pub fn new(pkcs8: &[u8], certificate: Vec<u8>) -> Result<Self, KeyFault> {
        let random = SystemRandom::new();
        let pair = match RsaKeyPair::from_pkcs8(pkcs8) {
            Ok(pair) => Pair::Rsa(Box::new(pair)),
            Err(_) => {
                let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, pkcs8, &random);
                Pair::P256(Box::new(pair.map_err(|_| KeyFault::Key)?))
            }
        };
        let parsed = Certificate::parse(&certificate)?;
        let mut fields = Tlv::parse(parsed.spki, der::SEQUENCE)?.content();
        fields.expect(der::SEQUENCE)?;
        let key = fields.expect(der::BIT_STRING)?.bits()?;
        let own = match &pair {
            Pair::Rsa(pair) => pair.public_key().as_ref(),
            Pair::P256(pair) => pair.public_key().as_ref(),
        };
        if key != own {
            return Err(KeyFault::Other);
        }
        Ok(Self { pair, certificate, random })
    }

    /// The DER of the certificate.
    pub fn certificate(&self) -> &[u8] {
        &self.certificate
    }

    /// Whether it is of RSA.
    pub fn is_rsa(&self) -> bool {
        matches!(self.pair, Pair::Rsa(_))
    }

    /// Signs `message`, in place of what `signature` held.
    ///
    /// # Errors
    /// Where there is no randomness.
    pub fn sign(&self, message: &[u8], signature: &mut Vec<u8>) -> Result<(), KeyFault> {
        signature.clear();
        match &self.pair {
            Pair::Rsa(pair) => {
                signature.resize(pair.public().modulus_len(), 0);
                let signed = pair.sign(&RSA_PKCS1_SHA256, &self.random, message, signature);
                signed.map_err(|_| KeyFault::Random)
            }
            Pair::P256(pair) => {
                let signed = pair.sign(&self.random, message).map_err(|_| KeyFault::Random)?;
                signature.extend_from_slice(signed.as_ref());
                Ok(())
            }
        }
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SigningKey").field("is_rsa", &self.is_rsa()).finish_non_exhaustive()
    }
}
