//! Who signs, by the certificate that is shown.

use hammer_tlog::keys::certificate::Certificate;
use hammer_tlog::keys::chain::TrustedAuthorities;
use hammer_tlog::keys::der::{self, Tlv};
use ring::signature::{
    ECDSA_P256_SHA256_ASN1, RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey, VerificationAlgorithm,
};

use crate::advanced_signature::SigningCertificate;
use crate::distribution_point::distribution_point;
use crate::refusal::Refusal;

/// A certificate that was taken.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    certificate: SigningCertificate,
    issuer: Vec<u8>,
    /// The content of its serial number.
    serial: Vec<u8>,
    /// Where it says that its issuer's list of revoked certificates is.
    list_url: Option<String>,
    key: Vec<u8>,
    is_rsa: bool,
}

impl Caller {
    /// That of this DER, at a time in seconds since 1970.
    pub(crate) fn of(der: Vec<u8>, trusted: Option<&TrustedAuthorities>, now: u64) -> Result<Self, Refusal> {
        let invalid = |why: &dyn std::fmt::Display| Refusal::code("InvalidCertificate", &why.to_string());
        let certificate = SigningCertificate::new(der).map_err(|why| invalid(&why))?;
        let parsed = Certificate::parse(certificate.der()).map_err(|why| invalid(&why))?;
        let (issuer, serial) = (parsed.issuer.to_vec(), parsed.serial.to_vec());
        let (list_url, now) = (distribution_point(&parsed), i64::try_from(now).unwrap_or(i64::MAX));
        let is_valid = parsed.not_before_seconds().is_some_and(|start| start <= now)
            && parsed.not_after_seconds().is_some_and(|end| now <= end);
        if !is_valid {
            return Err(Refusal::validation("CertificateExpired", "The certificate is out of its validity"));
        }
        if trusted.is_some_and(|trusted| trusted.verify(&parsed, &[], now).is_err()) {
            let why = "The certificate chain does not end in a trusted root";
            return Err(Refusal::validation("CertificateChainRootNotTrusted", why));
        }
        let (key, is_rsa) = public_key(parsed.spki).ok_or_else(|| invalid(&"its key cannot be read"))?;
        Ok(Self { issuer, serial, list_url, key, is_rsa, certificate })
    }

    pub(crate) fn certificate(&self) -> &SigningCertificate {
        &self.certificate
    }

    /// The DER of its issuer's `Name`.
    pub(crate) fn issuer(&self) -> &[u8] {
        &self.issuer
    }

    /// The content of its serial number.
    pub(crate) fn serial(&self) -> &[u8] {
        &self.serial
    }

    /// Where it says that its issuer's list of revoked certificates is.
    pub(crate) fn list_url(&self) -> Option<&str> {
        self.list_url.as_deref()
    }

    /// Verifies that its key signed `message`, by SHA-256.
    pub(crate) fn verify(&self, message: &[u8], signature: &[u8]) -> Result<(), Refusal> {
        let algorithm: &dyn VerificationAlgorithm =
            if self.is_rsa { &RSA_PKCS1_2048_8192_SHA256 } else { &ECDSA_P256_SHA256_ASN1 };
        let verified = UnparsedPublicKey::new(algorithm, &self.key).verify(message, signature);
        verified.map_err(|_| {
            Refusal::validation("SignatureAlgorithmValidationFailed", "The signature does not match")
        })
    }
}

/// The key's own bytes, and whether it is of RSA.
fn public_key(spki: &[u8]) -> Option<(Vec<u8>, bool)> {
    let mut fields = Tlv::parse(spki, der::SEQUENCE).ok()?.content();
    let algorithm = fields.expect(der::SEQUENCE).ok()?;
    let key = fields.expect(der::BIT_STRING).ok()?;
    let is_rsa = algorithm.value.windows(RSA.len()).any(|window| window == RSA);
    Some((key.bits().ok()?.to_vec(), is_rsa))
}

/// 1.2.840.113549.1.1.1.
const RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01];
