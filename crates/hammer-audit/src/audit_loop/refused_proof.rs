//! Consistency proofs that a log refuses.

use hammer_measure::Nanos;
use hammer_tlog::logs::follow::Need;

use super::voice::AuditVoice;
use crate::messages::UNPROVED_CHECKPOINT;
use crate::trouble::Trouble;

/// A consistency proof that the log refuses, although it served the head that it would prove.
#[derive(Default)]
pub(super) struct RefusedProof {
    /// The proof, and since when.
    since: Option<(Need, Nanos)>,
    is_told: bool,
}

impl RefusedProof {
    /// Takes how a round proved what it needed: tells what the log refuses for longer than one of its servers lags behind another, once.
    pub(super) fn went(&mut self, need: Option<&Need>, went: &Result<(), Trouble>, voice: &AuditVoice) {
        let refusal = went.as_ref().err().filter(|why| why.is_refusal());
        let (Some(need @ Need::ConsistencyProof { first, second, .. }), Some(why)) = (need, refusal) else {
            self.since = None;
            return;
        };
        let now = voice.now();
        let since = match &self.since {
            Some((refused, since)) if refused == need => *since,
            _ => now,
        };
        self.since = Some((need.clone(), since));
        if !self.is_told && now.since(since) >= PATIENCE {
            self.is_told = true;
            let detail = format!(
                "a head of {second} leaves is not proved to continue one of {first}, by the log that serves it: failed to {why}, for {:.1} s",
                now.since(since).as_secs_f64()
            );
            voice.breach(UNPROVED_CHECKPOINT, None, detail);
        }
    }
}

/// Longer than servers behind one URL lag behind each other.
const PATIENCE: Nanos = Nanos::from_secs(2);
