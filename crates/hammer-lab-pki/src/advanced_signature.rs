//! The CMS of an advanced signature (RFC 5652 section 5): signed attributes, which its signer signs, and all that stands around the signature.

use hammer_lab_authority::der::{
    NULL, SET, certificate_time, element, octet_string, oid, sequence, set, unsigned,
};
use hammer_tlog::keys::certificate::Certificate;
use hammer_tlog::keys::der::{DerError, context};
use ring::digest::{Context, SHA256, digest};

/// A certificate of whoever signs.
#[derive(Debug, Clone)]
pub struct SigningCertificate {
    der: Vec<u8>,
    /// `IssuerAndSerialNumber`.
    issuer_and_serial: Vec<u8>,
    /// `IssuerSerial`, whose issuer is a `GeneralNames` (RFC 5035 section 4).
    issuer_serial: Vec<u8>,
    /// `AlgorithmIdentifier` of the signatures of its key.
    signature_algorithm: Vec<u8>,
}

/// Why a certificate cannot sign here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnusableCertificate {
    /// The DER is broken.
    #[error("read the certificate: {0}")]
    Der(#[from] DerError),
    /// Its key is neither RSA nor of P-256.
    #[error("use the certificate: its key is neither RSA nor of P-256")]
    Key,
}

/// Which profile the signature is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// CAdES, which states when it was made, in seconds since 1970.
    Cades {
        /// That time.
        signing_time: u64,
    },
    /// PAdES, in whose dictionary that stands.
    Pades,
}

/// What is signed, and by whom.
#[derive(Debug, Clone)]
pub struct SignedAttributes {
    certificate: SigningCertificate,
    /// Each of them, in order.
    attributes: Vec<Vec<u8>>,
}

/// What stands around a signature beside its attributes.
#[derive(Debug, Clone, Copy, Default)]
pub struct Surroundings<'a> {
    /// The document, where it is enveloped.
    pub content: Option<&'a [u8]>,
    /// The issuers of the certificate, which are sent along.
    pub issuers: &'a [Vec<u8>],
    /// The token of a timestamp over the signature (RFC 3161 appendix A).
    pub timestamp: Option<&'a [u8]>,
}

impl SigningCertificate {
    /// That of this DER.
    ///
    /// # Errors
    /// What is no certificate, or one whose key does not sign here.
    pub fn new(der: Vec<u8>) -> Result<Self, UnusableCertificate> {
        let parsed = Certificate::parse(&der)?;
        let has = |kind: &[u8]| parsed.spki.windows(kind.len()).any(|window| window == kind);
        let signature_algorithm = if has(RSA_ENCRYPTION) {
            sequence(&[&oid(RSA_ENCRYPTION), NULL])
        } else if has(PRIME256V1) {
            sequence(&[&oid(ECDSA_WITH_SHA256)])
        } else {
            return Err(UnusableCertificate::Key);
        };
        let (issuer, serial) = (parsed.issuer, unsigned(parsed.serial));
        let issuer_and_serial = sequence(&[issuer, &serial]);
        let issuer_serial = sequence(&[&sequence(&[&element(context(4), &[issuer])]), &serial]);
        Ok(Self { issuer_and_serial, issuer_serial, signature_algorithm, der })
    }

    /// Its DER.
    #[must_use]
    pub fn der(&self) -> &[u8] {
        &self.der
    }
}

impl SignedAttributes {
    /// Those of a document in pieces, to be signed with the certificate's key.
    #[must_use]
    pub fn of<'a>(
        certificate: &SigningCertificate,
        document: impl IntoIterator<Item = &'a [u8]>,
        profile: Profile,
    ) -> Self {
        let mut hashed = Context::new(&SHA256);
        document.into_iter().for_each(|piece| hashed.update(piece));
        Self::of_digest(certificate, hashed.finish().as_ref(), profile)
    }

    /// The same of a document by its SHA-256.
    #[must_use]
    pub fn of_digest(certificate: &SigningCertificate, sha256: &[u8], profile: Profile) -> Self {
        // SHA-256 is the default of ESSCertIDv2, and left out (RFC 5035 section 4).
        let named = sequence(&[
            &octet_string(digest(&SHA256, certificate.der()).as_ref()),
            &certificate.issuer_serial,
        ]);
        let mut attributes = vec![
            attribute(CONTENT_TYPE, &oid(ID_DATA)),
            attribute(MESSAGE_DIGEST, &octet_string(sha256)),
            attribute(SIGNING_CERTIFICATE_V2, &sequence(&[&sequence(&[&named])])),
        ];
        if let Profile::Cades { signing_time } = profile {
            attributes.push(attribute(SIGNING_TIME, &certificate_time(signing_time)));
        }
        // The order that DER asks of a SET OF (X.690 section 11.6).
        attributes.sort();
        Self { certificate: certificate.clone(), attributes }
    }

    /// The same without the one that names the certificate, which a signature has to have.
    pub(crate) fn without_certificate(mut self) -> Self {
        let name = oid(SIGNING_CERTIFICATE_V2);
        self.attributes.retain(|attribute| !attribute.windows(name.len()).any(|window| window == name));
        self
    }

    /// What is signed: the attributes as a SET OF (RFC 5652 section 5.4).
    #[must_use]
    pub fn to_be_signed(&self) -> Vec<u8> {
        element(SET, &[&self.attributes.concat()])
    }

    /// The DER of the CMS with the signature over [`SignedAttributes::to_be_signed`], which nobody verifies here.
    #[must_use]
    pub fn signed(&self, signature: &[u8], around: &Surroundings<'_>) -> Vec<u8> {
        let certificate = &self.certificate;
        let timestamp = around.timestamp.map(|token| attribute(SIGNATURE_TIMESTAMP, token));
        let unsigned = timestamp.map(|attribute| element(context(1), &[&attribute])).unwrap_or_default();
        let digest_algorithm = sequence(&[&oid(SHA_256)]);
        let signer_info = sequence(&[
            VERSION_1,
            &certificate.issuer_and_serial,
            &digest_algorithm,
            &element(context(0), &[&self.attributes.concat()]),
            &certificate.signature_algorithm,
            &octet_string(signature),
            &unsigned,
        ]);
        let content = around.content.map(|content| element(context(0), &[&octet_string(content)]));
        let mut certificates = vec![certificate.der.clone()];
        certificates.extend(around.issuers.iter().cloned());
        certificates.sort();
        let signed_data = sequence(&[
            VERSION_1,
            &set(&[&digest_algorithm]),
            &sequence(&[&oid(ID_DATA), &content.unwrap_or_default()]),
            &element(context(0), &[&certificates.concat()]),
            &set(&[&signer_info]),
        ]);
        sequence(&[&oid(SIGNED_DATA), &element(context(0), &[&signed_data])])
    }
}

/// `Attribute` of one value.
fn attribute(kind: &[u8], value: &[u8]) -> Vec<u8> {
    sequence(&[&oid(kind), &set(&[value])])
}

const VERSION_1: &[u8] = &[0x02, 0x01, 0x01];
/// 1.2.840.113549.1.1.1.
const RSA_ENCRYPTION: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01];
/// 1.2.840.10045.3.1.7.
const PRIME256V1: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07];
/// 1.2.840.10045.4.3.2.
const ECDSA_WITH_SHA256: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02];
/// 2.16.840.1.101.3.4.2.1.
const SHA_256: &[u8] = &[0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01];
/// 1.2.840.113549.1.7.1.
const ID_DATA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x01];
/// 1.2.840.113549.1.7.2.
const SIGNED_DATA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x02];
/// 1.2.840.113549.1.9.3.
const CONTENT_TYPE: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x03];
/// 1.2.840.113549.1.9.4.
const MESSAGE_DIGEST: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x04];
/// 1.2.840.113549.1.9.5.
const SIGNING_TIME: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x05];
/// 1.2.840.113549.1.9.16.2.14.
const SIGNATURE_TIMESTAMP: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x10, 0x02, 0x0e];
/// 1.2.840.113549.1.9.16.2.47.
const SIGNING_CERTIFICATE_V2: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x10, 0x02, 0x2f];
