//! An embedded Rekor v2: it verifies what is proposed, keeps a Merkle tree of canonical entries, answers as rekor-tiles
//! v2.3.0 does, over REST and gRPC, and serves checkpoint, tiles and entry bundles beside. Everything is in memory, for
//! good: about 1.5 kB an entry.
//!
//! What is proposed is read by `request`, becomes canonical in `canonical`, waits in `log` until a checkpoint covers it,
//! and is answered by `endpoint`. Where its plan says so the log lies, and keeps a list of what it lied about.

mod bundles;
mod canonical;
mod endpoint;
mod lab;
mod log;
mod plan;
mod refusal;
mod request;

pub use endpoint::RekorTilesTarget;
pub use lab::RekorTilesLabHandle;
pub use plan::{CheckpointKey, RekorTilesLabPlan, RekorTilesLieKind};
