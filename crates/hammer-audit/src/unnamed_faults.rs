use hammer_measure::Nanos;

/// What the log serves wrong about single entries, for as long as a verdict may come that names the submission too: a
/// receipt often comes after the bundle or tile of its leaf.
#[derive(Debug, Default)]
pub(crate) struct UnnamedFaults(Vec<UnnamedFault>);

#[derive(Debug)]
struct UnnamedFault {
    since: Nanos,
    kind: &'static str,
    index: u64,
    detail: String,
}

impl UnnamedFaults {
    pub(crate) fn push(&mut self, since: Nanos, kind: &'static str, index: u64, detail: String) {
        self.0.push(UnnamedFault { since, kind, index, detail });
    }

    /// Takes that a verdict names this.
    pub(crate) fn named(&mut self, kind: &str, index: Option<u64>) {
        self.0.retain(|wrong| wrong.kind != kind || Some(wrong.index) != index);
    }

    /// Gives up on what has waited so long: kind, index and detail.
    pub(crate) fn older(&mut self, now: Nanos, patience: Nanos) -> Vec<(&'static str, u64, String)> {
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
            unnamed.push(Nanos::from_secs(second), "altered-leaf", index, "other".to_owned());
        }
        unnamed.named("lost-leaf", Some(8));
        unnamed.named("altered-leaf", None);
        unnamed.named("altered-leaf", Some(7));
        assert!(unnamed.older(Nanos::from_secs(11), Nanos::from_secs(10)).is_empty());
        let told = unnamed.older(Nanos::from_secs(12), Nanos::from_secs(10));
        assert_eq!(told, [("altered-leaf", 8, "other".to_owned())]);
        assert!(unnamed.older(Nanos::MAX, Nanos::ZERO).is_empty());
    }
}
