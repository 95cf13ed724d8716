//! Which of the two submissions a seq is, known before its chain is there.

use hammer_synth::{FileChains, Kind, Minted, MinterSpec, Seed};

/// The draw that [`hammer_synth::ChainMinter`] makes, without the chain.
#[derive(Debug)]
pub(super) enum KindDraw {
    All(Kind),
    Share { leaves: Seed, precert_percent: u64 },
    Cycle(Vec<Kind>),
}

impl KindDraw {
    pub(super) fn of_minter(spec: &MinterSpec) -> Self {
        match spec.precert_percent {
            0 => Self::All(Kind::X509),
            share @ 1..100 => {
                Self::Share { leaves: spec.seed.child("leaves", spec.stream), precert_percent: share.into() }
            }
            100.. => Self::All(Kind::Precert),
        }
    }

    pub(super) fn of_files(files: &FileChains) -> Self {
        let mut chain = Minted::new();
        let kinds = (0..files.len() as u64).map(|place| {
            files.write(place, &mut chain);
            chain.kind()
        });
        Self::Cycle(kinds.collect())
    }

    pub(super) fn kind_of(&self, seq: u64) -> Kind {
        match self {
            Self::All(kind) => *kind,
            Self::Share { leaves, precert_percent } => {
                let draw = leaves.derive("chain", seq);
                let number = draw[8..16].iter().fold(0_u64, |sum, byte| sum << 8 | u64::from(*byte));
                if number % 100 < *precert_percent { Kind::Precert } else { Kind::X509 }
            }
            Self::Cycle(kinds) => kinds[(seq % kinds.len() as u64) as usize],
        }
    }
}
