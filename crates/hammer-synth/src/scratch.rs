//! What minting keeps from one chain to the next.

use hammer_p256::{KeyBlocks, NonceBlocks};

/// What a thread that mints holds on to: the parts of the walks of nonces and subject keys that it is in (up to 0.25 MB, for
/// all minters that it mints with), and buffers. What is minted does not depend on it.
#[derive(Debug, Default)]
pub struct MintScratch {
    pub(crate) nonces: NonceBlocks,
    pub(crate) keys: KeyBlocks,
    pub(crate) subject_key: Vec<u8>,
    pub(crate) signature: Vec<u8>,
}

impl MintScratch {
    /// For all seqs in some order.
    pub fn new() -> Self {
        Self::default()
    }

    /// For one of n threads, each of which mints every n-th seq.
    pub fn of_one_among(threads: usize) -> Self {
        let stride = threads as u64;
        Self { nonces: NonceBlocks::striding(stride), keys: KeyBlocks::striding(stride), ..Self::default() }
    }
}
