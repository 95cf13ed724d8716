//! CBOR (RFC 8949) as it is read here: a tree of values, looked at by integer keys and tags.

use ciborium::Value;

/// Reads one value, with nothing behind it.
///
/// # Errors
/// What is no CBOR, in words.
pub(crate) fn read(bytes: &[u8]) -> Result<Value, String> {
    let mut rest = bytes;
    let value: Value = ciborium::from_reader(&mut rest).map_err(|error| format!("cbor: {error}"))?;
    match rest.len() {
        0 => Ok(value),
        length => Err(format!("cbor: {length} bytes of extraneous data")),
    }
}

/// The major type of the item that starts there (RFC 8949 section 3.1).
pub(crate) fn major_type(bytes: &[u8]) -> Option<u8> {
    bytes.first().map(|byte| byte >> 5)
}

/// A map that is looked into by integers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IntMap<'a>(&'a [(Value, Value)]);

impl<'a> IntMap<'a> {
    pub(crate) fn of(value: &'a Value) -> Option<Self> {
        value.as_map().map(|entries| Self(entries))
    }

    /// The value of a key; the first, where there are several.
    pub(crate) fn get(self, key: i64) -> Option<&'a Value> {
        let is_it = |other: &Value| other.as_integer().is_some_and(|other| i128::from(other) == key.into());
        self.0.iter().find(|(other, _)| is_it(other)).map(|(_, value)| value)
    }

    pub(crate) fn map(self, key: i64) -> Option<Self> {
        Self::of(self.get(key)?)
    }

    pub(crate) fn array(self, key: i64) -> Option<&'a [Value]> {
        self.get(key)?.as_array().map(Vec::as_slice)
    }

    pub(crate) fn text(self, key: i64) -> Option<&'a str> {
        self.get(key)?.as_text()
    }

    pub(crate) fn bytes(self, key: i64) -> Option<&'a [u8]> {
        bytes(self.get(key)?)
    }
}

pub(crate) fn bytes(value: &Value) -> Option<&[u8]> {
    value.as_bytes().map(Vec::as_slice)
}

/// What a tag encloses, where it is this one.
pub(crate) fn tagged(value: &Value, tag: u64) -> Option<&Value> {
    match value {
        Value::Tag(found, inner) if *found == tag => Some(inner),
        _ => None,
    }
}

/// A byte string within a tag.
pub(crate) fn tagged_bytes(value: &Value, tag: u64) -> Option<&[u8]> {
    bytes(tagged(value, tag)?)
}
