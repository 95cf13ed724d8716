//! A Certificate Transparency log that really does the work: it validates chains from bytes alone, keeps a Merkle
//! tree, and serves static-ct-api and RFC 6962 reads over the same tree.
//!
//! Submissions behave like TesseraCT v0.1.1 (flavour `static-ct`) or like ct_server 1.3.2 (flavour `rfc6962`: answers
//! at once, without an index). Whatever the log states outwards is made in one place: SCTs in `submit`, checkpoints
//! and tree heads in `log::checkpoint`, tiles and bundles in `read`.
//! Where its plan says so it lies, in those places and nowhere else, and keeps a list of what it lied about (`lies`).
//!
//! Beside it a target that records what it is sent, validates nothing and answers with good SCTs (`recording`).

mod chain;
mod endpoint;
mod entry;
mod key;
mod lab;
mod lies;
mod log;
mod plan;
mod read;
pub mod recording;
mod signature;
mod submit;
mod unreadable;

pub use crate::told_lie::{LieKind, ToldLie};
pub use chain::{ChainRefusal, Validator};
pub use endpoint::CtTarget;
pub use lab::CtLabHandle;
pub use plan::{
    CtLabPlan, Flavour,
    config::{KeySource, LogConfig},
    kept_entries::KeptEntries,
    lie::Lie,
};
