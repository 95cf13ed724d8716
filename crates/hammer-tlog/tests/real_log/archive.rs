//! The recorded log, out of its archive.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::PathBuf;
use std::sync::LazyLock;

use hammer_tlog::hash::Hash;
use hammer_tlog::keys::key::LogKey;
use hammer_tlog::logs::follow::Head;
use hammer_tlog::logs::merkle::{Tree, root_at};
use hammer_tlog::logs::note::{Checkpoint, NoteError, Verified, Verifier, open_checkpoint};
use hammer_tlog::logs::tile::{Level, TileId};

pub(crate) const ORIGIN: &str = "127.0.0.1/data";

/// Leaves of the log.
pub(crate) const SIZE: u64 = 1237;

/// The sizes that the log had when it wrote the partial tiles that it still has, and its last one.
pub(crate) const SIZES: [u64; 9] = [256, 512, 768, 1058, 1092, 1129, 1166, 1203, SIZE];

/// The log as it was recorded.
pub(crate) static RECORDED: LazyLock<RecordedLog> = LazyLock::new(RecordedLog::read);

/// Its tree, of the leaf hashes in its tiles.
pub(crate) static TREE: LazyLock<Tree> = LazyLock::new(|| {
    let tiles = (0..SIZE).step_by(256).filter_map(|leaf| TileId::covering(Level::Hashes(0), leaf, SIZE));
    tiles.flat_map(|tile| tile.parse_hashes(RECORDED.tile(tile).unwrap()).unwrap()).collect()
});

/// What is under the log's URL: the content of each file by its path.
#[derive(Clone)]
pub(crate) struct RecordedLog {
    pub(crate) files: BTreeMap<String, Vec<u8>>,
}

impl RecordedLog {
    fn read() -> Self {
        let mut tar = Vec::new();
        flate2::read::GzDecoder::new(testdata("log-1237.tar.gz").as_slice()).read_to_end(&mut tar).unwrap();
        Self { files: files(&tar) }
    }

    /// The same log with another file in the place of one.
    pub(crate) fn with(&self, path: &str, bytes: Vec<u8>) -> Self {
        let mut altered = self.clone();
        altered.files.insert(path.to_owned(), bytes);
        altered
    }

    pub(crate) fn tile(&self, tile: TileId) -> Option<&[u8]> {
        self.files.get(&tile.path()).map(Vec::as_slice)
    }

    pub(crate) fn issuer(&self, fingerprint: &Hash) -> Option<&[u8]> {
        self.files.get(&format!("issuer/{fingerprint}")).map(Vec::as_slice)
    }

    /// The tiles of which the paths tell the level.
    pub(crate) fn tiles(&self, of: impl Fn(Level) -> bool) -> impl Iterator<Item = (TileId, &[u8])> {
        let tiles = self.files.iter().filter(|(path, _)| path.starts_with("tile/"));
        tiles
            .map(|(path, bytes)| (path.parse().unwrap(), bytes.as_slice()))
            .filter(move |(tile, _): &(TileId, _)| of(tile.level))
    }

    pub(crate) fn open(&self) -> Result<(Checkpoint, Verified), NoteError> {
        open_checkpoint(&self.files["checkpoint"], &Verifier::rfc6962(ORIGIN, key()))
    }
}

pub(crate) fn key() -> LogKey {
    String::from_utf8(testdata("log-1237-public-key.pem")).unwrap().parse().unwrap()
}

/// The head of the tree when it had `size` leaves; only the last one was kept as it was signed.
pub(crate) fn head(size: u64) -> Head {
    let (checkpoint, verified) = RECORDED.open().unwrap();
    let root = if size == SIZE { checkpoint.root } else { root_at(&*TREE, size).unwrap() };
    let timestamp_ms = verified.timestamp_ms.unwrap() - (SIZE - size);
    Head { size, root, timestamp_ms, fetched_ns: size, asked_ns: size, raw: size.to_be_bytes().into() }
}

fn testdata(name: &str) -> Vec<u8> {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("testdata/tesseract").join(name);
    std::fs::read(&file).unwrap_or_else(|error| panic!("failed to read {}: {error}", file.display()))
}

/// The plain files of an archive (POSIX.1 ustar): headers of 512 bytes, contents padded to as many.
fn files(mut tar: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    while let Some((header, rest)) = tar.split_first_chunk::<512>() {
        if header[0] == 0 {
            break;
        }
        let size = u64::from_str_radix(field(&header[124..136]), 8).unwrap() as usize;
        if header[156] == b'0' {
            files.insert(field(&header[..100]).to_owned(), rest[..size].to_vec());
        }
        tar = &rest[size.next_multiple_of(512)..];
    }
    files
}

/// The text of a header's field, up to its first zero.
fn field(bytes: &[u8]) -> &str {
    let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    std::str::from_utf8(text).unwrap()
}
