//! What signed metadata says of another file.

use ring::digest::{SHA256, SHA512, digest};
use serde::Deserialize;

use crate::error::TufError;
use crate::role::Role;

/// Version, length and hashes of a file, as the metadata above it has them (specification sections 4.4 and 4.5). Hashes of other
/// algorithms are not read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct FileClaim {
    /// Its version; a target has none.
    #[serde(default)]
    pub version: Option<u64>,
    /// Its length in bytes.
    #[serde(default)]
    pub length: Option<u64>,
    /// Its hashes.
    #[serde(default)]
    pub hashes: FileHashes,
}

/// Hashes in hexadecimal digits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct FileHashes {
    /// SHA-256.
    #[serde(default)]
    pub sha256: Option<String>,
    /// SHA-512.
    #[serde(default)]
    pub sha512: Option<String>,
}

impl FileClaim {
    /// Whether `body` is the file.
    ///
    /// # Errors
    /// What of it is another.
    pub(crate) fn check(&self, role: Role, body: &[u8]) -> Result<(), TufError> {
        let other = |what| Err(TufError::Hash { role, what });
        if self.length.is_some_and(|length| length != body.len() as u64) {
            return other("its length");
        }
        let is_of = |stated: &Option<String>, algorithm| {
            stated
                .as_ref()
                .is_none_or(|stated| stated.eq_ignore_ascii_case(&hex(digest(algorithm, body).as_ref())))
        };
        if !is_of(&self.hashes.sha256, &SHA256) {
            return other("its SHA-256");
        }
        if !is_of(&self.hashes.sha512, &SHA512) {
            return other("its SHA-512");
        }
        Ok(())
    }

    /// The hash that stands before the name of a target where snapshots are consistent; none where it is no hash.
    pub(crate) fn prefix(&self) -> Option<&str> {
        let of =
            |hash: &'_ Option<String>, length| hash.as_ref().filter(|hash| is_hex(hash, length)).is_some();
        match &self.hashes {
            hashes if of(&hashes.sha256, 64) => hashes.sha256.as_deref(),
            hashes if of(&hashes.sha512, 128) => hashes.sha512.as_deref(),
            _ => None,
        }
    }

    /// Whether a target can be verified by it.
    pub(crate) const fn has_hash(&self) -> bool {
        self.hashes.sha256.is_some() || self.hashes.sha512.is_some()
    }
}

fn is_hex(text: &str, length: usize) -> bool {
    text.len() == length && text.bytes().all(|digit| digit.is_ascii_hexdigit())
}

/// Two lower-case digits for each byte.
fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
}

/// The bytes of hexadecimal digits; none where they are none.
pub(crate) fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let bytes = pairs.iter().map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?));
    if rest.is_empty() { bytes.collect() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_what_its_length_and_every_hash_say() {
        let of = |length: u64, sha256: &str, sha512: &str| {
            let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
            let hashes = FileHashes { sha256: text(sha256), sha512: text(sha512) };
            FileClaim { version: None, length: Some(length), hashes }.check(Role::Target, b"hello\n")
        };
        let sha256 = "5891B5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03";
        let sha512 = "e7c22b994c59d9cf2b48e549b1e24666636045930d3da7c1acb299d1c3b7f931f94aae41edda2c2b207a36e10f8bcb8d45223e54878f5b316e7ce3b6bc019629";
        assert_eq!(of(6, sha256, sha512), Ok(()));
        assert_eq!(of(6, sha256, ""), Ok(()));
        assert_eq!(of(7, sha256, ""), Err(TufError::Hash { role: Role::Target, what: "its length" }));
        let other = sha512.replace("e7c2", "e7c3");
        assert_eq!(of(6, sha256, &other), Err(TufError::Hash { role: Role::Target, what: "its SHA-512" }));
        assert_eq!(of(6, "", "").map_err(|why| why.to_string()), Ok(()));
        assert_eq!(of(6, "ab", sha512), Err(TufError::Hash { role: Role::Target, what: "its SHA-256" }));
    }

    #[test]
    fn only_a_hash_stands_before_a_name() {
        let of = |sha256: &str| FileClaim {
            hashes: FileHashes { sha256: Some(sha256.to_owned()), sha512: None },
            ..FileClaim::default()
        };
        assert_eq!(of(&"ab".repeat(32)).prefix(), Some("ab".repeat(32).as_str()));
        assert_eq!(of("../../etc/passwd").prefix(), None);
        assert_eq!(of(&"/x".repeat(32)).prefix(), None);
    }

    #[test]
    fn digits_are_bytes_and_nothing_else_is() {
        assert_eq!(from_hex("00fFa1"), Some(vec![0, 255, 0xa1]));
        assert_eq!(from_hex(""), Some(Vec::new()));
        for text in ["0", "0g", "-1", "é"] {
            assert_eq!(from_hex(text), None, "{text}");
        }
    }
}
