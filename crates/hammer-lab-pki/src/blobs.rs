//! Files that are uploaded in parts, or fetched besides.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::pending::Pending;

/// The files, by their tokens.
#[derive(Debug)]
pub(crate) struct Blobs(Pending<BTreeMap<u32, Vec<u8>>>);

impl Default for Blobs {
    fn default() -> Self {
        Self(Pending::new(KEPT))
    }
}

impl Blobs {
    /// Begins one without parts.
    pub(crate) fn begin(&self, token: String) {
        self.0.keep(token, BTreeMap::new(), Duration::ZERO);
    }

    /// Keeps a whole one.
    pub(crate) fn keep(&self, token: String, content: Vec<u8>) {
        self.0.keep(token, BTreeMap::from([(0, content)]), Duration::ZERO);
    }

    /// Adds a part; says whether the file is known.
    pub(crate) fn add(&self, token: &str, number: u32, part: Vec<u8>) -> bool {
        self.0.with(token, |parts| drop(parts.insert(number, part))).is_some()
    }

    /// All of it.
    pub(crate) fn whole(&self, token: &str) -> Option<Vec<u8>> {
        self.0.with(token, |parts| parts.values().flatten().copied().collect())
    }

    pub(crate) fn clear(&self) {
        self.0.clear();
    }
}

/// For as long as there is room.
const KEPT: Duration = Duration::MAX;
