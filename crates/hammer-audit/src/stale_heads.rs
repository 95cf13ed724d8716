use hammer_core::observe::ObservationSink;
use hammer_measure::Nanos;
use hammer_tlog::logs::follow::Head;

/// Heads of earlier states of the tree, as a server that lags behind others serves them: counted, and noted once.
#[derive(Debug, Default)]
pub struct StaleHeads(u64);

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
        let what = "which the newer tree continues";
        self.count(name, (head.size, head.timestamp_ms), (newest.size, newest.timestamp_ms), what, now, sink);
    }

    /// Counts a stale head; both as size and timestamp, in milliseconds since 1970.
    pub fn count(
        &mut self,
        name: &str,
        head: (u64, u64),
        newest: (u64, u64),
        what: &str,
        now: Nanos,
        sink: &ObservationSink,
    ) {
        self.0 += 1;
        sink.observed("stale_heads", now, self.0 as f64);
        if self.0 == 1 {
            let behind = newest.1.saturating_sub(head.1);
            sink.note(
                now,
                format!(
                    "{name}: a tree head of size {} was served after one of size {}, and was signed {behind} ms before it: \
                     some server of the log lags behind, {what}",
                    head.0, newest.0
                ),
            );
        }
    }
}
