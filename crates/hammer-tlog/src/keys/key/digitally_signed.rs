//! Signatures as TLS writes them (RFC 5246 section 4.7).

use crate::tls::{TlsError, TlsReader, put_vector16};

/// `HashAlgorithm.sha256` (RFC 5246 section 7.4.1.4.1).
pub const SHA256: u8 = 4;
/// `HashAlgorithm.sha384` (RFC 5246 section 7.4.1.4.1).
pub const SHA384: u8 = 5;
/// `HashAlgorithm.sha512` (RFC 5246 section 7.4.1.4.1).
pub const SHA512: u8 = 6;
/// `SignatureAlgorithm.rsa` (RFC 5246 section 7.4.1.4.1).
pub const RSA: u8 = 1;
/// `SignatureAlgorithm.ecdsa` (RFC 5246 section 7.4.1.4.1).
pub const ECDSA: u8 = 3;

/// `DigitallySigned` of RFC 5246 section 4.7: the algorithms by number, and the signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DigitallySigned<'a> {
    /// [`SHA256`], in any log; [`SHA384`] only with a key of P-384 or P-521, and [`SHA512`] with one of P-521.
    pub hash: u8,
    /// [`ECDSA`] or [`RSA`], in any log.
    pub algorithm: u8,
    /// The signature: of ECDSA the DER of r and s.
    pub signature: &'a [u8],
}

impl<'a> DigitallySigned<'a> {
    /// ECDSA with SHA-256.
    pub fn ecdsa_sha256(signature: &'a [u8]) -> Self {
        Self { hash: SHA256, algorithm: ECDSA, signature }
    }

    /// RSA PKCS #1 v1.5 with SHA-256.
    pub fn rsa_sha256(signature: &'a [u8]) -> Self {
        Self { hash: SHA256, algorithm: RSA, signature }
    }

    /// Reads the whole of `bytes`.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, TlsError> {
        let mut reader = TlsReader::new(bytes);
        let hash = reader.u8("hash")?;
        let algorithm = reader.u8("signature algorithm")?;
        let signature = reader.vector16("signature")?;
        reader.finish("DigitallySigned")?;
        Ok(Self { hash, algorithm, signature })
    }

    /// Its bytes. Fails for a signature of 64 KiB or more.
    pub fn encode(&self) -> Result<Vec<u8>, TlsError> {
        let mut out = Vec::with_capacity(4 + self.signature.len());
        out.extend_from_slice(&[self.hash, self.algorithm]);
        put_vector16(&mut out, self.signature, "signature")?;
        Ok(out)
    }
}
