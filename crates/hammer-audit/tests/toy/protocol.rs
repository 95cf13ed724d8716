//! The toy protocol, as an audit has to know it: all that a protocol writes to have its log audited.

use hammer_audit::{HeadFault, LogSource, OpenedHead};
use hammer_core::promise::PromiseKind;
use hammer_tlog::hash::Hash;
use hammer_tlog::logs::audit::{EntryFault, LeafFormat, Receipt};
use hammer_tlog::logs::merkle::leaf_hash;
use hammer_tlog::logs::note::Verifier;
use hammer_tlog::tls::TlsReader;
use serde::Serialize;

/// The first line of its checkpoints.
pub(crate) const ORIGIN: &str = "toy.test/log";
/// What a receipt promises.
pub(crate) const PLEDGE: PromiseKind = PromiseKind(0);

/// The leaves of the log: entries of a bundle are bytes behind their length in two, as in tlog-tiles; a leaf is `toy:` and those.
#[derive(Debug)]
pub(crate) struct ToyLeaves;

impl LeafFormat for ToyLeaves {
    type Entry<'a> = &'a [u8];

    fn entries(bytes: &[u8]) -> impl Iterator<Item = Result<&[u8], EntryFault>> {
        let mut reader = TlsReader::new(bytes);
        std::iter::from_fn(move || {
            (!reader.rest().is_empty()).then(|| {
                reader.vector16("entry").map_err(|why| {
                    reader = TlsReader::new(&[]);
                    EntryFault::new(why.to_string())
                })
            })
        })
    }

    fn leaf_hash(entry: &&[u8]) -> Result<Hash, EntryFault> {
        Ok(leaf_hash(&[b"toy:", *entry].concat()))
    }
}

/// The log.
pub(crate) struct ToyLog {
    pub(crate) verifier: Verifier,
}

/// What the line of a receipt shows.
#[derive(Serialize)]
struct Shown {
    pledge: String,
}

impl LogSource for ToyLog {
    fn url(&self) -> String {
        format!("https://{ORIGIN}")
    }

    fn promise(&self) -> PromiseKind {
        PLEDGE
    }

    fn head_path(&self) -> &str {
        "/checkpoint"
    }

    fn open_head(&self, body: &[u8]) -> Result<OpenedHead, HeadFault> {
        OpenedHead::of_checkpoint(body, &self.verifier)
    }

    fn evidence(&self, receipt: &Receipt) -> impl Serialize {
        Shown { pledge: String::from_utf8_lossy(receipt.evidence.bytes()).into_owned() }
    }
}
