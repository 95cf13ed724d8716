//! A log that is verified afterwards, leaf by leaf.

use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use hammer_audit::altered_issuer;
use hammer_audit::{
    AnswerBound, AuditReader, EntrySource as _, LogInspector, LogSource as _, ServedTile, Trouble, edge_of,
    flaw_words, leaves_of,
};
use hammer_core::runtime::Clock;
use hammer_net::{ClientConfig, ConfigError};
use hammer_tlog::ct::bundle::StaticCtLeaves;
use hammer_tlog::ct::rfc6962::Rfc6962Leaves;
use hammer_tlog::hash::{Hash, sha256};
use hammer_tlog::logs::audit::TileSweep;
use hammer_tlog::logs::follow::Head;
use hammer_tlog::logs::merkle::{Frontier, verify_consistency};
use hammer_tlog::logs::tile::Level;

use super::chain_sweep::ChainSweep;
use super::ct_log::CtLog;
use super::entry_dates::EntryDates;
use crate::log::{LogKind, LogTarget};

/// Verifies a log afterwards, at the head that it has now: every leaf of a range, read from the bundles and tiles of
/// static-ct-api or by `get-entries`, and up to the signed root. It lives on one thread, within a `LocalSet`.
pub struct LogSweep {
    kind: LogKind,
    inspector: LogInspector<CtLog>,
}

/// What a sweep has found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Swept {
    /// The leaves that were read.
    pub leaves: Range<u64>,
    /// Whether they, with what stands before and after them, lead to the signed root.
    pub is_proved: bool,
    /// What is wrong: kind, index of the leaf where it is one's, and detail; at most [`MOST_FLAWS`].
    pub flaws: Vec<(&'static str, Option<u64>, String)>,
    /// How many there are in all.
    pub flawed: u64,
    /// Certificates of chains that the log must serve by their fingerprint, and does (static-ct-api).
    pub issuers: u64,
    /// Chains of which each certificate issued the one below it.
    pub chains: u64,
    /// Chains of which that could not be found out, by why.
    pub unverified_chains: Vec<(&'static str, u64)>,
}

impl Swept {
    fn of(leaves: Range<u64>) -> Self {
        Self {
            leaves,
            is_proved: false,
            flaws: Vec::new(),
            flawed: 0,
            issuers: 0,
            chains: 0,
            unverified_chains: Vec::new(),
        }
    }

    pub(super) fn add(&mut self, flaw: (&'static str, Option<u64>, String)) {
        self.flawed += 1;
        if self.flaws.len() < MOST_FLAWS {
            self.flaws.push(flaw);
        }
    }
}

impl LogSweep {
    /// A sweep of `log`. The endpoints of `client` are replaced by the log's.
    ///
    /// # Errors
    /// Those of [`hammer_net::Client::new`].
    pub fn new(log: Arc<LogTarget>, client: ClientConfig, clock: Rc<dyn Clock>) -> Result<Self, ConfigError> {
        let (kind, place) = (log.kind, log.place(client));
        let inspector = LogInspector::new(CtLog::new(log), place, clock)?;
        Ok(Self { kind, inspector })
    }

    /// How many requests were sent so far.
    pub fn requests(&self) -> u64 {
        self.inspector.requests()
    }

    /// How many bytes were read so far.
    pub fn bytes(&self) -> u64 {
        self.inspector.bytes()
    }

    /// The head now, verified.
    ///
    /// # Errors
    /// When none is served, or it is not the log's ([`Trouble::breach_kind`]).
    pub async fn head(&mut self) -> Result<Head, Trouble> {
        self.inspector.head().await
    }

    /// Verifies the leaves of `range` in the tree of `head`; `read` is told now and then how many were read. A sweep of bundles
    /// is widened to whole ones.
    ///
    /// # Errors
    /// When the log does not serve what is needed, tried several times.
    pub async fn leaves(
        &mut self,
        head: &Head,
        range: Range<u64>,
        read: impl FnMut(u64),
    ) -> Result<Swept, Trouble> {
        match self.kind {
            LogKind::StaticCt => self.bundles(head, range, read).await,
            LogKind::Rfc6962 => self.entries(head, range, read).await,
        }
    }

    async fn bundles(
        &mut self,
        head: &Head,
        range: Range<u64>,
        mut read: impl FnMut(u64),
    ) -> Result<Swept, Trouble> {
        let mut sweep = TileSweep::<StaticCtLeaves>::new(head, range);
        let mut swept = Swept::of(sweep.leaves());
        let mut chains = ChainSweep::new(sweep.leaves());
        let mut dates = EntryDates::new(sweep.leaves(), head, self.inspector.log().skew());
        while !sweep.is_over() {
            let tiles = self.inspector.tiles(&sweep.needs(TILES)).await?;
            for (tile, found) in tiles {
                match found {
                    ServedTile::Bytes(bytes) => {
                        if tile.level == Level::Data {
                            let unknown = chains.unknown(&bytes);
                            self.issuers(&unknown, &mut swept, &mut chains).await?;
                            chains.bundle(tile.first(), &bytes);
                            dates.bundle(tile.first(), &bytes);
                        }
                        sweep.tile(tile, bytes);
                    }
                    ServedTile::Missing => sweep.missing(tile),
                }
            }
            sweep.flaws().iter().for_each(|flaw| swept.add(flaw_words(flaw)));
            read(sweep.read());
        }
        sweep.flaws().iter().for_each(|flaw| swept.add(flaw_words(flaw)));
        swept.is_proved = sweep.is_proved();
        dates.end(&mut swept);
        chains.end(&mut swept);
        Ok(swept)
    }

    /// Whether the log serves these certificates (static-ct-api, "Issuers").
    async fn issuers(
        &mut self,
        fingerprints: &[Hash],
        swept: &mut Swept,
        chains: &mut ChainSweep,
    ) -> Result<(), Trouble> {
        for fingerprint in fingerprints {
            let path = format!("/issuer/{fingerprint}");
            match self.inspector.found(&path, AnswerBound::ISSUER).await? {
                Some(certificate) if sha256(&certificate) == *fingerprint => {
                    swept.issuers += 1;
                    chains.issuer(&certificate);
                }
                Some(other) => swept.add(("altered-issuer", None, altered_issuer(&path, &other))),
                None => swept.add(("missing-issuer", None, format!("{path} is not served"))),
            }
        }
        Ok(())
    }

    async fn entries(
        &mut self,
        head: &Head,
        range: Range<u64>,
        mut read: impl FnMut(u64),
    ) -> Result<Swept, Trouble> {
        let end = range.end.min(head.size);
        let start = range.start.min(end);
        let mut swept = Swept::of(start..end);
        let mut chains = ChainSweep::new(start..end);
        let mut dates = EntryDates::new(start..end, head, self.inspector.log().skew());
        let mut frontier = match start.checked_sub(1) {
            None => Frontier::new(),
            Some(last) => self.inspector.patiently(async |reader| edge_of(reader, last, start).await).await?,
        };
        while frontier.size() < end {
            let path = self.inspector.log().entries(frontier.size(), end - 1);
            let read_leaves = async |reader: &AuditReader<CtLog>| {
                let body = reader.body(&path, AnswerBound::ENTRIES).await?;
                Ok((leaves_of::<Rfc6962Leaves>(&path, &body)?, body))
            };
            let (leaves, body) = self.inspector.patiently(read_leaves).await?;
            chains.entries(frontier.size(), &body);
            dates.entries(frontier.size(), &body);
            frontier.extend(leaves.into_iter().take((end - frontier.size()) as usize));
            read(frontier.size() - start);
        }
        let query = match end {
            0 => None,
            _ if end == head.size => None,
            _ => self.inspector.log().consistency(end, head.size),
        };
        let proof = match query {
            Some(query) => self.inspector.ask(&query).await?,
            None => Vec::new(),
        };
        match verify_consistency(end, head.size, &frontier.root(), &head.root, &proof) {
            Ok(()) => swept.is_proved = true,
            Err(why) => {
                swept.add(("tampered-entries", None, format!("entries {start} to {end}: {why}")));
            }
        }
        dates.end(&mut swept);
        chains.end(&mut swept);
        Ok(swept)
    }
}

/// Flaws that are told one by one.
pub const MOST_FLAWS: usize = 1000;
const TILES: usize = 64;
