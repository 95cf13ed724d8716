//! An embedded Trillian: one tree of a log, over gRPC, that answers as trillian_log_server v1.8.0 does and sequences as its signer
//! does. Leaves are kept in memory for good. Where its plan says so it lies, and keeps a list of what it lied about.

mod endpoint;
mod lab;
mod log;
mod plan;

pub use endpoint::TrillianTarget;
pub use lab::TrillianLabHandle;
pub use plan::{TrillianLabPlan, TrillianLieKind};
