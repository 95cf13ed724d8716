//! Whether a search finds what was logged under what it looks for, and nothing else.

use std::borrow::Cow;

use hammer_core::promise::Fault;
use hammer_tlog::hash::Hash;
use hammer_tlog::keys::certificate::Certificate;
use serde::Deserialize;

use super::certificate::identity_of;
use super::entry::{BelievedNote, LogTrust, judge_logged, stored};
use super::malformed::malformed;
use super::shards::ShardOffsets;
use crate::logged::{LoggedKind, LoggedSignature, LoggedSigner};
use crate::record::SearchRecord;
use crate::rekor::{LogEntries, found_among, leaf_of};
use crate::trust::Trust;

/// The entry is among what was found, whichever else is.
pub(super) fn judge(record: &SearchRecord<'_>) -> Result<(), Fault> {
    let found = found_among(record.body, record.leaf);
    let (found, its) = found.map_err(|why| malformed(format!("the UUIDs found: {why}")))?;
    if its.is_some() {
        return Ok(());
    }
    let told = format!("the entry of leaf {} is not among the {found} found", record.leaf);
    Err(Fault::at(UNFOUND, record.index, told))
}

/// An entry that a search found, as it was read by its UUID.
#[derive(Clone, Copy)]
pub struct FoundEntry<'a> {
    /// What was searched for, as it was sent (`SearchIndex` of openapi.yaml).
    pub asked: &'a [u8],
    /// What was found.
    pub uuid: &'a [u8],
    /// What the log answered for the UUID; none where it has no such entry.
    pub answer: Option<&'a [u8]>,
}

/// What entries that were found say of the shards of their log, to which the next ones are held.
#[derive(Debug, Default)]
pub struct FoundShards(ShardOffsets);

/// The log has the entry; it is that of the UUID and stands in the log; and as far as it says so itself, it is about what was searched for.
///
/// # Errors
/// What is not so.
pub fn judge_found(trust: &Trust, shards: &FoundShards, found: FoundEntry<'_>) -> Result<(), Fault> {
    let wanted = String::from_utf8_lossy(found.uuid);
    let Some(answer) = found.answer else {
        return Err(Fault::new(INVENTED, format!("the log has no entry {wanted}, which was found")));
    };
    let (uuid, entry) = LogEntries::only(answer).map_err(malformed)?;
    let body = stored(&entry)?;
    if leaf_of(&uuid) != leaf_of(&wanted) {
        return Err(Fault::at(ANOTHER, entry.log_index, format!("{uuid} was answered for {wanted}")));
    }
    let log = LogTrust { trust, shards: &shards.0 };
    judge_logged(log, (&uuid, &entry), &body, &mut BelievedNote::default())?;
    check_related(found.asked, &body).map_err(|why| Fault::at(UNRELATED, entry.log_index, why))
}

/// `SearchIndex`, as far as it is used.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Searched<'a> {
    #[serde(borrow)]
    email: Cow<'a, str>,
    #[serde(borrow)]
    hash: Cow<'a, str>,
}

/// A hashedrekord says what was signed, and a certificate for whom it is; by what else entries are found (the subjects of an attestation, a
/// hash of an envelope, names in other kinds of keys), they do not say.
fn check_related(asked: &[u8], body: &[u8]) -> Result<(), String> {
    let Ok(logged) = LoggedSignature::read(body) else { return Ok(()) };
    let Ok(Searched { email, hash }) = serde_json::from_slice(asked) else { return Ok(()) };
    if let Some(digits) = hash.strip_prefix("sha256:")
        && logged.kind == LoggedKind::HashedRekord
        && !Hash::from_hex(digits).is_some_and(|hash| logged.has_digest(&hash.0))
    {
        return Err(format!("it is found by the hash {digits}, and is about another"));
    }
    if !email.is_empty()
        && let LoggedSigner::Certificate(der) = &logged.signer
        && let Ok(certificate) = Certificate::parse(der)
        && let Ok(named) = identity_of(&certificate)
        && !named.eq_ignore_ascii_case(&email)
    {
        return Err(format!("it is found by {email}, and is of {named}"));
    }
    Ok(())
}

const INVENTED: &str = "invented-entry";
const ANOTHER: &str = "another-entry";
const UNRELATED: &str = "unrelated-entry";
const UNFOUND: &str = "entry-unfound";
