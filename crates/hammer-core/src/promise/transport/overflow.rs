//! Where records go that are large, or find the ring full.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};

use super::frame::PromiseRecord;
use super::records::Records;
use super::spill::SpillFile;
use crate::crew::CrewMember;
use crate::promise::ledger::PromiseKind;

/// The shard's end. It waits for nobody.
pub(crate) struct OverflowWriter {
    records: mpsc::Sender<OwnedRecord>,
    shared: Arc<Overflow>,
    crew: CrewMember,
}

/// The verifier's end.
#[derive(Clone)]
pub(crate) struct OverflowReader(Arc<Overflow>);

struct Overflow {
    /// Taken by the verifier and by the crew, never by the shard.
    state: Mutex<OverflowState>,
    /// Of the records in the queue. Relaxed everywhere: it is a sum, and the records themselves are seen by the queue.
    bytes: AtomicUsize,
    /// Whether the crew was asked to make room and has not done so yet.
    is_spilling: AtomicBool,
}

struct OverflowState {
    records: mpsc::Receiver<OwnedRecord>,
    file: SpillFile,
}

/// A record that is handed over whole.
pub(super) struct OwnedRecord {
    pub(super) seq: u64,
    pub(super) kind: PromiseKind,
    pub(super) bytes: Vec<u8>,
}

pub(super) fn overflow(folder: PathBuf, crew: CrewMember) -> (OverflowWriter, OverflowReader) {
    let (sender, records) = mpsc::channel();
    let state = Mutex::new(OverflowState { records, file: SpillFile::in_folder(folder) });
    let (bytes, is_spilling) = (AtomicUsize::new(0), AtomicBool::new(false));
    let shared = Arc::new(Overflow { state, bytes, is_spilling });
    (OverflowWriter { records: sender, shared: shared.clone(), crew }, OverflowReader(shared))
}

impl OverflowWriter {
    /// Hands a record over; whether there is room for it.
    pub(super) fn write(&self, record: OwnedRecord) -> bool {
        let size = record.bytes.len();
        // Only the shard adds, so nothing comes in between that would exceed the bound.
        let waiting = self.shared.bytes.load(Ordering::Relaxed) + size;
        if waiting > MOST_BYTES {
            return false;
        }
        self.shared.bytes.fetch_add(size, Ordering::Relaxed);
        let sent = self.records.send(record).is_ok();
        if waiting > SPILL_ABOVE && !self.shared.is_spilling.swap(true, Ordering::Relaxed) {
            let shared = self.shared.clone();
            self.crew.give(move || shared.spill());
        }
        sent
    }
}

impl Overflow {
    fn state(&self) -> std::sync::MutexGuard<'_, OverflowState> {
        // Whoever panicked left the queue and the file as they were between two records.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Moves records to the file until half of the queue's room is free.
    fn spill(&self) {
        while self.bytes.load(Ordering::Relaxed) > SPILL_ABOVE / 2 {
            let mut state = self.state();
            let Ok(record) = state.records.try_recv() else { break };
            let OwnedRecord { seq, kind, bytes } = record;
            state.file.write(PromiseRecord { seq, kind, bytes: &bytes });
            self.bytes.fetch_sub(bytes.len(), Ordering::Relaxed);
        }
        // A record that came in between asked for no spill; the next one does.
        self.is_spilling.store(false, Ordering::Relaxed);
    }
}

impl OverflowReader {
    /// Adds the next record that waits in memory; whether there was one.
    pub(in crate::promise) fn take(&self, records: &mut Records) -> bool {
        let Ok(record) = self.0.state().records.try_recv() else { return false };
        let OwnedRecord { seq, kind, bytes } = record;
        let length = bytes.len();
        records.push_whole(seq, kind, bytes);
        self.0.bytes.fetch_sub(length, Ordering::Relaxed);
        true
    }

    /// Hands every record in the file to `take`, and returns the kinds of those that were lost.
    pub(in crate::promise) fn drain(&self, take: impl FnMut(PromiseRecord<'_>)) -> Vec<PromiseKind> {
        // Taken out first, so that the crew can spill on while this is read.
        let file = self.0.state().file.take();
        file.read(take)
    }

    /// Whether nothing waits here, in memory or in the file.
    pub(in crate::promise) fn is_empty(&self) -> bool {
        self.0.bytes.load(Ordering::Relaxed) == 0 && self.0.state().file.is_empty()
    }
}

/// Bytes of one shard's records of one workload that wait in memory at most.
const MOST_BYTES: usize = 32 << 20;
/// Beyond this the crew makes room.
const SPILL_ABOVE: usize = MOST_BYTES / 2;
