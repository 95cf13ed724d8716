//! The notary's log, as an audit has to know it.

use hammer_audit::{HeadFault, LogSource, OpenedHead};
use hammer_core::promise::PromiseKind;
use hammer_tlog::hash::Hash;
use hammer_tlog::logs::audit::{EntryFault, LeafFormat};
use hammer_tlog::logs::merkle::leaf_hash;
use hammer_tlog::logs::note::Verifier;
use hammer_tlog::tls::TlsReader;

/// The first line of its checkpoints.
pub(super) const ORIGIN: &str = "notary.test/acts";
/// What a receipt promises.
pub(super) const RECEIPT: PromiseKind = PromiseKind(0);

/// The acts that it keeps: in a bundle bytes behind their length in two, as in tlog-tiles; a leaf is `act` and those.
#[derive(Debug)]
pub(super) struct NotaryLeaves;

impl LeafFormat for NotaryLeaves {
    type Entry<'a> = &'a [u8];

    fn entries(bytes: &[u8]) -> impl Iterator<Item = Result<&[u8], EntryFault>> {
        let mut reader = Some(TlsReader::new(bytes));
        std::iter::from_fn(move || {
            let mut entries = reader.take().filter(|entries| !entries.rest().is_empty())?;
            let entry = entries.vector16("act").map_err(|why| EntryFault::new(why.to_string()));
            reader = entry.is_ok().then_some(entries);
            Some(entry)
        })
    }

    fn leaf_hash(entry: &&[u8]) -> Result<Hash, EntryFault> {
        Ok(leaf_hash(&[b"act", *entry].concat()))
    }
}

/// The log.
pub(super) struct NotaryLog {
    verifier: Verifier,
}

impl NotaryLog {
    pub(super) fn of(key: &Hash) -> Self {
        Self { verifier: Verifier::ed25519(ORIGIN, &key.0).unwrap() }
    }
}

impl LogSource for NotaryLog {
    fn url(&self) -> String {
        format!("https://{ORIGIN}")
    }

    fn promise(&self) -> PromiseKind {
        RECEIPT
    }

    fn head_path(&self) -> &str {
        "/checkpoint"
    }

    fn open_head(&self, body: &[u8]) -> Result<OpenedHead, HeadFault> {
        OpenedHead::of_checkpoint(body, &self.verifier)
    }
}
