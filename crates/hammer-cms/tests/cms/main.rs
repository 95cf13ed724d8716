//! The crate against what real servers sent, against tokens minted here with one thing wrong each, and against any bytes.

mod ber;
mod certificates;
mod mint;
mod minted;
mod mutated;
mod openssl;
mod openssl_p521;
mod query;
mod recorded;
mod responses;
mod signatures;
mod signers;

use std::path::PathBuf;

use hammer_cms::timestamp::TimestampVerifier;
use hammer_tlog::keys::chain::TrustedAuthorities;

fn testdata(path: &str) -> Vec<u8> {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("testdata").join(path);
    std::fs::read(&file).unwrap_or_else(|error| panic!("failed to read {}: {error}", file.display()))
}

/// A verifier that trusts the recorded chain of this folder.
fn verifier(folder: &str) -> TimestampVerifier {
    let pem = String::from_utf8(testdata(&format!("{folder}/certchain.pem"))).unwrap();
    TimestampVerifier::new(TrustedAuthorities::from_pem(&pem).unwrap())
}
