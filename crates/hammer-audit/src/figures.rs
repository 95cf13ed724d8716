//! What an audit counts and measures.

use std::collections::VecDeque;

use hammer_core::observe::ObservationSink;
use hammer_measure::{Distribution, Nanos, Quantile};
use hammer_tlog::logs::audit::{Answered, Kept, Kind, Verdict};

use crate::reader::AuditReader;
use crate::source::LogSource;

/// What the audit counts and measures.
#[derive(Default)]
pub(crate) struct AuditFigures {
    audited: u64,
    overdue: u64,
    publication: Distribution,
    merge_delay_ms: Option<u64>,
    from_sent: Recent,
    from_intended: Recent,
    answers: Answers,
}

/// When the log answered, seen from publication.
#[derive(Default)]
struct Answers {
    before: u64,
    after: u64,
    /// How many of these fell between two heads, so that the time that the log put into the second one told.
    by_timestamp: u64,
    /// Between two heads, and the second was signed later: one that was not fetched may have covered the leaf.
    undecided: u64,
}

/// Least, mean and greatest of the last [`RECENT`] seconds.
#[derive(Default)]
struct Recent(VecDeque<Second>);

struct Second {
    at: u64,
    count: u64,
    sum: f64,
    least: f64,
    greatest: f64,
}

impl AuditFigures {
    pub(crate) fn add(&mut self, verdict: &Verdict, now: Nanos, epoch_unix_ms: u64) {
        self.audited += 1;
        let kept = match verdict {
            Verdict::Kept(kept) => kept,
            Verdict::Broken(breach) => {
                return self.overdue += u64::from(matches!(breach.kind, Kind::Overdue { .. }));
            }
        };
        if let Some(delay) = kept.publication_delay_ns() {
            self.publication.record(Nanos(delay));
        }
        self.merge_delay_ms = self.merge_delay_ms.max(Kept::merge_delay_ms(kept));
        self.answers.add(kept, epoch_unix_ms);
        if let Some(published) = kept.published {
            let since = |start: u64| Nanos(published.fetched_ns).since(Nanos(start));
            self.from_sent.add(now, since(kept.receipt.sent_ns));
            self.from_intended.add(now, since(kept.receipt.intended_ns));
        }
    }

    /// A promise was found broken in the protocol's own words.
    pub(crate) fn refused(&mut self) {
        self.audited += 1;
    }

    pub(crate) fn observe<L: LogSource>(
        &mut self,
        reader: &AuditReader<L>,
        now: Nanos,
        sink: &ObservationSink,
    ) {
        sink.observed("audited", now, self.audited as f64);
        sink.observed("overdue", now, self.overdue as f64);
        sink.observed("audit_requests", now, reader.requests() as f64);
        sink.observed("audit_repeated", now, reader.repeated() as f64);
        sink.observed("audit_bytes", now, reader.bytes() as f64);
        sink.observed("answers_before_publication", now, self.answers.before as f64);
        sink.observed("answers_after_publication", now, self.answers.after as f64);
        sink.observed("answers_undecided", now, self.answers.undecided as f64);
        sink.observed("answers_by_timestamp", now, self.answers.by_timestamp as f64);
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
        self.from_sent.observe("time_to_integrate", now, sink);
        self.from_intended.observe("time_to_integrate_from_intended", now, sink);
    }

    /// Whether the log answers before or after publication, as a sentence; none where nothing tells.
    pub(crate) fn answers(&self) -> Option<String> {
        let Answers { before, after, by_timestamp, undecided } = self.answers;
        let all = before + after;
        let share = 100.0 * after as f64 / all as f64;
        let word = match () {
            () if all == 0 => return None,
            () if share >= 99.0 => "after",
            // One that waits is never before; one that does not may yet be slow to answer.
            () if share <= 50.0 => "before",
            () => "before as well as after",
        };
        Some(format!(
            "the log answers {word} publication: {before} answers came before a head covered their leaf, {after} after \
             ({by_timestamp} of them by the log's own timestamp); of {undecided} more that one covered it cannot be told"
        ))
    }
}

impl Answers {
    fn add(&mut self, kept: &Kept, epoch_unix_ms: u64) {
        let (Some(answered), Some(published)) = (kept.answered(), kept.published) else { return };
        let received_ms = epoch_unix_ms + kept.receipt.received_ns / 1_000_000;
        match answered {
            Answered::After => self.after += 1,
            Answered::Before => self.before += 1,
            Answered::Between if (1..=received_ms).contains(&published.timestamp_ms) => {
                self.after += 1;
                self.by_timestamp += 1;
            }
            Answered::Between => self.undecided += 1,
        }
    }
}

impl Recent {
    fn add(&mut self, now: Nanos, value: Nanos) {
        let (at, value) = (now.0 / 1_000_000_000, value.as_secs_f64());
        match self.0.back_mut().filter(|second| second.at == at) {
            Some(second) => {
                second.count += 1;
                second.sum += value;
                second.least = second.least.min(value);
                second.greatest = second.greatest.max(value);
            }
            None => self.0.push_back(Second { at, count: 1, sum: value, least: value, greatest: value }),
        }
    }

    fn observe(&mut self, name: &str, now: Nanos, sink: &ObservationSink) {
        let oldest = (now.0 / 1_000_000_000).saturating_sub(RECENT);
        while self.0.front().is_some_and(|second| second.at < oldest) {
            self.0.pop_front();
        }
        let count: u64 = self.0.iter().map(|second| second.count).sum();
        if count == 0 {
            return;
        }
        let sum: f64 = self.0.iter().map(|second| second.sum).sum();
        let least = self.0.iter().map(|second| second.least).fold(f64::INFINITY, f64::min);
        let greatest = self.0.iter().map(|second| second.greatest).fold(0.0, f64::max);
        for (which, value) in [("min", least), ("avg", sum / count as f64), ("max", greatest)] {
            sink.observed(&format!("{name}_{which}"), now, value);
        }
    }
}

const RECENT: u64 = 30;
