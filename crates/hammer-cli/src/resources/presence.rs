//! Whether a component is there is told when it changes, and not at every look.

use hammer_core::observe::ObservationSink;
use hammer_measure::Nanos;

/// Whether a component was there at the last look of the run.
#[derive(Debug)]
pub(super) struct ToldPresence {
    /// What is looked for.
    noun: &'static str,
    /// `None` before the first look.
    was_there: Option<bool>,
}

impl ToldPresence {
    /// Nobody has looked yet.
    pub(super) const fn new(noun: &'static str) -> Self {
        Self { noun, was_there: None }
    }

    /// Takes what a look at that component found. That it is there at first is what everybody expects.
    pub(super) fn tell(&mut self, name: &str, now: Nanos, is_there: bool, sink: Option<&ObservationSink>) {
        // Before the load there is nobody to tell: what still holds then is told over the run.
        let Some(sink) = sink else { return };
        let noun = self.noun;
        match (self.was_there.replace(is_there), is_there) {
            (None, false) => sink.note(now, format!("resources of {name}: there is no such {noun}")),
            (Some(true), false) => sink.note(now, format!("resources of {name}: the {noun} has gone")),
            (Some(false), true) => sink.note(now, format!("resources of {name}: the {noun} is there")),
            _ => {}
        }
    }
}
