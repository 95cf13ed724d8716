//! Leaves of a tile, as an audit knows them.

use super::beside::Beside;
use crate::hash::Hash;
use crate::logs::tile::{FULL_WIDTH, Level, TileId};

/// The leaves of a tile that the followed tree covers, and what the audit knows of them.
#[derive(Debug, Default)]
pub(super) struct TileLeaves {
    /// Leaves of the tile that were there before the audit started; their hashes are not known.
    pub(super) skip: usize,
    /// From `skip` on.
    hashes: Vec<Hash>,
    /// What stood beside them in the bundle, of those that have been read; empty where the format has nothing there.
    beside: Vec<Option<Beside>>,
    /// Leaves below this place have been read from their bundle.
    pub(super) audited: usize,
    form: BundleForm,
    /// Whether it was told that no bundle is served.
    pub(super) missing: bool,
    /// Whether it was told that a bundle does not end with its last entry.
    pub(super) overlong: bool,
    /// Leaves that a receipt, other than a duplicate's, has found to be its own.
    claimed: Bits,
    /// Leaves whose entry in the bundle is another.
    pub(super) altered: Bits,
}

impl TileLeaves {
    pub(super) fn new(skip: usize) -> Self {
        Self { skip, audited: skip, ..Self::default() }
    }

    pub(super) fn push(&mut self, leaf: Hash) {
        self.hashes.push(leaf);
        // The bundle of that width was never asked for.
        self.ask_again();
    }

    /// Leaves that the tree has in the tile.
    pub(super) fn width(&self) -> usize {
        self.skip + self.hashes.len()
    }

    /// The leaf at this place of the tile.
    pub(super) fn hash(&self, position: usize) -> Option<Hash> {
        self.hashes.get(position.checked_sub(self.skip)?).copied()
    }

    /// Takes what stood beside the leaf at this place.
    pub(super) fn has_beside(&mut self, position: usize, beside: Beside) {
        let Some(place) = position.checked_sub(self.skip) else { return };
        if self.beside.len() <= place {
            self.beside.resize(place + 1, None);
        }
        self.beside[place] = Some(beside);
    }

    /// What stood beside the leaf at this place, where it was read.
    pub(super) fn beside(&self, position: usize) -> Option<Beside> {
        self.beside.get(position.checked_sub(self.skip)?).copied().flatten()
    }

    pub(super) fn is_full(&self) -> bool {
        self.width() == usize::from(FULL_WIDTH)
    }

    /// The bundle as the tree has it.
    pub(super) fn own(&self, level: Level, index: u64) -> TileId {
        TileId { level, index, width: self.width() as u16 }
    }

    /// The bundle to be asked for; none where each form of it was, and none is served.
    pub(super) fn bundle(&self, level: Level, index: u64) -> Option<TileId> {
        match self.form {
            BundleForm::Own => Some(self.own(level, index)),
            BundleForm::Full => Some(TileId::new(level, index)),
            BundleForm::Neither => None,
        }
    }

    /// Takes that the bundle to be asked for is not served.
    pub(super) fn is_not_served(&mut self) {
        self.form = match self.form {
            BundleForm::Own if !self.is_full() => BundleForm::Full,
            _ => BundleForm::Neither,
        };
    }

    /// Has the bundle asked for in each form again.
    pub(super) fn ask_again(&mut self) {
        self.form = BundleForm::Own;
    }

    /// Notes that the leaf is a receipt's own; says whether it was another's before.
    pub(super) fn claim(&mut self, position: usize) -> bool {
        !self.claimed.set(position)
    }

    pub(super) fn is_claimed(&self, position: usize) -> bool {
        self.claimed.get(position)
    }
}

/// The form of a bundle that is asked for next.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum BundleForm {
    /// As wide as the tree has it.
    #[default]
    Own,
    /// The full one, since the partial one is not served.
    Full,
    /// Neither of them is served.
    Neither,
}

/// One bit for each place of a tile.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Bits([u64; 4]);

impl Bits {
    pub(super) fn get(&self, at: usize) -> bool {
        self.0[at / 64] >> (at % 64) & 1 == 1
    }

    /// Says whether the bit was not yet set.
    pub(super) fn set(&mut self, at: usize) -> bool {
        let was = self.get(at);
        self.0[at / 64] |= 1 << (at % 64);
        !was
    }
}
