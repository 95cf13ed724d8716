//! What an entry has beside its leaf.

use crate::hash::sha256;

/// What stands beside a leaf in its entry and is not hashed into it, as digests that are held against those of what was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Beside {
    /// Of the certificates above it: the start of a hash over the SHA-256 of each, in order; 0 where it is not known.
    chain: u64,
    /// Of the precertificate: the start of its SHA-256; 0 where there is none.
    precertificate: u64,
}

/// What of it is not what was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BesideFault {
    /// The certificates above the leaf: others, more or fewer, or in another order.
    Chain,
    /// The precertificate.
    Precertificate,
}

impl Beside {
    /// Of the digest over the fingerprints of the chain ([`Beside::digest`]), and of the precertificate, where there is one.
    pub fn of(chain: [u8; 32], precertificate: Option<&[u8]>) -> Self {
        let precertificate = precertificate.map_or(0, |precertificate| start(sha256(precertificate).0));
        Self { chain: start(chain), precertificate }
    }

    /// The digest over fingerprints, from the issuer's up.
    pub fn digest(fingerprints: &[[u8; 32]]) -> [u8; 32] {
        sha256(fingerprints.as_flattened()).0
    }

    /// Holds what is served against what was sent.
    pub(super) fn differs(&self, served: &Self) -> Option<BesideFault> {
        match () {
            () if self.precertificate != served.precertificate => Some(BesideFault::Precertificate),
            () if self.chain != served.chain => Some(BesideFault::Chain),
            () => None,
        }
    }

    pub(super) fn encode(self) -> [u8; Self::LENGTH] {
        let mut bytes = [0; Self::LENGTH];
        bytes[..8].copy_from_slice(&self.chain.to_be_bytes());
        bytes[8..].copy_from_slice(&self.precertificate.to_be_bytes());
        bytes
    }

    pub(super) fn decode(bytes: &[u8; Self::LENGTH]) -> Self {
        let number = |at: usize| bytes[at..at + 8].iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
        Self { chain: number(0), precertificate: number(8) }
    }

    pub(super) const LENGTH: usize = 16;
}

fn start(hash: [u8; 32]) -> u64 {
    hash[..8].iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_certificate_number_or_order_and_another_precertificate_differ() {
        let of = |chain: &[u8], precert: Option<&[u8]>| {
            Beside::of(Beside::digest(&chain.iter().map(|byte| [*byte; 32]).collect::<Vec<_>>()), precert)
        };
        let sent = of(&[1, 2], Some(b"precert"));
        assert_eq!(Beside::decode(&sent.encode()), sent);
        for (served, fault) in [
            (sent, None),
            (of(&[2, 1], Some(b"precert")), Some(BesideFault::Chain)),
            (of(&[1], Some(b"precert")), Some(BesideFault::Chain)),
            (of(&[1, 2, 3], Some(b"precert")), Some(BesideFault::Chain)),
            (of(&[1, 2], Some(b"precerT")), Some(BesideFault::Precertificate)),
            (of(&[1, 2], None), Some(BesideFault::Precertificate)),
        ] {
            assert_eq!(sent.differs(&served), fault);
        }
    }
}
