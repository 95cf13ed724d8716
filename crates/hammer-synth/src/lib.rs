//! Deterministic keys, signatures and certificates for load: what is minted is a pure function of a [`Seed`] and a
//! sequence number, byte for byte. It never opens a socket and never reads a clock (times are arguments, in seconds
//! since the Unix epoch); of the file system it reads only the PEM files that a caller names.
//!
//! Read in this order: [`seed`], [`signer`], [`key`], [`validity`], [`profile`], [`authority`], [`chain`].

mod above;
pub mod authority;
pub mod chain;
mod der;
mod error;
mod extension;
pub mod key;
mod leaf;
pub mod minted;
mod name;
mod oid;
mod pem;
pub mod profile;
mod scratch;
pub mod seed;
mod shape;
pub mod signer;
mod spki;
mod subject_key;
mod tbs;
pub mod validity;

pub use authority::{Hierarchy, HierarchySpec, Issuer};
pub use chain::{ChainMinter, FileChains, IssuerSource, MinterSpec};
pub use error::Error;
pub use key::{FileKey, ThrowawayKey};
pub use minted::{Kind, Minted};
pub use pem::write_pem;
pub use profile::{ChainLength, Names, Profile, SubjectKey};
pub use scratch::MintScratch;
pub use seed::Seed;
pub use shape::Shape;
pub use signer::{Algorithm, Signer};
pub use subject_key::SubjectKeyPair;
pub use validity::Validity;
