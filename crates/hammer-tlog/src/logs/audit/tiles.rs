//! The audit by tiles.

mod comparison;
mod strays;

use std::collections::{BTreeMap, BTreeSet};
use std::marker::PhantomData;

use super::bounds::AuditBounds;
use super::earlier_heads::EarlierHeads;
use super::leaf_format::LeafFormat;
use super::lookup::{Found, Lookup};
use super::misplacement::{misplaced, rival};
use super::publications::Publications;
use super::receipt::Receipt;
use super::receipt_clock::ReceiptClock;
use super::receipts::Receipts;
use super::spill::Spill;
use super::tile_leaves::TileLeaves;
use super::verdict::{Breach, Finding, Kept, Kind, Published, Verdict};
use crate::hash::Hash;
use crate::logs::follow::{Event, Head, TileFault};
use crate::logs::merkle::EMPTY_ROOT;
use crate::logs::tile::{FULL_WIDTH, Level, TileId};

use comparison::{compare, note_references};
use strays::Strays;

const FULL: u64 = FULL_WIDTH as u64;

/// The audit of a log with tiles, whose entries are in the format `F`. It is fed what a [`Follower`](crate::logs::follow::Follower) by
/// [`ProofMethod::Leaves`](crate::logs::follow::ProofMethod::Leaves) tells, receipts, and bundles; each entry of a bundle is held
/// against the leaf hash that the follower verified up to the root, and against the receipt that promised its index.
///
/// What a leaf does not commit to is not judged here: of static-ct-api an entry's `pre_certificate`, and its `certificate_chain`,
/// whose fingerprints [`TileAudit::references`] gives.
#[derive(Debug)]
pub struct TileAudit<F, S> {
    format: PhantomData<F>,
    bounds: AuditBounds,
    /// Leaves of the trusted tree.
    covered: u64,
    /// The heads that were followed.
    followed: EarlierHeads,
    tiles: BTreeMap<u64, TileLeaves>,
    /// Tiles with leaves that have not been read from their bundle.
    open: BTreeSet<u64>,
    publications: Publications,
    clock: Option<ReceiptClock>,
    /// Leaves of the first head, which were there before the audit.
    before: u64,
    receipts: Receipts<S>,
    /// Receipts at leaves that were read before they came, and are not theirs; by tile.
    disputed: BTreeMap<u64, Vec<Receipt>>,
    /// Receipts at leaves before the audit, or that it no longer remembers; by tile.
    older: BTreeMap<u64, Vec<Receipt>>,
    /// Receipts to be looked up again at the next head, since a tile was missing.
    later: BTreeMap<u64, Vec<Receipt>>,
    /// Tiles whose look-up was told to miss one.
    absent: BTreeSet<u64>,
    /// Leaves whose hash in their tile is another, and that hash.
    tampered: BTreeMap<u64, Hash>,
    lookup: Option<Lookup<F>>,
    strays: Strays,
    /// Receipts that rest on tiles which do not lead to the root.
    unproved: u64,
    root: Hash,
    references: BTreeSet<Hash>,
    fresh_references: Vec<Hash>,
    verdicts: Vec<Verdict>,
    findings: Vec<Finding>,
}

impl<F: LeafFormat, S: Spill> TileAudit<F, S> {
    /// An audit of a log from its first leaf on, unless its follower trusts a first head: then from that head on.
    pub fn new(bounds: AuditBounds, spill: S) -> Self {
        let (tiles, open, disputed, older, verdicts, findings) = Default::default();
        Self {
            format: PhantomData,
            bounds,
            covered: 0,
            followed: EarlierHeads::default(),
            tiles,
            open,
            publications: Publications::new(0),
            clock: None,
            before: 0,
            receipts: Receipts::new(bounds.receipts, F::HAS_TIMES, spill),
            disputed,
            older,
            later: BTreeMap::new(),
            absent: BTreeSet::new(),
            tampered: BTreeMap::new(),
            lookup: None,
            strays: Strays::default(),
            unproved: 0,
            root: EMPTY_ROOT,
            references: BTreeSet::new(),
            fresh_references: Vec::new(),
            verdicts,
            findings,
        }
    }

    /// The same by our clock beside the log's.
    #[must_use]
    pub fn by_clock(mut self, clock: ReceiptClock) -> Self {
        self.receipts.by_clock(clock);
        Self { clock: Some(clock), ..self }
    }

    /// Takes what the follower tells; only heads that it trusts, and leaves in tampered tiles, matter here.
    pub fn follow(&mut self, event: &Event) {
        self.again();
        match event {
            Event::First { head } if self.covered == 0 => {
                (self.covered, self.root) = (head.size, head.root);
                self.followed.met(head, self.clock.as_ref());
                self.publications = Publications::new(head.size);
                // What was promised before the first head was seen may well be in its tree.
                self.before = head.size;
                self.look_up();
            }
            Event::Same { head } => {
                self.followed.met(head, self.clock.as_ref());
                self.ripen();
            }
            Event::Grew { from, to, leaves } if from.size == self.covered => {
                self.grow(to, leaves);
                self.ripen();
            }
            Event::TamperedTile { tile, fault: TileFault::Hash { position, got, .. }, .. }
                if tile.level == Level::Hashes(0) =>
            {
                self.tampered.insert(tile.first() + u64::from(*position), *got);
            }
            _ => {}
        }
    }

    /// Takes the receipt of an accepted submission.
    pub fn accept(&mut self, receipt: Receipt) {
        let Some(index) = receipt.index() else {
            return self.verdicts.push(broken(receipt, Kind::NoIndex));
        };
        let (tile, position) = place(index);
        match self.tiles.get(&tile) {
            _ if index >= self.covered => self.wait(index, receipt),
            Some(leaves) if position >= leaves.audited => self.wait(index, receipt),
            Some(leaves) if position >= leaves.skip => {
                // What stands in the place of an altered leaf is read once more, to be named.
                if leaves.hash(position) == Some(receipt.leaf) && !leaves.altered.get(position) {
                    self.strays.claim(&receipt, index);
                    return self.judge(tile, &[receipt], &[]);
                }
                self.disputed.entry(tile).or_default().push(receipt);
            }
            _ => {
                self.older.entry(tile).or_default().push(receipt);
                self.look_up();
            }
        }
    }

    fn wait(&mut self, index: u64, receipt: Receipt) {
        self.doubt(&receipt);
        self.receipts.push(index, receipt);
    }

    /// The tiles to be fetched, in order, at most `limit`: bundles, and hash tiles for receipts of leaves that the audit
    /// does not remember, or that were there before it. Partial ones only where asked for, as they are fetched
    /// again when they have grown. Says the same until it is fed.
    pub fn needs(&self, limit: usize, partial: bool) -> Vec<TileId> {
        let again = |index: &u64| self.disputed.contains_key(index) || self.strays.is_wanted(*index);
        let wanted = |index: &u64| {
            if again(index) {
                return None;
            }
            let leaves = self.tiles.get(index)?;
            (partial || leaves.is_full()).then(|| leaves.bundle(F::LEVEL, *index))?
        };
        let suspected = self.strays.tiles().filter(|index| !self.disputed.contains_key(index));
        let again = self.disputed.keys().copied().chain(suspected);
        let again = again.filter_map(|index| self.tiles.get(&index)?.bundle(F::LEVEL, index));
        let looked_up = self.lookup.iter().flat_map(Lookup::wanted);
        looked_up.chain(again).chain(self.open.iter().filter_map(wanted)).take(limit).collect()
    }

    /// Takes the bytes (not compressed) of a tile: those of `tile` as it was asked for, or of the full one in its place.
    /// Tiles that are not needed are passed over.
    pub fn tile(&mut self, tile: TileId, bytes: &[u8]) {
        if let Some(lookup) = &mut self.lookup {
            if !lookup.tile(tile, bytes) {
                self.findings.push(Finding::TamperedTile { tile, receipts: 0 });
            }
            self.found();
        }
        self.bundle(tile, bytes);
    }

    fn bundle(&mut self, tile: TileId, bytes: &[u8]) {
        if tile.level != F::LEVEL {
            return;
        }
        let Some(leaves) = self.tiles.get_mut(&tile.index) else { return };
        let width = leaves.width().min(tile.width.into());
        let disputed = self.disputed.remove(&tile.index);
        if width <= leaves.audited && disputed.is_none() && !self.strays.is_wanted(tile.index) {
            return;
        }
        self.findings.extend(compare::<F>(leaves, tile, width, bytes));
        let begin = leaves.audited;
        let known = (&mut self.references, &mut self.fresh_references);
        note_references::<F>(known, F::entries(bytes).take(width).skip(begin));
        leaves.audited = width.max(begin);
        if leaves.audited == leaves.width() {
            self.open.remove(&tile.index);
        }
        let first = tile.first();
        let mut receipts = self.receipts.take(first + begin as u64..first + width.max(begin) as u64);
        receipts.extend(disputed.into_iter().flatten());
        self.judge(tile.index, &receipts, bytes);
        self.find_strays(tile, begin..width.max(begin), &receipts, bytes);
        self.judge_suspects(tile.index, bytes);
        self.forget();
    }

    /// Takes that a tile is not served. In the place of a partial bundle the full one is needed then; where that is not served
    /// either, neither is, until [`TileAudit::ask_again`] or until the tree has more of it.
    pub fn missing(&mut self, tile: TileId) {
        if let Some(own) = self.lookup.as_mut().and_then(|lookup| lookup.missing(tile)) {
            self.not_found(own);
        }
        let leaves = self.tiles.get_mut(&tile.index);
        // Not that of a look-up, which may be narrower.
        let Some(leaves) = leaves.filter(|leaves| leaves.bundle(F::LEVEL, tile.index) == Some(tile)) else {
            return;
        };
        leaves.is_not_served();
        if tile.is_full() {
            self.judge_suspects(tile.index, &[]);
        }
        let Some(leaves) = self.tiles.get_mut(&tile.index) else { return };
        if tile.is_full() && !std::mem::replace(&mut leaves.missing, true) {
            let tile = leaves.own(F::LEVEL, tile.index);
            self.findings.push(Finding::MissingTile { tile });
        }
    }

    /// Has bundles asked for again of which no form was served.
    pub fn ask_again(&mut self) {
        self.tiles.values_mut().for_each(TileLeaves::ask_again);
    }

    /// Breaks the promises of all leaves that no trusted head covers although their deadline, by our clock where there is one, had passed
    /// when the newest one was last fetched, at `observed_ms` since 1970.
    pub fn overdue(&mut self, observed_ms: u64) {
        let late = self.receipts.take_due_before(observed_ms, self.covered);
        self.verdicts
            .extend(late.into_iter().map(|receipt| broken(receipt, Kind::Overdue { published: None })));
    }

    /// Whether [`TileAudit::overdue`] may have any to break.
    pub fn may_be_due(&self, observed_ms: u64) -> bool {
        self.receipts.may_be_due(observed_ms)
    }

    /// What audited entries refer to ([`LeafFormat::references`]) and was met for the first time since the last call, of the
    /// first 4096 in all.
    pub fn references(&mut self) -> Vec<Hash> {
        std::mem::take(&mut self.fresh_references)
    }

    /// What became of promises since the last call.
    pub fn verdicts(&mut self) -> Vec<Verdict> {
        std::mem::take(&mut self.verdicts)
    }

    /// What else was found since the last call.
    pub fn findings(&mut self) -> Vec<Finding> {
        self.findings.append(&mut self.receipts.findings);
        std::mem::take(&mut self.findings)
    }

    /// The receipts in memory that are without a verdict.
    pub fn receipts(&self) -> impl Iterator<Item = &Receipt> {
        let looked_up = self.lookup.iter().flat_map(|lookup| &lookup.receipts);
        let older = self.older.values().chain(self.later.values());
        let waiting = self.disputed.values().chain(older).flatten();
        self.receipts.held().chain(waiting).chain(looked_up).chain(self.strays.receipts())
    }

    /// Receipts without a verdict, in memory and spilled.
    pub fn pending(&self) -> u64 {
        let older = self.older.values().chain(self.later.values());
        let waiting = self.disputed.values().chain(older).map(Vec::len).sum::<usize>();
        let looked_up = self.lookup.as_ref().map_or(0, |lookup| lookup.receipts.len());
        let suspects = self.strays.receipts().count();
        (self.receipts.in_memory() + waiting + looked_up + suspects) as u64
            + self.receipts.spilled()
            + self.unproved
    }

    /// Receipts that have been spilled and not been taken back.
    pub fn spilled(&self) -> u64 {
        self.receipts.spilled()
    }

    /// Leaves of the trusted tree that have not been read from their bundle.
    pub fn behind(&self) -> u64 {
        self.open
            .iter()
            .filter_map(|tile| self.tiles.get(tile))
            .map(|leaves| (leaves.width() - leaves.audited) as u64)
            .sum()
    }

    fn grow(&mut self, head: &Head, leaves: &[Hash]) {
        for (index, leaf) in (self.covered..).zip(leaves) {
            let (tile, position) = place(index);
            self.tiles.entry(tile).or_insert_with(|| TileLeaves::new(position)).push(*leaf);
            self.open.insert(tile);
        }
        self.covered += leaves.len() as u64;
        self.root = head.root;
        let Head { size, fetched_ns, timestamp_ms, .. } = *head;
        let earlier = self.followed;
        self.followed.met(head, self.clock.as_ref());
        self.publications.push(Published { size, fetched_ns, earlier, timestamp_ms });
    }

    /// Starts to look up the receipts of the next older tile, unless some are being looked up.
    fn look_up(&mut self) {
        if self.lookup.is_some() {
            return;
        }
        let older = self.older.pop_first().or_else(|| self.receipts.take_first_below(self.before));
        if let Some((tile, receipts)) = older {
            self.lookup = Some(Lookup::new(tile, self.covered, self.root, receipts));
        }
    }

    /// Looks up again what could not be.
    fn again(&mut self) {
        if self.later.is_empty() {
            return;
        }
        for (tile, receipts) in std::mem::take(&mut self.later) {
            self.older.entry(tile).or_default().extend(receipts);
        }
        self.look_up();
    }

    /// Leaves the receipts that are being looked up to the next head, since the tile is not served.
    fn not_found(&mut self, tile: TileId) {
        let Some(lookup) = self.lookup.take() else { return };
        if self.absent.insert(lookup.index) {
            self.findings.push(Finding::MissingTile { tile });
        }
        self.later.entry(lookup.index).or_default().extend(lookup.receipts);
        self.look_up();
    }

    /// Judges the receipts that were looked up, once all tiles are there.
    fn found(&mut self) {
        let Some(lookup) = self.lookup.take_if(|lookup| lookup.is_complete()) else { return };
        let mut unproved = 0;
        for receipt in &lookup.receipts {
            let index = receipt.index().unwrap_or_default();
            self.verdicts.push(match lookup.judge(receipt) {
                Found::Kept => Verdict::Kept(Kept { receipt: *receipt, index, published: None }),
                Found::Altered(found) => broken(*receipt, Kind::AlteredLeaf { found }),
                Found::Other(found) => broken(*receipt, Kind::LostLeaf { found }),
                Found::Unproved => {
                    unproved += 1;
                    continue;
                }
            });
        }
        if unproved > 0 {
            let tile = TileId::hashes(0, lookup.index);
            self.findings.push(Finding::TamperedTile { tile, receipts: unproved });
        }
        self.unproved += unproved;
        self.look_up();
    }

    /// Judges receipts at leaves of one tile that the tree covers and whose bundle, where there are bytes, is this.
    fn judge(&mut self, tile: u64, receipts: &[Receipt], bytes: &[u8]) {
        let Some(leaves) = self.tiles.get_mut(&tile) else { return };
        let mut misplacements = Vec::new();
        for receipt in receipts {
            let index = receipt.index().unwrap_or_default();
            let (_, position) = place(index);
            let Some(found) = leaves.hash(position) else { continue };
            let kind = if found != receipt.leaf {
                let kind = misplaced::<F>(leaves, position, found, receipt, receipts, bytes, tile * FULL);
                misplacements.push((*receipt, kind));
                continue;
            } else if !receipt.is_duplicate() && leaves.claim(position) {
                Some(Kind::PromisedTwice { first: rival(receipt, receipts) })
            } else if leaves.altered.get(position) {
                let entry = F::entries(bytes).nth(position).and_then(Result::ok);
                Some(Kind::AlteredLeaf { found: entry.and_then(|entry| F::leaf_hash(&entry).ok()) })
            } else {
                let beside = leaves.beside(position).and_then(|served| receipt.beside()?.differs(&served));
                let tampered = self.tampered.get(&index).map(|got| Kind::TamperedTile { got: *got });
                tampered.or(beside.map(Kind::AlteredBeside))
            };
            let published = self.publications.covering(index);
            let late = |head: &Published| receipt.is_late(head, self.clock.as_ref());
            self.verdicts.push(match kind {
                Some(kind) => broken(*receipt, kind),
                None if published.as_ref().is_some_and(late) => broken(*receipt, Kind::Overdue { published }),
                None => Verdict::Kept(Kept { receipt: *receipt, index, published }),
            });
        }
        for (receipt, kind) in misplacements {
            match kind {
                Kind::WrongIndex { .. } => self.verdicts.push(broken(receipt, kind)),
                kind => self.misplaced_or(receipt, kind),
            }
        }
    }

    /// Forgets the oldest leaves that have been read, beyond the window.
    fn forget(&mut self) {
        let window = self.bounds.window.div_ceil(FULL_WIDTH.into());
        while self.tiles.len() - self.open.len() > window {
            let Some(oldest) = self.tiles.first_entry() else { return };
            let index = *oldest.key();
            if self.open.contains(&index)
                || self.disputed.contains_key(&index)
                || self.strays.is_wanted(index)
            {
                return;
            }
            oldest.remove();
            self.publications.forget((index + 1) * FULL);
        }
    }
}

/// The tile of a leaf, and its place in it.
fn place(index: u64) -> (u64, usize) {
    (index / FULL, (index % FULL) as usize)
}

fn broken(receipt: Receipt, kind: Kind) -> Verdict {
    Verdict::Broken(Breach { receipt, kind })
}
