//! What an audit tells, under the name of its log.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use hammer_core::observe::ObservationSink;
use hammer_core::runtime::Clock;
use hammer_measure::Nanos;
use hammer_measure::promise::Breach;

use crate::messages::{MISSING_TILE, UNPROVED_CHECKPOINT};
use crate::unnamed_faults::UnnamedFaults;

/// Tells what an audit finds, under the name of its log.
pub(super) struct AuditVoice {
    name: String,
    sink: ObservationSink,
    clock: Rc<dyn Clock>,
    unnamed: UnnamedFaults,
    /// Whether nobody expects that the log can be read here.
    is_tolerant: bool,
    /// What was noted of such a log, by kind.
    noted: RefCell<BTreeSet<String>>,
    /// How much was said to be undecided last.
    undecided: u64,
}

impl AuditVoice {
    pub(super) fn new(name: String, sink: ObservationSink, clock: Rc<dyn Clock>, is_tolerant: bool) -> Self {
        let (unnamed, noted, undecided) = Default::default();
        Self { name, sink, clock, unnamed, is_tolerant, noted, undecided }
    }

    pub(super) fn now(&self) -> Nanos {
        self.clock.now()
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn sink(&self) -> &ObservationSink {
        &self.sink
    }

    /// Whether every operation of the run has ended.
    pub(super) fn is_judging(&self) -> bool {
        self.sink.is_judging()
    }

    /// Whether nobody expects that the log can be read here.
    pub(super) fn is_tolerant(&self) -> bool {
        self.is_tolerant
    }

    /// Says that so much of what was seen cannot be judged yet, and is waited for.
    pub(super) fn undecided(&mut self, now: u64) {
        self.sink.undecided(std::mem::replace(&mut self.undecided, now), now);
    }

    pub(super) fn note(&self, text: &str) {
        self.sink.note(self.now(), format!("{}: {text}", self.name));
    }

    pub(super) fn observed(&self, name: &str, value: f64) {
        self.sink.observed(name, self.now(), value);
    }

    /// A promise to everyone that is broken. What is not served to us where nobody expects that anything is proves nothing of the log, and is noted,
    /// each kind once.
    pub(super) fn breach(&self, kind: &str, index: Option<u64>, detail: String) {
        if self.is_tolerant && [MISSING_TILE, UNPROVED_CHECKPOINT].contains(&kind) {
            if self.noted.borrow_mut().insert(kind.to_owned()) {
                self.note(&format!("{detail}, to a run that audits nothing"));
            }
            return;
        }
        let (workload, kind) = (self.name.clone(), kind.to_owned());
        self.sink.breach(self.now(), Breach { workload, seq: None, kind, index, detail });
    }

    /// What is served wrong to everyone: at once, unless a verdict may yet name it with its submission.
    pub(super) fn wrong(&mut self, kind: &'static str, index: Option<u64>, detail: String) {
        match index {
            Some(_) => self.unnamed.push(self.now(), kind, index, detail),
            None => self.breach(kind, index, detail),
        }
    }

    /// What is wrong with a single answer: later, since the log may yet show that it has two trees to answer from.
    pub(super) fn doubted(&mut self, kind: &'static str, detail: String) {
        self.unnamed.push(self.now(), kind, None, detail);
    }

    /// Takes that a verdict names this.
    pub(super) fn named(&mut self, kind: &str, index: Option<u64>) {
        self.unnamed.named(kind, index);
    }

    /// Tells what no verdict has named for so long. Of a log that contradicted itself how much that is, and no more: what is read of two trees by
    /// turns is of neither.
    pub(super) fn unnamed(&mut self, patience: Nanos, has_contradicted: bool) {
        let unnamed = self.unnamed.older(self.now(), patience);
        if has_contradicted {
            if !unnamed.is_empty() {
                let count = unnamed.len();
                self.note(&format!(
                    "{count} proofs, hashes and entries that are not of its tree are not told one by one"
                ));
            }
            return;
        }
        for (kind, index, detail) in unnamed {
            self.breach(kind, index, detail);
        }
    }
}
