//! Whether the log can be read.

use hammer_measure::Nanos;

use crate::trouble::Trouble;

/// Whether the log can be read, as the last rounds went.
#[derive(Debug)]
pub(crate) struct Readability {
    /// How long after a round that went well what it did not find is pending.
    patience: Nanos,
    /// When the last round that went well started and ended.
    well: Option<(Nanos, Nanos)>,
    /// Why the last round did not go well, as what it failed to do.
    why_not: Option<String>,
}

impl Readability {
    /// Of a log that is read so often.
    pub(crate) fn new(every: Nanos) -> Self {
        let patience = PATIENCE.saturating_add(every).saturating_add(every);
        Self { patience, well: None, why_not: None }
    }

    pub(crate) fn looked(&mut self, started: Nanos, ended: Nanos, went: &Result<(), Trouble>) {
        match went {
            Ok(()) => (self.well, self.why_not) = (Some((started, ended)), None),
            Err(why) => self.failed(why.to_string()),
        }
    }

    pub(crate) fn failed(&mut self, why: String) {
        self.why_not = Some(why);
    }

    /// Why the last round failed, if it did.
    pub(crate) fn why_not(&self) -> Option<String> {
        self.why_not.as_ref().map(|why| format!("failed to {why}"))
    }

    /// Whether a round for what was received then went well, and not long ago.
    pub(crate) fn covers(&self, received_ns: u64, now: Nanos) -> bool {
        self.well
            .is_some_and(|(started, ended)| received_ns <= started.0 && now.since(ended) <= self.patience)
    }
}

/// With two intervals: longer than a last round may take.
const PATIENCE: Nanos = Nanos::from_secs(2);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_promise_was_looked_for_where_a_look_went_well_since_and_not_long_ago() {
        let mut readable = Readability::new(Nanos::from_millis(250));
        let at = Nanos::from_millis;
        readable.looked(at(900), at(1_000), &Err(Trouble::Silent("/checkpoint".to_owned())));
        assert!(!readable.covers(0, at(1_000)));
        readable.looked(at(1_900), at(2_000), &Ok(()));
        assert_eq!(readable.why_not(), None);
        readable.looked(at(2_900), at(3_000), &Err(Trouble::Other("read nothing".to_owned())));
        assert_eq!(readable.why_not().as_deref(), Some("failed to read nothing"));
        assert!(readable.covers(at(1_900).0, at(4_500)));
        assert!(!readable.covers(at(1_900).0 + 1, at(4_500)));
        assert!(!readable.covers(at(1_900).0, at(4_501)));
    }
}
