//! Names tiles, an extension of Sunlight: `tile/names/`, one JSON line for each entry about the names in it.

use serde::{Deserialize, Serialize};

/// One line of a names tile (filippo.io/sunlight, `TrimmedEntry`). Fields that are not named here are skipped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct NamesLine {
    /// When the log took the entry, in milliseconds since 1970.
    pub timestamp: u64,
    /// The subject.
    #[serde(default)]
    pub subject: Subject,
    /// The DNS names among the subject's alternative names.
    #[serde(rename = "DNS", default, skip_serializing_if = "Vec::is_empty")]
    pub dns: Vec<String>,
    /// The IP addresses among the subject's alternative names.
    #[serde(rename = "IP", default, skip_serializing_if = "Vec::is_empty")]
    pub ip: Vec<String>,
}

/// The subject of a [`NamesLine`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Subject {
    /// `commonName`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub common_name: String,
}

/// The lines of a names tile (not compressed), each read on its own.
pub fn lines(tile: &[u8]) -> impl Iterator<Item = Result<NamesLine, serde_json::Error>> {
    tile.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).map(serde_json::from_slice)
}
