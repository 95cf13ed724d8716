//! What was read, on its way from a shard to a verifier: the answer as it came, and all that it is held against.

use hammer_tlog::logs::tile::{Level, TileId};
use hammer_tlog::tls::{TlsError, TlsReader};

use crate::promise::LogPromise;

/// How a read is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Check {
    /// A tree head.
    TreeHead,
    /// Tree head; hash tile; tiles on its way to the root.
    Tile,
    /// Tree head; bundle; its hash tile and tiles on its way to the root.
    Bundle,
    /// Tree head; names tile; its bundle, and as for that.
    Names,
    /// The fingerprint; the certificate.
    Issuer,
    /// Tree head; entries, numbered by the first; answers of get-entry-and-proof, numbered by their leaves.
    Entries,
    /// Tree head; leaf hash; proof.
    ProofByHash,
    /// The older tree head; the newer; proof.
    Consistency,
    /// Tree head; entry and proof, numbered by the leaf.
    EntryAndProof,
    /// Roots.
    Roots,
    /// The name of a tile that is not served.
    Missing,
    /// What came whole, should prove a read, and cannot be read; and why.
    Unreadable,
    /// Nothing: what it should be held against was refused.
    Unverified,
}

impl Check {
    /// The promise that is held to its word by it.
    pub(super) fn promise(self) -> LogPromise {
        match self {
            Self::TreeHead => LogPromise::TreeHead,
            Self::Consistency => LogPromise::Consistency,
            Self::Issuer => LogPromise::Issuer,
            Self::Roots => LogPromise::Roots,
            // What cannot be held against the tree was promised to be of it.
            _ => LogPromise::Inclusion,
        }
    }
}

/// The record of a read, as a verifier gets it back.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ReadRecord<'a> {
    pub(super) check: Check,
    pub(super) parts: Vec<Part<'a>>,
}

/// An answer, or a part of what it is held against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part<'a> {
    pub(super) level: u8,
    pub(super) width: u16,
    /// A tile's or a leaf's index.
    pub(super) number: u64,
    pub(super) is_gzip: bool,
    pub(super) bytes: &'a [u8],
}

impl<'a> Part<'a> {
    pub(super) fn bytes(bytes: &'a [u8]) -> Self {
        Self::numbered(0, bytes)
    }

    pub(super) fn numbered(number: u64, bytes: &'a [u8]) -> Self {
        Self { level: 0, width: 0, number, is_gzip: false, bytes }
    }

    pub(super) fn tile(tile: TileId, is_gzip: bool, bytes: &'a [u8]) -> Self {
        let level = match tile.level {
            Level::Hashes(level) => level,
            Level::Data => DATA,
            Level::Names => NAMES,
            Level::Entries => ENTRIES,
        };
        Self { level, width: tile.width, number: tile.index, is_gzip, bytes }
    }

    /// The tile's name.
    pub(super) fn id(&self) -> TileId {
        let level = match self.level {
            DATA => Level::Data,
            NAMES => Level::Names,
            ENTRIES => Level::Entries,
            level => Level::Hashes(level),
        };
        TileId { level, index: self.number, width: self.width }
    }
}

/// Replaces `out` by the record.
pub(super) fn write<'a>(out: &mut Vec<u8>, check: Check, parts: impl IntoIterator<Item = Part<'a>>) {
    out.clear();
    out.push(check as u8);
    for part in parts {
        out.extend_from_slice(&[part.level, u8::from(part.is_gzip)]);
        out.extend_from_slice(&part.width.to_be_bytes());
        out.extend_from_slice(&part.number.to_be_bytes());
        // No answer is that large: the client's limit is below it.
        out.extend_from_slice(&(part.bytes.len() as u64).to_be_bytes());
        out.extend_from_slice(part.bytes);
    }
}

impl<'a> ReadRecord<'a> {
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self, TlsError> {
        let mut reader = TlsReader::new(bytes);
        let check = reader.u8("check")?;
        let unknown = TlsError::UnknownValue { field: "check", value: check.into() };
        let check = CHECKS.into_iter().find(|known| *known as u8 == check).ok_or(unknown)?;
        let mut parts = Vec::new();
        while !reader.rest().is_empty() {
            let (level, gzip) = (reader.u8("level")?, reader.u8("gzip")?);
            let (width, number) = (reader.u16("width")?, reader.u64("number")?);
            let length = usize::try_from(reader.u64("length")?);
            let bytes = reader.bytes(length.unwrap_or(usize::MAX), "part")?;
            parts.push(Part { level, width, number, is_gzip: gzip == 1, bytes });
        }
        Ok(Self { check, parts })
    }
}

const CHECKS: [Check; 13] = [
    Check::TreeHead,
    Check::Tile,
    Check::Bundle,
    Check::Names,
    Check::Issuer,
    Check::Entries,
    Check::ProofByHash,
    Check::Consistency,
    Check::EntryAndProof,
    Check::Roots,
    Check::Missing,
    Check::Unreadable,
    Check::Unverified,
];
const DATA: u8 = 253;
const NAMES: u8 = 254;
const ENTRIES: u8 = 255;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_reads_back_whole_and_not_cut_off() {
        let mut out = Vec::new();
        for check in CHECKS {
            let names = TileId { level: Level::Names, index: 1 << 40, width: 255 };
            let parts = [
                Part::bytes(b"head"),
                Part::tile(names, true, b"names"),
                Part::tile(TileId::hashes(7, 3), false, b""),
                Part::numbered(u64::MAX, b"proof"),
            ];
            write(&mut out, check, parts);
            let record = ReadRecord::read(&out).unwrap();
            assert_eq!((record.check, record.parts.as_slice()), (check, &parts[..]));
            assert_eq!((record.parts[1].id(), record.parts[2].id()), (names, TileId::hashes(7, 3)));
            assert!(ReadRecord::read(&out[..out.len() - 1]).is_err());
        }
        assert!(ReadRecord::read(&[13]).is_err());
    }
}
