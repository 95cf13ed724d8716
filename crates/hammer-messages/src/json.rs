//! How JSON writes what it has no type for (Protocol Buffers, "ProtoJSON Format"): int64 as strings, bytes in base64. What is read may
//! be `null` for its default, a number or a string for an integer, either with an exponent, a number for an enumeration, and base64 with
//! or without padding, of either alphabet; and a field may have its name of the `.proto` file in place of the one in camel case.

use std::fmt;
use std::sync::LazyLock;

use base64::{
    Engine as _, alphabet,
    engine::{
        DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig, general_purpose::STANDARD, simd::Simd,
    },
};
use serde::{
    Deserialize, Deserializer,
    de::{self, Error as _},
};

/// Reads an integer as it is written.
struct WrittenInteger;

impl de::Visitor<'_> for WrittenInteger {
    type Value = i64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an integer, as a number or a string")
    }

    fn visit_unit<E>(self) -> Result<i64, E> {
        Ok(0)
    }

    fn visit_i64<E>(self, number: i64) -> Result<i64, E> {
        Ok(number)
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<i64, E> {
        number.try_into().map_err(|_| E::custom(NO_INTEGER))
    }

    /// With a fraction or an exponent.
    fn visit_f64<E: de::Error>(self, number: f64) -> Result<i64, E> {
        whole(number).ok_or_else(|| E::custom(NO_INTEGER))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<i64, E> {
        integer_of(text).ok_or_else(|| E::custom(NO_INTEGER))
    }
}

const NO_INTEGER: &str = "it is no integer";

fn integer_of(text: &str) -> Option<i64> {
    // What else a float may be (`inf`, ` 1`) is no number of JSON.
    let is_number =
        || text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E'));
    text.parse().ok().or_else(|| whole(text.parse().ok().filter(|_: &f64| is_number())?))
}

/// As far as each integer has a float of its own.
fn whole(number: f64) -> Option<i64> {
    (number.fract() == 0.0 && number.abs() <= MOST_EXACT).then_some(number as i64)
}

const MOST_EXACT: f64 = 9_007_199_254_740_992.0;

fn integer<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    deserializer.deserialize_any(WrittenInteger)
}

/// `null` stands for a field's default.
///
/// # Errors
/// Those of its type.
pub fn or_default<'de, D: Deserializer<'de>, T: Default + Deserialize<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// An unsigned integer of 32 bits.
///
/// # Errors
/// What is none.
pub fn uint32<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    let number = integer(deserializer)?;
    u32::try_from(number).map_err(|_| D::Error::custom(format!("{number} has more than 32 bits")))
}

pub(crate) mod int64 {
    //! An int64, as a string.

    use serde::{Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(number: &i64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(number)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
        super::integer(deserializer)
    }
}

pub mod bytes {
    //! Bytes, in base64.

    use base64::display::Base64Display;
    use serde::{Deserialize as _, Deserializer, Serializer};

    /// Writes them in the standard alphabet, with padding.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&Base64Display::new(bytes, &super::STANDARD))
    }

    /// Reads them in either alphabet, with or without padding.
    ///
    /// # Errors
    /// What is no base64.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        let read = Option::<super::Decoded>::deserialize(deserializer)?;
        Ok(read.unwrap_or_default().0)
    }
}

pub(crate) mod bytes_list {
    //! A list of bytes, each in base64.

    use base64::display::Base64Display;
    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(list: &[Vec<u8>], serializer: S) -> Result<S::Ok, S::Error> {
        let encoded = |bytes| Base64Display::new(bytes, &super::STANDARD).to_string();
        serializer.collect_seq(list.iter().map(|bytes| encoded(bytes)))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Vec<u8>>, D::Error> {
        let list = Option::<Vec<super::Decoded>>::deserialize(deserializer)?;
        Ok(list.unwrap_or_default().into_iter().map(|read| read.0).collect())
    }
}

pub(crate) mod hash_algorithm {
    //! `HashAlgorithm` of dev.sigstore.common.v1, by its name.

    use std::borrow::Cow;

    use serde::{Deserialize, Deserializer};

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written<'a> {
        Number(i64),
        Name(Cow<'a, str>),
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
        Ok(match Option::<Written<'_>>::deserialize(deserializer)? {
            None => String::new(),
            Some(Written::Name(name)) => name.into_owned(),
            Some(Written::Number(number)) => {
                let name = usize::try_from(number).ok().and_then(|number| NAMES.get(number));
                name.map_or_else(|| number.to_string(), |name| (*name).to_owned())
            }
        })
    }

    /// In the order of their numbers.
    const NAMES: [&str; 6] =
        ["HASH_ALGORITHM_UNSPECIFIED", "SHA2_256", "SHA2_384", "SHA2_512", "SHA3_256", "SHA3_384"];
}

/// Bytes that stood there in base64, decoded straight from the text: serde makes a copy of a `Cow` in an `Option` or a list.
#[derive(Default)]
struct Decoded(Vec<u8>);

impl<'de> Deserialize<'de> for Decoded {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(DecodedVisitor)
    }
}

struct DecodedVisitor;

impl de::Visitor<'_> for DecodedVisitor {
    type Value = Decoded;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a base64 string")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Decoded, E> {
        decode(text).map(Decoded).map_err(E::custom)
    }
}

/// Bytes out of base64 of either alphabet, with or without padding.
///
/// # Errors
/// What is no base64.
pub fn decode(text: &str) -> Result<Vec<u8>, base64::DecodeError> {
    STANDARD_READER.decode(text).or_else(|why| match text.contains(['-', '_']) {
        true => URL_SAFE_READER.decode(text),
        false => Err(why),
    })
}

/// By the vector instructions that the processor has: nearly all of it is written so.
static STANDARD_READER: LazyLock<Simd> = LazyLock::new(|| Simd::standard(PADDING_OR_NOT));
const URL_SAFE_READER: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, PADDING_OR_NOT);
const PADDING_OR_NOT: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_integer_is_a_number_or_a_string_with_or_without_an_exponent() {
        let read = |json: &str| integer(&mut serde_json::Deserializer::from_str(json)).ok();
        for (json, value) in [
            ("1000", Some(1000)),
            ("\"1000\"", Some(1000)),
            ("1e3", Some(1000)),
            ("\"1e3\"", Some(1000)),
            ("1.0E+3", Some(1000)),
            ("\"-1.50e1\"", Some(-15)),
            ("9223372036854775807", Some(i64::MAX)),
            ("\"9223372036854775807\"", Some(i64::MAX)),
            ("9223372036854775808", None),
            ("1.5", None),
            ("\"1.5\"", None),
            ("1e300", None),
            ("\"inf\"", None),
            ("\" 1\"", None),
            ("\"\"", None),
            ("true", None),
        ] {
            assert_eq!(read(json), value, "{json}");
        }
    }

    #[test]
    fn base64_is_of_either_alphabet_and_padded_or_not() {
        for text in ["-_8=", "-_8", "+/8=", "+/8", "\u{2d}_8"] {
            assert_eq!(decode(text).unwrap(), [0xfb, 0xff], "{text}");
        }
        for text in ["+_8=", "a", "*"] {
            assert!(decode(text).is_err(), "{text}");
        }
    }
}
