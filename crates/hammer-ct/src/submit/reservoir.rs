//! Chains that the log has answered, to be submitted again.

use hammer_core::draw::Draws;
use hammer_synth::Minted;

use crate::record::First;

/// A uniform sample, bounded in number and bytes, of the chains that one shard has got SCTs for (Vitter's algorithm R).
#[derive(Debug)]
pub(super) struct Reservoir {
    sample: Vec<Answered>,
    /// Most chains; fewer where they would take too much memory.
    places: usize,
    answered: u64,
    bytes: usize,
    most_bytes: usize,
    draws: Draws,
}

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

impl Reservoir {
    pub(super) fn new(draws: Draws) -> Self {
        Self { sample: Vec::new(), places: PLACES, answered: 0, bytes: 0, most_bytes: BYTES, draws }
    }

    /// Takes the chain into the sample, or not; `chain` is left with other buffers.
    pub(super) fn keep(&mut self, chain: &mut Minted, timestamp_ms: u64, extensions: &[u8]) {
        self.answered += 1;
        let place = match self.sample.len() < self.places {
            true => {
                let empty = Answered::default();
                self.bytes += empty.weight();
                self.sample.push(empty);
                self.sample.len() - 1
            }
            false => (self.draws.bits(self.answered) % self.answered) as usize,
        };
        let Some(kept) = self.sample.get_mut(place) else { return };
        self.bytes -= kept.weight();
        std::mem::swap(&mut kept.chain, chain);
        kept.promised.set(timestamp_ms, extensions);
        self.bytes += kept.weight();
        self.make_room();
    }

    /// The chain that the duplicate `seq` repeats; none while nothing was answered.
    pub(super) fn draw(&self, seq: u64) -> Option<&Answered> {
        let place = self.draws.bits(!seq).checked_rem(self.sample.len() as u64)?;
        self.sample.get(place as usize)
    }

    fn make_room(&mut self) {
        while self.bytes > self.most_bytes && self.sample.len() > 1 {
            let place = self.draws.bits(self.answered) % self.sample.len() as u64;
            self.bytes -= self.sample.swap_remove(place as usize).weight();
            self.places = self.sample.len();
        }
    }
}

impl Answered {
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

    fn reservoir(places: usize) -> Reservoir {
        Reservoir { places, ..Reservoir::new(Draws::new(1, 2)) }
    }

    /// Answers the chains `0..count`, each with its seq as timestamp.
    fn answer(reservoir: &mut Reservoir, minter: &ChainMinter, count: u64) {
        let mut chain = Minted::new();
        for seq in 0..count {
            minter.mint(seq, &mut MintScratch::new(), &mut chain);
            reservoir.keep(&mut chain, seq, &seq.to_be_bytes());
        }
    }

    #[test]
    fn nothing_is_drawn_while_nothing_was_answered_and_then_only_what_was() {
        let (minter, mut reservoir) = (minter(), reservoir(8));
        assert!(reservoir.draw(0).is_none());
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
    }

    #[test]
    fn early_and_late_answers_are_drawn_alike() {
        let minter = minter();
        let mut early = 0;
        for run in 0..40 {
            let mut reservoir = Reservoir { draws: Draws::new(run, 2), ..reservoir(16) };
            answer(&mut reservoir, &minter, 64);
            early += reservoir.sample.iter().filter(|kept| kept.chain.seq() < 32).count();
        }
        // Half of 640, within five standard deviations.
        assert!((257..384).contains(&early), "{early}");
    }

    #[test]
    fn the_sample_stays_below_its_bytes() {
        let (minter, mut reservoir) = (minter(), reservoir(1000));
        answer(&mut reservoir, &minter, 10);
        reservoir.most_bytes = reservoir.bytes;
        answer(&mut reservoir, &minter, 300);
        let held: usize = reservoir.sample.iter().map(Answered::weight).sum();
        assert_eq!(held, reservoir.bytes);
        assert!(held <= reservoir.most_bytes && (5..=12).contains(&reservoir.sample.len()), "{held}");
    }
}
