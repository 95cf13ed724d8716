//! Certificates of signers and of those above them: what is wrong with one, and what is not judged here.

use hammer_cms::signed_data::SignedDataError;
use hammer_cms::timestamp::TimestampFault;
use hammer_tlog::keys::certificate::Certificate;
use hammer_tlog::keys::chain::ChainError;
use hammer_tlog::keys::der;
use hammer_tlog::keys::digest::DigestAlgorithm;
use rcgen::{CertificateParams, CustomExtension, ExtendedKeyUsagePurpose, KeyUsagePurpose};

use crate::mint::{
    Authority, CONTENT_TYPE, MESSAGE_DIGEST, STAMPED_MS, Stamp, TST_INFO, attribute, element, integer,
    octets, oid, sequence,
};

fn critical(params: &mut CertificateParams, oid: &[u64], content: Vec<u8>) {
    let mut extension = CustomExtension::from_oid_content(oid, content);
    extension.set_criticality(true);
    params.custom_extensions.push(extension);
}

/// What is said of a token that has the intermediate certificate with it.
fn judge(authority: &Authority) -> Result<i64, TimestampFault> {
    authority.judge(&Stamp { embedded: vec![authority.intermediate.clone()], ..Stamp::default() })
}

/// Name constraints, policy constraints, inhibitAnyPolicy and privateKeyUsagePeriod: whoever reads them may refuse the chain, or not.
#[test]
fn a_critical_extension_that_is_not_read_leaves_a_timestamp_unverified() {
    let directory_name = element(der::context(4), &[&sequence(&[])]);
    let excluded = sequence(&[&element(der::context(1), &[&sequence(&[&directory_name])])]);
    for (number, content) in [
        (30, excluded),
        (36, sequence(&[&element(0x80, &[&[0]])])),
        (54, integer(&[0])),
        (16, sequence(&[&element(0x81, &[b"20310101000000Z"])])),
    ] {
        let add = |params: &mut CertificateParams| critical(params, &[2, 5, 29, number], content.clone());
        for authority in [Authority::with_intermediate(add), Authority::with_signer(add)] {
            let fault = judge(&authority).unwrap_err();
            assert!(
                matches!(fault, TimestampFault::Untrusted(ChainError::CriticalExtension { .. })),
                "{number}: {fault}"
            );
            assert!(fault.is_unverified(), "{number}: {fault}");
        }
        // Nobody trusts it any more for that.
        let stranger = Authority::new();
        let authority = Authority::with_signer(add);
        let fault = crate::mint::judge(&mut stranger.verifier(), &authority.respond(&Stamp::default()));
        assert!(!fault.unwrap_err().is_unverified(), "{number}");
    }
}

#[test]
fn policies_that_are_critical_say_nothing_against_a_timestamp() {
    let add = |params: &mut CertificateParams| {
        critical(params, &[2, 5, 29, 32], sequence(&[&sequence(&[&oid(&[0x2a, 0x03])])]));
    };
    for authority in [Authority::with_intermediate(add), Authority::with_signer(add)] {
        assert_eq!(judge(&authority), Ok(STAMPED_MS));
    }
}

#[test]
fn a_key_that_is_for_no_signatures_signs_no_timestamp() {
    use KeyUsagePurpose::{ContentCommitment, DigitalSignature, KeyCertSign, KeyEncipherment};
    for (usages, is_right) in [
        (vec![], true),
        (vec![DigitalSignature], true),
        (vec![ContentCommitment], true),
        (vec![KeyEncipherment, DigitalSignature], true),
        (vec![KeyEncipherment], false),
        (vec![KeyCertSign], false),
    ] {
        let authority = Authority::with_signer(|params| params.key_usages = usages.clone());
        let expected = if is_right { Ok(STAMPED_MS) } else { Err(TimestampFault::KeyUsage) };
        assert_eq!(authority.judge(&Stamp::default()), expected, "{usages:?}");
    }
    assert_eq!(TimestampFault::KeyUsage.kind(), "timestamp-certificate");
    assert!(!TimestampFault::KeyUsage.is_unverified());
}

#[test]
fn an_issuer_for_other_purposes_leaves_a_timestamp_unverified() {
    use ExtendedKeyUsagePurpose::{Any, ServerAuth, TimeStamping};
    for (purposes, is_right) in [
        (vec![], true),
        (vec![TimeStamping], true),
        (vec![ServerAuth, TimeStamping], true),
        (vec![Any], true),
        (vec![ServerAuth], false),
    ] {
        let authority = Authority::with_intermediate(|params| params.extended_key_usages = purposes.clone());
        let subject = "minted intermediate".to_owned();
        let unverified = TimestampFault::Untrusted(ChainError::IssuerPurpose { subject });
        assert!(unverified.is_unverified());
        let expected = if is_right { Ok(STAMPED_MS) } else { Err(unverified) };
        assert_eq!(judge(&authority), expected, "{purposes:?}");
    }
}

#[test]
fn a_certificate_is_found_behind_any_number_of_others() {
    let authority = Authority::with_intermediate(|_| {});
    let mut embedded = vec![Authority::new().root; 20];
    embedded.push(authority.intermediate.clone());
    assert_eq!(authority.judge(&Stamp { embedded, ..Stamp::default() }), Ok(STAMPED_MS));
}

/// A token whose attribute signingCertificateV2 has a hash by SHA3-256, and an `issuerSerial` of that number.
#[test]
fn a_certificate_that_is_named_by_an_unknown_hash_leaves_a_timestamp_unverified() {
    let authority = Authority::new();
    let certificate = Certificate::parse(&authority.certificate).unwrap();
    let judge = |serial: &[u8]| {
        let name = element(der::context(4), &[certificate.issuer]);
        let issuer_serial = sequence(&[&sequence(&[&name]), &integer(serial)]);
        let digest = DigestAlgorithm::Sha256.digest(&Stamp::default().info());
        let attributes = vec![
            attribute(CONTENT_TYPE, &[&oid(TST_INFO)]),
            attribute(MESSAGE_DIGEST, &[&octets(digest.as_ref())]),
            Authority::names_by_sha3(&issuer_serial),
        ];
        authority.judge(&Stamp { attributes: Some(attributes), ..Stamp::default() }).unwrap_err()
    };
    let unknown = judge(certificate.serial);
    let error = SignedDataError::Unknown { what: "certificate hash" };
    assert_eq!(unknown, TimestampFault::Signature(error));
    assert!(unknown.is_unverified());
    // What can be read of it names another one.
    assert_eq!(judge(&[1]), TimestampFault::SigningCertificate);
}
