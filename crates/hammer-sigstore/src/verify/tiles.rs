//! Entries of Rekor v2 (C2SP tlog-tiles): a checkpoint, the bundle that holds the entry, and the tiles that lead from its leaf to the root. A
//! flow reads all of it anew, as somebody does who has nothing yet.

use std::cell::RefCell;
use std::rc::Rc;

use hammer_audit::{AnswerBound, LogClient, LogRequest};
use hammer_core::record::OperationRecord;
use hammer_core::runtime::Clock;
use hammer_core::workload::Ended;
use hammer_exchange::ServiceClient;
use hammer_measure::{Nanos, Outcome};
use hammer_read::{FULL_TILE, LogSteps, Part, malformed, tiles_to_root, write_parts};
use hammer_tlog::logs::audit::LeafFormat as _;
use hammer_tlog::logs::tile::{FULL_WIDTH, Level, TileId};
use http::StatusCode;

use super::series::TilesSeries;
use super::settled::SettledTree;
use super::{NOTHING_LOGGED, VerifyOp, VerifyWorkload};
use crate::record::{FoundOnTiles, Instants, PromiseRecord, TilesArtifactRecord};
use crate::rekor::leaf_of;
use crate::rekor_tiles::audit::RekorTilesLeaves;
use crate::rekor_tiles::{CHECKPOINT, size_of_tree};

/// A shard's client of Rekor v2, and what it has seen of the tree.
pub(super) struct TilesEntries {
    log: LogSteps,
    settled: RefCell<SettledTree>,
}

/// An entry that was not read to the end.
struct Unread {
    ended: Ended,
    /// What the log is to be accused of by it; its checkpoint is judged where it may be honest.
    found: FoundOnTiles,
}

impl TilesEntries {
    pub(super) fn new(client: ServiceClient, clock: Rc<dyn Clock>, missing_after_ms: u64) -> Self {
        let log = LogSteps::new(LogClient::Server(client.into_client()), clock);
        let settled = RefCell::new(SettledTree::after(Nanos::from_millis(missing_after_ms)));
        Self { log, settled }
    }
}

impl VerifyWorkload {
    /// Reads the entry, and promises by what was read.
    pub(super) async fn read_from_tiles(
        &self,
        entries: &TilesEntries,
        series: TilesSeries,
        op: &mut VerifyOp,
        record: &OperationRecord,
    ) -> Result<(), Ended> {
        let VerifyOp { answer, proof, .. } = &mut *op;
        let head = LogRequest { path: CHECKPOINT, compressed: false, bound: Some(AnswerBound::HEAD) };
        entries.log.get(head, answer, record.step(series.checkpoint)).await?;
        let at = Instants::of(record, &answer.wire);
        write_parts(proof, FoundOnTiles::Whole as u8, [Part::bytes(&answer.body)]);
        let read = self.read_to_root(entries, series, op, record).await;
        let (found, ended) = match read {
            Ok(()) => (FoundOnTiles::Whole, Ok(())),
            Err(Unread { ended, found }) => (found, Err(ended)),
        };
        let VerifyOp { entry, proof, record: written, .. } = op;
        proof[0] = found as u8;
        let told = TilesArtifactRecord {
            at,
            leaf: leaf_of(&entry.uuid).ok_or(NOTHING_LOGGED)?,
            index: entry.log_index,
            logged_unix_ms: entry.logged_unix_ms,
            artifact: &entry.artifact,
            identity: &entry.identity,
            timestamp: &entry.timestamp,
            proof,
        };
        PromiseRecord::TilesArtifact(told).write(written);
        record.promise(found.promise().into(), written);
        // One of a bundle that could not be read must not be held in memory for the rest of the run.
        proof.shrink_to(KEPT_PROOF);
        written.shrink_to(KEPT_PROOF);
        ended
    }

    /// Reads what lies between the entry and the checkpoint that was just read.
    async fn read_to_root(
        &self,
        entries: &TilesEntries,
        series: TilesSeries,
        op: &mut VerifyOp,
        record: &OperationRecord,
    ) -> Result<(), Unread> {
        let VerifyOp { answer, entry, proof, .. } = op;
        let index = entry.log_index;
        let size = size_of_tree(&answer.body).ok_or(Unread::broken("answer is not a checkpoint"))?;
        entries.settled.borrow_mut().saw(size, answer.wire.done.unwrap_or_default());
        let Some(bundle) = TileId::covering(Level::Entries, index, size) else {
            // One of several servers may be behind the others.
            let is_late = self.is_late(entry, answer);
            let found = if is_late { FoundOnTiles::Uncovered } else { FoundOnTiles::HeadAlone };
            return Err(Unread { ended: NOT_COVERED, found });
        };
        let start = || record.step(series.bundle);
        let read = entries.log.tile((bundle, false), answer, start).await;
        read.map_err(|ended| entries.unread(ended, bundle, answer.status, proof))?;
        answer.decode(LARGEST_BUNDLE).map_err(|_| Unread::refused(UNREADABLE))?;
        match entry_in(&answer.body, bundle, index) {
            Some(found) => Part::numbered(index, found).write(proof),
            None => {
                Part::tile(bundle, false, &answer.body).write(proof);
                let ended = malformed("bundle of other entries than its tile's");
                return Err(Unread { ended, found: FoundOnTiles::CutOff });
            }
        }
        for tile in tiles_to_root(index, size) {
            let start = || record.step(series.tile);
            let read = entries.log.tile((tile, false), answer, start).await;
            read.map_err(|ended| entries.unread(ended, tile, answer.status, proof))?;
            answer.decode(FULL_TILE).map_err(|_| Unread::refused(UNREADABLE))?;
            Part::tile(tile, false, &answer.body).write(proof);
        }
        Ok(())
    }
}

/// The entry of an index in the bytes of a bundle, which hold the entries of its tile and nothing behind them: that would be in no tree.
fn entry_in(bytes: &[u8], bundle: TileId, index: u64) -> Option<&[u8]> {
    let (place, width) = ((index % u64::from(FULL_WIDTH)) as usize, usize::from(bundle.width));
    let (mut found, mut held) = (None, 0);
    for entry in RekorTilesLeaves::entries(bytes).take(width + 1) {
        let entry = entry.ok()?;
        found = found.or((held == place).then_some(entry));
        held += 1;
    }
    found.filter(|_| held == width)
}

impl TilesEntries {
    /// A tile that was not answered with a 200. It is missing where every server of the log has to have it.
    fn unread(&self, ended: Ended, tile: TileId, status: StatusCode, proof: &mut Vec<u8>) -> Unread {
        let is_missing = status == StatusCode::NOT_FOUND && self.settled.borrow().has(tile);
        if is_missing {
            Part::tile(tile, false, &[]).write(proof);
        }
        Unread { ended, found: if is_missing { FoundOnTiles::NoTile } else { FoundOnTiles::HeadAlone } }
    }
}

impl Unread {
    /// What came is not what it should be.
    fn broken(why: &'static str) -> Self {
        Self { ended: malformed(why), found: FoundOnTiles::Whole }
    }

    fn refused(why: &'static str) -> Self {
        Self { ended: malformed(why), found: FoundOnTiles::HeadAlone }
    }
}

/// The checkpoint is of a tree in which the entry is not yet.
const NOT_COVERED: Ended = Ended::failed(Outcome::Refused, "not covered by the checkpoint");
const UNREADABLE: &str = "answer in an encoding that cannot be read";
/// 256 entries of 64 KiB.
const LARGEST_BUNDLE: usize = 17 << 20;
/// An entry and a few tiles.
const KEPT_PROOF: usize = 128 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_found_in_a_bundle_of_as_many_entries_as_its_tile_has_and_of_nothing_behind_them() {
        let bundle = TileId::covering(Level::Entries, 258, 259).unwrap();
        assert_eq!(bundle.width, 3);
        let whole = b"\0\x01a\0\x02bb\0\x01c";
        assert_eq!(entry_in(whole, bundle, 257), Some(&b"bb"[..]));
        for behind in [&b"\0\x01d"[..], b"\0", b"\0\x09d"] {
            assert_eq!(entry_in(&[whole, behind].concat(), bundle, 257), None, "{behind:?}");
        }
        assert_eq!(entry_in(&whole[..7], bundle, 257), None);
    }
}
