//! JSON in which no object has a key twice: who reads the first of two sees another thing than who reads the last.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::Number;

/// A value of JSON, in which no object has a key twice.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum DistinctKeys {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<DistinctKeys>),
    Object(BTreeMap<String, DistinctKeys>),
}

impl<'de> Deserialize<'de> for DistinctKeys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue)
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = DistinctKeys;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<DistinctKeys, E> {
        Ok(DistinctKeys::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<DistinctKeys, E> {
        Ok(DistinctKeys::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<DistinctKeys, E> {
        Ok(DistinctKeys::Number(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<DistinctKeys, E> {
        Ok(DistinctKeys::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<DistinctKeys, E> {
        // JSON has no other numbers.
        Ok(Number::from_f64(value).map_or(DistinctKeys::Null, DistinctKeys::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<DistinctKeys, E> {
        Ok(DistinctKeys::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<DistinctKeys, E> {
        Ok(DistinctKeys::Text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<DistinctKeys, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(DistinctKeys::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<DistinctKeys, A::Error> {
        let mut object = BTreeMap::new();
        while let Some((key, value)) = entries.next_entry::<String, DistinctKeys>()? {
            if let Some(_earlier) = object.insert(key, value) {
                return Err(A::Error::custom("a key stands there twice"));
            }
        }
        Ok(DistinctKeys::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<DistinctKeys> {
        serde_json::from_str(text).ok()
    }

    #[test]
    fn the_order_of_keys_does_not_matter_and_a_key_that_stands_there_twice_does() {
        let of = r#"{"a":[1,-2,0.5,null,true,"x"],"b":{"c":"d"}}"#;
        assert_eq!(read(of), read(r#" {"b" : {"c":"\u0064"}, "a":[1,-2,0.5,null,true,"x"]} "#));
        assert!(read(of).is_some() && read(of) != read(r#"{"a":[1,-2,0.5,null,true,"y"],"b":{"c":"d"}}"#));
        for twice in [r#"{"a":1,"a":1}"#, r#"{"b":{"c":"evil","c":"d"}}"#, r#"[{"\u0061":1,"a":2}]"#] {
            assert_eq!(read(twice), None, "{twice}");
        }
    }
}
