//! Whether an entry that was read back says of an artifact what somebody who verifies it needs.

use std::borrow::Cow;
use std::collections::HashSet;

use hammer_core::promise::Fault;
use hammer_tlog::hash::{Hash, sha256};
use hammer_tlog::keys::certificate::Certificate;
use hammer_tlog::keys::key::{LogKey, MixedBatch};

use super::certificate::{believed_within, check_identity, check_own_scts, check_path};
use super::entry::{BelievedNote, LogTrust, PlacedEntry, judge_logged, stored};
use super::malformed::{malformed, unread_entry, unread_key};
use super::signatures::{AnyDigest, SignatureOf, Signatures};
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
pub(super) struct ProvenEntry {
    leaf: Hash,
    artifact: Hash,
    /// Who has to have signed.
    identity: Hash,
    /// When, and what shows it.
    signed_at: i64,
    timestamp: Hash,
}

impl ProvenEntry {
    /// The entry of that leaf, which has to be that; `signed_at` in whichever unit its log has.
    pub(super) fn of(leaf: Hash, claim: &ClaimedArtifact<'_>, signed_at: i64, timestamp: &[u8]) -> Self {
        let [artifact, identity, timestamp] =
            [claim.artifact, claim.identity.as_bytes(), timestamp].map(sha256);
        Self { leaf, artifact, identity, signed_at, timestamp }
    }
}

impl ProvenEntries {
    pub(super) fn has(&self, entry: &ProvenEntry) -> bool {
        self.proven.contains(entry)
    }

    pub(super) fn keep(&mut self, entry: ProvenEntry) {
        // One that is drawn often is soon back.
        if self.proven.len() >= MOST_PROVEN {
            self.proven.clear();
        }
        self.proven.insert(entry);
    }

    #[cfg(test)]
    pub(super) fn keep_for_test(&mut self, leaf: Hash, artifact: &[u8], integrated_time: i64) {
        let claim = ClaimedArtifact { index: 0, artifact, identity: "" };
        self.keep(ProvenEntry::of(leaf, &claim, integrated_time, &[]));
    }
}

/// The log still has the entry; it is the one that was asked for and stands in the log; its certificate led to a trusted root when it was integrated; and its
/// signature, unless that is known to hold, was added to a batch, and is to be that key's over the artifact.
pub(super) fn judge(
    log: LogTrust<'_>,
    proven: &ProvenEntries,
    record: &ArtifactRecord<'_>,
    believed: &mut BelievedNote,
    signatures: &mut Signatures,
) -> Result<(PlacedEntry, Option<ProvenEntry>), Fault> {
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
    let proved = judge_logged(log, (&uuid, &entry), &body, believed)?;
    if let Some(first) = record.integrated_time.filter(|first| *first != entry.integrated_time) {
        // The log signed both.
        let told = format!("it was integrated at {first}, and is read back with {}", entry.integrated_time);
        return Err(Fault::at(ALTERED, record.index, told));
    }
    let claim = ClaimedArtifact { index: record.index, artifact: record.artifact, identity: record.identity };
    let known = ProvenEntry::of(record.leaf, &claim, entry.integrated_time, &[]);
    if proven.has(&known) {
        return Ok((proved, None));
    }
    let logged = LoggedSignature::read(&body).map_err(unread_entry)?;
    judge_logged_signature(log.trust, &logged, &claim, |_| Ok(entry.integrated_time), signatures)?;
    Ok((proved, Some(known)))
}

/// What an entry has to be about, and who has to have signed it: nobody stated where that is empty.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClaimedArtifact<'a> {
    pub(super) index: u64,
    pub(super) artifact: &'a [u8],
    pub(super) identity: &'a str,
}

/// What an entry says by itself: it is about the artifact; its certificate, where it has one, is for whoever signed, led to a trusted root
/// at the second that `signed_at` says, and is in a CT log; and its signature, which is added to a batch, is to be that key's over the
/// artifact.
pub(super) fn judge_logged_signature(
    trust: &Trust,
    logged: &LoggedSignature,
    claim: &ClaimedArtifact<'_>,
    signed_at: impl FnOnce(&Certificate<'_>) -> Result<i64, Fault>,
    signatures: &mut Signatures,
) -> Result<(), Fault> {
    let placed = |fault: Fault| Fault { place: Some(claim.index), ..fault };
    if !logged.is_about(claim.artifact) {
        return Err(Fault::at(ANOTHER, claim.index, "it is about another artifact"));
    }
    let key = match &logged.signer {
        LoggedSigner::Certificate(der) => {
            certified_key(trust, der, claim.identity, signed_at).map_err(placed)?
        }
        LoggedSigner::Key(spki) => LogKey::from_der(spki).map_err(|why| unread_key(&why))?,
    };
    let signed = match logged.kind {
        LoggedKind::HashedRekord => Cow::Borrowed(claim.artifact),
        LoggedKind::Dsse => Cow::Owned(envelope::signed(envelope::PAYLOAD_TYPE, claim.artifact)),
    };
    // Each flow has a key of its own: a table of it would cost more than it saves.
    let add = |batch: &mut MixedBatch| -> Result<(), Fault> {
        batch.add_once(&key, key.algorithm().scheme(), &signed, &logged.signature);
        Ok(())
    };
    let (signed, signature) = (signed.to_vec(), logged.signature.clone());
    let any = AnyDigest { key: key.clone(), signed, signature };
    signatures.add(SignatureOf::Artifact { index: claim.index, any: Box::new(any) }, add)
}

/// The key of a certificate that led to a trusted root when it signed, is for who signed, and is in a CT log.
fn certified_key(
    trust: &Trust,
    der: &[u8],
    identity: &str,
    signed_at: impl FnOnce(&Certificate<'_>) -> Result<i64, Fault>,
) -> Result<LogKey, Fault> {
    let leaf = Certificate::parse(der).map_err(|why| malformed(why.to_string()))?;
    let signed_at = believed_within(&leaf, trust.skew, signed_at(&leaf)?);
    check_path(trust, &leaf, &[], signed_at)?;
    if !identity.is_empty() {
        check_identity(&leaf, identity)?;
    }
    check_own_scts(trust, &leaf)?;
    LogKey::from_der(leaf.spki).map_err(|why| unread_key(&why))
}

/// A signature over what is signed, by the algorithm of its key, and over any digest: which one it is over, nothing says.
pub(super) fn check_signature(key: &LogKey, signed: &[u8], signature: &[u8]) -> Result<(), String> {
    // Each flow has a key of its own: a table of it would cost more than it saves.
    let judged = key.verify_scheme_once(key.algorithm().scheme(), signed, signature);
    let judged = judged.or_else(|_| key.verify_other_digest(signed, signature));
    judged.map_err(|why| why.to_string())
}

/// Some 100 bytes each, for a thread.
const MOST_PROVEN: usize = 32_768;
pub(super) const LOST: &str = "lost-entry";
const ANOTHER: &str = "another-entry";
const ALTERED: &str = "altered-entry";
