//! A number that is looked at again and again, as a run's observations have it.

use hammer_core::observe::ObservationSink;
use hammer_measure::Nanos;

/// What became of the looks at a number so far. A look that failed is a gap: it is counted, and told once until the next one
/// that did not.
#[derive(Debug)]
pub(crate) struct ObservedNumber {
    /// `observe/NAME`.
    name: String,
    gaps: u64,
    has_failed: bool,
}

impl ObservedNumber {
    /// The number of that name in the plan.
    pub(crate) fn new(name: &str) -> Self {
        Self { name: format!("observe/{name}"), gaps: 0, has_failed: false }
    }

    /// Takes the number, or why there is none.
    pub(crate) fn take(&mut self, now: Nanos, found: Result<f64, String>, sink: &ObservationSink) {
        match found {
            Ok(number) => {
                self.has_failed = false;
                sink.observed(&self.name, now, number);
            }
            Err(why) => {
                self.gaps += 1;
                sink.observed(&format!("{}/gaps", self.name), now, self.gaps as f64);
                if !std::mem::replace(&mut self.has_failed, true) {
                    sink.note(now, format!("{} has a gap: {why}", self.name));
                }
            }
        }
    }
}
