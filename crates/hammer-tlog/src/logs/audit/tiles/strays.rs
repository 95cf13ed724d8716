//! Leaves at other indexes than were promised.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::{FULL, TileAudit, broken, place};
use crate::logs::audit::leaf_format::LeafFormat;
use crate::logs::audit::misplacement::elsewhere;
use crate::logs::audit::receipt::Receipt;
use crate::logs::audit::spill::Spill;
use crate::logs::audit::tile_leaves::{Bits, TileLeaves};
use crate::logs::audit::verdict::Kind;
use crate::logs::tile::{Level, TileId};

/// Leaves that may stand at another index than the one that was promised, as their times tell: an entry has the time of its promise
/// wherever it is.
#[derive(Debug, Default)]
pub(super) struct Strays {
    /// Time and index of entries that were read, and that no receipt has found to be its own.
    unclaimed: BTreeSet<(u64, u64)>,
    /// Receipts that came after an entry of their time was read, until two more heads have told whether their leaf is where it was
    /// promised.
    doubts: [Vec<Doubt>; 2],
    /// Receipts for which a bundle is read once more, by its tile.
    suspects: BTreeMap<u64, Vec<Suspect>>,
}

/// A receipt in memory that an entry in that tile may be of.
#[derive(Debug, Clone, Copy)]
struct Doubt {
    tile: u64,
    index: u64,
    seq: u64,
}

#[derive(Debug)]
enum Suspect {
    /// One whose index is not read yet.
    Held(Doubt),
    Misplaced(Box<Misplaced>),
}

/// A receipt at whose index the tree has another leaf: what it is, unless the promised one is in this tile or one of those.
#[derive(Debug)]
struct Misplaced {
    receipt: Receipt,
    otherwise: Kind,
    tiles: Vec<u64>,
}

impl Strays {
    /// The tiles whose bundles are read once more.
    pub(super) fn tiles(&self) -> impl Iterator<Item = u64> {
        self.suspects.keys().copied()
    }

    pub(super) fn is_wanted(&self, tile: u64) -> bool {
        self.suspects.contains_key(&tile)
    }

    /// Receipts that nobody else holds.
    pub(super) fn receipts(&self) -> impl Iterator<Item = &Receipt> {
        self.suspects.values().flatten().filter_map(|suspect| match suspect {
            Suspect::Held(_) => None,
            Suspect::Misplaced(misplaced) => Some(&misplaced.receipt),
        })
    }

    /// The entry of that index is what this receipt promised.
    pub(super) fn claim(&mut self, receipt: &Receipt, index: u64) {
        self.unclaimed.remove(&(receipt.promised_ms, index));
    }

    /// The tiles with an entry of the receipt's time, but for that of its index.
    fn tiles_of(&self, receipt: &Receipt) -> Vec<u64> {
        let (own, time) = (receipt.index().unwrap_or_default() / FULL, receipt.promised_ms);
        let same_time = self.unclaimed.range((time, 0)..=(time, u64::MAX)).take(MOST_SEEN);
        let mut tiles: Vec<u64> =
            same_time.map(|(_, index)| index / FULL).filter(|tile| *tile != own).collect();
        tiles.dedup();
        tiles
    }
}

impl<F: LeafFormat, S: Spill> TileAudit<F, S> {
    /// Breaks the promises whose leaves are among the entries of a bundle that were just read, at these places of its tile, and were
    /// promised at other indices; `receipts` are those that promised these.
    pub(super) fn find_strays(
        &mut self,
        tile: TileId,
        read: Range<usize>,
        receipts: &[Receipt],
        bytes: &[u8],
    ) {
        let Some(leaves) = self.tiles.get(&tile.index).filter(|_| F::HAS_TIMES) else { return };
        let unclaimed = unclaimed(leaves, &read, receipts);
        if unclaimed.is_empty() {
            return;
        }
        let mut unclaimed = unclaimed.into_iter().peekable();
        let entries = F::entries(bytes).map_while(Result::ok).enumerate();
        for (position, entry) in entries {
            let Some(next) = unclaimed.peek() else { break };
            if position != *next {
                continue;
            }
            unclaimed.next();
            let (Some(time), index) = (F::time(&entry), tile.first() + position as u64) else { continue };
            let is_elsewhere = |receipt: &&Receipt| receipt.index() != Some(index) && self.is_astray(receipt);
            // Those beyond the tree first: whose index the tree has is judged by its own bundle as well.
            let same_time = self.receipts.of_time(time).rev().take(MOST_COMPARED);
            let candidates = same_time.filter(is_elsewhere);
            let astray = candidates.copied().find(|receipt| F::is_promised(&entry, receipt));
            match astray {
                Some(receipt) => self.is_astray_at(receipt, index),
                None => self.keep_unclaimed(time, index),
            }
        }
    }

    fn keep_unclaimed(&mut self, time: u64, index: u64) {
        self.strays.unclaimed.insert((time, index));
        if self.strays.unclaimed.len() > self.bounds.window {
            self.strays.unclaimed.pop_first();
        }
    }

    /// Takes a receipt that has to wait for the bundle of its index: whether its leaf was read elsewhere.
    pub(super) fn doubt(&mut self, receipt: &Receipt) {
        let doubts = self.strays.doubts.iter().map(Vec::len).sum::<usize>();
        if self.strays.unclaimed.is_empty() || receipt.is_duplicate() || doubts >= MOST_DOUBTS {
            return;
        }
        let Some(index) = receipt.index() else { return };
        let doubt = |tile| Doubt { tile, index, seq: receipt.seq };
        let tiles = self.strays.tiles_of(receipt);
        self.strays.doubts[0].extend(tiles.into_iter().take(MOST_COMPARED).map(doubt));
    }

    /// Takes that a head was served: what was doubted before the last one, and is not yet where it was promised, is looked for.
    pub(super) fn ripen(&mut self) {
        let [young, old] = &mut self.strays.doubts;
        let ripe = std::mem::replace(old, std::mem::take(young));
        for doubt in ripe {
            let held = self.receipts.held_at(doubt.index, doubt.seq);
            if held.is_some_and(|receipt| self.is_astray(receipt)) && self.tiles.contains_key(&doubt.tile) {
                self.strays.suspects.entry(doubt.tile).or_default().push(Suspect::Held(doubt));
            }
        }
    }

    /// Breaks a promise at whose index the tree has another leaf, once the bundles with entries of its time were read again.
    pub(super) fn misplaced_or(&mut self, receipt: Receipt, otherwise: Kind) {
        let mut tiles = self.strays.tiles_of(&receipt);
        tiles.retain(|tile| self.tiles.contains_key(tile));
        tiles.truncate(MOST_COMPARED);
        self.suspect_next(receipt, otherwise, tiles);
    }

    fn suspect_next(&mut self, receipt: Receipt, otherwise: Kind, mut tiles: Vec<u64>) {
        match tiles.pop() {
            Some(tile) => {
                let suspect = Suspect::Misplaced(Box::new(Misplaced { receipt, otherwise, tiles }));
                self.strays.suspects.entry(tile).or_default().push(suspect);
            }
            None => self.verdicts.push(broken(receipt, otherwise)),
        }
    }

    /// Judges those that the bundle of a tile was read for once more; it is empty where it is not served.
    pub(super) fn judge_suspects(&mut self, tile: u64, bytes: &[u8]) {
        for suspect in self.strays.suspects.remove(&tile).unwrap_or_default() {
            let (receipt, is_held) = match &suspect {
                Suspect::Held(doubt) => (self.receipts.held_at(doubt.index, doubt.seq).copied(), true),
                Suspect::Misplaced(misplaced) => (Some(misplaced.receipt), false),
            };
            let astray = receipt.filter(|receipt| !is_held || self.is_astray(receipt));
            let holds = astray.and_then(|receipt| Some((receipt, self.stands_at(tile, &receipt, bytes)?)));
            match (holds, suspect) {
                (Some((receipt, index)), _) => self.is_astray_at(receipt, index),
                (None, Suspect::Misplaced(misplaced)) => {
                    let Misplaced { receipt, otherwise, tiles } = *misplaced;
                    self.suspect_next(receipt, otherwise, tiles);
                }
                (None, Suspect::Held(_)) => {}
            }
        }
    }

    /// The index at which this tile of the tree has the leaf of the receipt.
    fn stands_at(&self, tile: u64, receipt: &Receipt, bytes: &[u8]) -> Option<u64> {
        let leaves = self.tiles.get(&tile)?;
        let index = elsewhere::<F>(receipt, bytes, TileId::new(Level::Hashes(0), tile).first())?;
        let (_, position) = place(index);
        ((leaves.skip..leaves.width()).contains(&position) && !leaves.altered.get(position)).then_some(index)
    }

    fn is_astray_at(&mut self, receipt: Receipt, holds: u64) {
        self.receipts.take_at(receipt.index().unwrap_or_default(), receipt.seq);
        self.strays.claim(&receipt, holds);
        self.verdicts.push(broken(receipt, Kind::WrongIndex { holds }));
    }

    /// Whether the tree does not have the receipt's leaf where it was promised, as far as is known. Of one that repeats another nothing is
    /// known before the tree has its index: a log may take a chain twice.
    fn is_astray(&self, receipt: &Receipt) -> bool {
        let Some(index) = receipt.index() else { return false };
        if index >= self.covered {
            return !receipt.is_duplicate();
        }
        let (tile, position) = place(index);
        let found = self.tiles.get(&tile).and_then(|leaves| leaves.hash(position));
        found.is_some_and(|found| found != receipt.leaf)
    }
}

/// The places of leaves that are in the tree as their bundle has them, and that no receipt has found to be its own.
fn unclaimed(leaves: &TileLeaves, read: &Range<usize>, receipts: &[Receipt]) -> Vec<usize> {
    let mut own = Bits::default();
    for receipt in receipts {
        let (_, position) = place(receipt.index().unwrap_or_default());
        if leaves.hash(position) == Some(receipt.leaf) {
            own.set(position);
        }
    }
    let is_own =
        |position: usize| own.get(position) || leaves.is_claimed(position) || leaves.altered.get(position);
    read.clone().filter(|position| !is_own(*position)).collect()
}

/// Entries of one time that are looked at for one receipt: a millisecond has no more, unless a log has one time for all.
const MOST_SEEN: usize = 256;
/// Receipts of one time that an entry is held against, and bundles that are read again for one receipt.
const MOST_COMPARED: usize = 64;
const MOST_DOUBTS: usize = 4096;
