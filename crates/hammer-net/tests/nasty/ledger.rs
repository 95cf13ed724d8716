//! What a server saw of each request, and what it said.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use crate::reply::{Ends, Reply};

/// What one request came to at its server.
#[derive(Clone, Default)]
pub(crate) struct Entry {
    /// How often it was read whole and accepted.
    pub(crate) reads: usize,
    /// How often it came in and the server said that it had not read it (GOAWAY, REFUSED_STREAM).
    pub(crate) refused: usize,
    /// How often its path came in, and the rest did not.
    pub(crate) parts: usize,
    /// What a client must make of the reply.
    pub(crate) ends: Option<Ends>,
    /// Whether the reply was written whole.
    pub(crate) is_written: bool,
}

/// What a server saw so far.
#[derive(Clone, Default)]
pub(crate) struct Books {
    /// By the requests' numbers.
    pub(crate) entries: BTreeMap<u64, Entry>,
    /// Connections that were accepted.
    pub(crate) connections: usize,
    /// Bytes that came in, below HTTP.
    pub(crate) received: u64,
    /// Bytes that were written.
    pub(crate) sent: u64,
    /// Replies that are done, with all that followed them.
    pub(crate) settled: usize,
    /// Operations that the client has told the end of.
    pub(crate) told: u64,
}

impl Books {
    /// Whether every request that came in is settled.
    pub(crate) fn are_settled(&self) -> bool {
        self.settled == self.entries.values().map(|entry| entry.reads + entry.refused).sum::<usize>()
    }
}

/// The books of one case, shared by its servers and its client.
#[derive(Clone, Default)]
pub(crate) struct Ledger(Arc<watch::Sender<Books>>);

impl Ledger {
    /// Writes into the books, and shows who waits.
    pub(crate) fn note(&self, write: impl FnOnce(&mut Books)) {
        self.0.send_modify(write);
    }

    /// What the books say so far.
    pub(crate) fn read<T>(&self, read: impl FnOnce(&Books) -> T) -> T {
        read(&self.0.borrow())
    }

    /// The books, for who waits without a limit.
    pub(crate) fn watch(&self) -> watch::Receiver<Books> {
        self.0.subscribe()
    }

    /// Waits until the books say that `condition` holds.
    pub(crate) async fn until(&self, condition: impl Fn(&Books) -> bool) {
        let mut books = self.watch();
        let held = tokio::time::timeout(PATIENCE, books.wait_for(|books| condition(books))).await;
        held.expect("what is waited for does not come").expect("the books are never closed");
    }

    /// [`Self::until`], for a thread without a runtime.
    pub(crate) fn block_until(&self, condition: impl Fn(&Books) -> bool) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(self.until(condition));
    }

    /// A whole request came in, and is answered by `reply`.
    pub(crate) fn note_read(&self, seq: u64, reply: &Reply) {
        self.note(|books| {
            let entry = books.entries.entry(seq).or_default();
            match reply.ends {
                Ends::Refused => entry.refused += 1,
                _ => entry.reads += 1,
            }
            entry.ends = Some(reply.ends.clone());
        });
    }

    /// A whole request came in behind a GOAWAY that says that it is not read.
    pub(crate) fn note_refused(&self, seq: u64) {
        self.note(|books| {
            books.entries.entry(seq).or_default().refused += 1;
            books.settled += 1;
        });
    }

    /// The path came in, and then the connection ended.
    pub(crate) fn note_part(&self, seq: u64) {
        self.note(|books| books.entries.entry(seq).or_default().parts += 1);
    }

    /// The reply to `seq` was handed to the kernel whole.
    pub(crate) fn note_written(&self, seq: u64) {
        self.note(|books| books.entries.entry(seq).or_default().is_written = true);
    }
}

/// Longer than anything takes on loopback, and not for ever.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);
