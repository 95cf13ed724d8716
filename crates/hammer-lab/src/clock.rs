//! The one module of the crate that reads the time; everything else is given a [`Clock`].

use std::{
    fmt::Debug,
    future::Future,
    pin::Pin,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use tokio::sync::watch;

/// A sleep that a [`Clock`] hands out.
pub type Sleep = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Where a target has its time from: the real clock, or one that a test advances by hand.
pub trait Clock: Debug + Send + Sync + 'static {
    /// Milliseconds since the Unix epoch, the unit of RFC 6962 timestamps.
    fn unix_ms(&self) -> u64;
    /// Monotonic time since this clock was made.
    fn elapsed(&self) -> Duration;
    /// Completes once [`Clock::elapsed`] is at least `at`. Must be polled within a tokio runtime.
    fn sleep_until(&self, at: Duration) -> Sleep;
}

/// The machine's clock.
#[derive(Debug, Clone)]
pub struct SystemClock {
    origin: Instant,
}

impl SystemClock {
    /// A clock whose `elapsed` starts now.
    #[expect(clippy::disallowed_methods, reason = "the one module that reads the clock")]
    #[must_use]
    pub fn new() -> Self {
        Self { origin: Instant::now() }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the one module that reads the clock")]
    fn unix_ms(&self) -> u64 {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since_epoch.as_millis()).unwrap_or(u64::MAX)
    }

    fn elapsed(&self) -> Duration {
        self.origin.elapsed()
    }

    fn sleep_until(&self, at: Duration) -> Sleep {
        let deadline = tokio::time::Instant::from_std(self.origin + at);
        Box::pin(async move { tokio::time::sleep_until(deadline).await })
    }
}

/// A clock that stands still until it is told to advance; clones share the same time.
#[derive(Debug, Clone)]
pub struct ManualClock {
    elapsed: watch::Sender<Duration>,
    epoch_ms: u64,
}

impl ManualClock {
    /// A clock at `elapsed` zero that reads `epoch_ms` milliseconds since the Unix epoch.
    #[must_use]
    pub fn at_unix_ms(epoch_ms: u64) -> Self {
        Self { elapsed: watch::Sender::new(Duration::ZERO), epoch_ms }
    }

    /// Moves the time forward and wakes the sleepers that are due.
    pub fn advance(&self, by: Duration) {
        self.elapsed.send_modify(|elapsed| *elapsed += by);
    }
}

impl Clock for ManualClock {
    fn unix_ms(&self) -> u64 {
        self.epoch_ms + u64::try_from(self.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn elapsed(&self) -> Duration {
        *self.elapsed.borrow()
    }

    fn sleep_until(&self, at: Duration) -> Sleep {
        let mut elapsed = self.elapsed.subscribe();
        Box::pin(async move {
            // The sender lives in the clock that the caller holds; a dropped clock ends every sleep.
            let _ = elapsed.wait_for(|now| *now >= at).await;
        })
    }
}
