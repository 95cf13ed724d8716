//! Heads that a log does not prove.

use hammer_measure::Nanos;
use hammer_tlog::logs::follow::Need;

use super::voice::AuditVoice;
use crate::answered_heads::{AnsweredHeads, HeadCounts, JoinedHead};
use crate::messages::UNPROVED_CHECKPOINT;
use crate::refused_proof::{PATIENCE, RefusedProof};
use crate::source::HeadId;
use crate::trouble::Trouble;

/// Heads that the log does not prove, so far: each way of that is told once.
#[derive(Default)]
pub(super) struct ProofWatch {
    refused: RefusedProof,
    /// A head whose proof was none of any tree, in words, and since when.
    doubted: Option<(HeadId, String, Nanos)>,
    /// Why a head could not be joined last, of those that the log refuses to prove.
    refusal: Option<String>,
    /// Whether it was told that heads are not proved to the followed tree, or nobody is told.
    is_told: bool,
    /// Whether nobody expects that the log proves anything here.
    is_tolerant: bool,
    /// How long one of the log's servers may lag behind another, where they do.
    lag: Option<Nanos>,
    /// How many heads were joined, and since when none was.
    joined: (u64, Nanos),
    /// Since when no operation runs any more.
    is_judging_since: Option<Nanos>,
}

impl ProofWatch {
    /// None yet. Of a log of which nobody expects that it can be read here, what is not proved is noted and no more.
    pub(super) fn new(is_tolerant: bool, lag: Option<Nanos>) -> Self {
        Self { is_told: is_tolerant, is_tolerant, lag, ..Self::default() }
    }

    /// Takes how a round proved what the one server of the log served.
    pub(super) fn went(&mut self, need: Option<&Need>, went: &Result<(), Trouble>, voice: &AuditVoice) {
        let refused = self.refused.went(need, went, voice.now());
        refused.into_iter().for_each(|said| voice.breach(UNPROVED_CHECKPOINT, None, said));
    }

    /// Takes why a round could not join a head last, and one that the log is to blame for, in words; none where it is known why.
    pub(super) fn joined(&mut self, refusal: Option<String>, unproved: Option<String>, voice: &AuditVoice) {
        self.refusal = refusal.or(self.refusal.take());
        if let Some(said) = unproved.filter(|_| !std::mem::replace(&mut self.is_told, true)) {
            voice.breach(UNPROVED_CHECKPOINT, None, said);
        }
    }

    /// Of heads that wait, how many are waited for once all operations have ended: those that nobody came to ask for, for a while, and those that
    /// were refused, for as long as one of the log's servers may lag behind another. Of them it is then told that they are not proved.
    pub(super) fn undecided(&mut self, [untried, refused]: [u64; 2], voice: &AuditVoice) -> u64 {
        if self.is_told || self.is_tolerant {
            return 0;
        }
        let now = voice.now();
        let since = match voice.is_judging() {
            true => *self.is_judging_since.get_or_insert(now),
            false => now,
        };
        let of = |heads: u64, most: Nanos| if now.since(since) < most { heads } else { 0 };
        let lag = self.lag.map_or(UNPROVED, |lag| lag.max(PATIENCE));
        of(untried, UNTRIED).saturating_add(of(refused, lag.saturating_add(ROUNDS)))
    }

    /// Takes that what was served as the proof of a head is none of any, in words. It is told later, and of one such head alone: two trees to answer
    /// from may be why, or one answer that was wrong.
    pub(super) fn doubted(&mut self, head: HeadId, said: String, now: Nanos) {
        self.doubted.get_or_insert((head, said, now));
    }

    /// Takes that a head was proved.
    pub(super) fn proved(&mut self, head: HeadId) {
        self.doubted.take_if(|(doubted, ..)| *doubted == head);
    }

    /// Tells the head that has been doubted for so long, unless it was proved, or the log contradicted itself.
    pub(super) fn tell_doubted(
        &mut self,
        answered: &AnsweredHeads,
        (patience, has_contradicted): (Nanos, bool),
        voice: &AuditVoice,
    ) {
        let is_proved = |head| answered.became(head) == JoinedHead::Joined;
        self.doubted.take_if(|(head, ..)| has_contradicted || is_proved(*head));
        let due = self.doubted.take_if(|(_, _, since)| voice.now().since(*since) >= patience);
        if let Some((_, said, _)) = due.filter(|_| !std::mem::replace(&mut self.is_told, true)) {
            voice.breach(UNPROVED_CHECKPOINT, None, said);
        }
    }

    /// Takes how many heads are joined now.
    pub(super) fn counted(&mut self, joined: u64, now: Nanos) {
        if joined != self.joined.0 {
            self.joined = (joined, now);
        }
    }

    /// Tells at the end how many heads were not joined, and why.
    pub(super) fn end(self, answered: &AnsweredHeads, voice: &AuditVoice) {
        let HeadCounts { joined, unjoined, untried } = answered.counts();
        let most = self.lag.map_or(UNPROVED, |lag| lag.max(PATIENCE).min(UNPROVED));
        let now = voice.now();
        // A log that puts off some of its proofs, and gives others, comes to all of them in time.
        let is_stuck = now.since(self.joined.1) >= UNPROVED;
        let unproved = answered.waiting_since(now.0.saturating_sub(most.0), is_stuck);
        if unproved > 0 && !self.is_tolerant {
            voice.observed("heads_unproved", unproved as f64);
        }
        if unjoined > 0 {
            let said = if unjoined == 1 { "checkpoint was" } else { "checkpoints were" };
            let untried = match untried {
                0 => String::new(),
                untried => format!("; of {untried} nobody came to ask for what proves them"),
            };
            let why = self.refusal.map(|why| format!("; the last that was refused: failed to {why}"));
            let beside = format!("not joined to the followed tree, beside {joined} that were");
            voice.note(&format!("{unjoined} {said} {beside}{untried}{}", why.unwrap_or_default()));
        }
    }
}

/// How long heads that nobody came to ask for are waited for.
const UNTRIED: Nanos = Nanos::from_secs(10);

/// What the rounds take in which it shows that one has become too old.
const ROUNDS: Nanos = Nanos::from_secs(2);

/// How long a head may wait for what proves it at the end: whoever was asked last may lag behind whoever served it.
const UNPROVED: Nanos = Nanos::from_secs(10);
