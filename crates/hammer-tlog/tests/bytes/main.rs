//! The crate against bytes that real servers sent, and against any bytes at all.

mod any;
mod chain;
mod openssl;
mod rekor;
mod signatures;
mod sunlight;
mod tesseract;

use std::path::PathBuf;

fn testdata(path: &str) -> Vec<u8> {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("testdata").join(path);
    std::fs::read(&file).unwrap_or_else(|error| panic!("failed to read {}: {error}", file.display()))
}

fn text(path: &str) -> String {
    String::from_utf8(testdata(path)).unwrap()
}

fn gunzip(bytes: &[u8]) -> Vec<u8> {
    use std::io::Read as _;
    let mut out = Vec::new();
    flate2::read::MultiGzDecoder::new(bytes).read_to_end(&mut out).unwrap();
    out
}
