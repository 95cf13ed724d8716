//! Promises that a server made, on their way to the threads that check them, and what became of them. Checks never run on a shard.

mod fault;
mod ledger;
mod pool;
mod sender;
mod transport;
mod verdicts;
mod verifier;

pub use fault::Fault;
pub use ledger::{PromiseKind, PromiseLedger};
pub use pool::{RingSender, VerifierWork, VerifyPool};
pub use sender::PromiseSender;
pub use transport::frame::PromiseRecord;
pub use transport::records::Records;
pub use verdicts::{BrokenPromise, Finding, Verdicts};
pub use verifier::Verifier;
