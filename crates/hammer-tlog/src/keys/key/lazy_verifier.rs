//! The verifier of a P-256 key, made when the key is first needed.

use std::fmt;
use std::sync::{Arc, OnceLock};

use hammer_p256::FixedKeyVerifier;

/// A verifier that clones share. Its first verification takes a millisecond or two more, for a table of 850 KB; until
/// then it takes no memory.
#[derive(Clone, Default)]
pub(super) struct LazyVerifier {
    /// None inside where the key is no point of the curve: such a key verifies nothing.
    made: Arc<OnceLock<Option<FixedKeyVerifier>>>,
}

impl LazyVerifier {
    /// Whether `signature` (DER) is that of `key` over a digest of 32 bytes. All calls have to name the same key.
    pub(super) fn verify(&self, key: &[u8], digest: &[u8; 32], signature: &[u8]) -> bool {
        self.of(key).is_some_and(|verifier| verifier.verify(digest, signature))
    }

    /// The verifier of `key`; none if it is no point of the curve.
    pub(super) fn of(&self, key: &[u8]) -> Option<&FixedKeyVerifier> {
        self.made.get_or_init(|| FixedKeyVerifier::new(key)).as_ref()
    }
}

impl fmt::Debug for LazyVerifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LazyVerifier").field("made", &self.made.get().is_some()).finish()
    }
}
