use hammer_core::observe::ObservationSink;
use hammer_measure::{Distribution, Nanos, Quantile};
use hammer_tlog::audit::{Kept, Verdict};

use super::reader::Reader;

/// What the audit counts and measures.
#[derive(Default)]
pub(super) struct Figures {
    audited: u64,
    publication: Distribution,
    merge_delay_ms: Option<u64>,
}

impl Figures {
    pub(super) fn add(&mut self, verdict: &Verdict) {
        self.audited += 1;
        let Verdict::Kept(kept) = verdict else { return };
        if let Some(delay) = kept.publication_delay_ns() {
            self.publication.record(Nanos(delay));
        }
        self.merge_delay_ms = self.merge_delay_ms.max(Kept::merge_delay_ms(kept));
    }

    pub(super) fn observe(&self, reader: &Reader, now: Nanos, sink: &ObservationSink) {
        sink.observed("audited", now, self.audited as f64);
        sink.observed("audit_requests", now, reader.requests as f64);
        sink.observed("audit_bytes", now, reader.bytes as f64);
        let quantiles =
            [("publication_delay_p50", 0.5), ("publication_delay_p99", 0.99), ("publication_delay_max", 1.0)];
        for (name, quantile) in quantiles {
            if let Some(Quantile::At(delay)) = self.publication.quantile(quantile) {
                sink.observed(name, now, delay.as_secs_f64());
            }
        }
        if let Some(delay) = self.merge_delay_ms {
            sink.observed("merge_delay_max", now, delay as f64 / 1000.0);
        }
    }
}
