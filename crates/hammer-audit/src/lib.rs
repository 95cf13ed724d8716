//! The audit of a transparency log beside the load: with connections of its own it follows the log's tree, and looks for the leaf of
//! every receipt that a workload's verifiers hand it, in the log's tiles or in its entries. What the log is, a protocol says by a
//! [`LogSource`]: where its head, tiles, proofs and entries are, and how they are read; what an entry is, by a
//! [`LeafFormat`](hammer_tlog::logs::audit::LeafFormat). Where answers prove what they promise themselves (Rekor v1), their heads are joined
//! to the followed tree, and entries are read back once the load is over. This crate knows no protocol, checks no promise but that of a leaf in the
//! tree, and never runs on a shard.

mod absent_tiles;
mod answer_bound;
mod answer_reading;
mod answered_heads;
mod audit_loop;
mod auditor;
mod entry_reading;
mod figures;
mod head_dates;
mod head_files;
mod head_memory;
mod head_reading;
mod head_survey;
mod inspector;
mod joined_reading;
mod lane_seq;
mod late_head;
mod late_looks;
mod link;
mod log_follower;
mod messages;
mod place;
mod prove;
mod readability;
mod reader;
mod receipt_file;
mod receipt_spill;
mod refused_proof;
mod retry;
mod served_tile;
mod source;
mod stale_heads;
mod tile_reading;
mod tree_reading;
mod trouble;
mod unnamed_faults;

pub use answer_bound::AnswerBound;
pub use auditor::{DEFAULT_RECEIPTS, LogAuditor, MOST_LINKS};
pub use entry_reading::{edge_of, leaves_of};
pub use head_dates::future_head;
pub use head_files::save_heads;
pub use head_memory::HeadMemory;
pub use inspector::LogInspector;
pub use link::{AuditLink, RefusedPromise};
pub use log_follower::{Followed, LogFollower};
pub use messages::{
    AuditWords, BACKDATED_CHECKPOINT, LOG_FORKED, SHRINKING_TREE, altered_issuer, flaw_words,
};
pub use place::{LogClient, LogPlace, LogRequest};
pub use reader::AuditReader;
pub use served_tile::ServedTile;
pub use source::{
    AnsweredEntry, AnsweredSource, Cosigner, EntryProof, EntrySource, HeadFault, HeadId, HeadedSource,
    InactiveShard, IndexProof, LogQuery, LogSource, OpenedHead, ReadBack, ReceivedHead, Shards,
};
pub use trouble::Trouble;
