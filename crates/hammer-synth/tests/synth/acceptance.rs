use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use hammer_synth::{Algorithm, ChainMinter, Kind, MintScratch, Minted, MinterSpec, Names, Profile};
use ring::signature::{
    ECDSA_P256_SHA256_ASN1, ED25519, RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey, VerificationAlgorithm,
};
use rustls_pki_types::{CertificateDer, UnixTime};
use x509_cert::Certificate;
use x509_cert::der::{Decode, Encode};
use x509_parser::prelude::{FromDer, X509Certificate};

use crate::{NOT_BEFORE, leaf_validity, mint, minter, spec};

/// The first seq of each of the three forms: certificate, precertificate, precertificate by a signing certificate.
fn one_of_each_form(minter: &ChainMinter, profile: Profile) -> [Minted; 3] {
    let direct = profile.chain.intermediates() + 1;
    let first = |kind, length| {
        (0..1000)
            .map(|seq| mint(minter, seq))
            .find(|minted| minted.kind() == kind && minted.certificates().count() == length)
            .expect("one in a thousand")
    };
    [first(Kind::X509, direct), first(Kind::Precert, direct), first(Kind::Precert, direct + 1)]
}

fn pem(folder: &Path, name: &str, certificates: &[&[u8]]) {
    let tag = |der: &[u8]| {
        use base64::Engine as _;
        let text = base64::engine::general_purpose::STANDARD.encode(der);
        let lines: Vec<&str> = text.as_bytes().chunks(64).map(|line| str::from_utf8(line).unwrap()).collect();
        format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", lines.join("\n"))
    };
    fs::write(folder.join(name), certificates.iter().map(|der| tag(der)).collect::<String>()).unwrap();
}

/// What `openssl verify` answers for a chain; it knows no poison, so critical extensions are ignored for precertificates.
fn openssl_verifies(roots: &str, chain: &[&[u8]], kind: Kind) -> Result<(), String> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("root.pem"), roots).unwrap();
    pem(folder.path(), "leaf.pem", &chain[..1]);
    pem(folder.path(), "above.pem", &chain[1..]);
    let mut command = Command::new("openssl");
    command.current_dir(&folder).args(["verify", "-x509_strict", "-attime", &NOT_BEFORE.to_string()]);
    if kind == Kind::Precert {
        command.arg("-ignore_critical");
    }
    let output =
        command.args(["-CAfile", "root.pem", "-untrusted", "above.pem", "leaf.pem"]).output().unwrap();
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

#[test]
fn openssl_verifies_every_profile_and_form() {
    for profile in Profile::all() {
        let minter = minter(1, Algorithm::P256, profile);
        for minted in one_of_each_form(&minter, profile) {
            let chain: Vec<&[u8]> = minted.certificates().collect();
            assert_eq!(openssl_verifies(&minter.roots_pem(), &chain, minted.kind()), Ok(()), "{profile}");
        }
    }
}

#[test]
fn openssl_verifies_every_algorithm_and_refuses_an_altered_leaf() {
    for algorithm in Algorithm::ALL {
        let minter = minter(1, algorithm, Profile::DV);
        for minted in one_of_each_form(&minter, Profile::DV) {
            let mut chain: Vec<&[u8]> = minted.certificates().collect();
            assert_eq!(openssl_verifies(&minter.roots_pem(), &chain, minted.kind()), Ok(()), "{algorithm}");
            let mut altered = minted.leaf().to_vec();
            altered[30] ^= 1;
            chain[0] = &altered;
            assert!(openssl_verifies(&minter.roots_pem(), &chain, minted.kind()).is_err(), "{algorithm}");
        }
    }
}

/// What `openssl verify` answers for many leaves under the same certificates; it knows no poison, so critical extensions are
/// ignored.
fn openssl_verifies_all(roots: &str, above: &[&[u8]], leaves: &[Vec<u8>]) -> bool {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("root.pem"), roots).unwrap();
    pem(folder.path(), "above.pem", above);
    let names: Vec<String> = (0..leaves.len()).map(|number| format!("{number}.pem")).collect();
    names.iter().zip(leaves).for_each(|(name, leaf)| pem(folder.path(), name, &[leaf]));
    let mut command = Command::new("openssl");
    command.current_dir(&folder).args(["verify", "-x509_strict", "-ignore_critical", "-attime"]);
    command.arg(NOT_BEFORE.to_string()).args(["-CAfile", "root.pem", "-untrusted", "above.pem"]).args(names);
    command.output().unwrap().status.success()
}

#[test]
fn others_verify_one_in_a_thousand_of_a_hundred_thousand_chains() {
    let minter = minter(1, Algorithm::P256, Profile::DV);
    let (mut scratch, mut minted) = (MintScratch::new(), Minted::new());
    let mut sampled: BTreeMap<Vec<Vec<u8>>, Vec<Vec<u8>>> = BTreeMap::new();
    for seq in 0..100_000 {
        minter.mint(seq, &mut scratch, &mut minted);
        if seq % 1_000 == 777 {
            let mut chain = minted.certificates().map(<[u8]>::to_vec);
            let leaf = chain.next().unwrap();
            assert_eq!(Certificate::from_der(&leaf).unwrap().to_der().unwrap(), leaf);
            webpki_verifies(&minter, &minted);
            sampled.entry(chain.collect()).or_default().push(leaf);
        }
    }
    assert_eq!(sampled.values().map(Vec::len).sum::<usize>(), 100);
    for (above, mut leaves) in sampled {
        let above: Vec<&[u8]> = above.iter().map(Vec::as_slice).collect();
        assert!(openssl_verifies_all(&minter.roots_pem(), &above, &leaves));
        *leaves[0].last_mut().unwrap() ^= 1;
        assert!(!openssl_verifies_all(&minter.roots_pem(), &above, &leaves));
    }
}

/// rustls-webpki takes a certificate, and of a precertificate nothing but its poison keeps it from that.
fn webpki_verifies(minter: &ChainMinter, minted: &Minted) {
    let root = CertificateDer::from(minter.hierarchy().roots().next().unwrap());
    let anchors = [webpki::anchor_from_trusted_cert(&root).unwrap()];
    let above: Vec<CertificateDer<'_>> = minted.certificates().skip(1).map(CertificateDer::from).collect();
    let leaf = CertificateDer::from(minted.leaf());
    let leaf = match webpki::EndEntityCert::try_from(&leaf) {
        Ok(leaf) => leaf,
        Err(why) => {
            assert_eq!((why, minted.kind()), (webpki::Error::UnsupportedCriticalExtension, Kind::Precert));
            return;
        }
    };
    assert_eq!(minted.kind(), Kind::X509);
    let (time, usage) =
        (UnixTime::since_unix_epoch(Duration::from_secs(NOT_BEFORE)), webpki::KeyUsage::server_auth());
    leaf.verify_for_usage(&[webpki::ring::ECDSA_P256_SHA256], &anchors, &above, time, usage, None, None)
        .unwrap();
}

#[test]
fn openssl_prints_names_dates_and_poison() {
    let minter = minter(1, Algorithm::P256, Profile::DV);
    let [certificate, precert, _] = one_of_each_form(&minter, Profile::DV);
    let folder = tempfile::tempdir().unwrap();
    let text = |minted: &Minted| {
        pem(folder.path(), "leaf.pem", &[minted.leaf()]);
        let mut command = Command::new("openssl");
        command.current_dir(&folder).args(["x509", "-noout", "-text", "-in", "leaf.pem"]);
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    let shown = text(&certificate);
    for part in [
        "Not Before: Oct  9 08:53:20 2025 GMT",
        "Not After : Jan  7 08:53:19 2026 GMT",
        "TLS Web Server Authentication, TLS Web Client Authentication",
        "Digital Signature",
        "CA:FALSE",
        "Policy: 2.23.140.1.2.1",
        "CA Issuers - URI:http://cacerts.issuing-ca.test/issuing-ca-g1.crt",
        "URI:http://crl3.issuing-ca.test/issuing-ca-g1-partition-0042.crl",
        &format!("DNS:{:016x}-", certificate.seq()),
        &format!("DNS:www.{:016x}-", certificate.seq()),
    ] {
        assert!(shown.contains(part), "{part} is not in {shown}");
    }
    assert!(!shown.contains("Poison"));
    assert!(text(&precert).contains("CT Precertificate Poison: critical"));
}

#[test]
fn every_signature_verifies_under_the_next_certificate() {
    for algorithm in Algorithm::ALL {
        let mut spec = spec(1, algorithm, Profile::all().last().unwrap());
        spec.with_root = true;
        let minter = ChainMinter::new(&spec).unwrap();
        for seq in 0..40 {
            let minted = mint(&minter, seq);
            let mut chain: Vec<&[u8]> = minted.certificates().collect();
            let root = *chain.last().unwrap();
            assert!(minter.hierarchy().roots().eq([root]), "the root ends the chain");
            chain.push(root);
            for pair in chain.windows(2) {
                let (_, issued) = X509Certificate::from_der(pair[0]).unwrap();
                let (_, issuer) = X509Certificate::from_der(pair[1]).unwrap();
                assert_eq!(issued.issuer().as_raw(), issuer.subject().as_raw());
                let verifier: &'static dyn VerificationAlgorithm = match algorithm {
                    Algorithm::P256 => &ECDSA_P256_SHA256_ASN1,
                    Algorithm::Rsa2048 => &RSA_PKCS1_2048_8192_SHA256,
                    Algorithm::Ed25519 => &ED25519,
                };
                UnparsedPublicKey::new(verifier, &issuer.public_key().subject_public_key.data)
                    .verify(issued.tbs_certificate.as_ref(), &issued.signature_value.data)
                    .unwrap_or_else(|_| panic!("{algorithm}, seq {seq}"));
            }
        }
    }
}

#[test]
fn a_leaf_carries_what_its_profile_and_plan_say() {
    for profile in Profile::all() {
        let minted = mint(&minter(1, Algorithm::P256, profile), 7);
        let (rest, leaf) = X509Certificate::from_der(minted.leaf()).unwrap();
        assert!(rest.is_empty());
        let names = leaf.subject_alternative_name().unwrap().unwrap().value.general_names.len();
        assert_eq!(names, if profile.names == Names::DvTwoSans { 2 } else { 100 });
        assert_eq!(leaf.validity().not_before.timestamp(), NOT_BEFORE.cast_signed());
        assert_eq!(leaf.validity().not_after.timestamp(), leaf_validity().not_after().cast_signed());
        assert_eq!(minted.not_after(), leaf_validity().not_after());
        assert!(leaf.public_key().parsed().is_ok());
    }
}

#[test]
fn spread_leaves_end_when_their_seq_says_and_cover_the_range() {
    let days = 100 * 86_400;
    let validity = leaf_validity().spread_to(leaf_validity().not_after() + days).unwrap();
    let spec = MinterSpec { validity, precert_percent: 50, ..spec(1, Algorithm::P256, Profile::DV) };
    let minter = ChainMinter::new(&spec).unwrap();
    let mut tenths = [0; 10];
    for seq in 0..200 {
        let minted = mint(&minter, seq);
        let (_, leaf) = X509Certificate::from_der(minted.leaf()).unwrap();
        assert_eq!(leaf.validity().not_before.timestamp(), NOT_BEFORE.cast_signed());
        assert_eq!(leaf.validity().not_after.timestamp(), minted.not_after().cast_signed());
        assert_eq!(minter.not_after(seq), minted.not_after());
        let after = minted.not_after() - leaf_validity().not_after();
        assert!(after <= days);
        tenths[(after * 10 / (days + 1)) as usize] += 1;
    }
    assert!(tenths.iter().all(|leaves| (4..40).contains(leaves)), "{tenths:?}");
}
