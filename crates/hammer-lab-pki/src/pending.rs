//! What was started and not finished yet.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

/// Things by the tokens that were given for them: each is there once, for so long, and the oldest makes room for one too many.
#[derive(Debug)]
pub(crate) struct Pending<T> {
    ttl: Duration,
    table: Mutex<Table<T>>,
}

#[derive(Debug)]
struct Table<T> {
    kept: HashMap<String, (Duration, T)>,
    /// Tokens in the order in which they were given, those that are gone by now among them.
    order: VecDeque<String>,
}

impl<T> Pending<T> {
    pub(crate) fn new(ttl: Duration) -> Self {
        Self { ttl, table: Mutex::new(Table { kept: HashMap::new(), order: VecDeque::new() }) }
    }

    /// Keeps what was started at `now`.
    pub(crate) fn keep(&self, token: String, thing: T, now: Duration) {
        let mut table = self.lock();
        while table.order.len() >= MOST {
            let Some(oldest) = table.order.pop_front() else { break };
            table.kept.remove(&oldest);
        }
        table.order.push_back(token.clone());
        table.kept.insert(token, (now, thing));
    }

    /// What was started under that token, which is used up; none where it was not, or too long ago at `now`.
    pub(crate) fn take(&self, token: &str, now: Duration) -> Option<T> {
        let (since, thing) = self.lock().kept.remove(token)?;
        (now.saturating_sub(since) <= self.ttl).then_some(thing)
    }

    /// Forgets all of it.
    pub(crate) fn clear(&self) {
        let mut table = self.lock();
        table.kept.clear();
        table.order.clear();
    }

    fn lock(&self) -> MutexGuard<'_, Table<T>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

const MOST: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_started_is_finished_once_and_in_time() {
        let pending = Pending::new(Duration::from_secs(5));
        for (token, thing) in [("a", 1), ("b", 2)] {
            pending.keep(token.to_owned(), thing, Duration::from_secs(1));
        }
        assert_eq!(pending.take("a", Duration::from_secs(6)), Some(1));
        assert_eq!(pending.take("a", Duration::from_secs(6)), None);
        assert_eq!(pending.take("b", Duration::from_secs(7)), None);
        for number in 0..=MOST {
            pending.keep(number.to_string(), number as i32, Duration::ZERO);
        }
        assert_eq!(pending.take("0", Duration::ZERO), None);
        assert_eq!(pending.take("1", Duration::ZERO), Some(1));
    }
}
