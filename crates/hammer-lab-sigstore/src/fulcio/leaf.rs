//! The certificate of a signer, as Fulcio lays it out (Fulcio's docs/certificate-specification.md and docs/oid-info.md).

use hammer_tlog::keys::certificate::POISON;

use crate::token::Identity;
use hammer_lab_authority::{
    Authority,
    certificate::{
        CODE_SIGNING, CertificateFields, alternative_name, authority_key_identifier, digital_signature,
        extended_key_usage, extension, key_identifier, subject_key_identifier,
    },
    der::{NULL, UTF8_STRING, element, octet_string, sequence},
};

/// What a signer's certificate says.
#[derive(Debug, Clone)]
pub(super) struct Leaf<'a> {
    /// Big-endian.
    pub(super) serial: [u8; 20],
    /// Whose it is.
    pub(super) identity: Identity,
    /// DER of the `SubjectPublicKeyInfo`.
    pub(super) spki: &'a [u8],
    /// The key's own bytes.
    pub(super) public_key: &'a [u8],
    /// `notBefore`, seconds since 1970.
    pub(super) issued_at: u64,
}

/// What a certificate has as its last extension, the rest being alike (RFC 6962 sections 3.1 and 3.3).
#[derive(Debug, Clone, Copy)]
pub(super) enum LastExtension<'a> {
    /// Nothing.
    None,
    /// The poison of a precertificate.
    Poison,
    /// A `SignedCertificateTimestampList` with its length.
    Scts(&'a [u8]),
}

impl Leaf<'_> {
    /// The DER of the certificate that this authority signs.
    pub(super) fn certificate(&self, authority: &Authority, last: LastExtension<'_>) -> Vec<u8> {
        let mut extensions = self.extensions(authority.key_identifier());
        match last {
            LastExtension::None => {}
            LastExtension::Poison => extensions.push(extension(POISON, true, NULL)),
            LastExtension::Scts(list) => extensions.push(extension(SCT_LIST, false, &octet_string(list))),
        }
        let fields = CertificateFields {
            serial: &self.serial,
            issuer: authority.name(),
            not_before: self.issued_at,
            not_after: self.issued_at + LIFE,
            subject: &sequence(&[]),
            spki: self.spki,
            extensions: &extensions,
        };
        fields.signed_by(authority.signer())
    }

    fn extensions(&self, authority_key: &[u8]) -> Vec<Vec<u8>> {
        let Identity { issuer, subject, name, .. } = &self.identity;
        let text = |value: &str| element(UTF8_STRING, &[value.as_bytes()]);
        let mut extensions = vec![
            digital_signature(),
            extended_key_usage(CODE_SIGNING, false),
            subject_key_identifier(&key_identifier(self.public_key)),
            authority_key_identifier(authority_key),
            alternative_name(&name.general_name()),
            // The first has its text bare, and not as DER.
            extension(ISSUER_V1, false, issuer.as_bytes()),
            extension(ISSUER_V2, false, &text(issuer)),
        ];
        if !subject.is_empty() {
            extensions.push(extension(SUBJECT, false, &text(subject)));
        }
        extensions
    }
}

/// Seconds for which a signer's certificate is valid.
const LIFE: u64 = 600;
/// 1.3.6.1.4.1.57264.1.1.
const ISSUER_V1: &[u8] = &[0x2b, 0x06, 0x01, 0x04, 0x01, 0x83, 0xbf, 0x30, 0x01, 0x01];
/// 1.3.6.1.4.1.57264.1.8.
const ISSUER_V2: &[u8] = &[0x2b, 0x06, 0x01, 0x04, 0x01, 0x83, 0xbf, 0x30, 0x01, 0x08];
/// 1.3.6.1.4.1.57264.1.24, the token's `sub`.
const SUBJECT: &[u8] = &[0x2b, 0x06, 0x01, 0x04, 0x01, 0x83, 0xbf, 0x30, 0x01, 0x18];
/// 1.3.6.1.4.1.11129.2.4.2.
const SCT_LIST: &[u8] = &[0x2b, 0x06, 0x01, 0x04, 0x01, 0xd6, 0x79, 0x02, 0x04, 0x02];
