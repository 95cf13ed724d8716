//! Bytes in the JSON of requests and answers: base64 (RFC 4648 section 4).

use std::borrow::Cow;
use std::fmt;
use std::sync::LazyLock;

use base64::DecodeError;
use base64::engine::Engine as _;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
use base64::engine::GeneralPurpose as Base64;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use base64::engine::Simd as Base64;
use base64::engine::general_purpose::PAD;
use serde::de::{Deserialize, Deserializer, Error, Visitor};

use crate::answer_fault::AnswerFault;
use crate::record::TAIL;

/// Appends bytes as base64.
pub(crate) fn append_base64(bytes: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    out.resize(start + bytes.len().div_ceil(3) * 4, 0);
    // There is room for exactly so many.
    let encoded = BASE64.encode_slice(bytes, &mut out[start..]).unwrap_or_default();
    out.truncate(start + encoded);
}

/// A string of JSON that is to be base64, as it stands there: borrowed, unless it has escapes. It has not been looked at, not even for whether
/// it is UTF-8, which no base64 is without.
#[derive(Debug, Default)]
pub(crate) struct Base64Text<'a>(Cow<'a, [u8]>);

impl Base64Text<'_> {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The bytes in a field, of which there is one at least.
    ///
    /// # Errors
    /// Where the field is empty, or no base64.
    pub(crate) fn decoded(&self, field: &'static str) -> Result<Vec<u8>, AnswerFault> {
        if self.0.is_empty() {
            return Err(AnswerFault::Missing(field));
        }
        let decoded = match decode(&self.0) {
            // Some write it in lines (RFC 2045 section 6.8), which the clients of the services read.
            Err(_) if self.0.iter().any(|letter| matches!(letter, b'\r' | b'\n')) => {
                let letters = self.0.iter().copied().filter(|letter| !matches!(letter, b'\r' | b'\n'));
                decode(&letters.collect::<Vec<u8>>())
            }
            decoded => decoded,
        };
        decoded.map_err(|source| AnswerFault::Base64 { field, source })
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Base64Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // As bytes a string is borrowed without a look at its letters, which are a signed document's.
        deserializer.deserialize_bytes(TextVisitor)
    }
}

/// The bytes that letters stand for, with room behind them: a file that came back becomes a record without being copied.
fn decode(letters: &[u8]) -> Result<Vec<u8>, DecodeError> {
    let mut bytes = Vec::with_capacity(letters.len() / 4 * 3 + 3 + TAIL);
    BASE64.decode_vec(letters, &mut bytes).map(|()| bytes)
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Base64Text<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("base64")
    }

    fn visit_borrowed_bytes<E: Error>(self, text: &'de [u8]) -> Result<Self::Value, E> {
        Ok(Base64Text(Cow::Borrowed(text)))
    }

    fn visit_bytes<E: Error>(self, text: &[u8]) -> Result<Self::Value, E> {
        Ok(Base64Text(Cow::Owned(text.to_vec())))
    }
}

static BASE64: LazyLock<Base64> = LazyLock::new(engine);

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn engine() -> Base64 {
    Base64::standard(PAD)
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn engine() -> Base64 {
    Base64::new(&base64::alphabet::STANDARD, PAD)
}
