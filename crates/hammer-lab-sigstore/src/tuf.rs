//! An embedded TUF repository (The Update Framework, specification 1.0), as go-tuf makes one: Ed25519, consistent snapshots.

mod plan;
mod repository;
mod target;

pub use plan::{TufLabPlan, TufLieKind};
pub use target::{TufConfig, TufLabHandle, TufTarget};
