//! Faults that a verdict may yet name.

use hammer_measure::Nanos;

/// What the log serves wrong, for as long as something may come that says more: of a single entry a verdict, which names the submission too, since
/// a receipt often comes after the bundle or tile of its leaf; of a consistency proof a fork.
#[derive(Debug, Default)]
pub(crate) struct UnnamedFaults(Vec<UnnamedFault>);

#[derive(Debug)]
struct UnnamedFault {
    since: Nanos,
    kind: &'static str,
    index: Option<u64>,
    detail: String,
}

impl UnnamedFaults {
    pub(crate) fn push(&mut self, since: Nanos, kind: &'static str, index: Option<u64>, detail: String) {
        self.0.push(UnnamedFault { since, kind, index, detail });
    }

    /// Takes that a verdict names this.
    pub(crate) fn named(&mut self, kind: &str, index: Option<u64>) {
        self.0.retain(|wrong| wrong.kind != kind || wrong.index.is_none() || wrong.index != index);
    }

    /// Gives up on what has waited so long: kind, index and detail.
    pub(crate) fn older(&mut self, now: Nanos, patience: Nanos) -> Vec<(&'static str, Option<u64>, String)> {
        let older = self.0.extract_if(.., |wrong| wrong.since.saturating_add(patience) <= now);
        older.map(|wrong| (wrong.kind, wrong.index, wrong.detail)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_verdict_names_is_told_by_itself_and_late() {
        let mut unnamed = UnnamedFaults::default();
        for (second, index) in [(1, 7), (2, 8), (3, 7)] {
            unnamed.push(Nanos::from_secs(second), "altered-leaf", Some(index), "other".to_owned());
        }
        unnamed.push(Nanos::from_secs(2), "altered-leaf", None, "of none".to_owned());
        unnamed.named("lost-leaf", Some(8));
        unnamed.named("altered-leaf", None);
        unnamed.named("altered-leaf", Some(7));
        assert!(unnamed.older(Nanos::from_secs(11), Nanos::from_secs(10)).is_empty());
        let told = unnamed.older(Nanos::from_secs(12), Nanos::from_secs(10));
        assert_eq!(
            told,
            [("altered-leaf", Some(8), "other".to_owned()), ("altered-leaf", None, "of none".to_owned())]
        );
        assert!(unnamed.older(Nanos::MAX, Nanos::ZERO).is_empty());
    }
}
