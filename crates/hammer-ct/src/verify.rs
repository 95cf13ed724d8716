//! Whether an SCT is what the log promised: its own id and signature over what was sent, a plausible time, an index.

mod duplicate;
mod index_set;
mod invalid;

use std::sync::{Arc, Mutex, PoisonError};

use hammer_core::verify::{Verdicts, Verifier};
use hammer_measure::Nanos;
use hammer_tlog::audit::Receipt;
use hammer_tlog::certificate::Certificate;
use hammer_tlog::precert::{self, PrecertError};
use hammer_tlog::rfc6962::{EntryType, SignedEntry, leaf_hash_of};
use hammer_tlog::sct::SctError;

use crate::record::{Record, Told};
use crate::{AuditLink, LogKind, LogTarget};

use index_set::IndexSet;

/// Checks SCTs; one for each verifier thread, made from the same workload.
#[derive(Clone, Debug)]
pub struct SctVerifier {
    log: Arc<LogTarget>,
    epoch_unix_ms: u64,
    /// Roots that were not sent, in DER: one of them may be a precertificate's issuer.
    roots: Arc<Vec<Vec<u8>>>,
    /// The indices promised so far; none where a leaf may be the log's already.
    indices: Option<Arc<Mutex<IndexSet>>>,
    /// Whether a duplicate has to get what was promised first.
    deduplicates: bool,
    /// Where promises go whose leaf is to be found in the tree.
    audit: Option<AuditLink>,
}

/// A promise that is not kept: what kind, and what was found.
type Broken = (&'static str, String);

impl SctVerifier {
    /// A verifier of what `log` promises in a run that began at `epoch_unix_ms`. `distinct`: no leaf was sent before, so that
    /// every timestamp is recent and no index is promised twice.
    pub fn new(log: Arc<LogTarget>, epoch_unix_ms: u64, roots: Vec<Vec<u8>>, distinct: bool) -> Self {
        let indices = distinct.then(Arc::default);
        Self { log, epoch_unix_ms, roots: Arc::new(roots), indices, deduplicates: true, audit: None }
    }

    /// Whether the log answers a duplicate with timestamp and index of the first answer; it does unless this is called.
    #[must_use]
    pub fn deduplicates(self, deduplicates: bool) -> Self {
        Self { deduplicates, ..self }
    }

    /// Hands every promise that holds so far to an [`Auditor`](crate::Auditor), and passes its verdicts on.
    #[must_use]
    pub fn audited(self, audit: AuditLink) -> Self {
        Self { audit: Some(audit), ..self }
    }

    fn judge(&self, record: &Record<'_>) -> Result<SignedEntry, Broken> {
        let entry = self.signed_entry(record).map_err(|why| (SIGNATURE, why.to_string()))?;
        record.sct.verify(&self.log.key, entry.by_ref()).map_err(|why| match why {
            SctError::WrongLogId { .. } => (LOG_ID, why.to_string()),
            _ => (SIGNATURE, why.to_string()),
        })?;
        self.check_timestamp(record)?;
        if let Some(first) = record.first.as_ref().filter(|_| self.deduplicates) {
            duplicate::compare(&record.sct, first)?;
        }
        match self.log.kind {
            LogKind::StaticCt => self.check_index(record)?,
            LogKind::Rfc6962 => {}
        }
        Ok(entry)
    }

    /// What was promised; none where it has no encoding.
    fn receipt(&self, seq: u64, record: &Record<'_>, entry: &SignedEntry) -> Option<Receipt> {
        let sct = &record.sct;
        let leaf = leaf_hash_of(sct.timestamp_ms, entry.by_ref(), &sct.extensions).ok()?;
        let index = match self.log.kind {
            LogKind::StaticCt => sct.leaf_index().ok()?,
            LogKind::Rfc6962 => None,
        };
        let at = &record.at;
        let receipt = Receipt::new(seq, leaf, index, at.received.0, sct.timestamp_ms)
            .sent(at.intended.0, at.sent.0)
            .with_sct(&sct.extensions, &sct.signature);
        Some(if self.is_new(record) { receipt } else { receipt.duplicate() })
    }

    /// Whether nobody can have been promised this leaf before.
    fn is_new(&self, record: &Record<'_>) -> bool {
        self.indices.is_some() && record.first.is_none()
    }

    /// Whether the promise is one that was made, and audited, before.
    fn is_repeated(record: &Record<'_>) -> bool {
        record.first.is_some_and(|first| duplicate::compare(&record.sct, &first).is_ok())
    }

    /// What the log has to have signed, made from what was sent.
    fn signed_entry(&self, record: &Record<'_>) -> Result<SignedEntry, PrecertError> {
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

    fn check_timestamp(&self, record: &Record<'_>) -> Result<(), Broken> {
        let received = self.epoch_unix_ms + record.at.received.0 / 1_000_000;
        let (stamped, skew) = (record.sct.timestamp_ms, self.log.skew.as_millis() as u64);
        let is_late = stamped > received.saturating_add(skew);
        let is_early = self.is_new(record) && stamped < received.saturating_sub(skew);
        if !is_late && !is_early {
            return Ok(());
        }
        let off = stamped.abs_diff(received);
        let side = if is_late { "after" } else { "before" };
        Err((
            TIMESTAMP,
            format!("{stamped} is {off} ms {side} it was received; the stated skew is {skew} ms"),
        ))
    }

    fn check_index(&self, record: &Record<'_>) -> Result<(), Broken> {
        let index = match record.sct.leaf_index() {
            Ok(Some(index)) => index,
            Ok(None) => return Err((NO_LEAF_INDEX, "the extensions hold no leaf index".to_owned())),
            Err(why) => return Err((NO_LEAF_INDEX, why.to_string())),
        };
        // Of two that were promised one index the audit knows whose it is; here it would be the one that came second.
        let counts = self.audit.is_none() && record.first.is_none();
        let Some(indices) = self.indices.as_ref().filter(|_| counts) else { return Ok(()) };
        match indices.lock().unwrap_or_else(PoisonError::into_inner).insert(index) {
            true => Ok(()),
            false => Err((PROMISED_TWICE, format!("{index} was promised to another leaf before"))),
        }
    }
}

impl Verifier for SctVerifier {
    fn check(&mut self, seq: u64, record: &[u8], _now: Nanos, verdicts: &mut Verdicts) {
        let record = match Told::read(record) {
            Ok(Told::Sct(record)) => record,
            Ok(Told::Judged(judged)) => {
                return match invalid::judge(judged) {
                    Ok(()) => verdicts.kept(),
                    Err((kind, detail)) => verdicts.broken(seq, kind, None, detail),
                };
            }
            Err(_) => return verdicts.unchecked(),
        };
        match self.judge(&record) {
            Ok(entry) => match &self.audit {
                None => verdicts.kept(),
                Some(_) if Self::is_repeated(&record) => verdicts.kept(),
                Some(audit) => match self.receipt(seq, &record, &entry) {
                    Some(receipt) if audit.hold(receipt, verdicts.target()) => {}
                    _ => verdicts.unchecked(),
                },
            },
            Err((kind, detail)) => {
                // A chain that is sent again keeps the number under which it was minted.
                let (seq, detail) = match &record.first {
                    Some(first) => {
                        (first.seq, format!("{detail}; told to submission {seq}, which repeats it"))
                    }
                    None => (seq, detail),
                };
                if let Some(audit) = &self.audit {
                    audit.refused(seq, kind, &detail, &record, verdicts.target());
                }
                verdicts.broken(seq, kind, record.sct.leaf_index().ok().flatten(), detail);
            }
        }
    }

    fn tick(&mut self, _now: Nanos, verdicts: &mut Verdicts) {
        if let Some(audit) = &self.audit {
            audit.pass_on(verdicts);
        }
    }
}

const LOG_ID: &str = "sct-of-another-log";
const SIGNATURE: &str = "bad-sct-signature";
const TIMESTAMP: &str = "sct-timestamp";
const NO_LEAF_INDEX: &str = "no-leaf-index";
const PROMISED_TWICE: &str = "index-promised-twice";

#[cfg(test)]
mod tests;
