//! Receipts of an earlier run, looked up in their log.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use hammer_audit::{
    AnswerBound, AuditReader, EntrySource as _, IndexProof, LogInspector, LogSource as _, ServedTile, Trouble,
};
use hammer_core::runtime::Clock;
use hammer_net::{ClientConfig, ConfigError};
use hammer_tlog::ct::bundle::{Entries, Entry, StaticCtLeaves};
use hammer_tlog::ct::rfc6962::{MerkleTreeLeaf, Rfc6962Leaves, SignedEntryRef};
use hammer_tlog::hash::Hash;
use hammer_tlog::logs::audit::{
    AuditBounds, Breach, Kind, LeafFormat as _, NoSpill, Receipt, ReceiptClock, TileAudit, Verdict,
};
use hammer_tlog::logs::follow::{Event, Head};
use hammer_tlog::logs::merkle::{leaf_hash, verify_inclusion};
use hammer_tlog::logs::tile::{FULL_WIDTH, Level, TileId};

use super::ct_log::{CtLog, MMD_MISSED};
use super::written::WrittenReceipt;
use crate::log::{LogKind, LogTarget};

/// Looks up in a log, at the head that it has now, what an earlier run was promised by it. It lives on one thread, within a
/// `LocalSet`.
pub struct ReceiptLookup {
    log: Arc<LogTarget>,
    inspector: LogInspector<CtLog>,
}

/// How promises stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LookedUp {
    /// How each one stands, in the order of the receipts.
    pub standing: Vec<Standing>,
    /// What is known of the SCT of each, in that order.
    pub signed: Vec<Signed>,
}

/// How one promise stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// The leaf is in the tree, at the promised index where one was promised.
    Found {
        /// Its index.
        index: u64,
    },
    /// It is not, and should be.
    Broken {
        /// How, as reports have it.
        kind: &'static str,
        /// What was found.
        detail: String,
    },
    /// No head covers it, and the merge delay is not over.
    Pending,
    /// It cannot be told.
    Unknown(String),
}

/// Whether the log's key made an SCT.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Signed {
    /// It did, over the entry that the log serves.
    Verified,
    /// It did not.
    Bad(String),
    /// There is no entry to verify it with, or no SCT.
    Unverified,
}

/// What is served as an entry whose leaf the tree has.
enum ServedEntry {
    /// The one that was promised, and whether the SCT is over it.
    Promised(Signed),
    /// One of another leaf, where it is any.
    Altered(Option<Hash>),
    /// Nothing.
    Withheld,
}

impl ReceiptLookup {
    /// A look-up in `log`. The endpoints of `client` are replaced by the log's.
    ///
    /// # Errors
    /// Those of [`hammer_net::Client::new`].
    pub fn new(log: Arc<LogTarget>, client: ClientConfig, clock: Rc<dyn Clock>) -> Result<Self, ConfigError> {
        let (source, place) = (CtLog::new(log.clone()), log.place(client));
        Ok(Self { log, inspector: LogInspector::new(source, place, clock)? })
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

    /// How each promise stands in the tree of `head`, which was asked for at `asked_unix_ms`; `done` is told now and then how many
    /// were looked up.
    ///
    /// # Errors
    /// When the log does not serve what is needed, tried several times.
    pub async fn look_up(
        &mut self,
        head: &Head,
        asked_unix_ms: u64,
        receipts: &[WrittenReceipt],
        mut done: impl FnMut(u64),
    ) -> Result<LookedUp, Trouble> {
        let standing = receipts.iter().map(|receipt| self.at_sight(receipt)).collect();
        let mut found = LookedUp { standing, signed: vec![Signed::Unverified; receipts.len()] };
        match self.log.kind {
            LogKind::StaticCt => {
                self.in_bundles(head, asked_unix_ms, receipts, &mut found, &mut done).await?;
            }
            LogKind::Rfc6962 => self.by_hash(head, asked_unix_ms, receipts, &mut found, &mut done).await?,
        }
        for (standing, signed) in found.standing.iter_mut().zip(&found.signed) {
            if let (Standing::Found { .. }, Signed::Bad(why)) = (&standing, signed) {
                *standing = Standing::Broken { kind: BAD_SIGNATURE, detail: why.clone() };
            }
        }
        Ok(found)
    }

    /// What can be said of a receipt without the log.
    fn at_sight(&self, receipt: &WrittenReceipt) -> Standing {
        let id = self.log.key.log_id();
        match &receipt.sct {
            Some(sct) if sct.log_id != id => {
                Standing::Unknown(format!("the SCT is of the log {}, not of {id}", sct.log_id))
            }
            _ if receipt.leaf.is_none() => {
                Standing::Unknown(format!("no leaf is known, since the SCT was {}", receipt.reason))
            }
            _ => Standing::Pending,
        }
    }

    async fn in_bundles(
        &mut self,
        head: &Head,
        asked_unix_ms: u64,
        receipts: &[WrittenReceipt],
        found: &mut LookedUp,
        done: &mut impl FnMut(u64),
    ) -> Result<(), Trouble> {
        let bounds = AuditBounds { receipts: usize::MAX, ..AuditBounds::default() };
        let mut audit = TileAudit::<StaticCtLeaves, _>::new(bounds, NoSpill).by_clock(self.clock());
        audit.follow(&Event::First { head: head.clone() });
        let mut by_bundle: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        for (place, receipt) in receipts.iter().enumerate() {
            let (Some(leaf), Standing::Pending) = (receipt.leaf, &found.standing[place]) else { continue };
            if let Some(index) = receipt.index {
                by_bundle.entry(index / u64::from(FULL_WIDTH)).or_default().push(place);
            }
            // Two lines may well be of one promise.
            audit.accept(self.promise(place, leaf, receipt).duplicate());
        }
        let mut misplaced = BTreeMap::new();
        let mut needs = audit.needs(TILES, true);
        let mut judged = 0;
        while !needs.is_empty() {
            let tiles = self.inspector.tiles(&needs).await?;
            for (tile, served) in tiles {
                match served {
                    ServedTile::Bytes(bytes) => {
                        let places = by_bundle.get(&tile.index).filter(|_| tile.level == Level::Data);
                        for place in places.into_iter().flatten() {
                            let (signed, elsewhere) = self.in_bundle(tile, &bytes, &receipts[*place]);
                            found.signed[*place] = signed;
                            misplaced.extend(elsewhere.map(|index| (*place, index)));
                        }
                        audit.tile(tile, &bytes);
                    }
                    ServedTile::Missing => audit.missing(tile),
                }
            }
            let verdicts = audit.verdicts();
            self.told(&verdicts, &misplaced, found);
            judged += verdicts.len() as u64;
            done(judged);
            let next = audit.needs(TILES, true);
            // The receipts of one bundle may be looked up in two goes.
            if next == needs && verdicts.is_empty() {
                break;
            }
            needs = next;
        }
        audit.overdue(asked_unix_ms);
        self.told(&audit.verdicts(), &misplaced, found);
        unproved(head, receipts, found);
        Ok(())
    }

    /// Whether the SCT is over the promised leaf as this bundle has it, and at which other index than the promised one, if at
    /// any.
    fn in_bundle(&self, bundle: TileId, bytes: &[u8], receipt: &WrittenReceipt) -> (Signed, Option<u64>) {
        let (Some(sct), Some(leaf)) = (&receipt.sct, receipt.leaf) else { return (Signed::Unverified, None) };
        let entries = Entries::new(bytes).map_while(Result::ok);
        let mut entries = (bundle.first()..).zip(entries);
        // By its own leaf, since the time or the index that the SCT says may be another one's; by the SCT's where it stands elsewhere.
        let is_promised = |entry: &Entry<'_>| {
            entry.leaf_hash().is_ok_and(|hash| hash == leaf)
                || sct.leaf_hash(entry.signed).is_ok_and(|hash| hash == leaf)
        };
        match entries.find(|(_, entry)| is_promised(entry)) {
            Some((at, entry)) => {
                (self.signed(receipt, entry.signed), Some(at).filter(|at| Some(*at) != receipt.index))
            }
            None => (Signed::Unverified, None),
        }
    }

    async fn by_hash(
        &mut self,
        head: &Head,
        asked_unix_ms: u64,
        receipts: &[WrittenReceipt],
        found: &mut LookedUp,
        done: &mut impl FnMut(u64),
    ) -> Result<(), Trouble> {
        for (place, receipt) in receipts.iter().enumerate() {
            let (Some(leaf), Standing::Pending) = (receipt.leaf, &found.standing[place]) else { continue };
            let query = self.inspector.log().proof_by_hash(&leaf, head.size);
            found.standing[place] = match self.found(async |reader| reader.ask(&query).await).await? {
                None => self.absent(place, leaf, receipt, asked_unix_ms),
                Some(IndexProof { index, audit_path }) => {
                    match verify_inclusion(index, head.size, &leaf, &audit_path, &head.root) {
                        Ok(()) => match self.entry(index, receipt).await? {
                            ServedEntry::Promised(signed) => {
                                found.signed[place] = signed;
                                Standing::Found { index }
                            }
                            ServedEntry::Altered(served) => {
                                let promise = self.promise(place, leaf, receipt);
                                self.broken(promise, Kind::AlteredLeaf { found: served })
                            }
                            ServedEntry::Withheld => Standing::Unknown(format!(
                                "the tree has leaf {leaf} at index {index}, and its entry is not served"
                            )),
                        },
                        Err(why) => {
                            Standing::Unknown(format!("the proof of leaf {leaf} does not hold: {why}"))
                        }
                    }
                }
            };
            done(place as u64 + 1);
        }
        Ok(())
    }

    /// Verifies the SCT with what is served as the entry of that index, where the tree has the promised leaf.
    async fn entry(&mut self, index: u64, receipt: &WrittenReceipt) -> Result<ServedEntry, Trouble> {
        let path = self.inspector.log().entries(index, index);
        let first = async |reader: &AuditReader<CtLog>| {
            let body = reader.body(&path, AnswerBound::ENTRIES).await?;
            let first = Rfc6962Leaves::entries(&body).next().transpose();
            let first = first.map(|entry| entry.map(|entry| entry.leaf_input));
            first.map_err(|why| Trouble::unreadable(&path, &why.to_string()))
        };
        let leaf_input = match self.found(first).await {
            Ok(Some(Some(leaf_input))) => leaf_input,
            Ok(_) => return Ok(ServedEntry::Withheld),
            Err(Trouble::Unreadable { .. }) => return Ok(ServedEntry::Altered(None)),
            Err(why) => return Err(why),
        };
        let served = leaf_hash(&leaf_input);
        if Some(served) != receipt.leaf {
            return Ok(ServedEntry::Altered(Some(served)));
        }
        Ok(ServedEntry::Promised(match MerkleTreeLeaf::parse(&leaf_input) {
            Ok(leaf) => self.signed(receipt, leaf.entry),
            Err(_) => Signed::Unverified,
        }))
    }

    /// What a receipt's promise is that is broken so.
    fn broken(&self, receipt: Receipt, kind: Kind) -> Standing {
        let words = self.inspector.log().words();
        Standing::Broken { kind: words.kind(&kind), detail: words.breach(&Breach { receipt, kind }) }
    }

    fn signed(&self, receipt: &WrittenReceipt, entry: SignedEntryRef<'_>) -> Signed {
        match receipt.sct.as_ref().map(|sct| sct.verify(&self.log.key, entry)) {
            None => Signed::Unverified,
            Some(Ok(())) => Signed::Verified,
            Some(Err(why)) => Signed::Bad(format!("failed to {why}")),
        }
    }

    /// What is read; none where the log says that it has nothing there.
    async fn found<T>(
        &self,
        read: impl AsyncFn(&AuditReader<CtLog>) -> Result<T, Trouble>,
    ) -> Result<Option<T>, Trouble> {
        let found = async |reader: &AuditReader<CtLog>| match read(reader).await {
            Err(Trouble::Status { status: 400 | 404, .. }) => Ok(None),
            read => read.map(Some),
        };
        self.inspector.patiently(found).await
    }

    /// Ours, from 1970 on: no instant of the run is known but those that its receipts have.
    fn clock(&self) -> ReceiptClock {
        ReceiptClock {
            epoch_unix_ms: 0,
            skew_ms: self.log.skew.as_millis() as u64,
            is_of_one_server: self.log.monitoring.len() == 1,
        }
    }

    /// What a receipt promises, which was received by that clock.
    fn promise(&self, place: usize, leaf: Hash, receipt: &WrittenReceipt) -> Receipt {
        let received_ns = receipt.received_unix_ms.saturating_mul(1_000_000);
        let promise = Receipt::new(place as u64, leaf, receipt.index, received_ns, receipt.timestamp_ms());
        promise.within(self.log.mmd.as_millis() as u64)
    }

    /// A leaf that a log of RFC 6962 does not have.
    fn absent(&self, place: usize, leaf: Hash, receipt: &WrittenReceipt, asked_unix_ms: u64) -> Standing {
        if asked_unix_ms <= self.clock().deadline_ms(&self.promise(place, leaf, receipt)) {
            return Standing::Pending;
        }
        let age_ms = asked_unix_ms.saturating_sub(receipt.timestamp_ms());
        let detail = format!("leaf {leaf}: the tree does not have it, {age_ms} ms after the sct");
        Standing::Broken { kind: MMD_MISSED, detail }
    }

    /// Takes verdicts over.
    fn told(&self, verdicts: &[Verdict], misplaced: &BTreeMap<usize, u64>, found: &mut LookedUp) {
        let words = self.inspector.log().words();
        for verdict in verdicts {
            let (place, standing) = match verdict {
                Verdict::Kept(kept) => (kept.receipt.seq as usize, Standing::Found { index: kept.index }),
                Verdict::Broken(breach) => {
                    let place = breach.receipt.seq as usize;
                    let kind = match (breach.kind, misplaced.get(&place)) {
                        (Kind::LostLeaf { .. }, Some(holds)) => Kind::WrongIndex { holds: *holds },
                        (kind, _) => kind,
                    };
                    let detail = words.breach(&Breach { kind, ..*breach });
                    (place, Standing::Broken { kind: words.kind(&kind), detail })
                }
            };
            found.standing[place] = standing;
        }
    }
}

/// What the head covers and no verdict came to, since the log does not serve what proves it.
fn unproved(head: &Head, receipts: &[WrittenReceipt], found: &mut LookedUp) {
    for (receipt, standing) in receipts.iter().zip(&mut found.standing) {
        let is_covered = receipt.index.is_some_and(|index| index < head.size);
        if is_covered && *standing == Standing::Pending {
            *standing =
                Standing::Unknown("the tiles around it are missing, or do not lead to the root".to_owned());
        }
    }
}

const TILES: usize = 16;
const BAD_SIGNATURE: &str = "bad-sct-signature";
