//! The Update Framework (specification 1.0, the client workflow of section 5): which file of a repository a client fetches next, and
//! what of it is believed, up to a target. No network and no clock: bodies and the time are arguments. Delegations are read and not
//! followed.

mod canonical;
mod error;
mod file_claim;
mod key;
mod metadata;
mod refresh;
mod role;
mod signed;
mod trusted;
mod walk;

pub use canonical::canonical;
pub use error::TufError;
pub use file_claim::FileClaim;
pub use metadata::{RootMetadata, TargetsMetadata, VersionedMetadata};
pub use refresh::{Refresh, RefreshedTarget};
pub use role::Role;
pub use trusted::Trusted;
pub use walk::{KnownFiles, Walk, WantedFile};
