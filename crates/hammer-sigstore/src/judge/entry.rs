//! Whether an entry stands in the log as it was sent.

use hammer_audit::HeadId;
use hammer_core::promise::Fault;
use hammer_messages::rekor::{LogId, TransparencyLogEntry};
use hammer_tlog::encoding::from_base64;
use hammer_tlog::hash::Hash;
use hammer_tlog::keys::key::LogKey;
use hammer_tlog::logs::merkle::{leaf_hash, verify_inclusion};
use hammer_tlog::logs::note::{Checkpoint, Note, NoteSignature, Verifier, open_checkpoint};
use prost::Message as _;

use super::distinct_keys::DistinctKeys;
use super::malformed::{malformed, unread_log};
use super::shards::{ShardOffsets, tree_of};
use super::window::StampWindow;
use crate::record::{EntryLog, EntryRecord};
use crate::rekor::{InclusionProof, LogEntries, LogEntry, UuidPlace};
use crate::trust::{Trust, renamed};

/// A leaf of Rekor v2, and its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LoggedLeaf {
    pub(super) leaf: Hash,
    pub(super) index: u64,
    /// The checkpoint that it was proved by; none where the log only said where it is.
    pub(super) head: Option<HeadId>,
}

/// An entry of Rekor v1 that holds, and with what it was proved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlacedEntry {
    pub(crate) leaf: Hash,
    /// The index over all shards, and that in its tree.
    pub(crate) index: u64,
    pub(crate) tree_index: u64,
    /// The checkpoint, as it was signed; no tree where its origin names none.
    pub(crate) head: Option<HeadId>,
    pub(crate) checkpoint: String,
    /// When it was, in seconds since 1970, as the log signed it.
    pub(crate) integrated_time: i64,
}

/// What entries of Rekor v1 are held to.
#[derive(Clone, Copy)]
pub(crate) struct LogTrust<'a> {
    pub(crate) trust: &'a Trust,
    pub(crate) shards: &'a ShardOffsets,
}

/// Rekor v1: the entry is the one that was sent, its UUID is that of its leaf, both the signed entry timestamp and the proof hold,
/// and its index is that of its place in the tree.
pub(super) fn judge_rekor(
    log: LogTrust<'_>,
    record: &EntryRecord<'_>,
    window: StampWindow,
    believed: &mut BelievedNote,
) -> Result<PlacedEntry, Fault> {
    let (uuid, entry) = LogEntries::only(record.body).map_err(malformed)?;
    let body = stored(&entry)?;
    check_stored(&body, record.stored, entry.log_index)?;
    let proved = judge_logged(log, (&uuid, &entry), &body, believed)?;
    window.check_second(entry.integrated_time).map_err(|off| {
        let told = format!("its integratedTime is {}, {off}", entry.integrated_time);
        Fault::at(TIME, entry.log_index, told)
    })?;
    Ok(proved)
}

/// The same of an entry that was read back, whatever it is about.
pub(crate) fn judge_logged(
    log: LogTrust<'_>,
    (uuid, entry): (&str, &LogEntry<'_>),
    body: &[u8],
    believed: &mut BelievedNote,
) -> Result<PlacedEntry, Fault> {
    let leaf = leaf_hash(body);
    let broken = |why: String| Err(Fault::at(UUID, entry.log_index, format!("{uuid} {why}")));
    let Some(named) = UuidPlace::of(uuid).filter(|named| named.leaf == leaf) else {
        return broken(format!("does not end with the hash of its leaf, {leaf}"));
    };
    let placed = judge_place(log, entry, &leaf, believed)?;
    match (named.tree, placed.head) {
        (Some(named), Some(head)) if named != head.tree => {
            broken(format!("names another tree than its checkpoint does, {}", head.tree))
        }
        _ => Ok(placed),
    }
}

/// The entry of that leaf stands where it says: the log's promise and its proof hold, and its index is that of its place.
pub(super) fn judge_place(
    log: LogTrust<'_>,
    entry: &LogEntry<'_>,
    leaf: &Hash,
    believed: &mut BelievedNote,
) -> Result<PlacedEntry, Fault> {
    let Some(key) = log.trust.rekor(&entry.log_id) else {
        let told = format!("the entry is of log {}", entry.log_id.escape_debug());
        if log.trust.is_unread_log(&entry.log_id) {
            return Err(unread_log(&told));
        }
        return Err(Fault::at(LOG_ID, entry.log_index, format!("{told}, whose key is not trusted")));
    };
    check_promise(key, entry)?;
    let proof = entry.verification.as_ref().and_then(|verification| verification.inclusion_proof.as_ref());
    let proof = proof.ok_or_else(|| Fault::at(PROOF, entry.log_index, "there is no inclusion proof"))?;
    let checkpoint = check_proof(key, proof, leaf, believed)?;
    let checked = log.shards.check(&checkpoint.origin, entry.log_index, proof.log_index);
    checked.map_err(|why| Fault::at(INDEX, proof.log_index, why))?;
    let tree = tree_of(&checkpoint.origin);
    Ok(PlacedEntry {
        leaf: *leaf,
        index: entry.log_index,
        tree_index: proof.log_index,
        head: tree.map(|tree| HeadId { tree, size: checkpoint.size, root: checkpoint.root }),
        checkpoint: proof.checkpoint.clone().into_owned(),
        integrated_time: entry.integrated_time,
    })
}

/// Base64 of the stored entry, read.
pub(crate) fn stored(entry: &LogEntry<'_>) -> Result<Vec<u8>, Fault> {
    from_base64(entry.body.as_bytes()).map_err(|why| malformed(format!("the entry's body: {why}")))
}

/// Byte for byte what is canonical; another release may write the same in other words.
fn check_stored(found: &[u8], expected: &[u8], index: u64) -> Result<(), Fault> {
    let value = |bytes: &[u8]| serde_json::from_slice::<DistinctKeys>(bytes).ok();
    if found == expected || value(found).is_some_and(|found| Some(found) == value(expected)) {
        return Ok(());
    }
    Err(Fault::at(BODY, index, "the log has another entry than the one that was sent"))
}

fn check_promise(key: &LogKey, entry: &LogEntry<'_>) -> Result<(), Fault> {
    let verification = entry.verification.as_ref();
    let Some(signed) = verification.and_then(|verification| verification.signed_entry_timestamp.as_ref())
    else {
        return Err(Fault::at(SET, entry.log_index, "there is no signed entry timestamp"));
    };
    let signature = from_base64(signed.as_bytes()).map_err(|why| malformed(format!("the SET: {why}")))?;
    let promised = entry.promised();
    // Rekor signs SHA-256 by any key.
    key.verify_raw(promised.as_bytes(), &signature)
        .or_else(|_| key.verify_other_digest(promised.as_bytes(), &signature))
        .map_err(|why| Fault::at(SET, entry.log_index, why.to_string()))
}

fn check_proof<'a>(
    key: &LogKey,
    proof: &InclusionProof<'_>,
    leaf: &Hash,
    believed: &'a mut BelievedNote,
) -> Result<&'a Checkpoint, Fault> {
    let broken = |kind, detail: String| Fault::at(kind, proof.log_index, detail);
    let hashes: Option<Vec<Hash>> = proof.hashes.iter().map(|text| Hash::from_hex(text)).collect();
    let (Some(hashes), Some(root)) = (hashes, Hash::from_hex(&proof.root_hash)) else {
        return Err(malformed("a hash of the inclusion proof"));
    };
    verify_inclusion(proof.log_index, proof.tree_size, leaf, &hashes, &root)
        .map_err(|why| broken(PROOF, why.to_string()))?;
    let checkpoint = believed.open(key, &proof.checkpoint).map_err(|why| broken(CHECKPOINT, why))?;
    if (checkpoint.size, checkpoint.root) == (proof.tree_size, root) {
        return Ok(checkpoint);
    }
    Err(broken(CHECKPOINT, format!("it is of {} leaves, the proof of {}", checkpoint.size, proof.tree_size)))
}

/// A checkpoint of Rekor v1 is of an origin that nobody states: host and tree. Its line has the host's name, and may stand behind those of
/// others who cosigned.
pub(crate) fn open(key: &LogKey, envelope: &str) -> Result<Checkpoint, String> {
    let note = Note::parse(envelope.as_bytes()).map_err(|why| why.to_string())?;
    let its = |line: &&NoteSignature<'_>| Verifier::spki(line.name, key.clone()).key_id() == line.key_id;
    let line = note.signatures.iter().find(its).or(note.signatures.first());
    let name = line.map_or("", |line| line.name);
    Verifier::spki(name, key.clone()).verify(&note).map_err(|why| why.to_string())?;
    Checkpoint::parse(note.text).map_err(|why| why.to_string())
}

/// Whether a checkpoint is one whose first line is not the log's.
fn has_another_origin(verifier: &Verifier, envelope: &str) -> bool {
    let note = Note::parse(envelope.as_bytes()).ok();
    let checkpoint = note.and_then(|note| Checkpoint::parse(note.text).ok());
    checkpoint.is_some_and(|checkpoint| checkpoint.origin != verifier.name())
}

/// The last checkpoint of Rekor v1 that was believed by one verifier: entries that were integrated together come with the same.
#[derive(Debug, Default)]
pub(crate) struct BelievedNote {
    envelope: String,
    /// Whose it is, and what it says.
    opened: Option<(Hash, Checkpoint)>,
}

impl BelievedNote {
    /// What a checkpoint says that the log of that key signed.
    fn open(&mut self, key: &LogKey, envelope: &str) -> Result<&Checkpoint, String> {
        let id = key.log_id();
        let known = self.opened.take().filter(|(signer, _)| *signer == id && self.envelope == envelope);
        let opened = match known {
            Some(known) => known,
            None => {
                let checkpoint = open(key, envelope)?;
                envelope.clone_into(&mut self.envelope);
                (id, checkpoint)
            }
        };
        Ok(&self.opened.insert(opened).1)
    }
}

/// Rekor v2: the entry is the one that was sent, and its proof leads to a checkpoint that the log signed.
pub(super) fn judge_tiles(
    trust: &Trust,
    record: &EntryRecord<'_>,
    believed: &mut BelievedCheckpoint,
) -> Result<LoggedLeaf, Fault> {
    let entry = match record.log {
        EntryLog::TilesMessage => {
            TransparencyLogEntry::decode(record.body).map_err(|why| malformed(why.to_string()))?
        }
        _ => serde_json::from_slice(record.body).map_err(|why| malformed(why.to_string()))?,
    };
    if let Some(proof) = &entry.inclusion_proof {
        check_stored(&entry.canonicalized_body, record.stored, proof.log_index.unsigned_abs())?;
    }
    let logged = judge_tiles_place(trust.rekor_tiles(), &entry, believed)?;
    let said = entry.kind_version.as_ref().map(|said| (said.kind.as_str(), said.version.as_str()));
    if said != Some(FLOWS_LOG) {
        let (kind, version) = said.unwrap_or(("none", "none"));
        let told = format!("it is said to be {}, version {}", kind.escape_debug(), version.escape_debug());
        return Err(Fault::at(BODY, logged.index, told));
    }
    Ok(logged)
}

/// Rekor v1 says that it has the entry already: where that is, by the UUID that ends what it names. None where it names nothing. Whether the
/// entry is there is for whoever reads it.
pub(super) fn judge_known(record: &EntryRecord<'_>) -> Result<Option<UuidPlace>, Fault> {
    if record.body.is_empty() {
        return Ok(None);
    }
    let location = String::from_utf8_lossy(record.body);
    let uuid = location.rsplit('/').next().unwrap_or_default();
    let place = UuidPlace::of(uuid);
    let place = place.ok_or_else(|| malformed(format!("{location:?} is the place of no entry")))?;
    // What is sent is written as it is kept, else the log itself would not know it again.
    let leaf = leaf_hash(record.stored);
    if place.leaf == leaf {
        return Ok(Some(place));
    }
    let told = format!(
        "it is said to be there already as {uuid}, which does not end with the hash of its leaf, {leaf}"
    );
    Err(Fault::new(UUID, told))
}

/// Rekor v2 likewise: the leaf, at the index that it names. None where it names nothing.
pub(super) fn judge_known_tiles(record: &EntryRecord<'_>) -> Result<Option<LoggedLeaf>, Fault> {
    if record.body.is_empty() {
        return Ok(None);
    }
    let index = std::str::from_utf8(record.body).ok().and_then(|text| text.parse().ok());
    let told = || format!("{:?} is no index", String::from_utf8_lossy(record.body));
    let index = index.ok_or_else(|| malformed(told()))?;
    Ok(Some(LoggedLeaf { leaf: leaf_hash(record.stored), index, head: None }))
}

/// An entry of Rekor v2, whatever it is about, leads to a checkpoint of the log that `verifier` believes.
pub(super) fn judge_tiles_place(
    verifier: Option<&Verifier>,
    entry: &TransparencyLogEntry,
    believed: &mut BelievedCheckpoint,
) -> Result<LoggedLeaf, Fault> {
    let Some(proof) = &entry.inclusion_proof else {
        // As of an error that comes with 201.
        let is_entry = !entry.canonicalized_body.is_empty();
        return Err(match is_entry {
            true => Fault::new(PROOF, "there is no inclusion proof"),
            false => malformed("there is neither an entry nor its inclusion proof"),
        });
    };
    let (Ok(index), Ok(size)) = (u64::try_from(proof.log_index), u64::try_from(proof.tree_size)) else {
        return Err(malformed("an index of the inclusion proof"));
    };
    let told = |fault: Fault| {
        let renamed = verifier.and_then(|verifier| under_another_origin(verifier, entry));
        renamed.map_or(fault, |renamed| Fault { place: Some(index), ..renamed })
    };
    check_log_id(verifier, entry.log_id.as_ref(), index).map_err(told)?;
    let leaf = leaf_hash(&entry.canonicalized_body);
    let hashes: Option<Vec<Hash>> = proof.hashes.iter().map(|hash| Hash::from_slice(hash)).collect();
    let (Some(hashes), Some(root)) = (hashes, Hash::from_slice(&proof.root_hash)) else {
        return Err(malformed("a hash of the inclusion proof"));
    };
    verify_inclusion(index, size, &leaf, &hashes, &root)
        .map_err(|why| Fault::at(PROOF, index, why.to_string()))?;
    let envelope = proof.checkpoint.as_ref().map_or("", |checkpoint| &checkpoint.envelope);
    let checked = believed.check(verifier, envelope, (size, root));
    checked.map_err(|why| {
        let is_other = verifier.is_some_and(|verifier| has_another_origin(verifier, envelope));
        told(Fault::at(if is_other { ORIGIN } else { CHECKPOINT }, index, why))
    })?;
    if entry.log_index != proof.log_index {
        let told = format!("the entry says {}, its proof {index}", entry.log_index);
        return Err(Fault::at(INDEX, index, told));
    }
    Ok(LoggedLeaf { leaf, index, head: Some(HeadId { tree: 0, size, root }) })
}

/// That the checkpoint of an entry is by the key of `verifier`, which signed it under another origin than the one that is trusted; none where
/// it is by another key, or by none.
pub(super) fn under_another_origin(verifier: &Verifier, entry: &TransparencyLogEntry) -> Option<Fault> {
    let envelope = &entry.inclusion_proof.as_ref()?.checkpoint.as_ref()?.envelope;
    let said = Checkpoint::parse(Note::parse(envelope.as_bytes()).ok()?.text).ok()?;
    let renamed = renamed(verifier, &said.origin)?;
    let is_named = entry.log_id.as_ref().is_some_and(|id| renamed.is_named_by(&id.key_id));
    let is_its = is_named && said.origin != verifier.name();
    open_checkpoint(envelope.as_bytes(), &renamed).ok().filter(|_| is_its)?;
    let told = format!(
        "the trusted key signed its checkpoint as {:?}, and not as {:?}",
        said.origin,
        verifier.name()
    );
    Some(Fault::new(ORIGIN, told))
}

/// By its log's id a verifier chooses the key: it is the hash of the checkpoint's origin and the log's key.
fn check_log_id(verifier: Option<&Verifier>, found: Option<&LogId>, index: u64) -> Result<(), Fault> {
    let found = found.map_or(&[][..], |id| &id.key_id);
    let Some(verifier) = verifier.filter(|verifier| !verifier.is_named_by(found)) else { return Ok(()) };
    let told = format!("the entry is of log {}, not {}", log_named(found), verifier.key_hash());
    Err(Fault::at(LOG_ID, index, told))
}

/// A log's id, as a person reads it.
pub(super) fn log_named(id: &[u8]) -> String {
    match Hash::from_slice(id) {
        Some(id) => id.to_hex(),
        None if id.is_empty() => "without an id".to_owned(),
        None => format!("with an id of {} bytes", id.len()),
    }
}

/// The last checkpoint of Rekor v2 that was believed by one verifier: the entries of a batch come with the same.
#[derive(Debug, Default)]
pub(super) struct BelievedCheckpoint {
    envelope: String,
    size: u64,
    root: Hash,
}

impl BelievedCheckpoint {
    /// As the log signed it.
    pub(super) fn envelope(&self) -> &[u8] {
        self.envelope.as_bytes()
    }

    /// It is of that tree, and the log signed it.
    fn check(
        &mut self,
        verifier: Option<&Verifier>,
        envelope: &str,
        (size, root): (u64, Hash),
    ) -> Result<(), String> {
        let verifier = verifier.ok_or("no key of the log is trusted")?;
        if self.envelope.is_empty() || self.envelope != envelope {
            let opened = open_checkpoint(envelope.as_bytes(), verifier);
            let (checkpoint, _) = opened.map_err(|why| format!("failed to {why}"))?;
            (self.size, self.root) = (checkpoint.size, checkpoint.root);
            envelope.clone_into(&mut self.envelope);
        }
        if (self.size, self.root) == (size, root) {
            return Ok(());
        }
        Err(format!("it is of {} leaves, the proof of {size}", self.size))
    }
}

/// Kind and version of what flows log in Rekor v2, envelopes too.
const FLOWS_LOG: (&str, &str) = ("hashedrekord", "0.0.2");
pub(super) const BODY: &str = "another-entry";
const UUID: &str = "entry-uuid";
pub(super) const LOG_ID: &str = "entry-of-another-log";
/// The log signs a time of integration that cannot have been.
const TIME: &str = "entry-time";
const SET: &str = "bad-set";
const PROOF: &str = "inclusion-proof";
const CHECKPOINT: &str = "checkpoint";
/// As `hammer-audit` has it of a head that was read.
const ORIGIN: &str = "checkpoint-origin";
/// The index is not that of the entry's place.
pub(crate) const INDEX: &str = "entry-index";
