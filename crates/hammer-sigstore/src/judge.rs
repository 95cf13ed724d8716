//! Judges what the services promised, beside the load: certificates, entries, timestamps, and what was read back.

mod artifact;
pub(crate) mod bundle;
mod certificate;
mod distinct_keys;
pub(crate) mod entry;
pub(crate) mod malformed;
pub(crate) mod rekor_log;
pub(crate) mod search;
mod shards;
mod signatures;
mod tiles_artifact;
pub(crate) mod tiles_head;
pub(crate) mod tiles_links;
pub(crate) mod timestamp;
mod window;

use std::ops::Range;
use std::sync::Arc;

use hammer_audit::{AuditLink, ReceivedHead};
use hammer_cms::timestamp::TimestampVerifier;
use hammer_core::promise::{Fault, PromiseKind, Records, Verdicts, Verifier};
use hammer_measure::Nanos;
use hammer_read::{LogHeads, ProvedTrees, unverified_since};
use hammer_tlog::logs::audit::Receipt;

use crate::bundle::files::BundleFiles;
use crate::bundle::{SignedBundle, written};
use crate::followed_heads::FollowedHeads;
use crate::promise::SigstorePromise;
use crate::record::{BundleRecord, EntryLog, EntryRecord, Instants, PromiseRecord};
use crate::trust::Trust;

use artifact::{ProvenEntries, ProvenEntry};
use bundle::{BundleFault, BundleVerifier, ExpectedBundle};
use entry::{BelievedCheckpoint, BelievedNote, LogTrust, PlacedEntry};
use malformed::{is_unverified, malformed};
use rekor_log::follow_link::FollowLink;
use shards::ShardOffsets;
use signatures::Signatures;
use tiles_artifact::TilesJudge;
use tiles_links::{HeadEvidence, ReadByHead, TilesReadLink};
use window::StampWindow;

/// What verifiers of a workload are made from, one for each thread.
#[derive(Clone)]
pub(crate) struct Judge {
    trust: Arc<Trust>,
    /// Of Rekor v1, by what its entries said to any verifier of the workload.
    shards: Arc<ShardOffsets>,
    epoch_unix_ms: u64,
    /// Of the entries of Rekor v2.
    audit: Option<AuditLink>,
    /// Of what Rekor v1 answers.
    follow: Option<FollowLink>,
    /// Of what is read of Rekor v2, by its checkpoints.
    joined: Option<TilesReadLink>,
    /// Where heads go of what is neither audited nor followed nor joined.
    shown: FollowedHeads,
    /// By what Rekor v2 signed to any verifier of the workload.
    heads: Arc<LogHeads>,
    /// Where bundles that hold are written.
    bundles: Option<Arc<BundleFiles>>,
}

/// The last checkpoints that were believed.
#[derive(Default)]
struct BelievedHeads {
    rekor: BelievedNote,
    tiles: BelievedCheckpoint,
}

/// A promise that holds if its signatures do.
struct OpenPromise<'a> {
    seq: u64,
    bytes: &'a [u8],
    promise: SigstorePromise,
    /// Which of the signatures.
    signatures: Range<usize>,
    judged: Result<OpenEntry, Fault>,
}

/// What is known of an entry by its promise; nothing of what is none.
#[derive(Default)]
struct OpenEntry {
    /// What need not be verified again.
    known: Option<ProvenEntry>,
    /// When it was read, and where it stands.
    placed: Option<(Instants, ReadPlace)>,
}

/// Where an entry stands that was read.
enum ReadPlace {
    /// In Rekor v1.
    Rekor(PlacedEntry),
    /// In Rekor v2.
    Tiles(ReadByHead),
}

/// Judges on a thread of its own.
struct PromiseVerifier {
    judge: Judge,
    timestamps: Option<TimestampVerifier>,
    proven: ProvenEntries,
    /// Of the records that are judged together.
    signatures: Signatures,
    /// Of either Rekor.
    believed: BelievedHeads,
    /// Of Rekor v2, by their checkpoints.
    trees: ProvedTrees,
    /// Made with the first bundle.
    bundles: Option<BundleVerifier>,
}

impl Judge {
    pub(crate) fn new(trust: Arc<Trust>, epoch_unix_ms: u64) -> Self {
        let (shards, heads, shown) = Default::default();
        let (audit, follow, joined, bundles) = Default::default();
        Self { trust, shards, epoch_unix_ms, audit, follow, joined, shown, heads, bundles }
    }

    /// Hands every entry of Rekor v2 that holds on its own to an audit of the log.
    pub(crate) fn audited(self, audit: AuditLink) -> Self {
        Self { audit: Some(audit), ..self }
    }

    /// Hands what holds of Rekor v1's answers on its own to whoever follows the log.
    pub(crate) fn followed(self, follow: FollowLink) -> Self {
        Self { shards: follow.shards(), follow: Some(follow), ..self }
    }

    /// Hands what is read of Rekor v2 and holds on its own to an audit of the log, by the checkpoint that it was read by.
    pub(crate) fn joined(self, reads: TilesReadLink) -> Self {
        Self { joined: Some(reads), ..self }
    }

    /// Hands the heads of what it judges to whoever follows the logs, without a promise that waits for them.
    pub(crate) fn showing(self, shown: FollowedHeads) -> Self {
        Self { shown, ..self }
    }

    /// Writes the bundles that hold.
    pub(crate) fn with_bundles(self, bundles: Arc<BundleFiles>) -> Self {
        Self { bundles: Some(bundles), ..self }
    }

    pub(crate) fn verifier(&self) -> Box<dyn Verifier> {
        let timestamps = self.trust.timestamp().cloned().map(TimestampVerifier::new);
        Box::new(PromiseVerifier {
            judge: self.clone(),
            timestamps,
            proven: ProvenEntries::default(),
            signatures: Signatures::default(),
            believed: BelievedHeads::default(),
            trees: ProvedTrees::default(),
            bundles: None,
        })
    }

    fn log_trust(&self) -> LogTrust<'_> {
        LogTrust { trust: &self.trust, shards: &self.shards }
    }

    /// The wall clock at an instant of the run, milliseconds since 1970.
    fn unix_ms(&self, at: Nanos) -> i64 {
        (self.epoch_unix_ms + at.0 / 1_000_000) as i64
    }

    /// When what an exchange was answered with can have been stamped.
    fn window(&self, at: Instants) -> StampWindow {
        // Epoch and instant are of whole milliseconds: what came within the one after their sum may be stamped with that.
        StampWindow::new(self.unix_ms(at.sent), self.unix_ms(at.received) + 1, self.trust.skew)
    }

    /// Puts a bundle together, reads it as anybody would, and writes it where it holds.
    fn bundle(
        &self,
        verifier: &mut BundleVerifier,
        seq: u64,
        record: &BundleRecord<'_>,
    ) -> Result<(), Fault> {
        let json = written::json(record).map_err(malformed)?;
        let bundle =
            SignedBundle::parse(json.as_bytes()).map_err(|why| malformed(format!("failed to {why}")))?;
        let sct = (!record.sct.is_empty()).then(|| certificate::read_sct(record.sct)).transpose()?;
        let expected = ExpectedBundle {
            detached_sct: sct.as_ref(),
            artifact: Some(record.artifact),
            identity: Some(record.identity).filter(|identity| !identity.is_empty()),
            ..ExpectedBundle::default()
        };
        match verifier.verify(&bundle, &expected) {
            Ok(_) => {}
            Err(BundleFault::Broken(fault)) => return Err(fault),
            Err(BundleFault::Needs { part, what }) => {
                return Err(malformed(format!("{part} cannot be verified without {what}")));
            }
            Err(BundleFault::Unverified(why)) => return Err(unverified_since(why)),
        }
        if let Some(files) = &self.bundles {
            files.write(seq, &json, record.artifact);
        }
        Ok(())
    }

    fn entry(
        &self,
        seq: u64,
        (record, bytes): (&EntryRecord<'_>, &[u8]),
        believed: &mut BelievedHeads,
        verdicts: &mut Verdicts,
    ) {
        let kind = SigstorePromise::Entry.into();
        let is_known = record.log == EntryLog::TilesBefore;
        let judged = match record.log {
            EntryLog::Rekor => {
                let window = self.window(record.at);
                let judged = entry::judge_rekor(self.log_trust(), record, window, &mut believed.rekor);
                return self.proved(SigstorePromise::Entry, (seq, record.at), judged, bytes, verdicts);
            }
            EntryLog::RekorBefore => return self.known(seq, record, bytes, verdicts),
            EntryLog::TilesBefore => match entry::judge_known_tiles(record) {
                // Nobody looks whether it is there.
                Ok(None) => return verdicts.unchecked(kind),
                Ok(Some(_)) if self.audit.is_none() => return verdicts.unchecked(kind),
                Ok(Some(logged)) => Ok(logged),
                Err(fault) => Err(fault),
            },
            EntryLog::Tiles | EntryLog::TilesMessage => {
                entry::judge_tiles(&self.trust, record, &mut believed.tiles)
            }
        };
        match judged {
            Err(fault) => not_kept(verdicts, kind, seq, fault, bytes),
            Ok(logged) => match &self.audit {
                None => {
                    if let (Some(heads), Some(head)) = (&self.shown.tiles, logged.head) {
                        heads.answered(head, believed.tiles.envelope(), record.at.received);
                    }
                    verdicts.kept(kind);
                }
                Some(audit) => {
                    let Instants { intended, sent, received } = record.at;
                    let promised_ms = self.unix_ms(received) as u64;
                    let receipt = Receipt::new(seq, logged.leaf, Some(logged.index), received.0, promised_ms)
                        .sent(intended.0, sent.0)
                        .within(self.trust.publication_delay.as_millis() as u64);
                    let mut receipt = if is_known { receipt.duplicate() } else { receipt };
                    if let Some(head) = logged.head {
                        audit.answered_with(head, believed.tiles.envelope(), received);
                        let evidence = HeadEvidence(ReceivedHead { head, is_alone: false });
                        receipt = receipt.with_evidence(evidence.written());
                    }
                    if !audit.hold(receipt, verdicts.part()) {
                        verdicts.unchecked(kind);
                    }
                }
            },
        }
    }
}

impl Judge {
    /// Rekor v1 says that it has the entry already: it is read back, as nothing else shows that it does.
    fn known(&self, seq: u64, record: &EntryRecord<'_>, bytes: &[u8], verdicts: &mut Verdicts) {
        let kind = SigstorePromise::Entry.into();
        match (entry::judge_known(record), &self.follow) {
            (Err(fault), _) => not_kept(verdicts, kind, seq, fault, bytes),
            (Ok(Some(place)), Some(follow)) => {
                let Instants { intended, sent, received } = record.at;
                let receipt = Receipt::new(seq, place.leaf, None, received.0, self.unix_ms(received) as u64)
                    .sent(intended.0, sent.0);
                if !follow.hold_known(receipt, place, verdicts.part()) {
                    verdicts.unchecked(kind);
                }
            }
            (Ok(_), _) => verdicts.unchecked(kind),
        }
    }

    /// What Rekor v1 answered holds on its own, or does not; where the log is followed, its checkpoint has to join the chain.
    fn proved(
        &self,
        promise: SigstorePromise,
        (seq, at): (u64, Instants),
        judged: Result<PlacedEntry, Fault>,
        bytes: &[u8],
        verdicts: &mut Verdicts,
    ) {
        let kind = promise.into();
        match (judged, &self.follow) {
            (Err(fault), _) => not_kept(verdicts, kind, seq, fault, bytes),
            (Ok(proved), None) => {
                if let (Some(heads), Some(head)) = (&self.shown.rekor, proved.head) {
                    heads.answered(head, proved.checkpoint.as_bytes(), at.received);
                }
                verdicts.kept(kind);
            }
            (Ok(proved), Some(follow)) => {
                let promised_ms = self.unix_ms(at.received) as u64;
                let receipt = Receipt::new(seq, proved.leaf, Some(proved.index), at.received.0, promised_ms)
                    .sent(at.intended.0, at.sent.0);
                match follow.hold(receipt, &proved, promise, verdicts.part()) {
                    Some(true) => {}
                    Some(false) => verdicts.unchecked(kind),
                    None => {
                        let why = "its checkpoint names no tree, by which it could be followed";
                        verdicts.broken(kind, seq, Fault::at("checkpoint", proved.index, why), Some(bytes));
                    }
                }
            }
        }
    }
}

impl Judge {
    /// What was read of Rekor v2 holds by its checkpoint, which has to join the tree.
    fn read_on_tiles(
        &self,
        promise: SigstorePromise,
        (seq, at): (u64, Instants),
        ReadByHead { head, leaf, index }: ReadByHead,
        verdicts: &mut Verdicts,
    ) {
        let promised_ms = self.unix_ms(at.received) as u64;
        let receipt =
            Receipt::new(seq, leaf, Some(index), at.received.0, promised_ms).sent(at.intended.0, at.sent.0);
        let held = self.joined.as_ref().map(|reads| reads.hold(receipt, head, promise, verdicts.part()));
        match held {
            None => verdicts.kept(promise.into()),
            Some(true) => {}
            Some(false) => verdicts.unchecked(promise.into()),
        }
    }
}

/// The promise is broken, or cannot be held against anything here.
fn not_kept(verdicts: &mut Verdicts, kind: PromiseKind, seq: u64, fault: Fault, bytes: &[u8]) {
    match is_unverified(&fault) {
        true => verdicts.unverified(kind, &fault.detail),
        false => verdicts.broken(kind, seq, fault, Some(bytes)),
    }
}

impl PromiseVerifier {
    /// Judges a promise, all of it but signatures that are verified together; none where nothing is left.
    fn open<'a>(&mut self, seq: u64, bytes: &'a [u8], verdicts: &mut Verdicts) -> Option<OpenPromise<'a>> {
        let Self { judge, timestamps, proven, signatures, believed, trees, bundles } = self;
        let start = signatures.len();
        let nothing = |()| OpenEntry::default();
        let (promise, judged) = match PromiseRecord::read(bytes) {
            Ok(PromiseRecord::Entry(record)) => {
                judge.entry(seq, (&record, bytes), believed, verdicts);
                return None;
            }
            Ok(PromiseRecord::Certificate(record)) => {
                let window = judge.window(record.at);
                let judged = certificate::judge(&judge.trust, &record, window, signatures);
                (SigstorePromise::Certificate, judged.map(nothing))
            }
            Ok(PromiseRecord::Timestamp(record)) => {
                let window = judge.window(record.at);
                let judged =
                    timestamp::judge((&judge.trust, timestamps.as_mut()), &record, window, signatures);
                (SigstorePromise::Timestamp, judged.map(nothing))
            }
            Ok(PromiseRecord::TimestampChain { body, .. }) => {
                (SigstorePromise::TimestampChain, timestamp::judge_chain(&judge.trust, body).map(nothing))
            }
            Ok(PromiseRecord::Artifact(record)) => {
                let (log, at) = (judge.log_trust(), record.at);
                let judged = artifact::judge(log, proven, &record, &mut believed.rekor, signatures);
                let judged = judged.map(|(placed, known)| {
                    let placed = Some((at, ReadPlace::Rekor(placed)));
                    OpenEntry { known, placed }
                });
                (SigstorePromise::Artifact, judged)
            }
            Ok(PromiseRecord::TilesArtifact(record)) => {
                let (trust, heads) = (&*judge.trust, judge.joined.is_none().then_some(&*judge.heads));
                let timestamps = timestamps.as_mut();
                let mut tiles = TilesJudge { trust, heads, trees, proven, signatures, timestamps };
                let (head, judged) = tiles.judge(&record);
                let promise = record.promise();
                if let (Some((id, raw)), None, Some(heads)) = (head, &judge.joined, &judge.shown.tiles) {
                    heads.answered(id, raw, record.at.received);
                }
                let joined = head.zip(judge.joined.as_ref());
                // One that holds is of the followed tree, whatever it led to.
                if let Some(((id, raw), joined)) = joined {
                    joined.of(promise).answered_with(id, raw, record.at.received);
                }
                let placed = joined.map(|((head, _), _)| {
                    let (leaf, index) = (record.leaf, record.index);
                    (record.at, ReadPlace::Tiles(ReadByHead { head, leaf, index }))
                });
                (promise, judged.map(|known| OpenEntry { known, placed }))
            }
            Ok(PromiseRecord::Search(record)) => {
                (SigstorePromise::Search, search::judge(&record).map(nothing))
            }
            Ok(PromiseRecord::Bundle(record)) => {
                let verifier = bundles.get_or_insert_with(|| {
                    let tiles = judge.trust.rekor_tiles().cloned().into_iter().collect();
                    BundleVerifier::new(judge.trust.clone(), tiles)
                });
                (SigstorePromise::Bundle, judge.bundle(verifier, seq, &record).map(nothing))
            }
            // Records are this crate's own.
            Err(_) => {
                verdicts.unchecked(SigstorePromise::Entry.into());
                return None;
            }
        };
        Some(OpenPromise { seq, bytes, promise, signatures: start..signatures.len(), judged })
    }

    /// Verifies the signatures of promises together, and tells what became of each promise.
    fn close(&mut self, all: Vec<OpenPromise<'_>>, verdicts: &mut Verdicts) {
        let Self { judge, proven, signatures, .. } = self;
        let verified = signatures.verify();
        for OpenPromise { seq, bytes, promise, signatures, judged } in all {
            // Signatures were looked at before whatever else did not hold.
            match verified.check(signatures).and(judged) {
                Err(fault) => not_kept(verdicts, promise.into(), seq, fault, bytes),
                Ok(OpenEntry { known, placed }) => {
                    known.into_iter().for_each(|known| proven.keep(known));
                    match placed {
                        None => verdicts.kept(promise.into()),
                        Some((at, ReadPlace::Rekor(placed))) => {
                            judge.proved(promise, (seq, at), Ok(placed), bytes, verdicts);
                        }
                        Some((at, ReadPlace::Tiles(read))) => {
                            judge.read_on_tiles(promise, (seq, at), read, verdicts);
                        }
                    }
                }
            }
        }
        signatures.clear();
    }
}

impl Verifier for PromiseVerifier {
    fn check(&mut self, seq: u64, bytes: &[u8], _now: Nanos, verdicts: &mut Verdicts) {
        let open = self.open(seq, bytes, verdicts);
        self.close(open.into_iter().collect(), verdicts);
    }

    fn check_all(&mut self, records: &Records, _now: Nanos, verdicts: &mut Verdicts) {
        let open = records.iter().filter_map(|promise| self.open(promise.seq, promise.bytes, verdicts));
        let open = open.collect();
        self.close(open, verdicts);
    }

    fn tick(&mut self, _now: Nanos, verdicts: &mut Verdicts) {
        if let Some(audit) = &self.judge.audit {
            audit.pass_on(verdicts);
        }
        if let Some(follow) = &self.judge.follow {
            follow.pass_on(verdicts);
        }
        if let Some(joined) = &self.judge.joined {
            joined.pass_on(verdicts);
        }
    }
}

#[cfg(test)]
mod tests;
