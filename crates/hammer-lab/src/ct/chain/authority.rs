//! A certificate that signs others.

use std::sync::Arc;

use hammer_tlog::{
    keys::der::{BIT_STRING, BOOLEAN, OBJECT_IDENTIFIER, SEQUENCE, Tlv},
    logs::merkle::{Hash, sha256},
};

use super::{
    ChainRefusal,
    certificate::{
        Certificate, OID_AUTHORITY_KEY_IDENTIFIER, OID_BASIC_CONSTRAINTS, OID_EXTENDED_KEY_USAGE,
        OID_KEY_USAGE, OID_PRECERT_SIGNING,
    },
    parse,
};
use crate::ct::signature::{PublicKey, checks::OpenSignature, fixed_keys::FixedKeys};

/// An issuer, kept with what the log asks of it.
#[derive(Debug)]
pub(crate) struct Authority {
    pub(crate) der: Vec<u8>,
    /// SHA-256 of `der`.
    pub(crate) fingerprint: Hash,
    pub(crate) subject: Vec<u8>,
    pub(crate) issuer: Vec<u8>,
    pub(crate) spki: Vec<u8>,
    /// SHA-256 of `spki`: the issuer_key_hash of RFC 6962 section 3.2.
    pub(crate) spki_hash: Hash,
    /// Value of the authority key identifier, which takes the place of a precertificate's.
    pub(crate) authority_key_identifier: Option<Vec<u8>>,
    /// Whether it is a precertificate signing certificate (RFC 6962 section 3.1).
    pub(crate) signs_precerts: bool,
    key: PublicKey,
    may_sign: bool,
}

impl Authority {
    pub(crate) fn parse(der: &[u8]) -> Result<Arc<Self>, ChainRefusal> {
        let certificate = parse(der)?;
        let malformed = |error| ChainRefusal(format!("x509.ParseCertificate(): {error}"));
        Ok(Arc::new(Self {
            der: der.to_vec(),
            fingerprint: sha256(der),
            subject: certificate.subject.to_vec(),
            issuer: certificate.issuer.to_vec(),
            spki: certificate.spki.to_vec(),
            spki_hash: sha256(certificate.spki),
            authority_key_identifier: certificate
                .extension(OID_AUTHORITY_KEY_IDENTIFIER)
                .map(|extension| extension.value.to_vec()),
            signs_precerts: signs_precerts(&certificate),
            key: PublicKey::parse(certificate.spki).map_err(malformed)?,
            may_sign: is_authority(&certificate) && may_sign_certificates(&certificate),
        }))
    }

    /// Checks that this authority issued `certificate`: names, rights and signature.
    pub(crate) fn signed(&self, certificate: &Certificate<'_>, keys: &FixedKeys) -> Result<(), ChainRefusal> {
        if certificate.issuer != self.subject {
            return Err(ChainRefusal("x509: certificate signed by unknown authority".into()));
        }
        if !self.may_sign {
            let text = "x509: invalid signature: parent certificate cannot sign this kind of certificate";
            return Err(ChainRefusal(text.into()));
        }
        let key = (&self.spki_hash, &self.key);
        keys.verify(key, certificate.signature_algorithm, certificate.tbs, certificate.signature)
            .map_err(|error| ChainRefusal(error.to_string()))
    }

    /// What is left to ask when names and rights are as [`Authority::signed`] wants them: the signature, where it is one
    /// that a table verifies.
    pub(crate) fn open_signature<'a>(
        &self,
        certificate: &Certificate<'a>,
        keys: &FixedKeys,
    ) -> Option<OpenSignature<'a>> {
        self.key.p256_with_sha256(certificate.signature_algorithm)?;
        let issuer =
            (certificate.issuer == self.subject && self.may_sign).then(|| keys.in_use(&self.spki_hash))??;
        let digest = sha256(certificate.tbs).0;
        Some(OpenSignature { issuer, digest, signature: certificate.signature })
    }
}

/// CA of the basic constraints; a certificate before version 3 has none and may sign.
fn is_authority(certificate: &Certificate<'_>) -> bool {
    let Some(constraints) = certificate.extension(OID_BASIC_CONSTRAINTS) else { return !certificate.v3 };
    Tlv::parse(constraints.value, SEQUENCE)
        .and_then(|constraints| constraints.content().optional(BOOLEAN))
        .is_ok_and(|ca| ca.is_some_and(|ca| ca.value == [0xff]))
}

/// keyCertSign, bit 5 of the key usage; without the extension anything goes.
fn may_sign_certificates(certificate: &Certificate<'_>) -> bool {
    let Some(usage) = certificate.extension(OID_KEY_USAGE) else { return true };
    Tlv::parse(usage.value, BIT_STRING)
        .is_ok_and(|bits| bits.value.get(1).is_some_and(|byte| byte & 0x04 != 0))
}

fn signs_precerts(certificate: &Certificate<'_>) -> bool {
    let Some(usages) = certificate.extension(OID_EXTENDED_KEY_USAGE) else { return false };
    let Ok(usages) = Tlv::parse(usages.value, SEQUENCE) else { return false };
    let mut usages = usages.content();
    while let Ok(usage) = usages.expect(OBJECT_IDENTIFIER) {
        if usage.value == OID_PRECERT_SIGNING {
            return true;
        }
    }
    false
}
