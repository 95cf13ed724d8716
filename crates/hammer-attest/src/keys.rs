//! What results are signed with: the keys that discovery documents showed, which may change while a run lasts.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hammer_measure::Nanos;
use hammer_rats::{EarError, EarVerifier, VerificationKey};

/// The keys of results. Verifier threads read them, and whoever watches the documents adds to them: frontends of one service may change
/// theirs one after another, so that none is forgotten.
#[derive(Debug, Default)]
pub struct VerificationKeys {
    seen: Mutex<SeenKeys>,
    /// How often something changed, so that readers need not look.
    generation: AtomicU64,
    /// A result was signed by none of them.
    is_asked_for: AtomicBool,
}

#[derive(Debug, Default)]
struct SeenKeys {
    keys: Vec<(VerificationKey, Arc<EarVerifier>)>,
    /// The instant of which all documents were read: they show each key that was in use by then.
    read_at: Option<Nanos>,
}

/// The keys as a verifier thread knows them.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownKeys {
    generation: u64,
    /// The newest last.
    pub(crate) keys: Vec<Arc<EarVerifier>>,
    pub(crate) read_at: Option<Nanos>,
}

impl VerificationKeys {
    /// Adds the key of a document; says whether it is another one than those before.
    ///
    /// # Errors
    /// When it is no key of ES256.
    pub fn add(&self, key: &VerificationKey) -> Result<bool, EarError> {
        if self.held().keys.iter().any(|(known, _)| known == key) {
            return Ok(false);
        }
        // Made outside of the lock, since it takes a while.
        let verifier = Arc::new(EarVerifier::new(key)?);
        let mut held = self.held();
        if held.keys.len() == MOST_KEYS {
            held.keys.remove(0);
        }
        held.keys.push((key.clone(), verifier));
        drop(held);
        self.changed();
        Ok(true)
    }

    /// All documents were read again, as they were `at` that instant or later.
    pub(crate) fn read_at(&self, at: Nanos) {
        let mut held = self.held();
        held.read_at = held.read_at.max(Some(at));
        drop(held);
        self.changed();
    }

    /// Has the documents read again.
    pub(crate) fn ask(&self) {
        self.is_asked_for.store(true, Ordering::Relaxed);
    }

    /// Whether they are to be read again, asked once.
    pub(crate) fn take_request(&self) -> bool {
        self.is_asked_for.swap(false, Ordering::Relaxed)
    }

    /// Brings what a thread knows up to date.
    pub(crate) fn refresh(&self, known: &mut KnownKeys) {
        let generation = self.generation.load(Ordering::Acquire);
        if known.generation == generation {
            return;
        }
        let held = self.held();
        known.keys.clear();
        known.keys.extend(held.keys.iter().map(|(_, verifier)| verifier.clone()));
        (known.generation, known.read_at) = (generation, held.read_at);
    }

    fn changed(&self) {
        // Who sees the number sees the keys: they are behind a lock of their own.
        self.generation.fetch_add(1, Ordering::Release);
    }

    /// What is behind the lock is added to by single pushes, so that a panic elsewhere leaves nothing halfway.
    fn held(&self) -> MutexGuard<'_, SeenKeys> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Each has a table of its own: a document that shows another key each time must not fill the memory.
const MOST_KEYS: usize = 16;
