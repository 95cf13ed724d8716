//! A step under way: the guard that owns what its exchange was on the wire.

use hammer_measure::Nanos;

use super::OperationRecord;
use super::exchange::Exchange;
use crate::answers::WantedAnswer;
use crate::ended::Ended;

/// A step, from its start until it is dropped; then it records itself.
///
/// Whoever drops an operation halfway (its deadline, the end of drain) drops its guards with it, so the step that hangs is the
/// one that has the sample, with the bytes that it got to send.
#[must_use = "a step ends when its guard is dropped"]
pub struct StepGuard<'a> {
    record: &'a OperationRecord,
    series: Option<usize>,
    started: Nanos,
    exchange: Exchange,
    ended: Option<Ended>,
    /// What the server said with a failure.
    said: Option<String>,
    /// Of a step, behind which its flow may go on.
    _wanted: Option<WantedAnswer>,
}

impl<'a> StepGuard<'a> {
    pub(super) fn new(record: &'a OperationRecord, series: Option<usize>) -> Self {
        let started = record.exchange_start();
        let wanted = series.map(|_| record.want_answer());
        Self {
            record,
            series,
            started,
            exchange: Exchange::default(),
            ended: None,
            said: None,
            _wanted: wanted,
        }
    }

    /// When it started.
    pub fn started(&self) -> Nanos {
        self.started
    }

    /// What is known of it on the wire; to be kept up to date while it is under way.
    pub fn wire(&mut self) -> &mut Exchange {
        &mut self.exchange
    }

    /// How it will have ended, unless more is found out about the answer before the guard is dropped.
    pub fn ends(&mut self, ended: Ended) {
        self.ended = Some(ended);
    }

    /// What the server said with an answer that is no success, or where and why there was none, fit to be read by anybody: kept of the first
    /// of each cause.
    pub fn says(&mut self, text: String) {
        self.said = Some(text);
    }

    /// How it ends if it is dropped now, where that is since its operation was cut off.
    pub fn cut_off(&self) -> Option<Ended> {
        self.record.cut_off.get()
    }

    /// Whether what was said with an end of that cause is known already, of the step's series or else of its operation's: to say it again would be
    /// for nothing.
    pub fn has_been_said(&self, ended: Ended) -> bool {
        self.record.has_been_said(self.series, ended)
    }

    /// What the server said is told to nobody: it may repeat secrets that it was sent.
    pub fn says_nothing(&mut self) {
        self.said = None;
    }

    /// Ends it.
    pub fn end(mut self, ended: Ended) {
        self.ended = Some(ended);
    }
}

impl Drop for StepGuard<'_> {
    fn drop(&mut self) {
        let ended = self.ended.unwrap_or_else(|| self.record.unfinished());
        self.record.record(self.series, self.started, &self.exchange, (ended, self.said.take()));
    }
}
