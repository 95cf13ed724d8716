//! Entries that sign flows of this run got logged, for verify flows to read back.

use std::cell::RefCell;
use std::rc::Rc;

use hammer_core::draw::Draws;
use hammer_core::sample::{Reservoir, Sampled};
use hammer_core::workload::ShardContext;
use hammer_measure::Nanos;

/// An entry of Rekor v1.
#[derive(Debug, Default)]
pub(crate) struct CorpusEntry {
    /// By which it is asked for: 80 hexadecimal digits, or 64.
    pub(crate) uuid: String,
    /// Its index over all shards of the log.
    pub(crate) log_index: u64,
    /// When the log had answered with it.
    pub(crate) logged_at: Nanos,
    /// What was signed: what somebody who verifies has at hand.
    pub(crate) artifact: Vec<u8>,
}

/// The entries of a shard.
pub(crate) struct Corpus;

impl Corpus {
    /// What the shard's workloads share.
    pub(crate) fn of(context: &ShardContext) -> Rc<RefCell<Reservoir<CorpusEntry>>> {
        let make = || Reservoir::new(PLACES, BYTES, Draws::new(context.shard as u64, LABEL));
        context.samples.of(NAME, make)
    }

    /// Offers what a flow got logged by then: the UUID of its entry, the index, and what was signed.
    pub(crate) fn offer(
        corpus: &RefCell<Reservoir<CorpusEntry>>,
        logged_at: Nanos,
        (uuid, log_index, artifact): (&str, u64, &[u8]),
    ) {
        corpus.borrow_mut().offer(|kept| {
            kept.uuid.clear();
            kept.uuid.push_str(uuid);
            kept.log_index = log_index;
            kept.logged_at = logged_at;
            kept.artifact.clear();
            kept.artifact.extend_from_slice(artifact);
        });
    }
}

impl Sampled for CorpusEntry {
    fn weight(&self) -> usize {
        size_of::<Self>() + self.uuid.capacity() + self.artifact.capacity()
    }
}

const NAME: &str = "sigstore entries";
const LABEL: u64 = 0x5167;
const PLACES: usize = 16_384;
const BYTES: usize = 8 << 20;
