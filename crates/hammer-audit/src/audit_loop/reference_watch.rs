//! What the entries of a log refer to.

use std::collections::VecDeque;
use std::rc::Rc;

use hammer_core::runtime::Clock;
use hammer_measure::Nanos;
use hammer_tlog::hash::{Hash, sha256};

use super::voice::AuditVoice;
use crate::answer_bound::AnswerBound;
use crate::inspector::NEXT_LOOK;
use crate::messages::altered_issuer;
use crate::reader::AuditReader;
use crate::source::LogSource;

/// What audited entries refer to, and the log has to serve beside them: issuers by their fingerprints. One that is not served is told
/// once a later look finds it so as well.
#[derive(Default)]
pub(super) struct ReferenceWatch {
    waiting: VecDeque<Reference>,
}

#[derive(Clone, Copy)]
struct Reference {
    hash: Hash,
    /// Since when it is not served.
    missed: Option<Nanos>,
}

impl ReferenceWatch {
    /// Takes what was met for the first time.
    pub(super) fn met(&mut self, fresh: Vec<Hash>) {
        self.waiting.extend(fresh.into_iter().map(|hash| Reference { hash, missed: None }));
    }

    /// Asks for some of those that were not asked for, or were not served a look ago; whether what was asked for could be told. Whichever is
    /// asked for stays where it is meanwhile: a round may be cut off there.
    pub(super) async fn ask<L: LogSource>(&mut self, reader: &AuditReader<L>, voice: &AuditVoice) -> bool {
        for _ in 0..self.waiting.len().min(AT_ONCE) {
            let Some(&Reference { hash, missed }) = self.waiting.front() else { break };
            let Some(path) = reader.log().reference_path(&hash) else {
                self.waiting.pop_front();
                continue;
            };
            if missed.is_some_and(|since| voice.now().since(since) < NEXT_LOOK) {
                self.waiting.rotate_left(1);
                continue;
            }
            let Ok(found) = reader.found(&path, AnswerBound::ISSUER).await else {
                // It is asked for again in the next round, behind the others.
                self.waiting.rotate_left(1);
                return false;
            };
            self.waiting.pop_front();
            match found {
                Some(bytes) if sha256(&bytes) == hash => {}
                Some(bytes) => voice.breach(ALTERED_ISSUER, None, altered_issuer(&path, &bytes)),
                None if missed.is_some() => {
                    voice.breach(MISSING_ISSUER, None, format!("{path} is not served"));
                }
                None => self.waiting.push_back(Reference { hash, missed: Some(voice.now()) }),
            }
        }
        true
    }

    /// Asks a last time for those that were not asked for, or were not served a moment ago, each as soon as that is a look ago.
    pub(super) async fn at_last<L: LogSource>(
        &mut self,
        reader: &AuditReader<L>,
        clock: &Rc<dyn Clock>,
        voice: &AuditVoice,
    ) {
        let mut failed = 0;
        while let Some(at) = self.next_look() {
            clock.sleep_until(at).await;
            if !self.ask(reader, voice).await {
                failed += 1;
                if failed > LATER_LOOKS {
                    return;
                }
                clock.sleep_until(clock.now().saturating_add(NEXT_LOOK)).await;
            }
        }
    }

    /// When the first of them may be asked for.
    fn next_look(&self) -> Option<Nanos> {
        let at = |missed: Option<Nanos>| missed.map_or(Nanos::ZERO, |since| since.saturating_add(NEXT_LOOK));
        self.waiting.iter().map(|reference| at(reference.missed)).min()
    }

    /// Says what could not be told of.
    pub(super) fn end<L: LogSource>(self, reader: &AuditReader<L>, voice: &AuditVoice) {
        let now = voice.now();
        let (missed, unasked): (Vec<_>, Vec<_>) =
            self.waiting.into_iter().partition(|reference| reference.missed.is_some());
        for Reference { hash, missed } in missed {
            let Some((path, since)) = reader.log().reference_path(&hash).zip(missed) else { continue };
            let seconds = now.since(since).as_secs_f64();
            voice.note(&format!("{path} is not served, since {seconds:.1} s: too late in the run to tell"));
        }
        if !unasked.is_empty() {
            voice.observed("issuers_unread", unasked.len() as f64);
            voice.note(&format!("{} issuers of audited entries were not read to the end", unasked.len()));
        }
    }
}

/// Looks after one that failed at the end.
const LATER_LOOKS: u32 = 2;
/// References that are asked for in one round.
const AT_ONCE: usize = 16;
const ALTERED_ISSUER: &str = "altered-issuer";
const MISSING_ISSUER: &str = "missing-issuer";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_look_is_for_the_first_of_those_that_wait() {
        let mut watch = ReferenceWatch::default();
        assert_eq!(watch.next_look(), None);
        let missed = |second| Reference { hash: Hash([1; 32]), missed: Some(Nanos::from_secs(second)) };
        watch.waiting.extend([missed(5), missed(3), missed(9)]);
        assert_eq!(watch.next_look(), Some(Nanos::from_secs(3).saturating_add(NEXT_LOOK)));
        watch.met(vec![Hash([2; 32])]);
        assert_eq!(watch.next_look(), Some(Nanos::ZERO));
    }
}
