//! What verification said of devices, counted: by the word of the result, whichever was expected.

use std::sync::atomic::{AtomicU64, Ordering};

use hammer_rats::TrustTier;

/// How often each word was said, by results whose signature holds. Verifiers add, and whoever watches reads.
#[derive(Debug, Default)]
pub struct ResultCounts([AtomicU64; TIERS.len()]);

impl ResultCounts {
    /// One more.
    pub(crate) fn add(&self, tier: TrustTier) {
        // A count, and nothing is read because of it.
        self.0[tier as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// The words that results say, with how often each was said.
    pub fn all(&self) -> impl Iterator<Item = (TrustTier, u64)> {
        TIERS.into_iter().map(|tier| (tier, self.0[tier as usize].load(Ordering::Relaxed)))
    }
}

/// In the order of the variants.
const TIERS: [TrustTier; 4] =
    [TrustTier::None, TrustTier::Affirming, TrustTier::Warning, TrustTier::Contraindicated];
