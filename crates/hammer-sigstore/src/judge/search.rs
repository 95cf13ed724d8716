//! Whether a search by a hash finds what was logged under it.

use std::borrow::Cow;

use hammer_core::promise::Fault;

use super::malformed::malformed;
use crate::record::SearchRecord;
use crate::rekor::leaf_of;

/// The entry is among what was found, whichever else is.
pub(super) fn judge(record: &SearchRecord<'_>) -> Result<(), Fault> {
    let found: Vec<Cow<'_, str>> =
        serde_json::from_slice(record.body).map_err(|why| malformed(format!("the UUIDs found: {why}")))?;
    if found.iter().any(|uuid| leaf_of(uuid) == Some(record.leaf)) {
        return Ok(());
    }
    let told = format!("the entry of leaf {} is not among the {} found", record.leaf, found.len());
    Err(Fault::at(UNFOUND, record.index, told))
}

const UNFOUND: &str = "entry-unfound";
