//! Entries that wait to be sequenced, in batches, and what is known about every entry seen before.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use hammer_tlog::logs::merkle::Hash;
use tokio::sync::{Notify, watch};

use crate::{
    clock::Clock,
    ct::{entry::Entry, lies::Lies, plan::CtLabPlan},
};

/// Batches of a bounded number of entries, and the deduplication by identity.
#[derive(Debug)]
pub(crate) struct Pool {
    inner: Mutex<PoolState>,
    due: Notify,
    batch_max_size: usize,
    batch_max_age: Duration,
    max_outstanding: usize,
    max_duplicates_per_second: Option<u64>,
    keep_entries: Option<u64>,
    lies: Option<Arc<Lies>>,
}

#[derive(Debug, Default)]
struct PoolState {
    batches: VecDeque<Batch>,
    outstanding: usize,
    seen: HashMap<Hash, Seen>,
    /// The identities of logged entries, the oldest first, where they are to be forgotten.
    logged: VecDeque<Hash>,
    duplicates_in_second: (u64, u64),
}

/// Entries that are sequenced together, with their timestamps.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) entries: Vec<(Arc<Entry>, u64)>,
    opened_at: Duration,
    logged: watch::Sender<Option<Logged>>,
}

/// What becomes of a batch.
#[derive(Debug)]
pub(crate) struct Logged {
    pub(crate) first_index: u64,
    /// Of the SCT of each entry, where they were all signed at once.
    pub(crate) signatures: Vec<Vec<u8>>,
}

/// What becomes of a batch, and those who wait to hear of it.
#[derive(Debug)]
pub(crate) struct Untold {
    pub(crate) logged: Logged,
    waiting: watch::Sender<Option<Logged>>,
}

#[derive(Debug)]
enum Seen {
    Waiting { timestamp_ms: u64, place: Place },
    Logged { timestamp_ms: u64, index: u64 },
}

/// What a submission is told to wait for.
#[derive(Debug)]
pub(crate) struct Ticket {
    /// The entry's timestamp: the first submission's, when this is a duplicate.
    pub(crate) timestamp_ms: u64,
    /// Whether a duplicate was made an entry of its own.
    pub(crate) repeats: bool,
    /// Whether it is told of an entry that another submission made.
    pub(crate) is_duplicate: bool,
    place: Place,
}

/// Where an entry is in the tree.
#[derive(Debug)]
pub(crate) struct Placed {
    pub(crate) index: u64,
    /// That of its SCT, a `digitally-signed` struct, where its batch was signed.
    pub(crate) signature: Option<Vec<u8>>,
}

#[derive(Debug, Clone)]
enum Place {
    Logged(u64),
    /// Kept from being sequenced.
    Nowhere,
    InBatch {
        logged: watch::Receiver<Option<Logged>>,
        offset: usize,
    },
}

/// Why an entry was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pushback {
    /// Too many entries wait.
    Outstanding,
    /// Too many duplicates in this second.
    Duplicates,
}

impl Pool {
    pub(crate) fn new(plan: &CtLabPlan, lies: Option<Arc<Lies>>) -> Self {
        Self {
            inner: Mutex::default(),
            due: Notify::new(),
            batch_max_size: plan.batch_max_size.get(),
            batch_max_age: plan.batch_max_age.duration(),
            max_outstanding: plan.pushback_max_outstanding,
            max_duplicates_per_second: plan.rate_limit_dedup,
            keep_entries: plan.keep_entries.map(u64::from),
            lies,
        }
    }

    /// Takes an entry at `now`, or finds the one that it repeats.
    pub(crate) fn add(&self, entry: &Arc<Entry>, clock: &dyn Clock) -> Result<Ticket, Pushback> {
        let (now, timestamp_ms) = (clock.elapsed(), clock.unix_ms());
        let mut inner = self.lock();
        let duplicate = inner.seen.get(&entry.identity).map(Seen::ticket);
        let repeats = duplicate.is_some();
        if let Some(ticket) = duplicate {
            inner.count_duplicate(now.as_secs(), self.max_duplicates_per_second)?;
            if !self.lies.as_ref().is_some_and(|lies| lies.repeats(now)) {
                return Ok(ticket);
            }
        }
        if inner.outstanding >= self.max_outstanding {
            return Err(Pushback::Outstanding);
        }
        let holds = !repeats && self.lies.as_ref().is_some_and(|lies| lies.accept(entry, now, timestamp_ms));
        let (place, wake) = match holds {
            false => inner.enqueue(entry, timestamp_ms, now, self.batch_max_size),
            true => (Place::Nowhere, false),
        };
        if !repeats {
            inner.seen.insert(entry.identity, Seen::Waiting { timestamp_ms, place: place.clone() });
        }
        drop(inner);
        if wake {
            self.due.notify_one();
        }
        Ok(Ticket { timestamp_ms, repeats, is_duplicate: false, place })
    }

    /// Takes entries that were kept from being sequenced.
    pub(crate) fn add_late(&self, entries: Vec<(Arc<Entry>, u64)>, now: Duration) {
        for (entry, timestamp_ms) in entries {
            let (_, wake) = self.lock().enqueue(&entry, timestamp_ms, now, self.batch_max_size);
            if wake {
                self.due.notify_one();
            }
        }
    }

    /// Completes when a batch is full or old enough.
    pub(crate) async fn due(&self, clock: &dyn Clock) {
        loop {
            match self.next_due(clock.elapsed()) {
                Some(at) if at <= clock.elapsed() => return,
                Some(at) => tokio::select! {
                    () = clock.sleep_until(at) => {}
                    () = self.due.notified() => {}
                },
                None => self.due.notified().await,
            }
        }
    }

    /// The oldest batch, if it is due at `now` or `all` is asked for.
    pub(crate) fn take(&self, now: Duration, all: bool) -> Option<Batch> {
        let mut inner = self.lock();
        let due = inner.batches.front().is_some_and(|batch| all || self.due_at(batch, now) <= now);
        let batch = due.then(|| inner.batches.pop_front()).flatten()?;
        inner.outstanding -= batch.entries.len();
        Some(batch)
    }

    /// Notes that a batch is in the tree; those who wait are not told yet.
    pub(crate) fn logged(&self, batch: Batch, logged: Logged) -> Untold {
        let mut inner = self.lock();
        for (index, (entry, timestamp_ms)) in (logged.first_index..).zip(&batch.entries) {
            let found = || Seen::Logged { timestamp_ms: *timestamp_ms, index };
            let seen = inner.seen.entry(entry.identity).or_insert_with(found);
            // The first entry of an identity is the one that duplicates are told of.
            if matches!(seen, Seen::Waiting { .. }) {
                *seen = found();
            }
        }
        if let Some(keep) = self.keep_entries {
            inner.logged.extend(batch.entries.iter().map(|(entry, _)| entry.identity));
            inner.forget_beyond(keep);
        }
        Untold { logged, waiting: batch.logged }
    }

    /// Forgets a batch that could not be stored; those who wait see it once the batch is dropped.
    pub(crate) fn lost(&self, batch: &Batch) {
        let mut inner = self.lock();
        for (entry, _) in &batch.entries {
            inner.seen.remove(&entry.identity);
        }
    }

    /// Notes an entry that was in the tree when the log started.
    pub(crate) fn recovered(&self, identity: Hash, timestamp_ms: u64, index: u64) {
        // The first of several entries with one identity is the one that duplicates are told of.
        self.lock().seen.entry(identity).or_insert(Seen::Logged { timestamp_ms, index });
    }

    /// Entries that wait to be sequenced.
    pub(crate) fn outstanding(&self) -> u64 {
        self.lock().outstanding as u64
    }

    fn next_due(&self, now: Duration) -> Option<Duration> {
        self.lock().batches.front().map(|batch| self.due_at(batch, now))
    }

    fn due_at(&self, batch: &Batch, now: Duration) -> Duration {
        if batch.entries.len() >= self.batch_max_size { now } else { batch.opened_at + self.batch_max_age }
    }

    fn lock(&self) -> MutexGuard<'_, PoolState> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PoolState {
    /// Puts an entry into the last batch; says where, and whether those who wait for a batch must look again.
    fn enqueue(
        &mut self,
        entry: &Arc<Entry>,
        timestamp_ms: u64,
        now: Duration,
        batch_max_size: usize,
    ) -> (Place, bool) {
        self.outstanding += 1;
        let opened = self.batches.back().is_none_or(|batch| batch.entries.len() >= batch_max_size);
        if opened {
            self.batches.push_back(Batch::opened(now, batch_max_size));
        }
        let Some(batch) = self.batches.back_mut() else { return (Place::Nowhere, false) };
        let place = Place::InBatch { logged: batch.logged.subscribe(), offset: batch.entries.len() };
        batch.entries.push((Arc::clone(entry), timestamp_ms));
        (place, opened || batch.entries.len() >= batch_max_size)
    }

    /// Forgets the oldest logged entries, beyond so many.
    fn forget_beyond(&mut self, keep: u64) {
        while self.logged.len() as u64 > keep
            && let Some(oldest) = self.logged.pop_front()
        {
            self.seen.remove(&oldest);
        }
    }

    fn count_duplicate(&mut self, second: u64, limit: Option<u64>) -> Result<(), Pushback> {
        let (counted, duplicates) = self.duplicates_in_second;
        let duplicates = if counted == second { duplicates } else { 0 };
        if limit.is_some_and(|limit| duplicates >= limit) {
            return Err(Pushback::Duplicates);
        }
        self.duplicates_in_second = (second, duplicates + 1);
        Ok(())
    }
}

impl Batch {
    fn opened(opened_at: Duration, size: usize) -> Self {
        Self { entries: Vec::with_capacity(size.min(1024)), opened_at, logged: watch::Sender::new(None) }
    }
}

impl Untold {
    pub(crate) fn tell(self) {
        self.waiting.send_replace(Some(self.logged));
    }
}

impl Seen {
    fn ticket(&self) -> Ticket {
        let (timestamp_ms, place) = match self {
            Self::Waiting { timestamp_ms, place } => (*timestamp_ms, place.clone()),
            Self::Logged { timestamp_ms, index } => (*timestamp_ms, Place::Logged(*index)),
        };
        Ticket { timestamp_ms, repeats: false, is_duplicate: true, place }
    }
}

impl Ticket {
    /// Where the entry is, once those who wait for its batch are told; none when that was lost.
    pub(crate) async fn placed(&mut self) -> Option<Placed> {
        match &mut self.place {
            Place::Logged(index) => Some(Placed { index: *index, signature: None }),
            Place::Nowhere => None,
            Place::InBatch { logged, offset } => {
                let logged = logged.wait_for(Option::is_some).await.ok()?;
                let Logged { first_index, signatures } = logged.as_ref()?;
                let index = first_index + *offset as u64;
                Some(Placed { index, signature: signatures.get(*offset).cloned() })
            }
        }
    }
}
