//! Reads in a plan.

use hammer_read::ReadPattern;
use hammer_values::{Count, Weights, Word};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::CtError;
use crate::log::LogKind;

/// Reads of a log in a plan file. What is read is verified, by the log's key and up to a signed root.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ReadPlan {
    /// How often each kind is read, as weights: `{tile: 3, checkpoint: 1}` is three tiles for each checkpoint. Kinds of
    /// static-ct: `checkpoint`, `tile`, `bundle`, `names`, `issuer`; of rfc6962: `get-sth`, `get-entries`,
    /// `get-proof-by-hash`, `get-sth-consistency`, `get-entry-and-proof`, `get-roots`. Without it: 1 checkpoint, 2 tiles and
    /// 2 bundles of 5, or 1 get-sth and 4 get-entries.
    pub mix: Weights<ReadKind, u16>,
    /// In which order the tree is read.
    pub pattern: ReadPattern,
    /// How many entries one `get-entries` asks for; the log may answer with fewer (rfc6962 only). A power of two costs one
    /// `get-entry-and-proof` to verify, any other number up to two.
    pub entries: Count,
    /// The name of the log that is read; all in turn without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log: Option<Word>,
}

/// What a read is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReadKind {
    /// `checkpoint` of static-ct-api: its signature is verified.
    Checkpoint,
    /// A hash tile of level 0, verified up to the checkpoint's root.
    Tile,
    /// An entry bundle (`tile/data/`): each leaf is held against its hash tile, and that against the root.
    Bundle,
    /// A names tile (`tile/names/`), an extension of Sunlight: held against its bundle.
    Names,
    /// An issuer whose fingerprint stands in a bundle that was read: its SHA-256 is its name.
    Issuer,
    /// RFC 6962 section 4.3: the signature is verified.
    GetSth,
    /// RFC 6962 section 4.6: the leaves are verified up to the tree head's root.
    GetEntries,
    /// RFC 6962 section 4.5, of a leaf that was read before: the proof is verified.
    GetProofByHash,
    /// RFC 6962 section 4.4, between two tree heads that were seen, or of the only one with itself: the proof is verified.
    GetSthConsistency,
    /// RFC 6962 section 4.8: the proof is verified.
    GetEntryAndProof,
    /// RFC 6962 section 4.7: each root is a certificate.
    GetRoots,
}

impl Default for ReadPlan {
    fn default() -> Self {
        Self {
            mix: Weights::default(),
            pattern: ReadPattern::default(),
            entries: Count::at_least_one(32),
            log: None,
        }
    }
}

impl ReadPlan {
    /// The kinds that are read, each with its weight, in the order of their series.
    ///
    /// # Errors
    /// [`CtError::Value`] for a kind that such a log does not have.
    pub(crate) fn weights(&self, log: LogKind) -> Result<Vec<(ReadKind, u16)>, CtError> {
        if let Some((kind, _)) = self.mix.iter().find(|(kind, _)| kind.log() != log) {
            let expected = match log {
                LogKind::StaticCt => "kinds of static-ct: checkpoint, tile, bundle, names, issuer",
                LogKind::Rfc6962 => {
                    "kinds of rfc6962: get-sth, get-entries, get-proof-by-hash, get-sth-consistency, \
                     get-entry-and-proof, get-roots"
                }
            };
            return Err(CtError::Value { key: "mix", value: kind.name().to_owned(), expected });
        }
        Ok(match log {
            _ if !self.mix.is_empty() => self.mix.drawn().map(|(kind, weight)| (*kind, weight)).collect(),
            LogKind::StaticCt => vec![(ReadKind::Checkpoint, 1), (ReadKind::Tile, 2), (ReadKind::Bundle, 2)],
            LogKind::Rfc6962 => vec![(ReadKind::GetSth, 1), (ReadKind::GetEntries, 4)],
        })
    }
}

impl ReadKind {
    /// Its name in plans and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Checkpoint => "checkpoint",
            Self::Tile => "tile",
            Self::Bundle => "bundle",
            Self::Names => "names",
            Self::Issuer => "issuer",
            Self::GetSth => "get-sth",
            Self::GetEntries => "get-entries",
            Self::GetProofByHash => "get-proof-by-hash",
            Self::GetSthConsistency => "get-sth-consistency",
            Self::GetEntryAndProof => "get-entry-and-proof",
            Self::GetRoots => "get-roots",
        }
    }

    const fn log(self) -> LogKind {
        match self {
            Self::Checkpoint | Self::Tile | Self::Bundle | Self::Names | Self::Issuer => LogKind::StaticCt,
            _ => LogKind::Rfc6962,
        }
    }
}
