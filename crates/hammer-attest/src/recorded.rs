//! What real verifiers answered, for tests: `hammer-lab-attest` has the recordings, and a note of where they come from.

use std::fs;

/// The body of the recorded answer of that name.
pub(crate) fn body(name: &str) -> Vec<u8> {
    let file = format!("{}/../hammer-lab-attest/testdata/exchanges/{name}.txt", env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(&file).unwrap_or_else(|why| panic!("{file}: {why}"));
    let (_, body) = text.split_once("\n< \n\n").or_else(|| text.split_once("\n< \n")).unwrap();
    body.trim_end_matches('\n').into()
}
