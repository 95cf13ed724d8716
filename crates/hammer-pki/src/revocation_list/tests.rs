use std::fs;
use std::process::Command;

use hammer_tlog::keys::certificate::Certificate;
use hammer_tlog::keys::chain::TrustedAuthorities;

use crate::plan::PkiTargetPlan;
use crate::{MadeAuthority, RevokedCertificates, Signer, SignerIssuers, signers};

const NOW: u64 = 1_795_737_600;
const LISTS: &str = "http://127.0.0.1:8700";

fn signers_of(authorities: &[MadeAuthority]) -> Vec<std::sync::Arc<Signer>> {
    let issuers = SignerIssuers { authorities, lists_url: LISTS };
    signers(&PkiTargetPlan::default(), 5, issuers).unwrap()
}

/// What OpenSSL prints.
fn openssl(arguments: &[&str], folder: &std::path::Path) -> String {
    let ended = Command::new("openssl").args(arguments).current_dir(folder).output().unwrap();
    let said = String::from_utf8_lossy(&ended.stdout).into_owned() + &String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{arguments:?}: {said}");
    said
}

#[test]
fn authorities_are_the_same_each_time_and_others_of_another_seed() {
    let of = |seed| {
        let all = MadeAuthority::all(seed, 3).unwrap();
        all.iter().map(|authority| authority.pem().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(of(5), of(5));
    assert_eq!(
        of(5)[..2],
        MadeAuthority::all(5, 2).unwrap().iter().map(MadeAuthority::pem).collect::<Vec<_>>()
    );
    let mut all = [of(5), of(6)].concat();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 6);
}

#[test]
fn signers_are_issued_in_turn_and_lead_to_their_authority_alone() {
    let authorities = MadeAuthority::all(5, 4).unwrap();
    for (number, signer) in signers_of(&authorities).iter().enumerate() {
        let certificate = Certificate::parse(signer.key.certificate()).unwrap();
        for (place, authority) in authorities.iter().enumerate() {
            let trusted = TrustedAuthorities::from_pem(authority.pem()).unwrap();
            let leads = trusted.verify(&certificate, &[], NOW as i64).is_ok();
            assert_eq!(leads, place == number % 4, "{number} {place}");
        }
        assert_eq!(signer.issuers, [authorities[number % 4].certificate()]);
    }
}

#[test]
fn a_list_is_as_long_as_it_may_be() {
    let authority = &MadeAuthority::all(5, 1).unwrap()[0];
    for bytes in [1_000, 4_096, 65_536, 1 << 20] {
        let revoked = RevokedCertificates::within(authority, bytes);
        let length = revoked.list(authority, NOW, NOW + 60).len() as u64;
        assert!((bytes - 70..=bytes).contains(&length), "{length} of {bytes}");
        assert!(revoked.count() > 0);
    }
    let none = RevokedCertificates::within(authority, 0);
    assert_eq!(none.count(), 0);
    assert!(none.list(authority, NOW, NOW + 60).len() < 400);
}

#[test]
fn openssl_believes_a_list_and_finds_no_signer_in_it() {
    let authorities = MadeAuthority::all(5, 2).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
    let now = std::time::UNIX_EPOCH.elapsed().unwrap().as_secs();
    for (place, authority) in authorities.iter().enumerate() {
        write("root.pem", authority.pem().as_bytes());
        let revoked = RevokedCertificates::within(authority, 4096);
        write("list.der", &revoked.list(authority, now - 60, now + 3600));
        let of_list = ["crl", "-inform", "DER", "-in", "list.der"];
        let verified = [&of_list[..], &["-CAfile", "root.pem", "-noout"]].concat();
        assert!(openssl(&verified, folder.path()).contains("verify OK"));
        let text = openssl(&[&of_list[..], &["-noout", "-text"]].concat(), folder.path());
        assert_eq!(text.matches("Serial Number:").count(), revoked.count(), "{text}");
        for expected in ["Version 2", "CRL Number", "Authority Key Identifier"] {
            assert!(text.contains(expected), "{expected}: {text}");
        }
        openssl(&[&of_list[..], &["-out", "list.pem"]].concat(), folder.path());
        for signer in signers_of(&authorities).iter().skip(place).step_by(2) {
            write("signer.der", signer.key.certificate());
            let checks =
                ["verify", "-CAfile", "root.pem", "-CRLfile", "list.pem", "-crl_check", "-x509_strict"];
            let said = openssl(&[&checks[..], &["signer.der"]].concat(), folder.path());
            assert!(said.contains("signer.der: OK"), "{said}");
            let said = openssl(&["x509", "-in", "signer.der", "-noout", "-text"], folder.path());
            assert!(said.contains(&format!("URI:{LISTS}/crl/{place}.crl")), "{said}");
            assert!(said.contains("Digital Signature, Non Repudiation"), "{said}");
        }
    }
}
