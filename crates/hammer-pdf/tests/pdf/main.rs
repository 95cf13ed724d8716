//! Documents, and what real services made of them when they signed them.

mod decoys;
mod documents;
mod honest;
mod last_signature;
mod revision;
mod signed;

use std::path::PathBuf;

use hammer_pdf::document::Document;

/// The document that was sent to whoever signed the recorded ones.
const LENGTH: u64 = 2_048;

fn sent() -> Document {
    Document::new(7, 3, LENGTH).unwrap()
}

fn testdata(path: &str) -> Vec<u8> {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("testdata").join(path);
    std::fs::read(&file).unwrap_or_else(|error| panic!("failed to read {}: {error}", file.display()))
}
