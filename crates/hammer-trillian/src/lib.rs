//! Load on a log of Trillian, over gRPC, in a tree of its own: leaves are queued, and roots, proofs and leaves read. What is queued follows
//! from the run's seed and a sequence number. Every answer is a promise, judged beside the load: roots neither fork nor shrink, proofs
//! lead to them, leaves have their hashes, and what was queued is in the tree in time. Nothing is judged on a shard.

mod beside;
mod calls;
mod check;
mod error;
mod judge;
mod plan;
mod promise;
mod session;
mod target;
mod workload;

pub use error::TrillianError;
pub use plan::{TrillianKind, TrillianPlan, TrillianTargetPlan};
pub use session::TrillianSession;
pub use target::{TrillianRun, TrillianTarget};
pub use workload::{TrillianOp, TrillianWorkload};
