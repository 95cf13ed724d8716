//! What is drawn for a chain: pure functions of (seed, stream, seq), of a few nanoseconds.

use super::minter::MinterSpec;
use crate::minted::Kind;
use crate::seed::Seed;
use crate::validity::Validity;

/// The draws of one minter.
#[derive(Debug)]
pub(crate) struct ChainDraw {
    keys: [u64; 4],
    precert_percent: u64,
    precert_signing_percent: u64,
    validity: Validity,
}

impl ChainDraw {
    pub(super) fn new(leaf_seed: &Seed, spec: &MinterSpec) -> Self {
        Self {
            keys: [0, 1, 2, 3].map(|place| number(&leaf_seed.derive("draw", place))),
            precert_percent: spec.precert_percent.into(),
            precert_signing_percent: spec.precert_signing_percent.into(),
            validity: spec.validity,
        }
    }

    /// A number below the sum of the profiles' weights.
    pub(super) fn weight(&self, seq: u64, total: u64) -> u64 {
        self.bits(0, seq) % total
    }

    pub(super) fn kind(&self, seq: u64) -> Kind {
        match self.bits(1, seq) % 100 < self.precert_percent {
            true => Kind::Precert,
            false => Kind::X509,
        }
    }

    /// Whether a Precertificate Signing Certificate signs, where it is a precertificate.
    pub(super) fn by_signing_certificate(&self, seq: u64) -> bool {
        self.bits(2, seq) % 100 < self.precert_signing_percent
    }

    pub(super) fn not_after(&self, seq: u64) -> u64 {
        self.validity.not_after_by(self.bits(3, seq))
    }

    pub(super) fn validity(&self) -> Validity {
        self.validity
    }

    /// The finaliser of SplitMix64 (Steele, Lea and Flood, 2014).
    fn bits(&self, draw: usize, seq: u64) -> u64 {
        let value = self.keys[draw].wrapping_add(seq.wrapping_mul(GOLDEN));
        let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        value ^ (value >> 31)
    }
}

fn number(bytes: &[u8; 32]) -> u64 {
    bytes[..8].iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte))
}

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
