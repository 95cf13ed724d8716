//! Entries that sign flows got logged, for verify flows to read back: those of this run, of which each shard keeps a sample; or those of
//! a file, which a fill wrote.

use std::cell::RefCell;
use std::rc::Rc;

use hammer_core::draw::Draws;
use hammer_core::sample::Reservoir;
use hammer_core::workload::ShardContext;

mod drawn;
pub(crate) mod entry;
mod file;
mod probe;
#[cfg(test)]
mod tests;
mod writer;

pub(crate) use drawn::DrawnCorpus;
use entry::{CorpusEntry, CorpusLog, LoggedEntry};
pub use file::{BadLine, CorpusFile};
pub use probe::{CorpusProbe, expect_log};
pub(crate) use writer::CorpusLines;
pub use writer::{CorpusSink, CorpusStart, CorpusWriter, CorpusWritten};

/// The entries of a shard.
pub(crate) struct Corpus;

impl Corpus {
    /// What the shard's workloads share of that log.
    pub(crate) fn of(context: &ShardContext, log: CorpusLog) -> Rc<RefCell<Reservoir<CorpusEntry>>> {
        let make = || Reservoir::new(PLACES, BYTES, Draws::new(context.shard as u64, LABEL));
        let name = match log {
            CorpusLog::RekorV1 => REKOR_V1,
            CorpusLog::RekorV2 => REKOR_V2,
        };
        context.samples.of(name, make)
    }

    /// Offers what a flow got logged.
    pub(crate) fn offer(corpus: &RefCell<Reservoir<CorpusEntry>>, logged: &LoggedEntry<'_>) {
        corpus.borrow_mut().offer(|kept| kept.rewrite(logged));
    }
}

const REKOR_V1: &str = "sigstore entries";
const REKOR_V2: &str = "sigstore entries on tiles";
const LABEL: u64 = 0x5167;
const PLACES: usize = 16_384;
const BYTES: usize = 8 << 20;
