//! Standard, padded base64, the encoding of every byte string in RFC 6962 answers and signed notes.

use std::fmt;
use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::PAD;
use base64::engine::simd::Simd;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// What kept a text from being base64.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("decode base64: {0}")]
pub struct Base64Error(#[from] base64::DecodeError);

/// By the vector instructions that the processor has.
static STANDARD: LazyLock<Simd> = LazyLock::new(|| Simd::standard(PAD));

/// The standard, padded base64 of `bytes` (RFC 4648 section 4).
pub fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Appends the standard, padded base64 of `bytes`.
pub fn write_base64(out: &mut Vec<u8>, bytes: &[u8]) {
    let start = out.len();
    let length = bytes.len().div_ceil(3) * 4;
    out.resize(start + length, b'=');
    let written = STANDARD.encode_slice(bytes, &mut out[start..]);
    debug_assert_eq!(written, Ok(length));
}

/// The bytes of a standard, padded base64 text (RFC 4648 section 4).
pub fn from_base64(text: impl AsRef<[u8]>) -> Result<Vec<u8>, Base64Error> {
    Ok(STANDARD.decode(text)?)
}

/// Bytes that stand in JSON as standard, padded base64.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct Base64(pub Vec<u8>);

impl fmt::Debug for Base64 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&base64(&self.0))
    }
}

impl AsRef<[u8]> for Base64 {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl From<Vec<u8>> for Base64 {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }
}

impl From<&[u8]> for Base64 {
    fn from(bytes: &[u8]) -> Self {
        Self(bytes.to_vec())
    }
}

impl Serialize for Base64 {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&base64(&self.0))
    }
}

impl<'de> Deserialize<'de> for Base64 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Base64Visitor)
    }
}

/// Decodes straight from the borrowed JSON text, so that a chain of certificates is not copied twice.
struct Base64Visitor;

impl de::Visitor<'_> for Base64Visitor {
    type Value = Base64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a base64 string")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Base64, E> {
        from_base64(text).map(Base64).map_err(E::custom)
    }
}
