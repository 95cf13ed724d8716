//! A folder laid out as static-ct-api, which any web server can serve: checkpoint, tile/, issuer/; and .state/ beside
//! them, from which an interrupted log goes on. Nothing is synced: a lab's log need not survive a power cut.

use std::{
    collections::HashSet,
    fs, io, mem,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError, RwLock},
};

use bytes::Bytes;
use hammer_tlog::{
    logs::merkle::{Hash, Tree, leaf_hash, root_at, sha256},
    logs::tile::{FULL_WIDTH, HEIGHT, Level, TileId, encode_hashes, tiles_for_growth},
};

use crate::{
    ct::{chain::Authority, entry::bundle},
    error::LabError,
};

/// A log in a folder.
#[derive(Debug)]
pub(crate) struct Folder {
    root: PathBuf,
    last: Mutex<LastBundle>,
    issuers: RwLock<HashSet<Hash>>,
}

#[derive(Debug, Default)]
struct LastBundle {
    bytes: Vec<u8>,
    entries: u64,
    /// Folders of partial tiles whose full tile exists, removed when a checkpoint covers it.
    superseded: Vec<PathBuf>,
}

/// An entry found in the folder: what deduplication and the tree need of it.
#[derive(Debug)]
pub(crate) struct Recovered {
    pub(crate) identity: Hash,
    pub(crate) leaf_hash: Hash,
    pub(crate) timestamp_ms: u64,
}

impl Folder {
    /// Opens the folder, making it if it is not there, and hands every entry that it holds to `each`, in order.
    pub(crate) fn open(root: &Path, mut each: impl FnMut(Recovered)) -> Result<Self, LabError> {
        for part in ["tile/data", "issuer", ".state"] {
            let path = root.join(part);
            fs::create_dir_all(&path).map_err(|source| LabError::File { action: "make", path, source })?;
        }
        let mut folder = Self { root: root.into(), last: Mutex::default(), issuers: RwLock::default() };
        let Some((size, expected)) = folder.state()? else { return Ok(folder) };
        let mut tree = Tree::new();
        for tile in (0..size.div_ceil(u64::from(FULL_WIDTH))).map_while(|index| covering(index, size)) {
            let bytes = folder.bundle_of_any_width(&tile)?;
            let mut end = 0;
            for leaf in bundle::leaves(&bytes).take(usize::from(tile.width)) {
                let leaf_hash = leaf_hash(&leaf.leaf_input());
                tree.append(leaf_hash);
                end += leaf.raw.len();
                each(Recovered {
                    identity: sha256(leaf.submitted),
                    leaf_hash,
                    timestamp_ms: leaf.timestamp_ms,
                });
            }
            if !tile.is_full() {
                let bytes = bytes[..end].to_vec();
                folder.last =
                    Mutex::new(LastBundle { bytes, entries: u64::from(tile.width), ..Default::default() });
            }
        }
        let root_hash = root_at(&tree, size).map_err(|error| folder.unusable(error.to_string()))?;
        match root_hash == expected {
            true => Ok(folder),
            false => {
                Err(folder.unusable(format!("its {size} entries have root {root_hash}, not {expected}")))
            }
        }
    }

    pub(super) fn append(&self, tree: &Tree, first_index: u64, leaves: &[Vec<u8>]) -> Result<(), LabError> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let mut index = first_index;
        for leaf in leaves {
            last.bytes.extend_from_slice(leaf);
            last.entries += 1;
            index += 1;
            if last.entries == u64::from(FULL_WIDTH) {
                let tile = TileId::data(index / u64::from(FULL_WIDTH) - 1);
                let bytes = mem::take(&mut last.bytes);
                last.entries = 0;
                self.write_tile(&tile, &bytes, &mut last.superseded)?;
            }
        }
        if let Some(tile) = covering(index / u64::from(FULL_WIDTH), index) {
            let bytes = mem::take(&mut last.bytes);
            self.write_tile(&tile, &bytes, &mut last.superseded)?;
            last.bytes = bytes;
        }
        for tile in tiles_for_growth(first_index, index) {
            if let Some(bytes) = hash_tile(tree, &tile) {
                self.write_tile(&tile, &bytes, &mut last.superseded)?;
            }
        }
        let root = root_at(tree, index).map_err(|error| self.unusable(error.to_string()))?;
        self.write(Path::new(STATE), format!("{index}\n{}\n", root.to_base64()).as_bytes())
    }

    pub(super) fn bundle(&self, tile: &TileId) -> Option<Bytes> {
        fs::read(self.root.join(tile.path())).ok().map(Bytes::from)
    }

    pub(super) fn keep_issuer(&self, authority: &Authority) -> Result<(), LabError> {
        let fingerprint = authority.fingerprint;
        if self.issuers.read().unwrap_or_else(PoisonError::into_inner).contains(&fingerprint) {
            return Ok(());
        }
        // Written under the lock: two threads must not move the same file into place.
        let mut issuers = self.issuers.write().unwrap_or_else(PoisonError::into_inner);
        self.write(&Path::new("issuer").join(fingerprint.to_hex()), &authority.der)?;
        issuers.insert(fingerprint);
        Ok(())
    }

    pub(super) fn issuer(&self, fingerprint: &Hash) -> Option<Bytes> {
        fs::read(self.root.join("issuer").join(fingerprint.to_hex())).ok().map(Bytes::from)
    }

    pub(super) fn publish(&self, note: &[u8]) -> Result<(), LabError> {
        self.write(Path::new("checkpoint"), note)?;
        let superseded = mem::take(&mut self.last.lock().unwrap_or_else(PoisonError::into_inner).superseded);
        for path in superseded {
            // Gone already, or never written: either way there is nothing to collect.
            let _ = fs::remove_dir_all(path);
        }
        Ok(())
    }

    /// Size and root at the last append.
    fn state(&self) -> Result<Option<(u64, Hash)>, LabError> {
        let path = self.root.join(STATE);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return self.state_of_checkpoint(),
            Err(source) => return Err(LabError::File { action: "read", path, source }),
        };
        state_lines(&mut text.lines())
            .map(Some)
            .ok_or_else(|| self.unusable(format!("{STATE} is not a size and a root")))
    }

    /// Size and root that a log without state has published: another server's folder.
    fn state_of_checkpoint(&self) -> Result<Option<(u64, Hash)>, LabError> {
        let path = self.root.join("checkpoint");
        match fs::read_to_string(&path) {
            Ok(text) => {
                let state = state_lines(&mut text.lines().skip(1));
                state.map(Some).ok_or_else(|| self.unusable("its checkpoint has no size and root".into()))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(LabError::File { action: "read", path, source }),
        }
    }

    fn bundle_of_any_width(&self, tile: &TileId) -> Result<Bytes, LabError> {
        let missing = || self.unusable(format!("{tile} is missing"));
        self.bundle(tile).or_else(|| self.bundle(&tile.full())).ok_or_else(missing)
    }

    fn write_tile(&self, tile: &TileId, bytes: &[u8], superseded: &mut Vec<PathBuf>) -> Result<(), LabError> {
        let path = tile.path();
        if tile.is_full() {
            superseded.push(self.root.join(format!("{path}.p")));
        }
        self.write(Path::new(&path), bytes)
    }

    /// Writes a file beside its place and moves it there, so that a reader never sees half of it.
    fn write(&self, relative: &Path, bytes: &[u8]) -> Result<(), LabError> {
        let path = self.root.join(relative);
        let written = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| {
            let beside = path
                .with_file_name(format!(".{}.new", path.file_name().unwrap_or_default().to_string_lossy()));
            fs::write(&beside, bytes)?;
            fs::rename(&beside, &path)
        });
        written.map_err(|source| LabError::File { action: "write", path, source })
    }

    fn unusable(&self, reason: String) -> LabError {
        LabError::Content { path: self.root.clone(), reason }
    }
}

/// The bytes of a hash tile of `tree`, if the tree holds it.
pub(crate) fn hash_tile(tree: &Tree, tile: &TileId) -> Option<Vec<u8>> {
    let Level::Hashes(level) = tile.level else { return None };
    let hashes = tree.stretch(level.checked_mul(HEIGHT)?, tile.first(), tile.width.into())?;
    Some(encode_hashes(hashes))
}

fn covering(bundle: u64, size: u64) -> Option<TileId> {
    TileId::covering(Level::Data, bundle * u64::from(FULL_WIDTH), size)
}

fn state_lines<'a>(lines: &mut impl Iterator<Item = &'a str>) -> Option<(u64, Hash)> {
    Some((lines.next()?.parse().ok()?, Hash::from_base64(lines.next()?)?))
}

const STATE: &str = ".state/tree";
