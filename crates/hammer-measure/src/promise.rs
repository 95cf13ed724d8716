//! The promise ledger: what the server promised, and what became of it.

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::credential::without_credentials;
use crate::masked::without_secrets;
use crate::peer_text::shown;
use crate::recorder::start_of;

/// Promises by state. `made = kept + broken + pending + unchecked` holds at every interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
    /// Promises received: an SCT, an index, an inclusion within the MMD, a timestamp, an attestation result.
    pub made: u64,
    /// Checked, and true.
    pub kept: u64,
    /// Checked, and false.
    pub broken: u64,
    /// Waiting for the check, or with time left.
    pub pending: u64,
    /// Given up on by the generator: its own fault.
    pub unchecked: u64,
}

impl Ledger {
    /// Whether the identity holds.
    pub fn balances(&self) -> bool {
        self.made == self.kept + self.broken + self.pending + self.unchecked
    }

    /// Adds what another verifier or shard counted.
    pub fn add(&mut self, other: &Self) {
        self.made += other.made;
        self.kept += other.kept;
        self.broken += other.broken;
        self.pending += other.pending;
        self.unchecked += other.unchecked;
    }
}

/// The promises of one workload and kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KindLedger {
    /// The workload that received them.
    pub workload: String,
    /// What was promised, in the field's words (`sct`, `inclusion`); what an observer found broken stands by what was found.
    pub kind: String,
    /// What became of them.
    pub ledger: Ledger,
}

/// Adds what was counted elsewhere, or at another time, of promises of a workload and kind.
pub fn add_kind(kinds: &mut Vec<KindLedger>, more: &KindLedger) {
    let is_it = |known: &&mut KindLedger| known.workload == more.workload && known.kind == more.kind;
    match kinds.iter_mut().find(is_it) {
        Some(known) => known.ledger.add(&more.ledger),
        None => kinds.push(more.clone()),
    }
}

/// The ledgers of each workload, over all kinds, in their order.
pub fn by_workload(kinds: &[KindLedger]) -> Vec<(String, Ledger)> {
    let mut by_workload: Vec<(String, Ledger)> = Vec::new();
    for KindLedger { workload, ledger, .. } in kinds {
        match by_workload.iter_mut().find(|(known, _)| known == workload) {
            Some((_, known)) => known.add(ledger),
            None => by_workload.push((workload.clone(), *ledger)),
        }
    }
    by_workload
}

/// What shows that a promise was broken: what the server said, as the workload wrote it down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BreachEvidence {
    /// The workload that received the promise.
    pub workload: String,
    /// The operation that it answered.
    pub seq: u64,
    /// What was found, as in the [`Breach`].
    pub kind: String,
    /// The record of the promise.
    pub bytes: Arc<[u8]>,
}

/// A promise that was found broken, named so that it can be looked up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Breach {
    /// The workload that received the promise.
    pub workload: String,
    /// The sequence number of the operation that it answered; none where it was made to everyone.
    pub seq: Option<u64>,
    /// What was promised and not kept, in the field's words (`bad-sct-signature`, `lost-leaf`).
    pub kind: String,
    /// The index of the leaf or entry that it is about, where there is one.
    pub index: Option<u64>,
    /// What was found instead.
    pub detail: String,
}

impl Breach {
    /// Cuts what it says where that is longer than anybody reads: the text of a server may be of any length, and a thousand of them are
    /// held. What a terminal would obey is replaced, and so is each secret
    /// that the process was given and what reads as a credential.
    #[must_use]
    pub fn shortened(mut self) -> Self {
        let bytes = self.detail.len();
        // What is not told needs no masks, which cost many times its length.
        let start = start_of(&self.detail, MOST_LOOKED_AT);
        let is_cut = start.len() < bytes;
        let masked = without_credentials(&without_secrets(start));
        self.detail = match is_cut || masked.len() > LONGEST_DETAIL {
            true => format!("{}... ({bytes} bytes)", start_of(&masked, LONGEST_DETAIL)),
            false => masked,
        };
        if let Cow::Owned(visible) = shown(&self.detail, usize::MAX) {
            self.detail = visible;
        }
        self
    }

    /// Who was promised: the workload and its operation, or the workload's name alone.
    pub fn subject(&self) -> String {
        match self.seq {
            Some(seq) => format!("{} {seq}", self.workload),
            None => self.workload.clone(),
        }
    }
}

/// Bytes of a text that names what was found: two heads, and the paths of the files that hold them, among others.
const LONGEST_DETAIL: usize = 2_048;
/// Bytes that secrets are looked for in: a long one may go on behind the cut.
const MOST_LOOKED_AT: usize = 2 * LONGEST_DETAIL;

#[cfg(test)]
mod tests;
