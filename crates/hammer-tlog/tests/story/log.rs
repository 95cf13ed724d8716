//! A log in memory, as the stories have it.

use std::collections::BTreeMap;

use hammer_tlog::ct::bundle::Entry;
use hammer_tlog::ct::rfc6962::{MerkleTreeLeaf, SignedEntryRef, leaf_index_extension};
use hammer_tlog::logs::audit::Receipt;
use hammer_tlog::logs::follow::Head;
use hammer_tlog::logs::merkle::{Hash, Tree, consistency_proof, root_at};
use hammer_tlog::logs::tile::{Level, TileId, encode_hashes};

/// The log's clock at its start, in milliseconds since 1970.
pub(crate) const EPOCH_MS: u64 = 1_800_000_000_000;

/// A log in memory. It serves what it has, or what a lie put in its place.
#[derive(Default)]
pub(crate) struct Log {
    pub(crate) tree: Tree,
    pub(crate) entries: Vec<Vec<u8>>,
    pub(crate) leaf_inputs: Vec<Vec<u8>>,
    /// Milliseconds since `EPOCH_MS`.
    pub(crate) now_ms: u64,
    /// A bit that is flipped whenever this tile is served, partial or full.
    pub(crate) flipped: Option<(Level, u64, usize)>,
    /// Tiles in the place of the tree's.
    pub(crate) forged: BTreeMap<(Level, u64), Vec<u8>>,
    /// Whether partial tiles vanish as soon as the full one is there.
    pub(crate) collects: bool,
    /// The chain of every entry.
    pub(crate) fingerprints: Vec<[u8; 32]>,
    /// Entries that one get-entries gives at most.
    pub(crate) batch: usize,
}

/// What a receipt gives the log to publish its leaf.
pub(crate) const MMD_MS: u64 = 60_000;

pub(crate) fn certificate(seq: u64, length: usize) -> Vec<u8> {
    seq.to_be_bytes().iter().copied().cycle().take(length).collect()
}

/// The same promise, to another submission.
pub(crate) fn numbered(mut receipt: Receipt, seq: u64) -> Receipt {
    receipt.seq = seq;
    receipt
}

impl Log {
    /// A log of this many leaves that nobody asked for.
    pub(crate) fn of(size: u64) -> Self {
        let mut log = Self { batch: 100, ..Self::default() };
        log.grow(1_000_000..1_000_000 + size);
        log
    }

    pub(crate) fn grow(&mut self, seqs: std::ops::Range<u64>) {
        for seq in seqs {
            self.submit(seq);
        }
    }

    /// Takes a submission and integrates it at once.
    pub(crate) fn submit(&mut self, seq: u64) -> Receipt {
        self.submit_as(seq, self.tree.size())
    }

    /// The same, with this index in the leaf's extensions.
    pub(crate) fn submit_as(&mut self, seq: u64, index: u64) -> Receipt {
        let certificate = certificate(seq, 24);
        let (receipt, leaf) = self.promise(seq, index, &certificate);
        self.integrate(leaf, &certificate, index);
        receipt
    }

    /// Signs an SCT without integrating the leaf.
    pub(crate) fn promise(&self, seq: u64, index: u64, certificate: &[u8]) -> (Receipt, Hash) {
        let extensions = leaf_index_extension(index).unwrap();
        let timestamp_ms = EPOCH_MS + self.now_ms;
        let entry = SignedEntryRef::X509 { certificate };
        let leaf = MerkleTreeLeaf { timestamp_ms, entry, extensions: &extensions }.leaf_hash().unwrap();
        (Receipt::new(seq, leaf, Some(index), self.now_ms * 1_000_000, timestamp_ms).within(MMD_MS), leaf)
    }

    pub(crate) fn integrate(&mut self, leaf: Hash, certificate: &[u8], index: u64) {
        let extensions = leaf_index_extension(index).unwrap();
        let timestamp_ms = EPOCH_MS + self.now_ms;
        let signed = SignedEntryRef::X509 { certificate };
        let mut bytes = Vec::new();
        let (extensions, pre_certificate, fingerprints) = (&extensions[..], None, &self.fingerprints[..]);
        Entry { timestamp_ms, signed, extensions, pre_certificate, fingerprints }.encode(&mut bytes).unwrap();
        self.entries.push(bytes);
        let input = MerkleTreeLeaf { timestamp_ms, entry: signed, extensions };
        self.leaf_inputs.push(input.encode().unwrap());
        self.tree.append(leaf);
    }

    /// Integrates what was promised at the start, and has that be a millisecond after the merge delay.
    pub(crate) fn integrate_too_late(&mut self, leaf: Hash, certificate: &[u8], index: u64) {
        self.now_ms = 0;
        self.integrate(leaf, certificate, index);
        self.now_ms = MMD_MS + 1;
    }

    pub(crate) fn head(&self) -> Head {
        self.head_at(self.tree.size())
    }

    pub(crate) fn head_at(&self, size: u64) -> Head {
        let root = root_at(&self.tree, size).unwrap();
        let timestamp_ms = EPOCH_MS + self.now_ms;
        let raw = format!("{size} {root}").into_bytes().into();
        let now_ns = self.now_ms * 1_000_000;
        Head { size, root, timestamp_ms, fetched_ns: now_ns, asked_ns: now_ns, raw }
    }

    /// The tile as it is on the log's disk.
    pub(crate) fn honest(&self, tile: TileId) -> Option<Vec<u8>> {
        let (begin, end) = (tile.first() as usize, tile.first() as usize + usize::from(tile.width));
        match tile.level {
            Level::Hashes(level) => Some(encode_hashes(self.tree.level(level * 8).get(begin..end)?)),
            _ => Some(self.entries.get(begin..end)?.concat()),
        }
    }

    pub(crate) fn serve(&self, tile: TileId) -> Option<Vec<u8>> {
        if self.collects && !tile.is_full() && self.honest(tile.full()).is_some() {
            return None;
        }
        let mut bytes = self.honest(tile)?;
        if let Some(forged) = self.forged.get(&(tile.level, tile.index)) {
            let length = bytes.len().min(forged.len());
            bytes[..length].copy_from_slice(&forged[..length]);
        }
        if let Some((level, index, bit)) = self.flipped
            && (level, index) == (tile.level, tile.index)
            && let Some(byte) = bytes.get_mut(bit / 8)
        {
            *byte ^= 1 << (bit % 8);
        }
        Some(bytes)
    }

    pub(crate) fn consistency(&self, first: u64, second: u64) -> Vec<Hash> {
        consistency_proof(&self.tree, first, second).unwrap()
    }

    /// At most a batch of the entries asked for.
    pub(crate) fn get_entries(&self, start: u64, end: u64) -> &[Vec<u8>] {
        let end = (end as usize + 1).min(start as usize + self.batch).min(self.leaf_inputs.len());
        &self.leaf_inputs[start as usize..end]
    }
}
