//! Bundles and issuers in memory.

use std::{
    collections::{HashMap, VecDeque},
    sync::{PoisonError, RwLock},
};

use bytes::Bytes;
use hammer_tlog::{
    logs::merkle::Hash,
    logs::tile::{FULL_WIDTH, TileId},
};

use crate::ct::chain::Authority;

/// A log that is gone when its process ends.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    bundles: RwLock<Bundles>,
    issuers: RwLock<HashMap<Hash, Bytes>>,
}

#[derive(Debug, Default)]
struct Bundles {
    full: VecDeque<Bytes>,
    /// Full bundles before them, that are no longer kept.
    forgotten: usize,
    last: Vec<u8>,
    /// End of each entry in `last`.
    ends: Vec<usize>,
}

impl Memory {
    pub(super) fn append(&self, leaves: &[Vec<u8>]) {
        let mut bundles = self.bundles.write().unwrap_or_else(PoisonError::into_inner);
        leaves.iter().for_each(|leaf| bundles.push(leaf));
    }

    /// Forgets the full bundles of entries that all come before `entry`.
    pub(super) fn forget_before(&self, entry: u64) {
        let mut bundles = self.bundles.write().unwrap_or_else(PoisonError::into_inner);
        let keep_from = usize::try_from(entry / u64::from(FULL_WIDTH)).unwrap_or(usize::MAX);
        let gone = keep_from.saturating_sub(bundles.forgotten).min(bundles.full.len());
        bundles.full.drain(..gone);
        bundles.forgotten += gone;
    }

    pub(super) fn bundle(&self, tile: &TileId) -> Option<Bytes> {
        let bundles = self.bundles.read().unwrap_or_else(PoisonError::into_inner);
        let index = usize::try_from(tile.index).ok()?;
        let index = index.checked_sub(bundles.forgotten)?;
        if let Some(bundle) = bundles.full.get(index) {
            return tile.is_full().then(|| bundle.clone());
        }
        let end = *bundles.ends.get(usize::from(tile.width).checked_sub(1)?)?;
        (index == bundles.full.len()).then(|| Bytes::copy_from_slice(&bundles.last[..end]))
    }

    pub(super) fn keep_issuer(&self, authority: &Authority) {
        let known = self.issuer(&authority.fingerprint).is_some();
        if !known {
            let mut issuers = self.issuers.write().unwrap_or_else(PoisonError::into_inner);
            issuers.insert(authority.fingerprint, Bytes::copy_from_slice(&authority.der));
        }
    }

    pub(super) fn issuer(&self, fingerprint: &Hash) -> Option<Bytes> {
        self.issuers.read().unwrap_or_else(PoisonError::into_inner).get(fingerprint).cloned()
    }
}

impl Bundles {
    fn push(&mut self, leaf: &[u8]) {
        self.last.extend_from_slice(leaf);
        self.ends.push(self.last.len());
        if self.ends.len() == usize::from(FULL_WIDTH) {
            self.ends.clear();
            self.full.push_back(Bytes::copy_from_slice(&self.last));
            self.last.clear();
        }
    }
}
