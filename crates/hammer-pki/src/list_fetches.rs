//! How often lists of revoked certificates were fetched.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hammer_core::observe::{ObservationSink, Observer};
use hammer_core::runtime::{Clock, LocalFuture};
use hammer_measure::Nanos;

use crate::every_second::every_second;

/// What was asked of the server of the lists, since it started.
#[derive(Debug, Default)]
pub struct ListFetches {
    /// How often the list of each authority was sent.
    of_each: Vec<AtomicU64>,
    bytes: AtomicU64,
    given_up: AtomicU64,
    heads: AtomicU64,
    elsewhere: AtomicU64,
}

impl ListFetches {
    /// Of the lists of so many authorities.
    pub fn of(authorities: usize) -> Self {
        Self { of_each: (0..authorities).map(|_| AtomicU64::new(0)).collect(), ..Self::default() }
    }

    /// Notes that a list of so many bytes was sent.
    pub fn sent(&self, authority: usize, bytes: u64) {
        if let Some(fetches) = self.of_each.get(authority) {
            fetches.fetch_add(1, Ordering::Relaxed);
        }
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Notes that somebody asked for a list, and did not wait for it.
    pub fn given_up(&self) {
        self.given_up.fetch_add(1, Ordering::Relaxed);
    }

    /// Notes that somebody asked what a list is like, and not for it.
    pub fn told_of(&self) {
        self.heads.fetch_add(1, Ordering::Relaxed);
    }

    /// Notes that somebody asked for what is no list.
    pub fn asked_elsewhere(&self) {
        self.elsewhere.fetch_add(1, Ordering::Relaxed);
    }

    /// How often lists were sent.
    pub fn fetches(&self) -> u64 {
        self.of_each.iter().map(|fetches| fetches.load(Ordering::Relaxed)).sum()
    }

    /// How often somebody asked for a list, and did not wait for it.
    pub fn unfinished(&self) -> u64 {
        self.given_up.load(Ordering::Relaxed)
    }

    /// How often somebody asked for what is no list.
    pub fn elsewhere(&self) -> u64 {
        self.elsewhere.load(Ordering::Relaxed)
    }

    fn tell(&self, sink: &ObservationSink, now: Nanos) {
        let tell = |name: &str, count: u64| sink.observed(name, now, count as f64);
        tell(FETCHES, self.fetches());
        tell(GIVEN_UP, self.unfinished());
        tell(ELSEWHERE, self.elsewhere());
        tell("bytes", self.bytes.load(Ordering::Relaxed));
        tell("heads", self.heads.load(Ordering::Relaxed));
        if (2..=MOST_APART).contains(&self.of_each.len()) {
            for (authority, fetches) in self.of_each.iter().enumerate() {
                tell(&format!("{authority}/{FETCHES}"), fetches.load(Ordering::Relaxed));
            }
        }
    }
}

/// The fetches as observations: `fetches`, their `bytes`, `given_up` (who asked did not wait), `heads` (requests for what a list is like), `elsewhere`
/// (requests for what is no list), and of 2 to 16 authorities the fetches of each, `<number>/fetches`.
#[derive(Debug)]
pub struct WatchedFetches(Arc<ListFetches>);

impl WatchedFetches {
    /// Those.
    pub fn new(fetches: Arc<ListFetches>) -> Self {
        Self(fetches)
    }
}

impl Observer for WatchedFetches {
    fn observe(
        self: Box<Self>,
        sink: ObservationSink,
        clock: Rc<dyn Clock>,
        ending: LocalFuture<()>,
    ) -> LocalFuture<()> {
        Box::pin(every_second(clock, ending, move |now| self.0.tell(&sink, now)))
    }
}

/// What the observation of how often lists were sent is called.
pub const FETCHES: &str = "fetches";
/// The same of those that did not wait for theirs.
pub const GIVEN_UP: &str = "given_up";
/// The same of requests for what is no list.
pub const ELSEWHERE: &str = "elsewhere";
/// More authorities than that have no observation each.
const MOST_APART: usize = 16;
