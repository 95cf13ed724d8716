//! What became of the exports of a run.

use hammer_measure::peer_text;
use hammer_messages::otlp::ExportMetricsPartialSuccess;

/// Exports by what became of them. One that was given up since the run's last metrics were there is none.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ExportTally {
    sent: u64,
    failed: u64,
    /// Why the first one failed.
    first: Option<String>,
    last_failed: bool,
    rejected: u64,
    /// What the collector first said of what it took.
    said: Option<String>,
}

impl ExportTally {
    /// One failed, for that reason: a fragment that completes "failed to ...".
    pub(super) fn failed(&mut self, why: &str) {
        self.sent += 1;
        self.failed += 1;
        self.last_failed = true;
        self.first.get_or_insert_with(|| why.to_owned());
    }

    /// The collector took one, but for what it says.
    pub(super) fn taken(&mut self, but: Option<&ExportMetricsPartialSuccess>) {
        self.sent += 1;
        self.last_failed = false;
        let Some(ExportMetricsPartialSuccess { rejected_data_points, error_message }) = but else { return };
        self.rejected =
            self.rejected.saturating_add(u64::try_from(*rejected_data_points).unwrap_or_default());
        if *rejected_data_points > 0 || !error_message.is_empty() {
            self.said.get_or_insert_with(|| peer_text(error_message));
        }
    }

    /// What there is to be said of them; nothing where the collector took all.
    pub(super) fn notes(&self) -> Vec<String> {
        let Self { sent, failed, first, last_failed, rejected, said } = self;
        let failed = first.iter().map(|first| {
            let last = if *last_failed {
                ", the last one too, so that the end of the run is missing there"
            } else {
                ""
            };
            format!(
                "{failed} of {sent} exports of metrics (--otlp) failed{last}; the first failed to {first}"
            )
        });
        let said = said.iter().map(|said| match rejected {
            0 => format!("the collector of metrics (--otlp) says: {said}"),
            rejected => {
                let says = if said.is_empty() { String::new() } else { format!(", and says: {said}") };
                format!("the collector of metrics (--otlp) rejected {rejected} points{says}")
            }
        });
        failed.chain(said).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_failed_or_was_rejected_is_told_and_nothing_else() {
        let mut tally = ExportTally::default();
        tally.taken(None);
        tally.taken(Some(&ExportMetricsPartialSuccess::default()));
        assert_eq!(tally.notes(), Vec::<String>::new());
        tally.failed("dial it");
        tally.failed("hear of it");
        let failed = "2 of 4 exports of metrics (--otlp) failed";
        let missing = ", the last one too, so that the end of the run is missing there";
        assert_eq!(tally.notes(), [format!("{failed}{missing}; the first failed to dial it")]);
        let but = |rejected_data_points, error_message: &str| ExportMetricsPartialSuccess {
            rejected_data_points,
            error_message: error_message.to_owned(),
        };
        tally.taken(Some(&but(3, "too\u{1b}old")));
        tally.taken(Some(&but(4, "late")));
        let rejected = "the collector of metrics (--otlp) rejected 7 points, and says: too\u{fffd}old";
        assert_eq!(
            tally.notes(),
            ["2 of 6 exports of metrics (--otlp) failed; the first failed to dial it", rejected]
        );
        let mut warned = ExportTally::default();
        warned.taken(Some(&but(0, "use another name")));
        assert_eq!(warned.notes(), ["the collector of metrics (--otlp) says: use another name"]);
    }
}
