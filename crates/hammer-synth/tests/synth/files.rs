use std::fs;
use std::path::PathBuf;

use hammer_synth::{
    Algorithm, ChainMinter, Error, FileChains, FileKey, Hierarchy, HierarchySpec, IssuerSource, Kind, Minted,
    MinterSpec, Profile, Signer,
};

use crate::{authority_validity, mint, minter, spec};

fn testdata(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("testdata").join(name)
}

fn file_minter_spec() -> MinterSpec {
    let issuer = IssuerSource::Files { chain: testdata("ca-chain.pem"), key: testdata("p256-sec1.pem") };
    MinterSpec { issuer, precert_signing_percent: 0, ..spec(1, Algorithm::P256, Profile::DV) }
}

#[test]
fn every_key_format_is_read_and_one_key_is_the_same_in_two_formats() {
    let read = |name| FileKey::from_pem_file(testdata(name)).unwrap();
    assert_eq!(read("p256-pkcs8.pem").spki_der(), read("p256-sec1.pem").spki_der());
    assert_eq!(read("rsa2048-pkcs8.pem").spki_der(), read("rsa2048-pkcs1.pem").spki_der());
    assert_eq!(read("p256-sec1.pem").algorithm(), Algorithm::P256);
    assert_eq!(read("rsa2048-pkcs1.pem").algorithm(), Algorithm::Rsa2048);
    assert_eq!(read("ed25519-pkcs8.pem").algorithm(), Algorithm::Ed25519);
}

#[test]
fn a_key_that_is_labelled_as_one_of_tests_is_read_as_any_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key.pem");
    for name in ["p256-pkcs8.pem", "p256-sec1.pem", "rsa2048-pkcs1.pem"] {
        let text = fs::read_to_string(testdata(name)).unwrap();
        fs::write(&path, text.replace("PRIVATE KEY", "TEST PRIVATE KEY")).unwrap();
        let key = FileKey::from_pem_file(&path).unwrap();
        assert_eq!(key.spki_der(), FileKey::from_pem_file(testdata(name)).unwrap().spki_der());
    }
    let text = fs::read_to_string(testdata("p256-encrypted-sec1.pem")).unwrap();
    fs::write(&path, text.replace("PRIVATE KEY", "TEST PRIVATE KEY")).unwrap();
    assert!(FileKey::from_pem_file(&path).unwrap_err().to_string().contains("it is encrypted"));
}

#[test]
fn a_key_that_is_not_supported_is_refused_with_its_file_and_reason() {
    for (name, reason) in [
        ("p384-pkcs8.pem", "neither P-256, RSA-2048 nor Ed25519"),
        ("p384-sec1.pem", "not on P-256"),
        ("rsa3072-pkcs8.pem", "an RSA key of 3072 bits"),
        ("p256-encrypted.pem", "it is encrypted"),
        ("p256-encrypted-sec1.pem", "it is encrypted"),
        ("root.pem", "it holds no PKCS#8, SEC1 or PKCS#1 PEM key"),
        ("absent.pem", "No such file"),
    ] {
        let message = FileKey::from_pem_file(testdata(name)).unwrap_err().to_string();
        assert!(message.contains(name) && message.contains(reason), "{message}");
    }
}

#[test]
fn a_damaged_key_is_refused_and_no_message_quotes_it() {
    let folder = tempfile::tempdir().unwrap();
    let canary = "Y2FuYXJ5LWNhbmFyeS1jYW5hcnk";
    for (name, label, body) in [
        ("pkcs8.pem", "PRIVATE KEY", format!("{canary}=")),
        ("sec1.pem", "EC PRIVATE KEY", format!("{canary}=")),
        ("pkcs1.pem", "RSA PRIVATE KEY", format!("{canary}=")),
        ("base64.pem", "PRIVATE KEY", format!("{canary}!!")),
        ("open.pem", "PRIVATE KEY\nno end", canary.to_owned()),
    ] {
        let path = folder.path().join(name);
        fs::write(&path, format!("-----BEGIN {label}-----\n{body}\n-----END {label}-----\n")).unwrap();
        let error = FileKey::from_pem_file(&path).unwrap_err();
        let said = format!("{error} {error:?}");
        assert!(said.contains(name), "{said}");
        assert!(!said.contains("canary") && !said.contains(&canary[..8]), "{said}");
    }
}

#[test]
fn the_debug_form_of_a_file_key_shows_no_secret() {
    let path = testdata("p256-sec1.pem");
    let key = FileKey::from_pem_file(&path).unwrap();
    let shown = format!("{key:?} {key:#?}");
    let expected = format!("FileKey {{ algorithm: P256, path: {path:?}, .. }}");
    assert!(shown.starts_with(&expected), "{shown}");
    let secret = p256::SecretKey::from_sec1_der(&der_of(&path)).unwrap().to_bytes();
    for form in [format!("{secret:?}"), format!("{secret:02x?}"), hex(&secret)] {
        assert!(!shown.contains(&form));
    }
    assert!(!shown.contains("MHcCAQEE"), "the start of every SEC1 P-256 key in base64");
}

#[test]
fn the_users_own_ca_signs_what_its_chain_verifies() {
    let minter = ChainMinter::new(&file_minter_spec()).unwrap();
    assert_eq!(minter.roots_pem(), fs::read_to_string(testdata("root.pem")).unwrap());
    let minted = mint(&minter, 3);
    assert_eq!(minted.certificates().count(), 2, "leaf and issuing certificate, without the root");
    let key = FileKey::from_pem_file(testdata("p256-pkcs8.pem")).unwrap();
    assert_eq!(*minted.issuer_key_hash(), key.key_hash());
    let (_, leaf) = x509_parser::parse_x509_certificate(minted.leaf()).unwrap();
    ring::signature::UnparsedPublicKey::new(&ring::signature::ECDSA_P256_SHA256_ASN1, &key.spki_der()[26..])
        .verify(leaf.tbs_certificate.as_ref(), &leaf.signature_value.data)
        .unwrap();
}

#[test]
fn a_self_signed_ca_issues_leaves_that_are_sent_alone() {
    let issuer = IssuerSource::Files { chain: testdata("root.pem"), key: testdata("rsa2048-pkcs8.pem") };
    let mut spec = MinterSpec { issuer, ..file_minter_spec() };
    assert_eq!(mint(&ChainMinter::new(&spec).unwrap(), 0).certificates().count(), 1);
    spec.with_root = true;
    assert_eq!(mint(&ChainMinter::new(&spec).unwrap(), 0).certificates().count(), 2);
}

#[test]
fn a_contradicting_specification_is_refused_with_its_reason() {
    let spec = spec(1, Algorithm::P256, Profile::DV);
    let shallow = HierarchySpec { algorithm: Algorithm::P256, depth: 0, validity: authority_validity() };
    for (reason, wrong) in [
        ("no profile", MinterSpec { mix: vec![(Profile::DV, 0)], ..spec.clone() }),
        ("over 100 percent", MinterSpec { precert_percent: 101, ..spec.clone() }),
        ("fewer intermediates", MinterSpec { issuer: IssuerSource::Derived(shallow), ..spec.clone() }),
        (
            "at most 8",
            MinterSpec {
                issuer: IssuerSource::Derived(HierarchySpec { depth: 9, ..shallow }),
                ..spec.clone()
            },
        ),
    ] {
        let message = ChainMinter::new(&wrong).unwrap_err().to_string();
        assert!(message.starts_with("mint chains: ") && message.contains(reason), "{message}");
    }
}

#[test]
fn a_key_of_another_certificate_or_a_chain_out_of_order_is_refused() {
    let chain = testdata("ca-chain.pem");
    let error = Hierarchy::from_files(&chain, testdata("ed25519-pkcs8.pem")).unwrap_err();
    assert!(matches!(error, Error::KeyMismatch { .. }), "{error}");
    let reversed = testdata("ca-chain-reversed.pem");
    let error = Hierarchy::from_files(&reversed, testdata("rsa2048-pkcs1.pem")).unwrap_err();
    assert!(matches!(error, Error::ChainOrder { position: 0, .. }), "{error}");
    let error = Hierarchy::from_files(testdata("p256-sec1.pem"), testdata("p256-sec1.pem")).unwrap_err();
    assert!(matches!(error, Error::NoCertificate { .. }), "{error}");
}

#[test]
fn a_ca_from_files_never_certifies_a_precert_signing_key() {
    let spec = MinterSpec { precert_signing_percent: 1, ..file_minter_spec() };
    assert!(matches!(ChainMinter::new(&spec).unwrap_err(), Error::Spec { .. }));
    let hierarchy = Hierarchy::from_files(testdata("ca-chain.pem"), testdata("p256-sec1.pem")).unwrap();
    assert!(hierarchy.issuers()[0].precert_signer().is_none());
}

#[test]
fn chains_from_files_are_what_was_minted_into_them() {
    let minter = minter(9, Algorithm::P256, Profile::DV);
    let folder = tempfile::tempdir().unwrap();
    let expected: Vec<Minted> = (0..20).map(|seq| mint(&minter, seq)).collect();
    assert!(expected.iter().any(|minted| minted.certificates().count() == 3));
    for minted in &expected {
        let pem: String = minted.certificates().map(pem).collect();
        fs::write(folder.path().join(format!("{:03}.pem", minted.seq())), pem).unwrap();
    }
    fs::write(folder.path().join("notes.txt"), "not a chain").unwrap();
    let chains = FileChains::read_folder(folder.path()).unwrap();
    assert_eq!(chains.len(), 20);
    let mut read = Minted::new();
    for (seq, minted) in (20..).zip(&expected) {
        chains.write(seq, &mut read);
        assert!(read.certificates().eq(minted.certificates()));
        assert_eq!((read.seq(), read.kind(), read.not_after()), (seq, minted.kind(), minted.not_after()));
        assert_eq!(read.tbs(), minted.tbs());
        assert_eq!(read.issuer_key_hash(), minted.issuer_key_hash());
    }
}

#[test]
fn a_precert_without_its_issuer_and_an_empty_folder_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(FileChains::read_folder(folder.path()).unwrap_err(), Error::NoChains { .. }));
    assert!(matches!(FileChains::read(&[]).unwrap_err(), Error::NoChains { .. }));
    let minter = minter(9, Algorithm::P256, Profile::DV);
    let precert = (0..).map(|seq| mint(&minter, seq)).find(|one| one.kind() == Kind::Precert).unwrap();
    let path = folder.path().join("alone.pem");
    fs::write(&path, pem(precert.leaf())).unwrap();
    let error = FileChains::read(&[path]).unwrap_err();
    assert!(
        matches!(error, Error::Precertificate { .. }) && error.to_string().contains("alone.pem"),
        "{error}"
    );
}

fn pem(der: &[u8]) -> String {
    use base64::Engine as _;
    let text = base64::engine::general_purpose::STANDARD.encode(der);
    format!("-----BEGIN CERTIFICATE-----\n{text}\n-----END CERTIFICATE-----\n")
}

fn der_of(path: &PathBuf) -> Vec<u8> {
    use rustls_pki_types::pem::PemObject as _;
    rustls_pki_types::PrivateKeyDer::from_pem_file(path).unwrap().secret_der().to_vec()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
