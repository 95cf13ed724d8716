//! Heads that are served although the log has signed larger ones.

use std::cmp::Ordering;

use hammer_core::observe::ObservationSink;
use hammer_measure::Nanos;
use hammer_tlog::logs::follow::Head;

/// Heads of earlier states of the tree, as a server that lags behind others serves them: counted, and noted once.
#[derive(Debug, Default)]
pub(crate) struct StaleHeads(u64);

impl StaleHeads {
    pub(crate) fn told(&self) -> u64 {
        self.0
    }

    pub(crate) fn tell(
        &mut self,
        name: &str,
        head: &Head,
        newest: &Head,
        now: Nanos,
        sink: &ObservationSink,
    ) {
        self.count(name, [head, newest], "which the newer tree continues", now, sink);
    }

    /// Counts a stale head; `what` is known of it beside that.
    pub(crate) fn count(
        &mut self,
        name: &str,
        [head, newest]: [&Head; 2],
        what: &str,
        now: Nanos,
        sink: &ObservationSink,
    ) {
        self.0 += 1;
        sink.observed("stale_heads", now, self.0 as f64);
        if self.0 == 1 {
            let (signed_ms, newest_ms) = (head.timestamp_ms, newest.timestamp_ms);
            let signed = match signed_ms.cmp(&newest_ms) {
                // Not every head has a time.
                _ if signed_ms == 0 || newest_ms == 0 => String::new(),
                Ordering::Less => format!(", and was signed {} ms before it", newest_ms - signed_ms),
                Ordering::Equal => String::new(),
                Ordering::Greater => format!(", and was signed {} ms after it", signed_ms - newest_ms),
            };
            let why = match head.size {
                // Every tree continues that one, whatever became of the log.
                0 => EMPTY.to_owned(),
                _ => format!("some server of the log lags behind, {what}"),
            };
            sink.note(
                now,
                format!(
                    "{name}: a tree head of size {} was served after one of size {}{signed}: {why}",
                    head.size, newest.size
                ),
            );
        }
    }
}

const EMPTY: &str = "it was emptied, or some server of it lags behind";
