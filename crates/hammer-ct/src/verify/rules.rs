//! What has to hold of every promise of a submission.

use std::sync::{Arc, Mutex, PoisonError};

use hammer_audit::{AuditLink, RefusedPromise};
use hammer_core::promise::{Fault, Verdicts};
use hammer_measure::peer_bytes;
use hammer_tlog::ct::precert::{self, PrecertError};
use hammer_tlog::ct::rfc6962::{EntryType, SignedEntry, leaf_hash_of};
use hammer_tlog::ct::sct::SctError;
use hammer_tlog::keys::certificate::Certificate;
use hammer_tlog::keys::key::{SignatureBatch, SignatureError};
use hammer_tlog::logs::audit::Receipt;

use super::duplicate;
use super::index_set::IndexSet;
use crate::audit::Accepted;
use crate::audit::sct_evidence::{SctEvidence, ShownSct};
use crate::log::{LogKind, LogTarget};
use crate::promise::LogPromise;
use crate::record::{First, Instants, Judged, SctRecord, SubmissionRecord, UnreadableRecord};

/// What is known of the log and of the run.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    pub(super) log: Arc<LogTarget>,
    pub(super) epoch_unix_ms: u64,
    /// Roots that were not sent, in DER: one of them may be a precertificate's issuer.
    pub(super) roots: Arc<Vec<Vec<u8>>>,
    /// The indices promised so far; none where a leaf may be the log's already.
    pub(super) indices: Option<Arc<Mutex<IndexSet>>>,
    /// Whether a duplicate has to get what was promised first.
    pub(super) deduplicates: bool,
    /// Where promises go whose leaf is to be found in the tree.
    pub(super) audit: Option<AuditLink>,
    /// Where it is noted that an SCT holds, which somebody wants to know.
    pub(super) accepted: Option<Accepted>,
}

/// A record whose signature is among those of a batch.
pub(super) enum Opened<'a> {
    /// With what the log has to have signed; where that is broken already, there is no signature in the batch.
    Sct(SctRecord<'a>, Result<SignedEntry, Fault>),
    /// A 200 that holds none.
    NoSct(UnreadableRecord<'a>),
    Judged(Judged),
    /// Bytes that no shard wrote.
    NoRecord,
}

impl Rules {
    /// Reads a record, and adds its signature to `batch`.
    pub(super) fn open<'a>(&self, record: &'a [u8], batch: &mut SignatureBatch) -> Opened<'a> {
        match SubmissionRecord::read(record) {
            Ok(SubmissionRecord::Sct(record)) => {
                let entry = self.signed(&record, batch);
                Opened::Sct(record, entry)
            }
            Ok(SubmissionRecord::Unreadable(record)) => Opened::NoSct(record),
            Ok(SubmissionRecord::Judged(judged)) => Opened::Judged(judged),
            Err(_) => Opened::NoRecord,
        }
    }

    /// What the log has to have signed; adds the signature to `batch` unless it is known already not to hold.
    pub(super) fn signed(
        &self,
        record: &SctRecord<'_>,
        batch: &mut SignatureBatch,
    ) -> Result<SignedEntry, Fault> {
        let entry = self.signed_entry(record).map_err(|why| Fault::new(SIGNATURE, why.to_string()))?;
        record.sct.verify_in(batch, &self.log.key, entry.by_ref()).map_err(|why| broken_sct(&why))?;
        Ok(entry)
    }

    /// Judges a promise whose signature was judged: the entry, if all of it holds.
    pub(super) fn judge(
        &self,
        record: &SctRecord<'_>,
        entry: SignedEntry,
        signature: Option<&Result<(), SignatureError>>,
    ) -> Result<SignedEntry, Fault> {
        signature.copied().unwrap_or(Err(SignatureError::Invalid)).map_err(|why| broken_sct(&why.into()))?;
        self.check_timestamp(record)?;
        if let Some(first) = record.first.as_ref().filter(|_| self.deduplicates) {
            duplicate::compare(&record.sct, first)?;
        }
        if self.log.kind == LogKind::StaticCt {
            self.check_index(record)?;
        }
        Ok(entry)
    }

    /// Tells what was found of a promise.
    pub(super) fn tell(
        &self,
        seq: u64,
        (record, bytes): (&SctRecord<'_>, &[u8]),
        judged: Result<SignedEntry, Fault>,
        verdicts: &mut Verdicts,
    ) {
        let kind = LogPromise::Sct.into();
        if let (Ok(_), Some(accepted)) = (&judged, &self.accepted) {
            accepted.note();
        }
        match judged {
            Ok(entry) => match &self.audit {
                None => verdicts.kept(kind),
                Some(_) if Self::is_repeated(record) => verdicts.kept(kind),
                Some(audit) => match self.receipt(seq, record, &entry) {
                    Some(receipt) if audit.hold(receipt, verdicts.part()) => {}
                    _ => verdicts.unchecked(kind),
                },
            },
            Err(Fault { kind: fault, detail, .. }) => {
                let place = record.sct.leaf_index().ok().flatten();
                let fault = Fault { kind: fault, place, detail };
                let shown = ShownSct::refused(&record.sct);
                self.tell_broken((seq, record.first.as_ref()), (record.at, shown), fault, bytes, verdicts);
            }
        }
    }

    /// Tells that a 200 holds no SCT.
    pub(super) fn tell_unreadable(
        &self,
        seq: u64,
        (record, bytes): (&UnreadableRecord<'_>, &[u8]),
        verdicts: &mut Verdicts,
    ) {
        let (why, said) = (String::from_utf8_lossy(record.why), peer_bytes(record.body));
        let detail = if said.is_empty() { why.into_owned() } else { format!("{why}: {said}") };
        let fault = Fault::new(UNREADABLE, detail);
        self.tell_broken((seq, record.first.as_ref()), (record.at, ShownSct::NONE), fault, bytes, verdicts);
    }

    /// Tells a promise that needed no audit to be found broken, and keeps what shows it.
    fn tell_broken(
        &self,
        (seq, first): (u64, Option<&First<'_>>),
        (at, shown): (Instants, ShownSct),
        fault: Fault,
        bytes: &[u8],
        verdicts: &mut Verdicts,
    ) {
        // A chain that is sent again keeps the number under which it was minted.
        let (seq, detail) = match first {
            Some(first) => {
                (first.seq, format!("{}; told to submission {seq}, which repeats it", fault.detail))
            }
            None => (seq, fault.detail),
        };
        let Fault { kind, place, .. } = fault;
        if let Some(audit) = &self.audit {
            let instants = [at.intended, at.sent, at.received];
            let refused = RefusedPromise { seq, kind, detail: &detail, index: place, instants };
            audit.refused(&refused, &shown, verdicts.part());
        }
        verdicts.broken(LogPromise::Sct.into(), seq, Fault { kind, place, detail }, Some(bytes));
    }

    /// What was promised; none where it has no encoding.
    fn receipt(&self, seq: u64, record: &SctRecord<'_>, entry: &SignedEntry) -> Option<Receipt> {
        let sct = &record.sct;
        let leaf = leaf_hash_of(sct.timestamp_ms, entry.by_ref(), &sct.extensions).ok()?;
        let index = match self.log.kind {
            LogKind::StaticCt => sct.leaf_index().ok()?,
            LogKind::Rfc6962 => None,
        };
        let at = &record.at;
        let evidence = SctEvidence { extensions: &sct.extensions, signature: &sct.signature };
        let receipt = Receipt::new(seq, leaf, index, at.received.0, sct.timestamp_ms)
            .sent(at.intended.0, at.sent.0)
            .within(self.log.mmd.as_millis() as u64)
            .with_evidence(evidence.kept());
        // A chain that the log has already may be there with other certificates above it.
        Some(match self.is_new(record) {
            true => match record.sent_beside() {
                Some(beside) => receipt.sent_beside(beside),
                None => receipt,
            },
            false => receipt.duplicate(),
        })
    }

    /// Whether nobody can have been promised this leaf before.
    fn is_new(&self, record: &SctRecord<'_>) -> bool {
        self.indices.is_some() && record.first.is_none()
    }

    /// Whether the promise is one that was made, and audited, before.
    fn is_repeated(record: &SctRecord<'_>) -> bool {
        record.first.is_some_and(|first| duplicate::compare(&record.sct, &first).is_ok())
    }

    /// What the log has to have signed, made from what was sent.
    fn signed_entry(&self, record: &SctRecord<'_>) -> Result<SignedEntry, PrecertError> {
        match precert::signed_entry(&record.chain, record.kind) {
            Err(PrecertError::MissingIssuer) if record.kind == EntryType::Precert => {
                let mut chain = record.chain.clone();
                chain.extend(self.root_above(record.chain.last()));
                precert::signed_entry(&chain, record.kind)
            }
            other => other,
        }
    }

    /// The root that issued the last certificate that was sent.
    fn root_above(&self, last: Option<&&[u8]>) -> Option<&[u8]> {
        let issuer = Certificate::parse(last?).ok()?.issuer;
        let issued = |root: &&[u8]| Certificate::parse(root).is_ok_and(|root| root.subject == issuer);
        self.roots.iter().map(Vec::as_slice).find(issued)
    }

    fn check_timestamp(&self, record: &SctRecord<'_>) -> Result<(), Fault> {
        let [sent, received] =
            [record.at.sent, record.at.received].map(|at| self.epoch_unix_ms + at.0 / 1_000_000);
        let (stamped, skew) = (record.sct.timestamp_ms, self.log.skew.as_millis() as u64);
        // An answer may come long after it was stamped.
        let is_late = stamped > received.saturating_add(skew);
        let is_early = self.is_new(record) && stamped < sent.saturating_sub(skew);
        if !is_late && !is_early {
            return Ok(());
        }
        let off = match is_late {
            true => format!("{} ms after it was received", stamped - received),
            false => format!("{} ms before it was asked for", sent - stamped),
        };
        Err(Fault::new(TIMESTAMP, format!("{stamped} is {off}; the stated skew is {skew} ms")))
    }

    fn check_index(&self, record: &SctRecord<'_>) -> Result<(), Fault> {
        let index = match record.sct.leaf_index() {
            Ok(Some(index)) => index,
            Ok(None) => return Err(Fault::new(NO_LEAF_INDEX, "the extensions hold no leaf index")),
            Err(why) => return Err(Fault::new(NO_LEAF_INDEX, why.to_string())),
        };
        // Of two that were promised one index the audit knows whose it is; here it would be the one that came second.
        let counts = self.audit.is_none() && record.first.is_none();
        let Some(indices) = self.indices.as_ref().filter(|_| counts) else { return Ok(()) };
        match indices.lock().unwrap_or_else(PoisonError::into_inner).insert(index) {
            true => Ok(()),
            false => Err(Fault::new(PROMISED_TWICE, format!("{index} was promised to another leaf before"))),
        }
    }
}

fn broken_sct(why: &SctError) -> Fault {
    match why {
        SctError::WrongLogId { .. } => Fault::new(LOG_ID, why.to_string()),
        _ => Fault::new(SIGNATURE, why.to_string()),
    }
}

pub(super) const LOG_ID: &str = "sct-of-another-log";
pub(super) const SIGNATURE: &str = "bad-sct-signature";
pub(super) const TIMESTAMP: &str = "sct-timestamp";
pub(super) const UNREADABLE: &str = "unreadable-sct";
pub(super) const NO_LEAF_INDEX: &str = "no-leaf-index";
pub(super) const PROMISED_TWICE: &str = "index-promised-twice";
