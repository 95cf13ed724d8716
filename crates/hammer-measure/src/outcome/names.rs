//! Details that come from elsewhere. [`Detail`] names failures by texts of the program; a name that another process told is kept for
//! good, so such names are bounded in number and length.

use std::borrow::Cow;
use std::sync::{Mutex, PoisonError};

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use super::Detail;

/// What a detail is written as.
#[derive(Deserialize)]
#[serde(rename = "Detail", rename_all = "snake_case")]
enum DetailParts<'a> {
    None,
    Status(u16),
    Failure(#[serde(borrow)] Cow<'a, str>),
}

impl<'de> Deserialize<'de> for Detail {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match DetailParts::deserialize(deserializer)? {
            DetailParts::None => Self::None,
            DetailParts::Status(status) => Self::Status(status),
            DetailParts::Failure(name) => Self::Failure(kept(&name).map_err(D::Error::custom)?),
        })
    }
}

/// The name, kept for as long as the process lives. Only whoever reads what others recorded comes here, never a shard.
fn kept(name: &str) -> Result<&'static str, &'static str> {
    if name.len() > LONGEST || name.chars().any(char::is_control) {
        return Err("a failure has a name that is too long, or none to be printed");
    }
    // Whoever panicked left the list as it was between two names.
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.iter().find(|known| **known == name) {
        return Ok(known);
    }
    if names.len() >= MOST {
        return Err("failures have more names than are kept");
    }
    let name: &'static str = Box::leak(name.into());
    names.push(name);
    Ok(name)
}

static NAMES: Mutex<Vec<&'static str>> = Mutex::new(Vec::new());
/// The protocols have a few dozen.
const MOST: usize = 4096;
/// Bytes.
const LONGEST: usize = 128;
