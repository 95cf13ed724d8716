//! What embedded targets do on purpose at some time, as marks on the run's time axis.

use std::collections::VecDeque;

use hammer_lab::fault::TimedFault;
use hammer_measure::Nanos;

/// Those of a run that are still to come, the next one first.
#[derive(Debug, Default)]
pub(crate) struct ScriptedFaults {
    next: VecDeque<ScriptedFault>,
}

/// One of them.
#[derive(Debug)]
pub(super) struct ScriptedFault {
    pub(super) at: Nanos,
    pub(super) text: String,
}

impl ScriptedFaults {
    /// These, whose times count from `start`.
    pub(crate) fn from(start: Nanos, all: impl Iterator<Item = TimedFault>) -> Self {
        let mut next: Vec<ScriptedFault> = all
            .map(|fault| ScriptedFault { at: start.saturating_add(fault.at.into()), text: fault.text })
            .collect();
        next.sort_by_key(|fault| fault.at);
        Self { next: next.into() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.next.is_empty()
    }

    /// When the next one is due.
    pub(super) fn due(&self) -> Nanos {
        self.next.front().map_or(Nanos::MAX, |fault| fault.at)
    }

    /// The next one, where it is due.
    pub(super) fn take_due(&mut self, now: Nanos) -> Option<ScriptedFault> {
        let is_due = self.next.front().is_some_and(|fault| fault.at <= now);
        if is_due { self.next.pop_front() } else { None }
    }
}
