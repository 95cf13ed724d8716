//! Where entries and issuers are kept; the tree's hashes are in memory in any case.

mod folder;
mod memory;

use bytes::Bytes;
use hammer_tlog::{
    logs::merkle::{Hash, Tree},
    logs::tile::TileId,
};

use crate::{ct::chain::Authority, error::LabError};

pub(crate) use folder::{Folder, hash_tile};
pub(crate) use memory::Memory;

/// The log's storage.
#[derive(Debug)]
pub(crate) enum Store {
    Memory(Memory),
    Folder(Folder),
}

impl Store {
    /// Appends TileLeaf structs; `tree` holds them already, from `first_index` on.
    pub(crate) fn append(&self, tree: &Tree, first_index: u64, leaves: &[Vec<u8>]) -> Result<(), LabError> {
        match self {
            Self::Memory(memory) => {
                memory.append(leaves);
                Ok(())
            }
            Self::Folder(folder) => folder.append(tree, first_index, leaves),
        }
    }

    /// Forgets what comes before `entry`, where everything is in memory.
    pub(crate) fn forget_before(&self, entry: u64) {
        match self {
            Self::Memory(memory) => memory.forget_before(entry),
            Self::Folder(_) => {}
        }
    }

    /// The first `tile.width` entries of a bundle, if they are there; a partial one is not once the bundle is full.
    pub(crate) fn bundle(&self, tile: &TileId) -> Option<Bytes> {
        match self {
            Self::Memory(memory) => memory.bundle(tile),
            Self::Folder(folder) => folder.bundle(tile),
        }
    }

    /// Keeps a certificate that entries point to.
    pub(crate) fn keep_issuer(&self, authority: &Authority) -> Result<(), LabError> {
        match self {
            Self::Memory(memory) => {
                memory.keep_issuer(authority);
                Ok(())
            }
            Self::Folder(folder) => folder.keep_issuer(authority),
        }
    }

    /// The DER of a certificate by its SHA-256.
    pub(crate) fn issuer(&self, fingerprint: &Hash) -> Option<Bytes> {
        match self {
            Self::Memory(memory) => memory.issuer(fingerprint),
            Self::Folder(folder) => folder.issuer(fingerprint),
        }
    }

    /// Makes a checkpoint what is served, where serving is by files.
    pub(crate) fn publish(&self, note: &[u8]) -> Result<(), LabError> {
        match self {
            Self::Memory(_) => Ok(()),
            Self::Folder(folder) => folder.publish(note),
        }
    }

    /// Whether appending waits for a disk.
    pub(crate) fn blocks(&self) -> bool {
        matches!(self, Self::Folder(_))
    }
}
