//! An embedded Rekor v1: it verifies what is proposed, keeps a Merkle tree of canonical entries, and answers as
//! rekor-server v1.5.4 over Trillian does. Everything is in memory, for good: about 3 kB an entry.
//!
//! What is proposed becomes canonical in `proposed`, waits in `log` until it is integrated, and is answered by
//! `answer`. Where its plan says so the log lies, and keeps a list of what it lied about (`lie`).

mod answer;
pub(crate) mod checkpoint;
mod endpoint;
mod entry;
mod lab;
pub mod lie;
mod log;
mod plan;
mod proposed;
mod query;
mod refusal;

pub use endpoint::RekorTarget;
pub use lab::RekorLabHandle;
pub use plan::{Hang, RekorLabPlan, RekorLieKind};
