//! The toy log's server: it writes a folder, as a server of tiles does, and lies where it is told to.

use std::fs;
use std::path::{Path, PathBuf};

use hammer_tlog::encoding::base64;
use hammer_tlog::hash::Hash;
use hammer_tlog::logs::audit::LeafFormat;
use hammer_tlog::logs::merkle::Tree;
use hammer_tlog::logs::note::{NoteSignature, Verifier, format};
use hammer_tlog::logs::tile::{Level, TileId, encode_hashes, tiles_for};
use ring::signature::{Ed25519KeyPair, KeyPair as _};

use crate::protocol::{ORIGIN, ToyLeaves};

/// What the log does against its word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ToyLie {
    /// It has another leaf in the place of the tenth.
    Lost,
    /// It has the tenth in the place of the eleventh, and the other way around.
    Swapped,
    /// It serves another entry in the place of the tenth.
    Altered,
    /// It takes no leaf in from the tenth on.
    Withheld,
    /// The same, and it is gone once the load is over.
    Gone,
    /// It serves no entries, takes none in from the twentieth on, and once it was seen, changes its first leaf.
    Bundleless,
    /// Once it was seen, it changes its first leaf.
    Forks,
    /// Once it was seen, it loses all but its first leaf.
    Shrinks,
}

/// What the log promised.
pub(crate) struct Pledge {
    pub(crate) index: u64,
    pub(crate) leaf: Hash,
}

pub(crate) struct ToyServer {
    folder: PathBuf,
    key: Ed25519KeyPair,
    lie: Option<ToyLie>,
    /// Whether somebody has seen its tree.
    pub(crate) was_seen: bool,
    promised: u64,
    entries: Vec<Vec<u8>>,
    /// How many entries it had as it published last, and whether it was seen by then: no other tree follows from the same.
    published: (usize, bool),
}

impl ToyServer {
    pub(crate) fn start(folder: &Path, lie: Option<ToyLie>) -> Self {
        let key = Ed25519KeyPair::from_seed_unchecked(&[7; 32]).unwrap();
        let folder = folder.to_owned();
        let (was_seen, promised, entries, published) = Default::default();
        let server = Self { folder, key, lie, was_seen, promised, entries, published };
        server.publish();
        server
    }

    pub(crate) fn verifier(&self) -> Verifier {
        Verifier::ed25519(ORIGIN, self.key.public_key().as_ref().try_into().unwrap()).unwrap()
    }

    /// Takes an entry: promises the next index, and publishes.
    pub(crate) fn submit(&mut self, entry: Vec<u8>) -> Pledge {
        let (index, leaf) = (self.promised, ToyLeaves::leaf_hash(&&entry[..]).unwrap());
        self.promised += 1;
        match self.lie {
            // What is submitted in the end, on a slow machine, would wait for a tree that takes longer with each entry.
            _ if self.entries.len() == MOST_ENTRIES => {}
            Some(ToyLie::Withheld | ToyLie::Gone) if index >= 10 => {}
            Some(ToyLie::Bundleless) if index >= 20 => {}
            Some(ToyLie::Lost) if index == 10 => self.entries.push(b"another".to_vec()),
            Some(ToyLie::Swapped) if index == 11 => self.entries.insert(10, entry),
            _ => self.entries.push(entry),
        }
        let tree = (self.entries.len(), self.was_seen);
        if tree != self.published && !(self.lie == Some(ToyLie::Swapped) && index == 10) {
            self.publish();
            self.published = tree;
        }
        Pledge { index, leaf }
    }

    /// Nothing is submitted any more.
    pub(crate) fn load_is_over(&self) {
        if self.lie == Some(ToyLie::Gone) {
            fs::remove_dir_all(&self.folder).unwrap();
        }
    }

    fn publish(&self) {
        let mut entries = self.entries.clone();
        match self.lie.filter(|_| self.was_seen) {
            Some(ToyLie::Forks | ToyLie::Bundleless) => entries[0] = b"rewritten".to_vec(),
            Some(ToyLie::Shrinks) => entries.truncate(1),
            _ => {}
        }
        let mut tree = Tree::default();
        entries.iter().for_each(|entry| tree.append(ToyLeaves::leaf_hash(&&entry[..]).unwrap()));
        if let (Some(ToyLie::Altered), Some(entry)) = (self.lie, entries.get_mut(10)) {
            *entry = b"another".to_vec();
        }
        let size = tree.size();
        for tile in tiles_for(size) {
            let Level::Hashes(level) = tile.level else { continue };
            self.write(&tile, &encode_hashes(&tree.level(level * 8)[range(&tile)]));
            if level == 0 && self.lie != Some(ToyLie::Bundleless) {
                let bundle = TileId { level: Level::Entries, ..tile };
                let framed = |entry: &Vec<u8>| [&(entry.len() as u16).to_be_bytes()[..], entry].concat();
                self.write(&bundle, &entries[range(&tile)].iter().flat_map(framed).collect::<Vec<u8>>());
            }
        }
        let root = hammer_tlog::logs::merkle::root_at(&tree, size).unwrap();
        let text = format!("{ORIGIN}\n{size}\n{}\n", base64(&root.0));
        let signature = self.key.sign(text.as_bytes()).as_ref().to_vec();
        let line = NoteSignature { name: ORIGIN, key_id: self.verifier().key_id(), signature };
        self.write(&"checkpoint", format(&text, &[line]).as_bytes());
    }

    /// Whole or not at all, since the audit reads meanwhile.
    fn write(&self, path: &dyn std::fmt::Display, bytes: &[u8]) {
        let (path, unfinished) = (self.folder.join(path.to_string()), self.folder.join("unfinished"));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&unfinished, bytes).unwrap();
        fs::rename(&unfinished, &path).unwrap();
    }
}

/// As many as a run has that is not ended by what it finds.
const MOST_ENTRIES: usize = 300;

fn range(tile: &TileId) -> std::ops::Range<usize> {
    tile.first() as usize..tile.first() as usize + usize::from(tile.width)
}
