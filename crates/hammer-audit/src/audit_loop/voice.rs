use std::rc::Rc;

use hammer_core::observe::ObservationSink;
use hammer_core::runtime::Clock;
use hammer_measure::Nanos;
use hammer_measure::promise::Breach;

use crate::unnamed_faults::UnnamedFaults;

/// Tells what an audit finds, under the name of its log.
pub(super) struct AuditVoice {
    name: String,
    sink: ObservationSink,
    clock: Rc<dyn Clock>,
    unnamed: UnnamedFaults,
}

impl AuditVoice {
    pub(super) fn new(name: String, sink: ObservationSink, clock: Rc<dyn Clock>) -> Self {
        Self { name, sink, clock, unnamed: UnnamedFaults::default() }
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

    pub(super) fn note(&self, text: &str) {
        self.sink.note(self.now(), format!("{}: {text}", self.name));
    }

    pub(super) fn observed(&self, name: &str, value: f64) {
        self.sink.observed(name, self.now(), value);
    }

    pub(super) fn breach(&self, kind: &str, index: Option<u64>, detail: String) {
        let (workload, kind) = (self.name.clone(), kind.to_owned());
        self.sink.breach(self.now(), Breach { workload, seq: None, kind, index, detail });
    }

    /// What is served wrong to everyone: at once, unless a verdict may yet name it with its submission.
    pub(super) fn wrong(&mut self, kind: &'static str, index: Option<u64>, detail: String) {
        match index {
            Some(index) => self.unnamed.push(self.now(), kind, index, detail),
            None => self.breach(kind, index, detail),
        }
    }

    /// Takes that a verdict names this.
    pub(super) fn named(&mut self, kind: &str, index: Option<u64>) {
        self.unnamed.named(kind, index);
    }

    /// Tells what no verdict has named for so long.
    pub(super) fn unnamed(&mut self, patience: Nanos) {
        for (kind, index, detail) in self.unnamed.older(self.now(), patience) {
            self.breach(kind, Some(index), detail);
        }
    }
}
