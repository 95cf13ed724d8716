//! The tree's growth, beside the load.

use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use futures::future::{Either, select};
use hammer_core::observe::{ObservationSink, Observer};
use hammer_core::runtime::{Clock, LocalFuture};
use hammer_measure::Nanos;
use hammer_measure::promise::Breach;
use hammer_tlog::logs::follow::Head;

use crate::messages::SHRINKING_TREE;
use crate::place::LogPlace;
use crate::reader::AuditReader;
use crate::source::LogSource;
use crate::stale_heads::StaleHeads;
use crate::trouble::Trouble;

/// Polls the head of a log that is not audited, with a connection of its own, and verifies it. Observes `tree_size`, in
/// `observer_requests` how many requests it sent itself, which stand in no series, and in `stale_heads` how many heads were
/// of a smaller tree and signed before the largest: it holds no proof against them, as an audit does.
pub struct TreeSizeObserver<L> {
    name: String,
    log: L,
    place: LogPlace,
    every: Duration,
}

impl<L: LogSource> TreeSizeObserver<L> {
    /// An observer that polls once a second, and once more when drain is over. `name` is the target's, as it stands in what is found broken.
    pub fn new(name: impl Into<String>, log: L, place: LogPlace) -> Self {
        Self { name: name.into(), log, place, every: Duration::from_secs(1) }
    }

    /// How often it polls; never more often, however late an answer was.
    #[must_use]
    pub fn every(self, every: Duration) -> Self {
        Self { every, ..self }
    }

    async fn follow(self, sink: ObservationSink, clock: Rc<dyn Clock>, mut ending: LocalFuture<()>) {
        let mut reader = match AuditReader::new(self.log, self.place, clock.clone()) {
            Ok(reader) => reader,
            Err(why) => return sink.note(clock.now(), format!("the tree is not followed: failed to {why}")),
        };
        let mut seen =
            ObservedTree { name: self.name, largest: None, stale: StaleHeads::default(), trouble: None };
        let mut is_last = false;
        loop {
            let started = clock.now();
            let deadline = started.saturating_add(PATIENCE);
            let head = match select(pin!(reader.head()), clock.sleep_until(deadline)).await {
                Either::Left((head, _)) => Some(head),
                Either::Right(_) => None,
            };
            let now = clock.now();
            sink.observed("observer_requests", now, reader.requests() as f64);
            match head {
                Some(Ok(head)) => seen.head(head, now, &sink),
                Some(Err(why)) => seen.failure(&why, now, &sink),
                None => seen.trouble("the log does not answer".to_owned(), now, &sink),
            }
            if is_last {
                return;
            }
            // When drain is over the tree holds what was accepted: one more look is due then.
            let next = clock.sleep_until(started.saturating_add(self.every.into()).max(now));
            is_last = matches!(select(&mut ending, next).await, Either::Left(_));
        }
    }
}

impl<L: LogSource> Observer for TreeSizeObserver<L> {
    fn observe(
        self: Box<Self>,
        sink: ObservationSink,
        clock: Rc<dyn Clock>,
        ending: LocalFuture<()>,
    ) -> LocalFuture<()> {
        Box::pin(self.follow(sink, clock, ending))
    }
}

/// What was seen so far.
struct ObservedTree {
    name: String,
    largest: Option<Head>,
    stale: StaleHeads,
    /// The trouble of the last poll, which is told once and not at every poll.
    trouble: Option<String>,
}

impl ObservedTree {
    fn head(&mut self, head: Head, now: Nanos, sink: &ObservationSink) {
        if self.trouble.take().is_some() {
            sink.note(now, format!("{}: the tree head is served again, of size {}", self.name, head.size));
        }
        if let Some(largest) = self.largest.as_ref().filter(|largest| head.size < largest.size) {
            if head.precedes(largest) {
                return self.stale.count(&self.name, [&head, largest], "or its tree shrank", now, sink);
            }
            let detail = format!("it shrank from {} to {}", largest.size, head.size);
            sink.breach(now, self.breach(SHRINKING_TREE, detail));
        }
        sink.observed("tree_size", now, head.size as f64);
        if self.largest.as_ref().is_none_or(|largest| head.size >= largest.size) {
            self.largest = Some(head);
        }
    }

    fn failure(&mut self, why: &Trouble, now: Nanos, sink: &ObservationSink) {
        match why.breach_kind() {
            Some(kind) => sink.breach(now, self.breach(kind, format!("failed to {why}"))),
            None => self.trouble(format!("failed to {why}"), now, sink),
        }
    }

    fn trouble(&mut self, trouble: String, now: Nanos, sink: &ObservationSink) {
        if self.trouble.as_ref() != Some(&trouble) {
            sink.note(now, format!("{}: the tree size is not known: {trouble}", self.name));
            self.trouble = Some(trouble);
        }
    }

    fn breach(&self, kind: &str, detail: String) -> Breach {
        Breach { workload: self.name.clone(), seq: None, kind: kind.to_owned(), index: None, detail }
    }
}

/// How long a tree head may take before the next one is asked for.
const PATIENCE: Nanos = Nanos::from_secs(10);
