use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use hammer_core::runtime::Clock;
use hammer_net::{ClientConfig, ConfigError};
use hammer_tlog::ct::bundle::StaticCtLeaves;
use hammer_tlog::ct::rfc6962::GetSthConsistency;
use hammer_tlog::logs::audit::TileSweep;
use hammer_tlog::logs::follow::Head;
use hammer_tlog::logs::merkle::{Frontier, Hash, leaf_hash, sha256, verify_consistency};

use super::entries::{LeafInputs, edge_of};
use super::reader::{Reader, Tile};
use super::trouble::Trouble;
use super::words;
use crate::log::{GET_ENTRIES, LogKind, LogTarget};

/// Verifies a log afterwards, at the head that it has now: every leaf of a range, read from the bundles and tiles of
/// static-ct-api or by `get-entries`, and up to the signed root. It lives on one thread, within a `LocalSet`.
pub struct LogSweep {
    log: Arc<LogTarget>,
    reader: Reader,
    clock: Rc<dyn Clock>,
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
}

impl Swept {
    fn of(leaves: Range<u64>) -> Self {
        Self { leaves, is_proved: false, flaws: Vec::new(), flawed: 0, issuers: 0 }
    }

    fn add(&mut self, flaw: (&'static str, Option<u64>, String)) {
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
        let reader = Reader::new(log.clone(), client, clock.clone())?;
        Ok(Self { log, reader, clock })
    }

    /// How many requests were sent so far.
    pub fn requests(&self) -> u64 {
        self.reader.requests()
    }

    /// How many bytes were read so far.
    pub fn bytes(&self) -> u64 {
        self.reader.bytes()
    }

    /// The head now, verified.
    ///
    /// # Errors
    /// When none is served, or it is not the log's ([`Trouble::breach_kind`]).
    pub async fn head(&mut self) -> Result<Head, Trouble> {
        let mut patience = Patience::new();
        loop {
            match self.reader.head().await {
                Err(why) if patience.is_left(&why) => patience.wait(&self.clock).await,
                ended => return ended,
            }
        }
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
        match self.log.kind {
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
        let mut patience = Patience::new();
        while !sweep.is_over() {
            let (tiles, went) = self.reader.tiles(&sweep.needs(TILES)).await;
            match went {
                Err(why) if tiles.is_empty() && !patience.is_left(&why) => return Err(why),
                Err(_) => patience.wait(&self.clock).await,
                Ok(()) => patience = Patience::new(),
            }
            for (tile, found) in tiles {
                match found {
                    Tile::Bytes(bytes) => sweep.tile(tile, bytes),
                    Tile::Missing => sweep.missing(tile),
                }
            }
            self.issuers(&sweep.references(), &mut swept).await?;
            sweep.flaws().iter().for_each(|flaw| swept.add(words::flaw(flaw)));
            read(sweep.read());
        }
        sweep.flaws().iter().for_each(|flaw| swept.add(words::flaw(flaw)));
        swept.is_proved = sweep.is_proved();
        Ok(swept)
    }

    /// Whether the log serves these certificates (static-ct-api, "Issuers").
    async fn issuers(&mut self, fingerprints: &[Hash], swept: &mut Swept) -> Result<(), Trouble> {
        for fingerprint in fingerprints {
            let path = format!("/issuer/{fingerprint}");
            let mut patience = Patience::new();
            let found = loop {
                match self.reader.found(&path).await {
                    Err(why) if patience.is_left(&why) => patience.wait(&self.clock).await,
                    found => break found?,
                }
            };
            match found {
                Some(certificate) if sha256(&certificate) == *fingerprint => swept.issuers += 1,
                Some(_) => swept.add(("altered-issuer", None, format!("{path} is another certificate"))),
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
        let mut frontier = match start.checked_sub(1) {
            None => Frontier::new(),
            Some(last) => edge_of(&mut self.reader, last, start).await?,
        };
        while frontier.size() < end {
            let path = format!("{GET_ENTRIES}?start={}&end={}", frontier.size(), end - 1);
            let LeafInputs { entries } = self.json(&path).await?;
            if entries.is_empty() {
                return Err(Trouble::Other(format!("read {path}: no entry is in the answer")));
            }
            let most = (end - frontier.size()) as usize;
            frontier.extend(entries.iter().take(most).map(|entry| leaf_hash(&entry.leaf_input.0)));
            read(frontier.size() - start);
        }
        let proof = match end {
            0 => Vec::new(),
            _ if end == head.size => Vec::new(),
            _ => {
                let path = format!("/ct/v1/get-sth-consistency?first={end}&second={}", head.size);
                self.json::<GetSthConsistency>(&path).await?.consistency
            }
        };
        match verify_consistency(end, head.size, &frontier.root(), &head.root, &proof) {
            Ok(()) => swept.is_proved = true,
            Err(why) => {
                swept.add(("tampered-entries", None, format!("entries {start} to {end}: {why}")));
            }
        }
        Ok(swept)
    }

    async fn json<T: serde::de::DeserializeOwned>(&mut self, path: &str) -> Result<T, Trouble> {
        let mut patience = Patience::new();
        loop {
            match self.reader.json(path).await {
                Err(why) if patience.is_left(&why) => patience.wait(&self.clock).await,
                ended => return ended,
            }
        }
    }
}

/// How often what failed is tried again, later each time: some logs bound what one client may read.
pub(super) struct Patience {
    tries: u32,
}

impl Patience {
    pub(super) fn new() -> Self {
        Self { tries: 0 }
    }

    pub(super) fn is_left(&mut self, why: &Trouble) -> bool {
        self.tries += 1;
        self.tries < TRIES && why.breach_kind().is_none()
    }

    pub(super) async fn wait(&self, clock: &Rc<dyn Clock>) {
        let wait = Duration::from_millis(100) * (1 << self.tries);
        clock.sleep_until(clock.now().saturating_add(wait.into())).await;
    }
}

/// Flaws that are told one by one.
pub const MOST_FLAWS: usize = 1000;
const TILES: usize = 64;
const TRIES: u32 = 6;
