//! Chains: what is minted for a seq, and what is taken from files.

mod draw;
mod files;
mod minter;

pub use files::FileChains;
pub use minter::{ChainMinter, IssuerSource, MinterSpec};
