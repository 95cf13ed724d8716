//! Tiles of height 8: their names, their bytes, and trees read through them (C2SP tlog-tiles, static-ct-api).

use std::fmt;
use std::str::FromStr;

use crate::hash::Hash;
use crate::logs::merkle::{Frontier, NodeReader};

/// Hashes, or entries, in a full tile.
pub const FULL_WIDTH: u16 = 256;

/// Levels of the tree in a tile.
pub const HEIGHT: u8 = 8;

/// Why a path or bytes are not those of a tile.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TileError {
    /// The path is not `tile/<L>/<N>[.p/<W>]`.
    #[error("read tile path {path:?}")]
    Path {
        /// The path given.
        path: String,
    },
    /// The bytes are not `width` hashes of 32 bytes.
    #[error("read tile {tile}: {} bytes are not {width} hashes", up_to_a_full_tile(*length))]
    Length {
        /// The tile that was asked for.
        tile: TileId,
        /// Bytes found.
        length: usize,
        /// Hashes expected.
        width: u16,
    },
}

/// What a tile holds, as the `<L>` of its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Level {
    /// Hashes of the tree's level 8 * `L`; `L` is 0 to 63 in a path and 0 to 7 in any tree.
    Hashes(u8),
    /// Entry bundles of static-ct-api: `tile/data/`.
    Data,
    /// Sunlight's JSON lines about the entries' names: `tile/names/`.
    Names,
    /// Entry bundles of tlog-tiles: `tile/entries/`.
    Entries,
}

/// A tile's name. Its path is `Display`ed and parsed without a leading slash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TileId {
    /// What it holds.
    pub level: Level,
    /// Its index among the tiles of its level, from 0.
    pub index: u64,
    /// Hashes or entries in it: 256 when full, 1 to 255 when partial.
    pub width: u16,
}

impl TileId {
    /// The full tile `index` of `level`.
    pub fn new(level: Level, index: u64) -> Self {
        Self { level, index, width: FULL_WIDTH }
    }

    /// The full hash tile `index` of tile level `level`.
    pub fn hashes(level: u8, index: u64) -> Self {
        Self::new(Level::Hashes(level), index)
    }

    /// The full data tile `index`: entries from `256 * index` on.
    pub fn data(index: u64) -> Self {
        Self::new(Level::Data, index)
    }

    /// The tile with `item` (a leaf index, or the index of a hash at the tile's level) in a tree of `size` leaves; none
    /// where that tree does not have it.
    pub fn covering(level: Level, item: u64, size: u64) -> Option<Self> {
        let items = level.items(size);
        let index = item / u64::from(FULL_WIDTH);
        let width = items.checked_sub(index * u64::from(FULL_WIDTH))?.min(u64::from(FULL_WIDTH)) as u16;
        (item < items).then_some(Self { level, index, width })
    }

    /// The full tile of the same name, which remains when a partial one is collected.
    pub fn full(self) -> Self {
        Self { width: FULL_WIDTH, ..self }
    }

    /// Whether the tile has all of its 256 hashes or entries.
    pub fn is_full(&self) -> bool {
        self.width == FULL_WIDTH
    }

    /// The path, such as `tile/0/x001/234.p/5`, without a leading slash.
    pub fn path(&self) -> String {
        self.to_string()
    }

    /// The index, at the tile's level, of its first hash or entry.
    pub fn first(&self) -> u64 {
        self.index.saturating_mul(u64::from(FULL_WIDTH))
    }

    /// The tile's hashes. Takes the bytes of the tile itself or of the full one in its place, of which it returns the
    /// first `width`.
    pub fn parse_hashes(&self, bytes: &[u8]) -> Result<Vec<Hash>, TileError> {
        let width = self.width;
        let (hashes, rest) = bytes.as_chunks::<32>();
        let fits = hashes.len() == usize::from(width) || hashes.len() == usize::from(FULL_WIDTH);
        if !fits || !rest.is_empty() || hashes.len() < usize::from(width) {
            return Err(TileError::Length { tile: *self, length: bytes.len(), width });
        }
        Ok(hashes[..usize::from(width)].iter().map(|hash| Hash(*hash)).collect())
    }
}

impl Level {
    /// Hashes, or entries, of this level in a tree of `size` leaves.
    pub fn items(self, size: u64) -> u64 {
        match self {
            Self::Hashes(level) => size.checked_shr(u32::from(level) * u32::from(HEIGHT)).unwrap_or(0),
            Self::Data | Self::Names | Self::Entries => size,
        }
    }
}

/// How many bytes there are. What is longer than any tile may not have been read to its end.
fn up_to_a_full_tile(length: usize) -> String {
    let most = usize::from(FULL_WIDTH) * 32;
    if length > most { format!("more than {most}") } else { length.to_string() }
}

/// The bytes of a hash tile.
pub fn encode_hashes(hashes: &[Hash]) -> Vec<u8> {
    hashes.iter().flat_map(|hash| hash.0).collect()
}

/// The root of a tile's hashes: of a full tile, its hash in the level above.
pub fn root(hashes: &[Hash]) -> Hash {
    hashes.iter().copied().collect::<Frontier>().root()
}

/// All hash tiles of a tree of `size` leaves, level by level: full ones, and the partial one at each right edge.
pub fn tiles_for(size: u64) -> impl Iterator<Item = TileId> {
    tiles_for_growth(0, size)
}

/// The hash tiles of a tree of `new_size` leaves that one of `old_size` did not have, level by level.
pub fn tiles_for_growth(old_size: u64, new_size: u64) -> impl Iterator<Item = TileId> {
    (0..=7).flat_map(move |level| grown(Level::Hashes(level), old_size, new_size))
}

/// The data tiles of a tree of `new_size` leaves that one of `old_size` did not have.
pub fn data_tiles_for_growth(old_size: u64, new_size: u64) -> impl Iterator<Item = TileId> {
    grown(Level::Data, old_size, new_size)
}

fn grown(level: Level, old_size: u64, new_size: u64) -> impl Iterator<Item = TileId> {
    let (old, new) = (level.items(old_size), level.items(new_size));
    let full = u64::from(FULL_WIDTH);
    let indices = if old < new { old / full..new.div_ceil(full) } else { 0..0 };
    indices.filter_map(move |index| TileId::covering(level, index * full, new_size))
}

impl fmt::Display for TileId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.level {
            Level::Hashes(level) => write!(f, "tile/{level}/")?,
            Level::Data => f.write_str("tile/data/")?,
            Level::Names => f.write_str("tile/names/")?,
            Level::Entries => f.write_str("tile/entries/")?,
        }
        write_index(f, self.index)?;
        if self.is_full() { Ok(()) } else { write!(f, ".p/{}", self.width) }
    }
}

/// Three digits an element, all but the last led by `x`: 1234067 is `x001/x234/067`.
fn write_index(f: &mut fmt::Formatter<'_>, index: u64) -> fmt::Result {
    let mut divisor = 1;
    while index / divisor >= 1000 {
        divisor *= 1000;
    }
    while divisor > 1 {
        write!(f, "x{:03}/", index / divisor % 1000)?;
        divisor /= 1000;
    }
    write!(f, "{:03}", index % 1000)
}

impl FromStr for TileId {
    type Err = TileError;

    fn from_str(path: &str) -> Result<Self, TileError> {
        let tile = parse_path(path).filter(|tile| tile.to_string() == path);
        tile.ok_or_else(|| TileError::Path { path: path.to_owned() })
    }
}

/// Reads a path leniently; that it is the canonical one, its caller sees by writing it again.
fn parse_path(path: &str) -> Option<TileId> {
    let (level, rest) = path.strip_prefix("tile/")?.split_once('/')?;
    let level = match level {
        "data" => Level::Data,
        "names" => Level::Names,
        "entries" => Level::Entries,
        digits => Level::Hashes(digits.parse().ok().filter(|level| *level < 64)?),
    };
    let (digits, width) = match rest.split_once(".p/") {
        Some((digits, width)) => {
            (digits, width.parse().ok().filter(|width| (1..FULL_WIDTH).contains(width))?)
        }
        None => (rest, FULL_WIDTH),
    };
    let mut index = 0_u64;
    for element in digits.split('/') {
        let group =
            element.strip_prefix('x').unwrap_or(element).parse::<u16>().ok().filter(|group| *group < 1000)?;
        index = index.checked_mul(1000)?.checked_add(u64::from(group))?;
    }
    Some(TileId { level, index, width })
}

/// A tree read through its hash tiles: `read` gives the bytes' hashes of a tile of level `L` and index `N`, as wide as it
/// has them.
pub struct TileReader<F> {
    read: F,
}

impl<F: Fn(u8, u64) -> Option<Vec<Hash>>> TileReader<F> {
    /// A reader over `read(level, index)`.
    pub fn new(read: F) -> Self {
        Self { read }
    }
}

impl<F: Fn(u8, u64) -> Option<Vec<Hash>>> NodeReader for TileReader<F> {
    fn node(&self, level: u8, index: u64) -> Option<Hash> {
        let (tile_level, height) = (level / HEIGHT, level % HEIGHT);
        let first = index.checked_mul(1 << height)?;
        let hashes = (self.read)(tile_level, first / u64::from(FULL_WIDTH))?;
        let begin = (first % u64::from(FULL_WIDTH)) as usize;
        hashes.get(begin..begin + (1 << height)).map(root)
    }
}

#[cfg(test)]
mod tests;
