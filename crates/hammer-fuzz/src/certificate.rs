//! Certificates, and what a log signs of a precertificate.

use hammer_tlog::ct::precert::{
    issuer_key_hash, precert_tbs, precert_tbs_by_signing_certificate, signed_entry,
};
use hammer_tlog::ct::rfc6962::EntryType;
use hammer_tlog::keys::certificate::{Certificate, POISON, same_name};
use hammer_tlog::keys::der;

const SIGNING: &[u8] =
    include_bytes!("../../../fuzz/seeds/certificate/signing-certificate-with-identifier.der");

/// A certificate is the sum of its parts, and what is rebuilt of a precertificate is one without poison.
pub(crate) fn certificate(data: &[u8]) -> bool {
    let _ = signed_entry(&[data, SIGNING, SIGNING], EntryType::Precert);
    let _ = signed_entry(&[SIGNING, data, data], EntryType::Precert);
    let _ = precert_tbs_by_signing_certificate(SIGNING, data);
    let rebuilt = [precert_tbs(data), precert_tbs_by_signing_certificate(data, SIGNING)];
    let Ok(certificate) = Certificate::parse(data) else {
        assert!(rebuilt.iter().all(Result::is_err) && issuer_key_hash(data).is_err());
        return false;
    };
    assert_eq!(whole(certificate.tbs, &certificate), data);
    let (issuer, subject) = (certificate.issuer, certificate.subject);
    assert_eq!(same_name(issuer, subject), same_name(subject, issuer));
    assert!(same_name(issuer, issuer));
    let _ = (certificate.not_before_seconds(), certificate.not_after_seconds());
    let _ = (certificate.is_ca(), certificate.is_precert_signing(), certificate.fingerprint());
    for tbs in rebuilt.into_iter().flatten() {
        assert!(certificate.is_poisoned());
        let bytes = whole(&tbs, &certificate);
        let rebuilt = Certificate::parse(&bytes).expect("what is rebuilt is a certificate's");
        assert!(!rebuilt.is_poisoned());
        assert_eq!((rebuilt.serial, rebuilt.subject), (certificate.serial, certificate.subject));
        assert_eq!((rebuilt.spki, rebuilt.not_after), (certificate.spki, certificate.not_after));
        let poisons = certificate.extensions.filter(|extension| extension.oid == POISON).count();
        assert_eq!(poisons, 1);
    }
    true
}

/// The certificate of `tbs` with algorithm and signature of another.
fn whole(tbs: &[u8], other: &Certificate<'_>) -> Vec<u8> {
    let mut content = tbs.to_vec();
    content.extend_from_slice(other.signature_algorithm);
    der::write(&mut content, der::BIT_STRING, &[&[0], other.signature].concat());
    let mut whole = Vec::new();
    der::write(&mut whole, der::SEQUENCE, &content);
    whole
}
