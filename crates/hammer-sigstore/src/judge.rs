//! Judges what the services promised, beside the load: certificates, entries, timestamps, and what was read back.

mod artifact;
pub(crate) mod bundle;
mod certificate;
pub(crate) mod entry;
pub(crate) mod malformed;
pub(crate) mod rekor_log;
mod search;
mod shards;
pub(crate) mod timestamp;
mod window;

use std::sync::Arc;

use hammer_audit::AuditLink;
use hammer_cms::timestamp::TimestampVerifier;
use hammer_core::promise::{Fault, Verdicts, Verifier};
use hammer_measure::Nanos;
use hammer_tlog::logs::audit::Receipt;

use crate::bundle::files::BundleFiles;
use crate::bundle::{SignedBundle, written};
use crate::promise::SigstorePromise;
use crate::record::{BundleRecord, EntryLog, EntryRecord, Instants, PromiseRecord};
use crate::trust::Trust;

use artifact::ProvenEntries;
use bundle::{BundleFault, BundleVerifier, ExpectedBundle};
use entry::{LogTrust, PlacedEntry};
use malformed::malformed;
use rekor_log::follow_link::FollowLink;
use shards::ShardOffsets;
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
    /// Where bundles that hold are written.
    bundles: Option<Arc<BundleFiles>>,
}

/// Judges on a thread of its own.
struct PromiseVerifier {
    judge: Judge,
    timestamps: Option<TimestampVerifier>,
    proven: ProvenEntries,
    /// Made with the first bundle.
    bundles: Option<BundleVerifier>,
}

impl Judge {
    pub(crate) fn new(trust: Arc<Trust>, epoch_unix_ms: u64) -> Self {
        Self { trust, shards: Arc::default(), epoch_unix_ms, audit: None, follow: None, bundles: None }
    }

    /// Hands every entry of Rekor v2 that holds on its own to an audit of the log.
    pub(crate) fn audited(self, audit: AuditLink) -> Self {
        Self { audit: Some(audit), ..self }
    }

    /// Hands what holds of Rekor v1's answers on its own to whoever follows the log.
    pub(crate) fn followed(self, follow: FollowLink) -> Self {
        Self { shards: follow.shards(), follow: Some(follow), ..self }
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
        StampWindow::new(self.unix_ms(at.sent), self.unix_ms(at.received), self.trust.skew)
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
        let expected = ExpectedBundle {
            artifact: Some(record.artifact),
            identity: Some(record.identity),
            ..ExpectedBundle::default()
        };
        match verifier.verify(&bundle, &expected) {
            Ok(_) => {}
            Err(BundleFault::Broken(fault)) => return Err(fault),
            Err(BundleFault::Needs(what)) => return Err(malformed(format!("{what} is not at hand"))),
        }
        if let Some(files) = &self.bundles {
            files.write(seq, &json, record.artifact);
        }
        Ok(())
    }

    fn entry(&self, seq: u64, record: &EntryRecord<'_>, bytes: &[u8], verdicts: &mut Verdicts) {
        let kind = SigstorePromise::Entry.into();
        let judged = match record.log {
            EntryLog::Rekor => {
                let judged = entry::judge_rekor(self.log_trust(), record, self.window(record.at));
                return self.proved(SigstorePromise::Entry, (seq, record.at), judged, bytes, verdicts);
            }
            EntryLog::Tiles | EntryLog::TilesMessage => entry::judge_tiles(&self.trust, record),
        };
        match judged {
            Err(fault) => verdicts.broken(kind, seq, fault, Some(bytes)),
            Ok(logged) => match &self.audit {
                None => verdicts.kept(kind),
                Some(audit) => {
                    let Instants { intended, sent, received } = record.at;
                    let promised_ms = self.unix_ms(received) as u64;
                    let receipt = Receipt::new(seq, logged.leaf, Some(logged.index), received.0, promised_ms)
                        .sent(intended.0, sent.0)
                        .within(self.trust.publication_delay.as_millis() as u64);
                    if !audit.hold(receipt, verdicts.part()) {
                        verdicts.unchecked(kind);
                    }
                }
            },
        }
    }
}

impl Judge {
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
            (Err(fault), _) => verdicts.broken(kind, seq, fault, Some(bytes)),
            (Ok(_), None) => verdicts.kept(kind),
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

impl Verifier for PromiseVerifier {
    fn check(&mut self, seq: u64, bytes: &[u8], _now: Nanos, verdicts: &mut Verdicts) {
        let Self { judge, timestamps, proven, bundles } = self;
        let (kind, judged) = match PromiseRecord::read(bytes) {
            Ok(PromiseRecord::Entry(record)) => return judge.entry(seq, &record, bytes, verdicts),
            Ok(PromiseRecord::Certificate(record)) => {
                let judged = certificate::judge(&judge.trust, &record, judge.window(record.at));
                (SigstorePromise::Certificate, judged)
            }
            Ok(PromiseRecord::Timestamp(record)) => {
                let judged = timestamp::judge(timestamps.as_mut(), &record, judge.window(record.at));
                (SigstorePromise::Timestamp, judged)
            }
            Ok(PromiseRecord::TimestampChain { body, .. }) => {
                (SigstorePromise::TimestampChain, timestamp::judge_chain(&judge.trust, body))
            }
            Ok(PromiseRecord::Artifact(record)) => {
                let judged = artifact::judge(judge.log_trust(), proven, &record);
                return judge.proved(SigstorePromise::Artifact, (seq, record.at), judged, bytes, verdicts);
            }
            Ok(PromiseRecord::Search(record)) => (SigstorePromise::Search, search::judge(&record)),
            Ok(PromiseRecord::Bundle(record)) => {
                let verifier = bundles.get_or_insert_with(|| {
                    let tiles = judge.trust.rekor_tiles().cloned().into_iter().collect();
                    BundleVerifier::new(judge.trust.clone(), tiles)
                });
                (SigstorePromise::Bundle, judge.bundle(verifier, seq, &record))
            }
            // Records are this crate's own.
            Err(_) => return verdicts.unchecked(SigstorePromise::Entry.into()),
        };
        match judged {
            Ok(()) => verdicts.kept(kind.into()),
            Err(fault) => verdicts.broken(kind.into(), seq, fault, Some(bytes)),
        }
    }

    fn tick(&mut self, _now: Nanos, verdicts: &mut Verdicts) {
        if let Some(audit) = &self.judge.audit {
            audit.pass_on(verdicts);
        }
        if let Some(follow) = &self.judge.follow {
            follow.pass_on(verdicts);
        }
    }
}

#[cfg(test)]
mod tests;
