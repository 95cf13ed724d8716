use std::collections::VecDeque;
use std::rc::Rc;

use hammer_core::runtime::Clock;
use hammer_measure::Nanos;
use hammer_tlog::hash::{Hash, sha256};

use super::voice::AuditVoice;
use crate::answer_bound::AnswerBound;
use crate::inspector::NEXT_LOOK;
use crate::reader::AuditReader;
use crate::source::LogSource;

/// What audited entries refer to, and the log has to serve beside them: issuers by their fingerprints. One that is not served is told
/// once a later look finds it so as well.
#[derive(Default)]
pub(super) struct ReferenceWatch {
    waiting: VecDeque<Reference>,
}

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

    /// Asks for some of those that were not asked for, or were not served a look ago.
    pub(super) async fn ask<L: LogSource>(&mut self, reader: &AuditReader<L>, voice: &AuditVoice) {
        for _ in 0..self.waiting.len().min(AT_ONCE) {
            let Some(Reference { hash, missed }) = self.waiting.pop_front() else { return };
            let is_early = missed.is_some_and(|since| voice.now().since(since) < NEXT_LOOK);
            let Some(path) = reader.log().reference_path(&hash) else { continue };
            if is_early {
                self.waiting.push_back(Reference { hash, missed });
                continue;
            }
            match reader.found(&path, AnswerBound::ISSUER).await {
                Ok(Some(bytes)) if sha256(&bytes) == hash => {}
                Ok(Some(_)) => voice.breach(ALTERED_ISSUER, None, format!("{path} is another certificate")),
                Ok(None) if missed.is_some() => {
                    voice.breach(MISSING_ISSUER, None, format!("{path} is not served"));
                }
                Ok(None) => self.waiting.push_back(Reference { hash, missed: Some(voice.now()) }),
                Err(_) => self.waiting.push_back(Reference { hash, missed }),
            }
        }
    }

    /// Asks a last time for those that were not served a moment ago.
    pub(super) async fn at_last<L: LogSource>(
        &mut self,
        reader: &AuditReader<L>,
        clock: &Rc<dyn Clock>,
        voice: &AuditVoice,
    ) {
        if let Some(since) = self.waiting.iter().filter_map(|reference| reference.missed).max() {
            clock.sleep_until(since.saturating_add(NEXT_LOOK)).await;
            self.ask(reader, voice).await;
        }
    }
}

/// References that are asked for in one round.
const AT_ONCE: usize = 16;
const ALTERED_ISSUER: &str = "altered-issuer";
const MISSING_ISSUER: &str = "missing-issuer";
