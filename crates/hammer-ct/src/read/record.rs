//! What was read, on its way from a shard to a verifier: the answer as it came, and all that it is held against.

use hammer_read::{Part, read_parts};
use hammer_tlog::tls::TlsError;

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
    /// The fingerprint; the certificate, where it is served. Nothing where that cannot be told.
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
    /// Tree head; the name of a tile that is not served.
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

impl<'a> ReadRecord<'a> {
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self, TlsError> {
        let (check, parts) = read_parts(bytes)?;
        let unknown = TlsError::UnknownValue { field: "check", value: check.into() };
        let check = CHECKS.into_iter().find(|known| *known as u8 == check).ok_or(unknown)?;
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

#[cfg(test)]
mod tests {
    use hammer_read::write_parts;

    use super::*;

    #[test]
    fn every_check_reads_back_and_no_other_number_does() {
        let mut out = Vec::new();
        for check in CHECKS {
            write_parts(&mut out, check as u8, [Part::bytes(b"head"), Part::numbered(7, b"")]);
            let record = ReadRecord::read(&out).unwrap();
            assert_eq!((record.check, record.parts.len()), (check, 2));
        }
        assert!(ReadRecord::read(&[13]).is_err());
    }
}
