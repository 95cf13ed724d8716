//! What was read, on its way from a shard to a verifier: the answer as it came, and all that it is held against.

use hammer_tlog::logs::tile::{Level, TileId};
use hammer_tlog::tls::{TlsError, TlsReader};

/// An answer, or a part of what it is held against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part<'a> {
    pub(crate) level: u8,
    pub(crate) width: u16,
    /// A tile's or a leaf's index.
    pub number: u64,
    pub(crate) is_gzip: bool,
    /// As they came.
    pub bytes: &'a [u8],
}

impl<'a> Part<'a> {
    /// Bytes of whatever.
    pub fn bytes(bytes: &'a [u8]) -> Self {
        Self::numbered(0, bytes)
    }

    /// Bytes that are of a leaf's index, or of a size.
    pub fn numbered(number: u64, bytes: &'a [u8]) -> Self {
        Self { level: 0, width: 0, number, is_gzip: false, bytes }
    }

    /// A tile or a bundle.
    pub fn tile(tile: TileId, is_gzip: bool, bytes: &'a [u8]) -> Self {
        let level = match tile.level {
            Level::Hashes(level) => level,
            Level::Data => DATA,
            Level::Names => NAMES,
            Level::Entries => ENTRIES,
        };
        Self { level, width: tile.width, number: tile.index, is_gzip, bytes }
    }

    /// The tile's name.
    pub fn id(&self) -> TileId {
        let level = match self.level {
            DATA => Level::Data,
            NAMES => Level::Names,
            ENTRIES => Level::Entries,
            level => Level::Hashes(level),
        };
        TileId { level, index: self.number, width: self.width }
    }

    /// Appends it to a record.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&[self.level, u8::from(self.is_gzip)]);
        out.extend_from_slice(&self.width.to_be_bytes());
        out.extend_from_slice(&self.number.to_be_bytes());
        // No answer is that large: the client's limit is below it.
        out.extend_from_slice(&(self.bytes.len() as u64).to_be_bytes());
        out.extend_from_slice(self.bytes);
    }
}

/// Replaces `out` by the record of a check, whose number is the caller's own, and its parts.
pub fn write_parts<'a>(out: &mut Vec<u8>, check: u8, parts: impl IntoIterator<Item = Part<'a>>) {
    out.clear();
    out.push(check);
    parts.into_iter().for_each(|part| part.write(out));
}

/// Reads a record back: the number of the check, and its parts.
///
/// # Errors
/// When it is cut off.
pub fn read_parts(bytes: &[u8]) -> Result<(u8, Vec<Part<'_>>), TlsError> {
    let mut reader = TlsReader::new(bytes);
    let check = reader.u8("check")?;
    let mut parts = Vec::new();
    while !reader.rest().is_empty() {
        let (level, gzip) = (reader.u8("level")?, reader.u8("gzip")?);
        let (width, number) = (reader.u16("width")?, reader.u64("number")?);
        let length = usize::try_from(reader.u64("length")?);
        let bytes = reader.bytes(length.unwrap_or(usize::MAX), "part")?;
        parts.push(Part { level, width, number, is_gzip: gzip == 1, bytes });
    }
    Ok((check, parts))
}

const DATA: u8 = 253;
const NAMES: u8 = 254;
const ENTRIES: u8 = 255;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_reads_back_whole_and_not_cut_off() {
        let mut out = vec![1, 2];
        let names = TileId { level: Level::Names, index: 1 << 40, width: 255 };
        let parts = [
            Part::bytes(b"head"),
            Part::tile(names, true, b"names"),
            Part::tile(TileId::hashes(7, 3), false, b""),
            Part::tile(TileId { level: Level::Entries, index: 2, width: 9 }, false, b"entries"),
            Part::numbered(u64::MAX, b"proof"),
        ];
        write_parts(&mut out, 9, parts);
        let (check, read) = read_parts(&out).unwrap();
        assert_eq!((check, read.as_slice()), (9, &parts[..]));
        assert_eq!((read[1].id(), read[2].id()), (names, TileId::hashes(7, 3)));
        assert!(read_parts(&out[..out.len() - 1]).is_err());
    }
}
