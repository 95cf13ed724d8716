//! What is kept of an operation under way, so that it can be sampled once it has ended.

use hammer_measure::{OperationSample, StepSample, Subject};

/// What an operation is of, and its steps until now. Used again for the next; it keeps its memory.
#[derive(Debug, Default)]
pub(super) struct OperationTrace {
    pub(super) subject: Option<Subject>,
    pub(super) steps: Vec<StepSample>,
}

impl OperationTrace {
    /// Forgets the operation before.
    pub(super) fn clear(&mut self) {
        self.subject = None;
        self.steps.clear();
    }

    /// Adds what is known to the operation's sample.
    pub(super) fn write(&self, sample: &mut OperationSample) {
        sample.subject = self.subject;
        sample.steps.extend_from_slice(&self.steps);
    }
}
