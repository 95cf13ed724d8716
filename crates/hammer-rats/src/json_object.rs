//! Objects of JSON, and nothing else in their place: what is read by names would be read of an array by places.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// What an object says (RFC 8259 section 4); an array is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JsonObject<T>(pub T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for JsonObject<T> {
    fn deserialize<D: Deserializer<'de>>(object: D) -> Result<Self, D::Error> {
        object.deserialize_map(JsonObjectVisitor(PhantomData))
    }
}

struct JsonObjectVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for JsonObjectVisitor<T> {
    type Value = JsonObject<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<JsonObject<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(JsonObject)
    }
}

/// A text that is an object.
///
/// # Errors
/// What it is instead.
pub fn read<'a, T: Deserialize<'a>>(json: &'a [u8]) -> Result<T, serde_json::Error> {
    serde_json::from_slice::<JsonObject<T>>(json).map(|JsonObject(object)| object)
}

/// A member that is an object.
///
/// # Errors
/// What it is instead.
pub fn member<'de, D: Deserializer<'de>, T: Deserialize<'de>>(object: D) -> Result<T, D::Error> {
    JsonObject::deserialize(object).map(|JsonObject(object)| object)
}

/// A member that is an object, or is not there.
///
/// # Errors
/// What it is instead.
pub fn member_if_any<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    object: D,
) -> Result<Option<T>, D::Error> {
    let object = Option::<JsonObject<T>>::deserialize(object)?;
    Ok(object.map(|JsonObject(object)| object))
}

/// A member that may be `null`, which says as much as one that is not there.
///
/// # Errors
/// What it is instead.
pub fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    member: D,
) -> Result<T, D::Error> {
    Option::<T>::deserialize(member).map(Option::unwrap_or_default)
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    struct Outer<'a> {
        #[serde(borrow)]
        text: Cow<'a, str>,
        #[serde(borrow, default, deserialize_with = "member_if_any")]
        inner: Option<Inner<'a>>,
        #[serde(default, deserialize_with = "or_default")]
        number: u8,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct Inner<'a> {
        #[serde(borrow)]
        of: Cow<'a, str>,
    }

    #[test]
    fn an_object_is_read_in_place_and_an_array_is_none() {
        let read = |json: &'static str| read::<Outer<'_>>(json.as_bytes());
        let found = read(r#"{"text":"a","inner":{"of":"b"},"number":null}"#).unwrap();
        assert!(matches!(found.text, Cow::Borrowed("a")) && found.number == 0);
        assert!(matches!(found.inner, Some(Inner { of: Cow::Borrowed("b") })));
        assert_eq!(read(r#"{"text":"a","inner":null}"#).unwrap().inner, None);
        for array in [r#"["a",{"of":"b"},1]"#, r#"{"text":"a","inner":["b"]}"#, "[]", "null"] {
            assert!(read(array).is_err(), "{array}");
        }
    }
}
