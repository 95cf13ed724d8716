//! Consistency proofs that a log does not give.

use hammer_measure::Nanos;
use hammer_tlog::logs::follow::Need;

use crate::trouble::Trouble;

/// A consistency proof that the log does not give, although it served the head that it would prove.
#[derive(Default)]
pub(crate) struct RefusedProof {
    /// The proof, and since when.
    since: Option<(Need, Nanos)>,
    is_told: bool,
}

impl RefusedProof {
    /// Takes how a look that has ended now proved what it needed: what the log refuses, or answers with what is no proof, for longer than one of
    /// its servers lags behind another, in words. They are given once.
    pub(crate) fn went(
        &mut self,
        need: Option<&Need>,
        went: &Result<(), Trouble>,
        now: Nanos,
    ) -> Option<String> {
        let refusal = went.as_ref().err().filter(|why| why.is_withheld());
        let (Some(need @ Need::ConsistencyProof { first, second, .. }), Some(why)) = (need, refusal) else {
            self.since = None;
            return None;
        };
        let since = match &self.since {
            Some((refused, since)) if refused == need => *since,
            _ => now,
        };
        self.since = Some((need.clone(), since));
        if self.is_told || now.since(since) < PATIENCE {
            return None;
        }
        self.is_told = true;
        Some(format!(
            "a head of {second} leaves is not proved to continue one of {first}, by the log that serves it: failed to {why}, for {:.1} s",
            now.since(since).as_secs_f64()
        ))
    }
}

/// Longer than servers behind one URL lag behind each other.
pub(crate) const PATIENCE: Nanos = Nanos::from_secs(2);
