//! When a read that was refused is tried again.

use std::cell::Cell;
use std::time::Duration;

use hammer_measure::Nanos;
use hammer_net::{Answer, FailureKind};
use http::header::RETRY_AFTER;

use crate::trouble::Trouble;

/// When a read that was refused for now is tried again: later each time, and as late as the log asks for, within bounds.
#[derive(Debug)]
pub(crate) struct RetryPolicy {
    every: Nanos,
    /// Nothing is tried again after that.
    until: Cell<Nanos>,
}

impl RetryPolicy {
    /// For a log that is looked at so often; the longest waits are of the same order.
    pub(crate) fn new(every: Duration) -> Self {
        Self { every: every.into(), until: Cell::new(Nanos::MAX) }
    }

    /// Nothing is tried again: whoever asks does it.
    pub(crate) fn none() -> Self {
        Self { every: Nanos::ZERO, until: Cell::new(Nanos::ZERO) }
    }

    /// Tries nothing again from then on.
    pub(crate) fn ends(&self, until: Nanos) {
        self.until.set(until);
    }

    /// Until when anything is tried again.
    pub(crate) fn until(&self) -> Nanos {
        self.until.get()
    }

    /// When to ask again for what was asked for so often, and was answered so; none where the answer stands.
    pub(crate) fn again(&self, tries: u32, answer: &Result<Answer, Trouble>, now: Nanos) -> Option<Nanos> {
        let asked = match answer {
            Ok(answer) if is_pushback(answer.status.as_u16()) => retry_after(answer),
            Err(Trouble::Failure(why)) if is_lost(why.kind) => Nanos::ZERO,
            _ => return None,
        };
        let longest = Nanos(self.every.0.saturating_mul(LONGEST));
        let at = now.saturating_add(self.backoff(tries).max(asked.min(longest)));
        (tries < TRIES && at < self.until.get()).then_some(at)
    }

    /// Whether another server may well have an answer to what was asked for so often, at once.
    pub(crate) fn is_pushed_back(&self, tries: u32, answer: &Result<Answer, Trouble>, now: Nanos) -> bool {
        let is_pushback = matches!(answer, Ok(answer) if is_pushback(answer.status.as_u16()));
        is_pushback && tries < TRIES && now < self.until.get()
    }

    /// When to ask again for what was answered so often, and wrongly; none where there is no time to wait.
    pub(crate) fn later(&self, tries: u32, now: Nanos) -> Option<Nanos> {
        let at = now.saturating_add(self.backoff(tries));
        (at < self.until.get()).then_some(at)
    }

    fn backoff(&self, tries: u32) -> Nanos {
        let Self { every, .. } = *self;
        Nanos((every.0 / 8).saturating_mul(1 << tries.min(TRIES))).min(every)
    }
}

/// Whether the same request may well be answered on another connection.
fn is_lost(kind: FailureKind) -> bool {
    use FailureKind::{Closed, RefusedStream, Reset, Truncated};
    matches!(kind, Reset | Closed | Truncated | RefusedStream)
}

/// Whether the status says that the same request may well be answered later.
fn is_pushback(status: u16) -> bool {
    matches!(status, 408 | 429 | 502 | 503 | 504)
}

/// What a Retry-After in seconds asks for (RFC 9110 section 10.2.3); zero where there is none.
fn retry_after(answer: &Answer) -> Nanos {
    let value = answer.headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok());
    let seconds = value.and_then(|value| value.trim().parse::<u32>().ok()).unwrap_or_default();
    Nanos::from_secs(seconds.into())
}

/// How often one read is asked for in one look.
const TRIES: u32 = 5;
/// Intervals that a log may ask to be waited for.
const LONGEST: u64 = 4;

#[cfg(test)]
mod tests {
    use http::{HeaderValue, StatusCode};

    use super::*;

    fn refused(status: u16, retry_after: Option<&'static str>) -> Result<Answer, Trouble> {
        let mut answer = Answer { status: StatusCode::from_u16(status).unwrap(), ..Answer::new() };
        if let Some(value) = retry_after {
            answer.headers.insert(RETRY_AFTER, HeaderValue::from_static(value));
        }
        Ok(answer)
    }

    fn waits(backoff: &RetryPolicy, answer: &Result<Answer, Trouble>) -> Vec<u64> {
        let now = Nanos::from_secs(9);
        let again = |tries| backoff.again(tries, answer, now);
        (1..9).map_while(again).map(|at| at.since(now).0 / 1_000_000).collect()
    }

    #[test]
    fn a_refused_read_is_tried_again_later_each_time_and_not_for_ever() {
        let backoff = RetryPolicy::new(Duration::from_millis(400));
        for status in [408, 429, 502, 503, 504] {
            assert_eq!(waits(&backoff, &refused(status, None)), [100, 200, 400, 400], "{status}");
        }
        for status in [200, 404, 400, 403, 500, 501] {
            assert!(waits(&backoff, &refused(status, None)).is_empty(), "{status}");
        }
    }

    #[test]
    fn a_log_may_ask_to_be_waited_for_but_not_for_long() {
        let backoff = RetryPolicy::new(Duration::from_millis(400));
        assert_eq!(waits(&backoff, &refused(429, Some("1"))), [1000; 4]);
        assert_eq!(waits(&backoff, &refused(503, Some("3600"))), [1600; 4]);
        assert_eq!(waits(&backoff, &refused(503, Some("soon"))), [100, 200, 400, 400]);
    }

    #[test]
    fn nothing_is_tried_again_beyond_the_end_or_without_a_backoff() {
        let backoff = RetryPolicy::new(Duration::from_millis(400));
        backoff.ends(Nanos::from_millis(9_350));
        assert_eq!(waits(&backoff, &refused(429, None)), [100, 200]);
        let asks_elsewhere =
            |seconds| backoff.is_pushed_back(1, &refused(503, Some("30")), Nanos::from_secs(seconds));
        assert!(asks_elsewhere(9) && !asks_elsewhere(10));
        assert!(waits(&RetryPolicy::none(), &refused(429, None)).is_empty());
    }
}
