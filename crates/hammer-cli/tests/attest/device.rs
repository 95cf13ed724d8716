//! `hammer attest device`: one device, from one line.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};

use crate::folder::Folder;
use crate::hammer::hammer;

const FILES: [&str; 3] = ["corim.cbor", "key.pem", "token.cbor"];

/// The files of a device.
fn device(folder: &Folder, name: &str, more: &[&str]) -> (Vec<Vec<u8>>, String) {
    let out = folder.path(name);
    let ended = hammer(&[&["attest", "device", "--out", &out], more].concat());
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    (FILES.map(|file| fs::read(format!("{out}/{file}")).unwrap()).to_vec(), ended.stdout)
}

fn holds(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

#[test]
fn a_device_is_written_with_how_it_is_shown_to_a_verifier_and_is_the_same_each_time() {
    let folder = Folder::new();
    let (first, said) = device(&folder, "first", &["--index", "7"]);
    let (again, _) = device(&folder, "again/and/again", &["--index", "7"]);
    assert_eq!(first, again);
    for part in [
        "device 7 of seed 0",
        r#"application/corim-unsigned+cbor; profile="http://arm.com/psa/iot/1""#,
        "/first/corim.cbor PROVISIONING_URL/endorsement-provisioning/v1/submit",
        "/first/token.cbor VERIFICATION_URL/challenge-response/v1/session/ID",
    ] {
        assert!(said.contains(part), "no {part} in {said}");
    }
    let nonce = said.split("newSession?nonce=").nth(1).and_then(|rest| rest.split('\'').next()).unwrap();
    assert!(holds(&first[2], &URL_SAFE.decode(nonce).unwrap()), "the token has another nonce");
    for (name, more) in [("eighth", ["--index", "8"]), ("seeded", ["--seed", "1"])] {
        let (other, _) = device(&folder, name, &more);
        assert!(first.iter().zip(&other).all(|(one, other)| one != other), "{more:?}");
    }
}

#[test]
fn a_key_is_for_its_owner_and_is_not_written_over() {
    let folder = Folder::new();
    let (first, _) = device(&folder, "one", &["--index", "7"]);
    let key = folder.path("one/key.pem");
    assert_eq!(fs::metadata(&key).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(device(&folder, "one", &["--index", "7"]).0, first, "the same one");
    let ended = hammer(&["attest", "device", "--out", &folder.path("one"), "--index", "8"]);
    let refused = "one/corim.cbor is there already and is another one";
    assert!(ended.code == 2 && ended.stderr.contains(refused), "{}", ended.stderr);
    assert_eq!(fs::read(&key).unwrap(), first[1]);
}

#[test]
fn dialect_profile_models_and_nonce_are_those_of_the_line() {
    let folder = Folder::new();
    let nonce = STANDARD.encode([250; 48]);
    let line = ["--dialect", "psa2025", "--profile", "psa1", "--nonce", &nonce, "--models", "2"];
    let (files, said) = device(&folder, "one", &[line.as_slice(), &["--index", "5"]].concat());
    assert!(said.contains(r#"application/rim+cbor; profile="tag:arm.com,2025:psa#1.0.0""#), "{said}");
    assert!(holds(&files[0], b"tag:arm.com,2025:psa#1.0.0"));
    assert!(holds(&files[2], b"PSA_IOT_PROFILE_1") && holds(&files[2], &[250; 48]));
    let measurement = |corim: &[u8]| {
        let name = b"psa.software-component";
        let place = corim.windows(name.len()).position(|window| window == name).unwrap();
        corim[place..place + 100].to_vec()
    };
    let other = |index: &str| device(&folder, index, &[line.as_slice(), &["--index", index]].concat()).0;
    assert_eq!(measurement(&files[0]), measurement(&other("7")[0]), "of the same model");
    assert_ne!(measurement(&files[0]), measurement(&other("6")[0]));
}

#[test]
fn what_a_device_cannot_be_written_with_is_named() {
    let folder = Folder::new();
    let file = folder.write("file", "");
    for (out, more, part) in [
        ("dir", ["--nonce", "x"], "failed to use --nonce: it is no base64 of 32, 48 or 64 bytes"),
        ("dir", ["--nonce", "AAAA"], "failed to use --nonce: it is no base64 of 32, 48 or 64 bytes"),
        ("dir", ["--models", "0"], "invalid value '0' for '--models <N>': it must be 1 at least"),
        ("dir", ["--dialect", "iot2"], "possible values: iot1, psa2025"),
        ("file", ["--index", "1"], "failed to use --out: a folder is wanted, and "),
    ] {
        let out = if out == "file" { file.clone() } else { folder.path(out) };
        let ended = hammer(&[&["attest", "device", "--out", &out], more.as_slice()].concat());
        assert!(ended.code == 2 && ended.stderr.contains(part), "{more:?}: {}", ended.stderr);
    }
}
