//! Sizes in bytes.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::ValueError;
use crate::scalar::{self, Scalar, ScalarValue, times, with_unit};

/// So many bytes: `16MiB`, `512KiB`, `1.5MB`, `100B`; a bare number is bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ByteSize(u64);

impl ByteSize {
    /// Bytes.
    pub const fn from_bytes(bytes: u64) -> Self {
        Self(bytes)
    }

    /// 1,024 bytes each.
    pub const fn from_kib(kib: u64) -> Self {
        Self(kib << 10)
    }

    /// 1,048,576 bytes each.
    pub const fn from_mib(mib: u64) -> Self {
        Self(mib << 20)
    }

    /// In bytes.
    pub const fn bytes(self) -> u64 {
        self.0
    }

    /// In bytes, as sizes in memory are counted; the greatest one where there is no more.
    pub fn in_memory(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }
}

impl ScalarValue for ByteSize {
    const EXPECTED: &'static str = "size (like 16MiB, 512KiB, 1.5MB, 100B)";

    fn of_scalar(scalar: Scalar<'_>) -> Result<Self, ValueError> {
        let bytes = match scalar {
            Scalar::Whole(bytes) => return Ok(Self(bytes)),
            Scalar::Decimal(_) => None,
            Scalar::Text(text) => bytes(text.trim()),
        };
        let bytes = bytes.and_then(|bytes| u64::try_from(bytes).ok());
        bytes.map(Self).ok_or_else(|| scalar.is_no::<Self>())
    }
}

fn bytes(text: &str) -> Option<u128> {
    let (number, unit) = with_unit(text);
    let bytes = match unit {
        "" | "B" => 1,
        "kB" | "KB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        _ => UNITS.iter().find(|(name, _)| *name == unit)?.1,
    };
    times(number, bytes)
}

impl FromStr for ByteSize {
    type Err = ValueError;

    fn from_str(text: &str) -> Result<Self, ValueError> {
        Self::of_scalar(Scalar::Text(text))
    }
}

/// In the largest unit of 1,024s that there are whole ones of.
impl fmt::Display for ByteSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match UNITS.iter().find(|(_, unit)| self.0 != 0 && self.0.is_multiple_of(*unit)) {
            Some((name, unit)) => write!(f, "{}{name}", self.0 / unit),
            None => write!(f, "{}B", self.0),
        }
    }
}

impl Serialize for ByteSize {
    fn serialize<S: Serializer>(&self, plan: S) -> Result<S::Ok, S::Error> {
        plan.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ByteSize {
    fn deserialize<D: Deserializer<'de>>(plan: D) -> Result<Self, D::Error> {
        scalar::deserialize(plan)
    }
}

impl JsonSchema for ByteSize {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "ByteSize".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "integer"], "minimum": 0 })
    }
}

const UNITS: [(&str, u64); 3] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn sizes_have_units_or_are_bytes() {
        for (json, bytes, printed) in [
            ("\"16MiB\"", 16 << 20, "16MiB"),
            ("\"1.5KiB\"", 1536, "1536B"),
            ("\"3 GiB\"", 3 << 30, "3GiB"),
            ("\"64kB\"", 64_000, "64000B"),
            ("\"2MB\"", 2_000_000, "2000000B"),
            ("\"100\"", 100, "100B"),
            ("16777216", 16 << 20, "16MiB"),
            ("\"18446744073709551615B\"", u64::MAX, "18446744073709551615B"),
            ("0", 0, "0B"),
        ] {
            let size: ByteSize = serde_json::from_str(json).unwrap();
            assert_eq!((size.bytes(), size.to_string().as_str()), (bytes, printed), "{json}");
        }
    }

    #[test]
    fn what_is_no_size_is_refused_in_its_own_words() {
        for (json, text) in [
            ("\"\"", ""),
            ("\"MiB\"", "MiB"),
            ("\"5 apples\"", "5 apples"),
            ("\"-5B\"", "-5B"),
            ("-5", "-5"),
            ("1.5", "1.5"),
            ("\"99999999999999GiB\"", "99999999999999GiB"),
        ] {
            let error = serde_json::from_str::<ByteSize>(json).unwrap_err().to_string();
            let expected = format!("`{text}` is no size (like 16MiB, 512KiB, 1.5MB, 100B)");
            assert!(error.starts_with(&expected), "{error}");
        }
        let error = serde_json::from_str::<ByteSize>("true").unwrap_err().to_string();
        assert!(error.contains("expected a size (like 16MiB"), "{error}");
    }

    proptest! {
        #[test]
        fn every_size_reads_back(bytes: u64) {
            let size = ByteSize::from_bytes(bytes);
            prop_assert_eq!(size.to_string().parse::<ByteSize>().unwrap(), size);
        }
    }
}
