//! Values that a plan writes as text or as a bare number.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{self, Deserializer, Visitor};

use crate::error::ValueError;

/// What stands in a plan.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Scalar<'a> {
    Text(&'a str),
    Whole(u64),
    /// With a fraction or a sign.
    Decimal(f64),
}

/// A value that is written as one scalar.
pub(crate) trait ScalarValue: Sized {
    /// What it is called where another is found, with examples.
    const EXPECTED: &'static str;

    /// Reads it.
    fn of_scalar(scalar: Scalar<'_>) -> Result<Self, ValueError>;
}

impl Scalar<'_> {
    /// The number, where it is one, also where it stands in quotes.
    pub(crate) fn number(self) -> Option<f64> {
        match self {
            Self::Text(text) => decimal(text.trim()),
            Self::Whole(number) => Some(number as f64),
            Self::Decimal(number) => Some(number),
        }
    }

    /// The whole number, where it is one, also where it stands in quotes.
    pub(crate) fn whole(self) -> Option<u64> {
        match self {
            Self::Text(text) => text.trim().parse().ok(),
            Self::Whole(number) => Some(number),
            Self::Decimal(_) => None,
        }
    }

    /// It is no `T`.
    pub(crate) fn is_no<T: ScalarValue>(self) -> ValueError {
        ValueError::Form { text: self.to_string(), expected: T::EXPECTED }
    }
}

impl fmt::Display for Scalar<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Whole(number) => write!(f, "{number}"),
            Self::Decimal(number) => write!(f, "{number}"),
        }
    }
}

/// Digits with at most one point among them; no sign, exponent, infinity or `NaN`.
pub(crate) fn decimal(text: &str) -> Option<f64> {
    let is_one = text.starts_with(|first: char| first.is_ascii_digit())
        && text.chars().all(|c| c.is_ascii_digit() || c == '.');
    if is_one { text.parse().ok() } else { None }
}

/// Splits a number from the unit behind it.
pub(crate) fn with_unit(text: &str) -> (&str, &str) {
    let unit = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    (&text[..unit], text[unit..].trim())
}

/// A decimal number times a unit, exact but for its fraction, which is rounded to a whole number.
pub(crate) fn times(number: &str, unit: u64) -> Option<u128> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let whole = whole.parse::<u128>().ok()?.checked_mul(unit.into())?;
    whole.checked_add((decimal(&format!("0.{fraction}"))? * unit as f64).round() as u128)
}

/// Reads a value out of a plan.
pub(crate) fn deserialize<'de, T: ScalarValue, D: Deserializer<'de>>(plan: D) -> Result<T, D::Error> {
    plan.deserialize_any(ScalarVisitor(PhantomData))
}

struct ScalarVisitor<T>(PhantomData<T>);

impl<T: ScalarValue> ScalarVisitor<T> {
    fn read<E: de::Error>(scalar: Scalar<'_>) -> Result<T, E> {
        T::of_scalar(scalar).map_err(E::custom)
    }
}

impl<T: ScalarValue> Visitor<'_> for ScalarVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a {}", T::EXPECTED)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        Self::read(Scalar::Text(text))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<T, E> {
        Self::read(Scalar::Whole(number))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<T, E> {
        Self::read(u64::try_from(number).map_or(Scalar::Decimal(number as f64), Scalar::Whole))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<T, E> {
        Self::read(Scalar::Decimal(number))
    }
}
