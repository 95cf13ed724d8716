//! How JSON writes what it has no type for (Protocol Buffers, "ProtoJSON Format"): int64 as strings, bytes in base64. What is read may
//! be `null` for its default, a number for an int64, and base64 with or without padding, of either alphabet.

use base64::{
    Engine as _, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig, general_purpose::STANDARD},
};

pub(crate) mod int64 {
    //! An int64, as a string.

    use serde::{Deserialize, Deserializer, Serializer, de::Error as _};

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written<'a> {
        Number(i64),
        Borrowed(&'a str),
        Owned(String),
    }

    pub(crate) fn serialize<S: Serializer>(number: &i64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(number)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
        let parse = |text: &str| text.parse().map_err(D::Error::custom);
        match Option::<Written<'_>>::deserialize(deserializer)? {
            None => Ok(0),
            Some(Written::Number(number)) => Ok(number),
            Some(Written::Borrowed(text)) => parse(text),
            Some(Written::Owned(text)) => parse(&text),
        }
    }
}

pub(crate) mod bytes {
    //! Bytes, in base64.

    use std::borrow::Cow;

    use base64::display::Base64Display;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&Base64Display::new(bytes, &super::STANDARD))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        let text = Option::<Cow<'_, str>>::deserialize(deserializer)?;
        super::decode(&text.unwrap_or_default())
    }
}

pub(crate) mod bytes_list {
    //! A list of bytes, each in base64.

    use std::borrow::Cow;

    use base64::display::Base64Display;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(list: &[Vec<u8>], serializer: S) -> Result<S::Ok, S::Error> {
        let encoded = |bytes| Base64Display::new(bytes, &super::STANDARD).to_string();
        serializer.collect_seq(list.iter().map(|bytes| encoded(bytes)))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Vec<u8>>, D::Error> {
        let list = Option::<Vec<Cow<'_, str>>>::deserialize(deserializer)?;
        list.unwrap_or_default().iter().map(|text| super::decode(text)).collect()
    }
}

fn decode<E: serde::de::Error>(text: &str) -> Result<Vec<u8>, E> {
    let engine = if text.contains(['-', '_']) { &URL_SAFE_READER } else { &STANDARD_READER };
    engine.decode(text).map_err(E::custom)
}

const STANDARD_READER: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, PADDING_OR_NOT);
const URL_SAFE_READER: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, PADDING_OR_NOT);
const PADDING_OR_NOT: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
