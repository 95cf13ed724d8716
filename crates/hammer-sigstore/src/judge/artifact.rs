//! Whether an entry that was read back says of an artifact what somebody who verifies it needs.

use std::borrow::Cow;
use std::collections::HashSet;

use hammer_core::promise::Fault;
use hammer_tlog::hash::{Hash, sha256};
use hammer_tlog::keys::certificate::Certificate;
use hammer_tlog::keys::key::LogKey;

use super::certificate::{check_identity, check_path};
use super::entry::{LogTrust, PlacedEntry, judge_logged, stored};
use super::malformed::malformed;
use crate::envelope;
use crate::logged::{LoggedKind, LoggedSignature, LoggedSigner};
use crate::record::ArtifactRecord;
use crate::rekor::LogEntries;
use crate::trust::Trust;

/// Entries whose certificate and signature held: what an entry says by itself follows from its bytes, the artifact, who has to have signed it and the time at which it
/// was integrated, so that who reads it again need not verify it again. What the log says of it (timestamp, proof, checkpoint) is another
/// answer each time, and is verified each time.
#[derive(Debug, Default)]
pub(super) struct ProvenEntries {
    proven: HashSet<ProvenEntry>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct ProvenEntry {
    leaf: Hash,
    artifact: Hash,
    /// Who has to have signed.
    identity: Hash,
    integrated_time: i64,
}

impl ProvenEntries {
    fn has(&self, entry: &ProvenEntry) -> bool {
        self.proven.contains(entry)
    }

    fn keep(&mut self, entry: ProvenEntry) {
        // One that is drawn often is soon back.
        if self.proven.len() >= MOST_PROVEN {
            self.proven.clear();
        }
        self.proven.insert(entry);
    }

    #[cfg(test)]
    pub(super) fn keep_for_test(&mut self, leaf: Hash, artifact: &[u8], integrated_time: i64) {
        let (artifact, identity) = (sha256(artifact), sha256(b""));
        self.keep(ProvenEntry { leaf, artifact, identity, integrated_time });
    }
}

/// The log still has the entry; it is the one that was asked for and stands in the log; its certificate led to a trusted root when it was integrated; and its
/// signature is that key's over the artifact.
pub(super) fn judge(
    log: LogTrust<'_>,
    proven: &mut ProvenEntries,
    record: &ArtifactRecord<'_>,
) -> Result<PlacedEntry, Fault> {
    let Some(answer) = record.body else {
        return Err(Fault::at(LOST, record.index, "the log has no such entry, which it had promised"));
    };
    let (uuid, entry) = LogEntries::only(answer).map_err(malformed)?;
    let body = stored(&entry)?;
    if crate::rekor::leaf_of(&uuid) != Some(record.leaf) || entry.log_index != record.index {
        return Err(Fault::at(
            ANOTHER,
            record.index,
            format!("{uuid} was answered, of index {}", entry.log_index),
        ));
    }
    let proved = judge_logged(log, &uuid, &entry, &body)?;
    let artifact = sha256(record.artifact);
    let identity = sha256(record.identity.as_bytes());
    let known = ProvenEntry { leaf: record.leaf, artifact, identity, integrated_time: entry.integrated_time };
    if proven.has(&known) {
        return Ok(proved);
    }
    let logged = LoggedSignature::read(&body).map_err(malformed)?;
    if !logged.is_about(record.artifact) {
        return Err(Fault::at(ANOTHER, record.index, "it is about another artifact"));
    }
    let key = match &logged.signer {
        LoggedSigner::Certificate(der) => certified_key(log.trust, der, record, entry.integrated_time)?,
        LoggedSigner::Key(spki) => LogKey::from_der(spki).map_err(|why| malformed(why.to_string()))?,
    };
    let signed = match logged.kind {
        LoggedKind::HashedRekord => Cow::Borrowed(record.artifact),
        LoggedKind::Dsse => Cow::Owned(envelope::signed(envelope::PAYLOAD_TYPE, record.artifact)),
    };
    check_signature(&key, &signed, &logged.signature)
        .map_err(|why| Fault::at(SIGNATURE, record.index, why))?;
    proven.keep(known);
    Ok(proved)
}

/// The key of a certificate that led to a trusted root when its entry was integrated, and is for who signed.
fn certified_key(
    trust: &Trust,
    der: &[u8],
    record: &ArtifactRecord<'_>,
    integrated_time: i64,
) -> Result<LogKey, Fault> {
    let leaf = Certificate::parse(der).map_err(|why| malformed(why.to_string()))?;
    let placed = |fault: Fault| Fault { place: Some(record.index), ..fault };
    check_path(trust, &leaf, &[], integrated_time).map_err(placed)?;
    if !record.identity.is_empty() {
        check_identity(&leaf, record.identity).map_err(placed)?;
    }
    LogKey::from_der(leaf.spki).map_err(|why| malformed(why.to_string()))
}

/// A signature over what is signed, by the algorithm of its key.
pub(super) fn check_signature(key: &LogKey, signed: &[u8], signature: &[u8]) -> Result<(), String> {
    // Each flow has a key of its own: a table of it would cost more than it saves.
    let judged = key.verify_scheme_once(key.algorithm().scheme(), signed, signature);
    judged.map_err(|why| why.to_string())
}

/// Some 100 bytes each, for a thread.
const MOST_PROVEN: usize = 32_768;
const LOST: &str = "lost-entry";
const ANOTHER: &str = "another-entry";
pub(super) const SIGNATURE: &str = "artifact-signature";
