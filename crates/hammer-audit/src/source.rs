//! What an audit has to know of a log's protocol: where things are, and how its head and its answers are read.

use std::sync::Arc;
use std::time::Duration;

use hammer_core::promise::{Fault, PromiseKind};
use hammer_measure::peer_text;
use hammer_tlog::hash::Hash;
use hammer_tlog::logs::audit::Receipt;
use hammer_tlog::logs::note::{Note, NoteError, Verifier, open_checkpoint};
use hammer_tlog::logs::tile::TileId;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::answer_bound::AnswerBound;
use crate::messages::AuditWords;

/// A log, as its protocol has it. Paths start with `/`, and are behind the URL or in the folder where the log is read
/// ([`LogPlace`](crate::LogPlace)). Nothing here sends anything: requests, their repetition and their bounds are the audit's.
pub trait LogSource: Send + Sync + 'static {
    /// Where promises are got, as receipts name it; no two logs of a run have the same.
    fn url(&self) -> String;

    /// The kind of the workload's promises that receipts are of.
    fn promise(&self) -> PromiseKind;

    /// Where the head is.
    fn head_path(&self) -> &str;

    /// How long the answer may be that has the head.
    fn head_bound(&self) -> AnswerBound {
        AnswerBound::HEAD
    }

    /// Reads a head, and verifies its signature.
    ///
    /// # Errors
    /// When it cannot be read, or is not the log's.
    fn open_head(&self, body: &[u8]) -> Result<OpenedHead, HeadFault>;

    /// Where a tile is: as C2SP tlog-tiles has it, unless it is said otherwise.
    fn tile_path(&self, tile: TileId) -> String {
        format!("/{tile}")
    }

    /// How long a bundle of 256 entries may be, decoded. One that is longer than its format lets it be is none.
    fn bundle_bound(&self) -> AnswerBound {
        AnswerBound::ENTRIES
    }

    /// Where something is that an entry refers to by its SHA-256 ([`LeafFormat::references`](hammer_tlog::logs::audit::LeafFormat::references));
    /// none where the log serves none.
    fn reference_path(&self, _reference: &Hash) -> Option<String> {
        None
    }

    /// The consistency proof between the trees of these sizes; none where the log is followed by its tiles.
    fn consistency(&self, _first: u64, _second: u64) -> Option<LogQuery<Vec<Hash>>> {
        None
    }

    /// The same in one of the trees of a log that has several ([`Shards`]).
    fn consistency_in(&self, _tree: u64, first: u64, second: u64) -> Option<LogQuery<Vec<Hash>>> {
        self.consistency(first, second)
    }

    /// How long the head that is served may be smaller than one that the log signed before, of a log whose heads have no time and so
    /// come in any order: a server may lag behind others, or a cache serve what was. None where a smaller head that was signed later is
    /// a tree that shrank.
    fn lags_at_most(&self) -> Option<Duration> {
        None
    }

    /// How far the clock may be from ours by which the log puts a time into promises and heads; nothing where it is ours that does.
    fn skew(&self) -> Duration {
        Duration::ZERO
    }

    /// How old the newest head may be of a log that takes entries; nothing is said of it without.
    fn oldest_head(&self) -> Option<Duration> {
        None
    }

    /// The protocol's own words, in what is told of broken promises.
    fn words(&self) -> AuditWords {
        AuditWords::default()
    }

    /// What the line of a receipt holds beside what all receipts do, as a map: what the log's operator has to be shown.
    fn evidence(&self, _receipt: &Receipt) -> impl Serialize {}
}

/// A log whose entries are read one by one and by name (Rekor v1): what was promised is in the answer itself, with a head that has to join
/// the followed chain, and some entries are read back once the load is over.
pub trait AnsweredSource: LogSource {
    /// The head that the answer came with, the tree of which it is, whether the entry was read, and whether it is to be read back.
    fn answered(&self, receipt: &Receipt) -> AnsweredEntry;

    /// What of a receipt contradicts the log's shards, as the last head has them.
    ///
    /// # Errors
    /// What is broken by it.
    fn placed(&self, receipt: &Receipt, shards: &Shards) -> Result<(), Fault>;

    /// Where several entries are asked for at once, and the body that asks for these.
    fn retrieval(&self, receipts: &[Receipt]) -> (String, Vec<u8>);

    /// Where one entry is.
    fn entry_path(&self, receipt: &Receipt) -> String;

    /// The entries of an answer that is read back, held against what was promised: what became of each receipt, in their order.
    ///
    /// # Errors
    /// What is wrong with the answer as a whole.
    fn read_back(&self, receipts: &[Receipt], answer: &[u8]) -> Result<Vec<ReadBack>, String>;

    /// How a promise is broken whose entry is not to be found any more, as reports have it.
    fn lost(&self) -> &'static str;
}

/// A log whose answers come with heads although its leaves are looked for elsewhere (Rekor v2, by its tiles): what such an answer shows is
/// shown by that head, which has to be of the followed tree.
pub trait HeadedSource: LogSource {
    /// The head that the answer came with, which was handed over by [`AuditLink::answered_with`](crate::AuditLink::answered_with); none
    /// where it came without.
    fn came_with(&self, receipt: &Receipt) -> Option<ReceivedHead>;
}

/// The head that an answer came with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceivedHead {
    /// The head.
    pub head: HeadId,
    /// Whether it is all that has to be found: the leaf was read in its tree already, or is none that was promised.
    pub is_alone: bool,
}

/// What an answer said of its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnsweredEntry {
    /// The head; none where the log only said that it has the entry, which then is read back.
    pub head: Option<HeadId>,
    /// Whether the entry is to be read back.
    pub is_read_back: bool,
    /// Whether it was read, and not added: the log had it long before, so that nothing tells how long it took to take it in.
    pub is_read: bool,
}

/// A head by what it says: the tree, its size and its root.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HeadId {
    /// The tree, where a log has several.
    pub tree: u64,
    /// Its leaves.
    pub size: u64,
    /// Its root.
    pub root: Hash,
}

/// What became of an entry that was read back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadBack {
    /// It is what was promised.
    Kept,
    /// It is not in the answer.
    Missing,
    /// It is another one, or is not proved.
    Broken(Fault),
}

/// A log that is read without tiles: its entries in order, and proofs (RFC 6962 section 4).
pub trait EntrySource: LogSource {
    /// Where these entries are; both are among them.
    fn entries(&self, first: u64, last: u64) -> String;

    /// The entry of an index, with its audit path in the tree of `size` leaves.
    fn entry_and_proof(&self, index: u64, size: u64) -> LogQuery<EntryProof>;

    /// The index of a leaf, with its audit path in the tree of `size` leaves.
    fn proof_by_hash(&self, leaf: &Hash, size: u64) -> LogQuery<IndexProof>;
}

/// What is asked for, and how the answer is read: fails with what is wrong with it.
#[derive(Debug)]
pub struct LogQuery<T> {
    /// Where it is, with its parameters.
    pub path: String,
    /// How long its answer may be.
    pub bound: AnswerBound,
    /// Reads the answer.
    pub read: fn(&[u8]) -> Result<T, String>,
}

impl<T: DeserializeOwned> LogQuery<T> {
    /// A proof in JSON.
    pub fn json(path: String) -> Self {
        Self {
            path,
            bound: AnswerBound::PROOF,
            read: |body| serde_json::from_slice(body).map_err(|why| why.to_string()),
        }
    }
}

/// A leaf in the tree of a size.
#[derive(Debug)]
pub struct EntryProof {
    /// The hash of the leaf.
    pub leaf: Hash,
    /// Its audit path.
    pub audit_path: Vec<Hash>,
}

/// The place of a leaf in the tree of a size.
#[derive(Debug)]
pub struct IndexProof {
    /// Its index.
    pub index: u64,
    /// Its audit path.
    pub audit_path: Vec<Hash>,
}

/// A head whose signature is the log's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenedHead {
    /// Leaves in the tree.
    pub size: u64,
    /// The root.
    pub root: Hash,
    /// When it was signed, milliseconds since 1970; 0 where it does not say.
    pub timestamp_ms: u64,
    /// Who else signed it. Their keys are not known: nothing of that is verified.
    pub cosigners: Vec<Cosigner>,
    /// The trees of the log, where it has several.
    pub shards: Shards,
}

/// The trees of a log of several: entries are added to one of them, those that stood there before are for ever as they are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shards {
    /// The tree that the head is of; 0 for a log of one tree.
    pub active: u64,
    /// Those before it, the oldest first.
    pub inactive: Vec<InactiveShard>,
}

/// A tree that no entry is added to any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InactiveShard {
    /// The tree, its leaves, and its root as the log signed it.
    pub head: HeadId,
    /// The signed bytes.
    pub raw: Arc<[u8]>,
    /// Why its signature cannot be verified: its key may be one that nobody stated. Nothing is held against it then.
    pub unverified: Option<Arc<str>>,
}

impl Shards {
    /// How many entries stand before the first one of that tree; none where the log does not name it, or the length of a tree before it is
    /// not signed by a known key.
    pub fn offset(&self, tree: u64) -> Option<u64> {
        let mut before = self.inactive.iter().take_while(|shard| shard.head.tree != tree);
        let is_known = tree == self.active || self.inactive.iter().any(|shard| shard.head.tree == tree);
        let sum = |sum: u64, shard: &InactiveShard| {
            shard.unverified.is_none().then(|| sum.saturating_add(shard.head.size))
        };
        before.try_fold(0, sum).filter(|_| is_known)
    }

    /// Whether that can be one of the log's trees.
    pub(crate) fn may_have(&self, tree: u64) -> bool {
        self.active == 0 || tree == self.active || self.inactive.iter().any(|shard| shard.head.tree == tree)
    }
}

/// Who else signed a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cosigner {
    /// The name in the signature's line, as it may be shown.
    pub name: String,
    /// The key id in the signature's line.
    pub key_id: u32,
}

/// Why what is served is not the log's head, as what could not be done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct HeadFault {
    /// The kind of promise that is broken by it; none where it cannot even be read.
    pub breach: Option<&'static str>,
    /// What could not be done, and why.
    pub why: String,
}

impl OpenedHead {
    /// The time of a head that says one, in milliseconds since 1970: never 0, which is that of a head without.
    pub const fn stated_ms(timestamp_ms: u64) -> u64 {
        if timestamp_ms == 0 { 1 } else { timestamp_ms }
    }

    /// Reads and verifies a checkpoint (C2SP tlog-checkpoint).
    ///
    /// # Errors
    /// When it cannot be read, is of another origin, or has no signature of the log's that holds.
    pub fn of_checkpoint(body: &[u8], verifier: &Verifier) -> Result<Self, HeadFault> {
        let (checkpoint, verified) = open_checkpoint(body, verifier)?;
        Ok(Self {
            size: checkpoint.size,
            root: checkpoint.root,
            timestamp_ms: verified.timestamp_ms.map_or(0, Self::stated_ms),
            cosigners: cosigners(body, verifier),
            shards: Shards::default(),
        })
    }
}

impl From<NoteError> for HeadFault {
    fn from(error: NoteError) -> Self {
        let breach = checkpoint_breach(&error);
        let why = match error {
            NoteError::Origin { got, expected } => {
                NoteError::Origin { got: peer_text(&got), expected }.to_string()
            }
            error => error.to_string(),
        };
        Self { breach, why }
    }
}

/// The promise that a checkpoint breaks which is not verified; none where it cannot even be read.
fn checkpoint_breach(error: &NoteError) -> Option<&'static str> {
    match error {
        NoteError::Origin { .. } => Some("checkpoint-origin"),
        NoteError::NoSignature { .. } | NoteError::Signature(_) | NoteError::BadSignature(_) => {
            Some("checkpoint-signature")
        }
        NoteError::Malformed { .. }
        | NoteError::Checkpoint { .. }
        | NoteError::Key(_)
        | NoteError::Verifier { .. } => None,
    }
}

/// Who signed a note beside the log, in the order of their lines.
fn cosigners(body: &[u8], own: &Verifier) -> Vec<Cosigner> {
    let Ok(note) = Note::parse(body) else { return Vec::new() };
    let others = note.signatures.iter().filter(|line| (line.name, line.key_id) != (own.name(), own.key_id()));
    others.map(|line| Cosigner { name: peer_text(line.name), key_id: line.key_id }).collect()
}
