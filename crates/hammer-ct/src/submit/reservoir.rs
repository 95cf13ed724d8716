//! Chains that the log has answered, to be submitted again.

use hammer_core::draw::Draws;
use hammer_core::sample::{Reservoir, Sampled};
use hammer_synth::Minted;

use crate::record::First;

/// A chain, and what the log promised for it.
#[derive(Debug, Default)]
pub(super) struct Answered {
    pub(super) chain: Minted,
    pub(super) promised: Promised,
}

/// What of an SCT its duplicates have to repeat.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Promised {
    timestamp_ms: u64,
    extensions: Vec<u8>,
}

/// The sample of a shard, by the workload's own draws.
pub(super) fn reservoir(draws: Draws) -> Reservoir<Answered> {
    Reservoir::new(PLACES, BYTES, draws)
}

impl Answered {
    /// Takes the chain, which is left with other buffers.
    pub(super) fn keep(&mut self, chain: &mut Minted, timestamp_ms: u64, extensions: &[u8]) {
        std::mem::swap(&mut self.chain, chain);
        self.promised.set(timestamp_ms, extensions);
    }
}

impl Sampled for Answered {
    fn weight(&self) -> usize {
        size_of::<Self>() + self.chain.capacity() + self.promised.extensions.capacity()
    }
}

impl Promised {
    fn set(&mut self, timestamp_ms: u64, extensions: &[u8]) {
        self.timestamp_ms = timestamp_ms;
        self.extensions.clear();
        self.extensions.extend_from_slice(extensions);
    }

    /// Becomes what `other` says.
    pub(super) fn copy_from(&mut self, other: &Self) {
        self.set(other.timestamp_ms, &other.extensions);
    }

    /// As a record tells it, for the submission `seq`.
    pub(super) fn of(&self, seq: u64) -> First<'_> {
        First { seq, timestamp_ms: self.timestamp_ms, extensions: &self.extensions }
    }
}

const PLACES: usize = 2048;
const BYTES: usize = 8 << 20;

#[cfg(test)]
mod tests {
    use hammer_synth::{
        Algorithm, ChainMinter, HierarchySpec, IssuerSource, MintScratch, MinterSpec, Profile, Seed, Validity,
    };

    use super::*;

    fn minter() -> ChainMinter {
        let validity = Validity::new(0, 4_000_000_000).unwrap();
        let issuer = HierarchySpec { algorithm: Algorithm::Ed25519, depth: 2, validity };
        let spec = MinterSpec {
            seed: Seed::from_u64(1),
            stream: 0,
            issuer: IssuerSource::Derived(issuer),
            mix: vec![(Profile::DV, 1)],
            validity,
            precert_percent: 0,
            precert_signing_percent: 0,
            with_root: false,
        };
        ChainMinter::new(&spec).unwrap()
    }

    /// Answers the chains `0..count`, each with its seq as timestamp.
    fn answer(reservoir: &mut Reservoir<Answered>, minter: &ChainMinter, count: u64) {
        let mut chain = Minted::new();
        for seq in 0..count {
            minter.mint(seq, &mut MintScratch::new(), &mut chain);
            reservoir.offer(|kept| kept.keep(&mut chain, seq, &seq.to_be_bytes()));
        }
    }

    #[test]
    fn a_chain_that_is_drawn_comes_with_what_the_log_promised_for_it() {
        let (minter, mut reservoir) = (minter(), Reservoir::new(8, BYTES, Draws::new(1, 2)));
        answer(&mut reservoir, &minter, 100);
        let mut expected = Minted::new();
        for seq in 0..50 {
            let drawn = reservoir.draw(seq).unwrap();
            minter.mint(drawn.chain.seq(), &mut MintScratch::new(), &mut expected);
            assert!(drawn.chain.certificates().eq(expected.certificates()));
            let drawn_seq = drawn.chain.seq();
            let extensions = &drawn_seq.to_be_bytes();
            let first = First { seq: drawn_seq, timestamp_ms: drawn_seq, extensions };
            assert_eq!(drawn.promised.of(drawn_seq), first);
        }
        let held: usize = reservoir.iter().map(Answered::weight).sum();
        assert_eq!(held, reservoir.bytes(), "what chains hold is known");
    }
}
