//! Chains: what is minted for a seq, and what is taken from files.

mod files;
mod minter;

pub use files::FileChains;
pub use minter::{ChainMinter, IssuerSource, MinterSpec};
