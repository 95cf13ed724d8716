//! Certificates as the embedded authorities write them (RFC 5280 section 4), byte by byte in the order of the real ones.

use hammer_tlog::keys::{certificate as oids, der::context};
use ring::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};

use crate::{
    der::{bit_string, certificate_time, element, octet_string, oid, sequence, set, unsigned},
    signer::{LabSigner, SignerAlgorithm},
};

/// What a certificate says, but for its issuer's signature.
#[derive(Debug, Clone)]
pub struct CertificateFields<'a> {
    /// Big-endian.
    pub serial: &'a [u8],
    /// DER of the issuer's `Name`.
    pub issuer: &'a [u8],
    /// Seconds since 1970.
    pub not_before: u64,
    /// Seconds since 1970.
    pub not_after: u64,
    /// DER of the subject's `Name`.
    pub subject: &'a [u8],
    /// DER of the `SubjectPublicKeyInfo`.
    pub spki: &'a [u8],
    /// DER of each `Extension`, in order.
    pub extensions: &'a [Vec<u8>],
}

impl CertificateFields<'_> {
    /// The DER of the certificate.
    pub fn signed_by(&self, signer: &LabSigner) -> Vec<u8> {
        let algorithm = signature_algorithm(signer.algorithm());
        let extensions = self.extensions.concat();
        let tbs = sequence(&[
            &VERSION_3,
            &unsigned(self.serial),
            &algorithm,
            self.issuer,
            &sequence(&[&certificate_time(self.not_before), &certificate_time(self.not_after)]),
            self.subject,
            self.spki,
            &element(context(3), &[&sequence(&[&extensions])]),
        ]);
        let signature = signer.sign(&tbs);
        sequence(&[&tbs, &algorithm, &bit_string(&signature)])
    }
}

/// The `AlgorithmIdentifier` of what such a key signs (RFC 5758 section 3.2, RFC 8410 section 3).
pub fn signature_algorithm(algorithm: SignerAlgorithm) -> Vec<u8> {
    sequence(&[&oid(match algorithm {
        SignerAlgorithm::P256 => ECDSA_WITH_SHA256,
        SignerAlgorithm::P384 => ECDSA_WITH_SHA384,
        SignerAlgorithm::Ed25519 => ED25519,
    })])
}

/// `Name` of an organization and a common name, as strings of this tag.
pub fn name(string: u8, organization: &str, common_name: &str) -> Vec<u8> {
    let attribute =
        |kind: &[u8], value: &str| set(&[&sequence(&[&oid(kind), &element(string, &[value.as_bytes()])])]);
    sequence(&[&attribute(ORGANIZATION, organization), &attribute(COMMON_NAME, common_name)])
}

/// `KeyIdentifier` of a key's own bytes: their SHA-1 (RFC 5280 section 4.2.1.2, method 1).
pub fn key_identifier(public_key: &[u8]) -> Vec<u8> {
    digest(&SHA1_FOR_LEGACY_USE_ONLY, public_key).as_ref().to_vec()
}

/// `Extension` with this content.
pub fn extension(kind: &[u8], critical: bool, value: &[u8]) -> Vec<u8> {
    let critical = if critical { crate::der::TRUE } else { &[] };
    sequence(&[&oid(kind), critical, &octet_string(value)])
}

/// `KeyUsage` digitalSignature, critical.
pub fn digital_signature() -> Vec<u8> {
    extension(KEY_USAGE, true, &[0x03, 0x02, 0x07, 0x80])
}

/// `KeyUsage` keyCertSign and cRLSign, critical.
pub fn certificate_signing() -> Vec<u8> {
    extension(KEY_USAGE, true, &[0x03, 0x02, 0x01, 0x06])
}

/// `ExtKeyUsageSyntax` of one purpose.
pub fn extended_key_usage(purpose: &[u8], critical: bool) -> Vec<u8> {
    extension(oids::EXTENDED_KEY_USAGE, critical, &sequence(&[&oid(purpose)]))
}

/// `BasicConstraints` of a CA, critical.
pub fn authority_constraints(path_length: Option<u8>) -> Vec<u8> {
    let length = path_length.map(|length| unsigned(&[length])).unwrap_or_default();
    extension(oids::BASIC_CONSTRAINTS, true, &sequence(&[crate::der::TRUE, &length]))
}

/// `SubjectKeyIdentifier`.
pub fn subject_key_identifier(identifier: &[u8]) -> Vec<u8> {
    extension(oids::SUBJECT_KEY_IDENTIFIER, false, &octet_string(identifier))
}

/// `AuthorityKeyIdentifier`.
pub fn authority_key_identifier(identifier: &[u8]) -> Vec<u8> {
    extension(oids::AUTHORITY_KEY_IDENTIFIER, false, &sequence(&[&element(0x80, &[identifier])]))
}

/// `SubjectAltName` of one `GeneralName`, critical as where the subject is empty (RFC 5280 section 4.2.1.6).
pub fn alternative_name(name: &[u8]) -> Vec<u8> {
    extension(SUBJECT_ALTERNATIVE_NAME, true, &sequence(&[name]))
}

/// `[0] EXPLICIT` 2, which is version 3.
const VERSION_3: [u8; 5] = [0xa0, 0x03, 0x02, 0x01, 0x02];
/// 1.2.840.10045.4.3.2.
const ECDSA_WITH_SHA256: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02];
/// 1.2.840.10045.4.3.3.
const ECDSA_WITH_SHA384: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x03];
/// 1.3.101.112.
const ED25519: &[u8] = &[0x2b, 0x65, 0x70];
/// 2.5.4.10.
const ORGANIZATION: &[u8] = &[0x55, 0x04, 0x0a];
/// 2.5.4.3.
const COMMON_NAME: &[u8] = &[0x55, 0x04, 0x03];
/// 2.5.29.15.
const KEY_USAGE: &[u8] = &[0x55, 0x1d, 0x0f];
/// 2.5.29.17.
const SUBJECT_ALTERNATIVE_NAME: &[u8] = &[0x55, 0x1d, 0x11];
/// 1.3.6.1.5.5.7.3.3, id-kp-codeSigning.
pub const CODE_SIGNING: &[u8] = &[0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x03];
/// 1.3.6.1.5.5.7.3.8, id-kp-timeStamping.
pub const TIME_STAMPING: &[u8] = &[0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x08];
