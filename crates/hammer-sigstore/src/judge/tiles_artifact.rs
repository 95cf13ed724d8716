//! Whether an entry that was read in the tiles of Rekor v2 is in its tree, and says of an artifact what somebody who verifies it needs.

use hammer_audit::HeadId;
use hammer_cms::ber;
use hammer_cms::timestamp::{ExpectedImprint, ExpectedTimestamp, TimestampVerifier};
use hammer_core::promise::Fault;
use hammer_read::{
    ALTERED_LEAF, LogHeads, MISSING_TILE, Part, ProvedTree, ProvedTrees, read_parts, unverified,
};
use hammer_tlog::hash::Hash;
use hammer_tlog::keys::certificate::Certificate;
use hammer_tlog::logs::merkle::leaf_hash;
use hammer_tlog::logs::tile::{FULL_WIDTH, Level};

use super::artifact::{ClaimedArtifact, LOST, ProvenEntries, ProvenEntry, judge_logged_signature};
use super::certificate::believed_second;
use super::malformed::{fault_of_timestamp, unread_entry};
use super::signatures::Signatures;
use super::tiles_head::open_tiles_head;
use super::window::StampWindow;
use crate::logged::LoggedSignature;
use crate::record::{FoundOnTiles, TilesArtifactRecord};
use crate::trust::Trust;

/// A checkpoint that holds, as the log signed it.
pub(super) type SignedHead<'a> = (HeadId, &'a [u8]);

/// What is held against each other over the entries of one thread.
pub(super) struct TilesJudge<'a> {
    pub(super) trust: &'a Trust,
    /// None where each is to join the followed tree.
    pub(super) heads: Option<&'a LogHeads>,
    pub(super) trees: &'a mut ProvedTrees,
    pub(super) proven: &'a ProvenEntries,
    /// Where the signatures of entries are added.
    pub(super) signatures: &'a mut Signatures,
    pub(super) timestamps: Option<&'a mut TimestampVerifier>,
}

impl TilesJudge<'_> {
    /// The entry is in the tree of a checkpoint that the log signed, at its index, and is what was logged there; what it says by itself
    /// holds, but for its signature, which was added to the batch unless it is known to hold. The checkpoint, where it has one that holds,
    /// and what became of the entry.
    pub(super) fn judge<'a>(
        &mut self,
        record: &TilesArtifactRecord<'a>,
    ) -> (Option<SignedHead<'a>>, Result<Option<ProvenEntry>, Fault>) {
        let read = read_parts(record.proof).ok();
        let read = read.and_then(|(found, parts)| Some((FoundOnTiles::of(found)?, parts)));
        // Records are this crate's own.
        let Some((found, parts)) = read else { return (None, Err(unverified())) };
        let Some((head, rest)) = parts.split_first() else { return (None, Err(unverified())) };
        let (trust, heads) = (self.trust, self.heads);
        let tree = match self.trees.of(head.bytes, |raw| open_tiles_head(trust, heads, raw)) {
            Ok(tree) => tree,
            Err(fault) => return (None, Err(fault)),
        };
        let id = HeadId { tree: 0, size: tree.head.size, root: tree.head.root };
        if found == FoundOnTiles::HeadAlone {
            return (Some((id, head.bytes)), Ok(None));
        }
        let judged = in_tree(tree, found, rest, record);
        let judged = judged.and_then(|entry| self.by_itself(entry, record));
        (Some((id, head.bytes)), judged)
    }

    /// What the entry says, whoever keeps it.
    fn by_itself(
        &mut self,
        entry: &[u8],
        record: &TilesArtifactRecord<'_>,
    ) -> Result<Option<ProvenEntry>, Fault> {
        let TilesArtifactRecord { leaf, index, logged_unix_ms, artifact, identity, timestamp, .. } = *record;
        let claim = ClaimedArtifact { index, artifact, identity };
        let logged_ms = logged_unix_ms as i64;
        let known = ProvenEntry::of(leaf, &claim, logged_ms, timestamp);
        if self.proven.has(&known) {
            return Ok(None);
        }
        let logged = LoggedSignature::read(entry).map_err(unread_entry)?;
        let stamped_ms = self.stamped_ms(&logged.signature, timestamp);
        let stamped_ms = stamped_ms.map_err(|fault| Fault { place: Some(index), ..fault })?;
        let skew = self.trust.skew;
        // Without a timestamp nothing says when it was signed but whoever saw it logged.
        let signed_at = |leaf: &Certificate<'_>| match stamped_ms {
            Some(unix_ms) => Ok(unix_ms.div_euclid(1000)),
            None => Ok(believed_second(leaf, skew, StampWindow::new(logged_ms, logged_ms, skew))),
        };
        judge_logged_signature(self.trust, &logged, &claim, signed_at, self.signatures)?;
        Ok(Some(known))
    }

    /// When its timestamp, where it has one, says that the signature was there, in milliseconds since 1970.
    fn stamped_ms(&mut self, signature: &[u8], timestamp: &[u8]) -> Result<Option<i64>, Fault> {
        let Some(verifier) = self.timestamps.as_mut().filter(|_| !timestamp.is_empty()) else {
            return Ok(None);
        };
        let imprint = ExpectedImprint::Message(signature);
        let expected = ExpectedTimestamp { imprint, nonce: None, not_before_ms: None, not_after_ms: None };
        let timestamp = ber::to_der(timestamp);
        let verified = verifier.verify(&timestamp, &expected);
        let verified = verified.map_err(|why| fault_of_timestamp(self.trust, &why))?;
        Ok(Some(verified.unix_ms))
    }
}

/// The entry that the tree has at the index: the one that was logged there.
fn in_tree<'a>(
    tree: &mut ProvedTree,
    found: FoundOnTiles,
    parts: &[Part<'a>],
    record: &TilesArtifactRecord<'_>,
) -> Result<&'a [u8], Fault> {
    let (index, size) = (record.index, tree.head.size);
    match (found, parts) {
        (FoundOnTiles::Uncovered, _) if size <= index => {
            let told = format!("the checkpoint is of {size} leaves, without the entry that was answered");
            Err(Fault::at(LOST, index, told))
        }
        (FoundOnTiles::NoTile, [.., tile]) => {
            Err(Fault::at(MISSING_TILE, index, format!("{} is not served", tile.id())))
        }
        (FoundOnTiles::CutOff, [bundle, ..]) => {
            let told = format!(
                "{}: it does not hold the entries of its tile alone, of which that of index {index} is one",
                bundle.id()
            );
            Err(Fault::at(ALTERED_LEAF, index, told))
        }
        (FoundOnTiles::Whole, [entry, tiles @ ..]) => {
            let placed = |fault: Fault| Fault { place: fault.place.or(Some(index)), ..fault };
            let hashes = tree.prove(tiles).map_err(placed)?;
            let width = u64::from(FULL_WIDTH);
            let tile = hashes.get(&(Level::Hashes(0), index / width));
            let stands =
                tile.and_then(|hashes| hashes.get((index % width) as usize)).ok_or_else(unverified)?;
            check_leaf(entry.bytes, stands, record)?;
            Ok(entry.bytes)
        }
        // A checkpoint that nobody could read did not lead here: whoever opened it said so; one alone leads nowhere.
        _ => Err(unverified()),
    }
}

/// The entry is the one whose hash the tree has, and that is the one which was logged.
fn check_leaf(entry: &[u8], stands: &Hash, record: &TilesArtifactRecord<'_>) -> Result<(), Fault> {
    let (found, index) = (leaf_hash(entry), record.index);
    if found != *stands {
        let told = format!("the entry of index {index} is that of {found}, and the tree has {stands}");
        return Err(Fault::at(ALTERED_LEAF, index, told));
    }
    if found != record.leaf {
        let told = format!("the tree has {found} at the index that {} was answered with", record.leaf);
        return Err(Fault::at(LOST_LEAF, index, told));
    }
    Ok(())
}

/// As the audit of the log has it.
const LOST_LEAF: &str = "lost-leaf";
