//! What keeps somebody from telling is told once, and not at every look.

use hammer_core::observe::ObservationSink;
use hammer_measure::Nanos;

/// Why the last look failed, where it did.
#[derive(Debug, Default)]
pub(super) struct ToldTrouble(Option<String>);

impl ToldTrouble {
    /// Takes what became of a look at that component: why it failed, or nothing.
    pub(super) fn tell(
        &mut self,
        name: &str,
        now: Nanos,
        trouble: Option<String>,
        sink: Option<&ObservationSink>,
    ) {
        // Before the load there is nobody to tell: what still holds then is told over the run.
        let Some(sink) = sink else { return };
        match (&self.0, &trouble) {
            (None, Some(why)) => sink.note(now, format!("resources of {name}: failed to {why}")),
            (Some(_), None) => sink.note(now, format!("resources of {name}: its page is read again")),
            _ => {}
        }
        self.0 = trouble;
    }
}
