//! SHA-256 values: nodes of trees, log ids, fingerprints.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use sha2::{Digest as _, Sha256};

use crate::encoding::{Base64, base64, from_base64};

/// A SHA-256 value: a node of the tree, a root, a log id, a fingerprint. `Debug` and `Display` are lower-case hex.
#[derive(Default, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Hash(pub [u8; 32]);

/// The plain SHA-256 of `bytes`: fingerprints, key hashes, log ids.
pub fn sha256(bytes: &[u8]) -> Hash {
    Hash(Sha256::digest(bytes).into())
}

impl Hash {
    /// The 32 bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The hash in the first 32 bytes, where there are exactly 32.
    pub fn from_slice(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// Standard base64, 44 characters: as in checkpoints and RFC 6962 answers.
    pub fn to_base64(&self) -> String {
        base64(&self.0)
    }

    /// The hash of a base64 text of exactly 32 bytes.
    pub fn from_base64(text: &str) -> Option<Self> {
        Self::from_slice(&from_base64(text).ok()?)
    }

    /// Lower-case hex, 64 characters: as in the path of an issuer.
    pub fn to_hex(&self) -> String {
        self.to_string()
    }

    /// The hash of exactly 64 hex digits.
    pub fn from_hex(text: &str) -> Option<Self> {
        let mut hash = [0; 32];
        read_hex(text, &mut hash)?;
        Some(Self(hash))
    }
}

/// The bytes of an even number of hex digits, and of nothing else: no sign, no space.
pub fn from_hex(text: &str) -> Option<Vec<u8>> {
    let mut bytes = vec![0; text.len() / 2];
    read_hex(text, &mut bytes)?;
    Some(bytes)
}

/// None unless `text` is exactly the digits of as many bytes.
fn read_hex(text: &str, bytes: &mut [u8]) -> Option<()> {
    if text.len() != 2 * bytes.len() {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        *byte = (hex_digit(pair[0])? << 4) | hex_digit(pair[1])?;
    }
    Some(())
}

fn hex_digit(digit: u8) -> Option<u8> {
    Some(HEX_VALUES[usize::from(digit)]).filter(|value| *value < 16)
}

const HEX: &[u8; 16] = b"0123456789abcdef";
/// What each byte stands for as a digit, of either case; more than 15 what is none.
const HEX_VALUES: [u8; 256] = {
    let mut values = [u8::MAX; 256];
    let mut digit = 0;
    while digit < HEX.len() {
        values[HEX[digit] as usize] = digit as u8;
        values[HEX[digit].to_ascii_uppercase() as usize] = digit as u8;
        digit += 1;
    }
    values
};

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // All at once: to format a byte takes longer than to hash it.
        let mut digits = [0; 64];
        for (pair, byte) in digits.chunks_exact_mut(2).zip(self.0) {
            pair.copy_from_slice(&[byte >> 4, byte & 15].map(|digit| HEX[usize::from(digit)]));
        }
        // Digits are ASCII.
        f.write_str(std::str::from_utf8(&digits).map_err(|_| fmt::Error)?)
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The text was not 64 hex digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("read a hash: not 64 hex digits")]
pub struct HashError;

impl FromStr for Hash {
    type Err = HashError;

    fn from_str(text: &str) -> Result<Self, HashError> {
        Self::from_hex(text).ok_or(HashError)
    }
}

impl AsRef<[u8]> for Hash {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl From<[u8; 32]> for Hash {
    fn from(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

/// In JSON a hash is base64, as in every answer of RFC 6962 section 4.
impl Serialize for Hash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.to_base64())
    }
}

impl<'de> Deserialize<'de> for Hash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = Base64::deserialize(deserializer)?;
        Self::from_slice(&bytes.0).ok_or_else(|| D::Error::custom("a hash has 32 bytes"))
    }
}

/// SHA-256 over pieces, so that a leaf is hashed without being assembled.
pub(crate) struct Sha256Writer(Sha256);

impl Sha256Writer {
    pub(crate) fn new() -> Self {
        Self(Sha256::new())
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    pub(crate) fn finish(self) -> Hash {
        Hash(self.0.finalize().into())
    }
}
