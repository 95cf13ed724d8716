//! How many are in the store at once, and how long.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use hammer_lab::{clock::Clock, fault::BusyWorkers};

use crate::plan::StorePlan;

/// The way into the store.
#[derive(Debug)]
pub(crate) struct StoreGate {
    plan: StorePlan,
    inside: AtomicUsize,
    workers: BusyWorkers,
}

/// The store has as many connections as it bears.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooManyClients;

/// Counts a request among those in the store while it lives.
#[derive(Debug)]
struct Connection<'a>(&'a AtomicUsize);

impl Drop for Connection<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl StoreGate {
    pub(crate) fn new(plan: StorePlan) -> Self {
        Self { plan, inside: AtomicUsize::new(0), workers: BusyWorkers::default() }
    }

    /// As after a start.
    pub(crate) fn restart(&self) {
        self.workers.restart();
    }

    /// Waits as long as evidence takes in a store of so many rows.
    pub(crate) async fn read(&self, rows: u64, clock: &dyn Clock) -> Result<(), TooManyClients> {
        let rows = u32::try_from(rows).unwrap_or(u32::MAX);
        let of_rows = self.plan.row_time.duration().saturating_mul(rows);
        self.pass(of_rows.saturating_add(self.plan.read_time.duration()), clock).await
    }

    /// Waits as long as a CoRIM takes.
    pub(crate) async fn write(&self, clock: &dyn Clock) -> Result<(), TooManyClients> {
        self.pass(self.plan.write_time.duration(), clock).await
    }

    async fn pass(&self, takes: Duration, clock: &dyn Clock) -> Result<(), TooManyClients> {
        let _connection = self.connect()?;
        if !takes.is_zero() {
            let now = clock.elapsed();
            // An hour is longer than anybody waits, and sums of it stay in range.
            let until = now + self.workers.occupy(self.plan.workers, takes.min(LONGEST), now);
            clock.sleep_until(until).await;
        }
        Ok(())
    }

    fn connect(&self) -> Result<Connection<'_>, TooManyClients> {
        let before = self.inside.fetch_add(1, Ordering::Relaxed);
        let connection = Connection(&self.inside);
        let is_full = self.plan.max_connections.is_some_and(|most| before >= most.get());
        if is_full { Err(TooManyClients) } else { Ok(connection) }
    }
}

const LONGEST: Duration = Duration::from_secs(3600);

#[cfg(test)]
mod tests {
    use std::{
        pin::pin,
        task::{Context, Poll, Waker},
    };

    use hammer_lab::ManualClock;
    use hammer_values::{Count, TimeSpan};

    use super::*;

    fn poll<T>(future: std::pin::Pin<&mut impl Future<Output = T>>) -> Poll<T> {
        future.poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn evidence_takes_longer_the_more_rows_there_are_and_waits_for_a_worker() {
        let plan = StorePlan {
            row_time: TimeSpan::from_millis(1),
            workers: Count::at_least_one(1),
            ..StorePlan::default()
        };
        let (gate, clock) = (StoreGate::new(plan), ManualClock::at_unix_ms(0));
        let mut first = pin!(gate.read(10, &clock));
        let mut second = pin!(gate.read(20, &clock));
        assert!(poll(first.as_mut()).is_pending() && poll(second.as_mut()).is_pending());
        assert_eq!(poll(pin!(gate.write(&clock))), Poll::Ready(Ok(())));
        clock.advance(Duration::from_millis(10));
        assert_eq!(poll(first), Poll::Ready(Ok(())));
        clock.advance(Duration::from_millis(19));
        assert!(poll(second.as_mut()).is_pending());
        clock.advance(Duration::from_millis(1));
        assert_eq!(poll(second), Poll::Ready(Ok(())));
    }

    #[test]
    fn one_more_than_the_store_bears_is_refused_until_another_is_done_or_gone() {
        let plan = StorePlan {
            read_time: TimeSpan::from_millis(5),
            max_connections: Some(Count::at_least_one(2)),
            ..StorePlan::default()
        };
        let (gate, clock) = (StoreGate::new(plan), ManualClock::at_unix_ms(0));
        let mut first = pin!(gate.read(0, &clock));
        assert!(poll(first.as_mut()).is_pending());
        {
            let mut second = Box::pin(gate.read(0, &clock));
            assert!(poll(second.as_mut()).is_pending());
            assert_eq!(poll(pin!(gate.write(&clock))), Poll::Ready(Err(TooManyClients)));
            assert_eq!(poll(pin!(gate.read(0, &clock))), Poll::Ready(Err(TooManyClients)));
        }
        assert_eq!(poll(pin!(gate.write(&clock))), Poll::Ready(Ok(())));
        clock.advance(Duration::from_millis(5));
        assert_eq!(poll(first), Poll::Ready(Ok(())));
    }
}
