//! The chains of a log that is verified afterwards.

use std::collections::BTreeSet;
use std::ops::Range;

use hammer_tlog::ct::bundle::Entries;
use hammer_tlog::ct::issuance::{ChainAudit, ChainFault, LoggedChain, MOST_ISSUERS};
use hammer_tlog::ct::rfc6962::{ExtraData, MerkleTreeLeaf, Rfc6962Leaves, ServedLeaf};
use hammer_tlog::encoding::from_base64;
use hammer_tlog::hash::Hash;
use hammer_tlog::logs::audit::LeafFormat as _;

use super::sweep::Swept;

/// Whether the certificates of each chain of a log issued each other, as nobody knows what was sent.
pub(super) struct ChainSweep {
    leaves: Range<u64>,
    audit: ChainAudit,
    /// Fingerprints that were asked for.
    asked: BTreeSet<Hash>,
    /// The first of those that were found, which are told but of entries that are told to be altered.
    faults: Vec<(u64, ChainFault)>,
    /// How many more there are.
    more: u64,
    /// The entries beside whose leaves nothing can be read: the first of them.
    unreadable: Vec<u64>,
    /// How many leaves are of an unknown form.
    unknown: u64,
}

impl ChainSweep {
    /// Of these leaves.
    pub(super) fn new(leaves: Range<u64>) -> Self {
        let (asked, faults, more, unreadable, unknown) = Default::default();
        Self { leaves, audit: ChainAudit::new(), asked, faults, more, unreadable, unknown }
    }

    /// The certificates of a bundle's chains that were not asked for yet; of all chains the first [`MOST_ISSUERS`].
    pub(super) fn unknown(&mut self, bundle: &[u8]) -> Vec<Hash> {
        let mut unknown = Vec::new();
        for fingerprint in Entries::new(bundle).map_while(Result::ok).flat_map(|entry| entry.fingerprints) {
            let fingerprint = Hash(*fingerprint);
            if self.asked.len() < MOST_ISSUERS && self.asked.insert(fingerprint) {
                unknown.push(fingerprint);
            }
        }
        unknown
    }

    /// Takes a certificate that stands above leaves; its fingerprint.
    pub(super) fn issuer(&mut self, certificate: &[u8]) -> Hash {
        self.audit.issuer(certificate)
    }

    /// Takes the entries of a bundle, whose first has that index, and whose issuers were asked for.
    pub(super) fn bundle(&mut self, first: u64, bundle: &[u8]) {
        for (entry, index) in Entries::new(bundle).map_while(Result::ok).zip(first..) {
            if self.leaves.contains(&index) {
                let (signed, submitted, fingerprints) = (entry.signed, entry.submitted(), entry.fingerprints);
                self.audit.add(&LoggedChain { index, signed, submitted, fingerprints });
            }
        }
        self.judge();
    }

    /// Takes the entries of an answer of get-entries, whose first has that index.
    pub(super) fn entries(&mut self, first: u64, answer: &[u8]) {
        for (entry, index) in Rfc6962Leaves::entries(answer).map_while(Result::ok).zip(first..) {
            if self.leaves.contains(&index) {
                match self.entry(index, &entry) {
                    Some(true) => {}
                    Some(false) if self.unreadable.len() < MOST_FAULTS => self.unreadable.push(index),
                    Some(false) => self.more += 1,
                    None => self.unknown += 1,
                }
            }
        }
        self.judge();
    }

    /// Takes an entry with the certificates above it; says whether these can be read, and none of a leaf of an unknown form.
    fn entry(&mut self, index: u64, served: &ServedLeaf<'_>) -> Option<bool> {
        let signed = MerkleTreeLeaf::parse(&served.leaf_input).ok()?.entry;
        let Ok(bytes) = from_base64(&*served.extra_data) else { return Some(false) };
        let Ok(extra) = ExtraData::parse(signed.entry_type(), &bytes) else { return Some(false) };
        let submitted = extra.submitted(signed);
        let mut fingerprints = Vec::new();
        for certificate in extra.chain() {
            fingerprints.push(self.audit.issuer(certificate).0);
        }
        self.audit.add(&LoggedChain { index, signed, submitted, fingerprints: &fingerprints });
        Some(true)
    }

    fn judge(&mut self) {
        let faults = self.audit.faults();
        let room = MOST_FAULTS - self.faults.len();
        self.more += faults.len().saturating_sub(room) as u64;
        self.faults.extend(faults.into_iter().take(room));
    }

    /// Tells what was found, but of entries that are not the tree's, as it is told of them alone or of all that were read.
    pub(super) fn end(self, swept: &mut Swept) {
        let altered: BTreeSet<u64> = swept.flaws.iter().filter_map(|(_, index, _)| *index).collect();
        let mut others = vec![("the leaf cannot be read", self.unknown)];
        for index in self.unreadable.iter().filter(|index| !altered.contains(index)) {
            let detail = format!("the entry of index {index}: its extra_data cannot be read");
            swept.add((ALTERED_CHAIN, Some(*index), detail));
        }
        if swept.is_proved {
            for (index, fault) in self.faults.iter().filter(|(index, _)| !altered.contains(index)) {
                swept.add((INVALID_CHAIN, Some(*index), format!("the entry of index {index}: {fault}")));
            }
            swept.flawed += self.more;
        } else {
            let chains = self.faults.len() as u64 + self.more;
            others.push(("not all entries are those that the log has committed to", chains));
        }
        swept.chains = self.audit.verified();
        let unverified = self.audit.unverified().map(|(why, chains)| (why.reason(), chains));
        swept.unverified_chains =
            unverified.chain(others.into_iter().filter(|(_, chains)| *chains > 0)).collect();
    }
}

/// The certificates beside a leaf are none.
const ALTERED_CHAIN: &str = "altered-chain";
/// A chain of which a certificate did not issue the one below it.
const INVALID_CHAIN: &str = "invalid-chain";
/// Faults that are kept until it is known which entries are the tree's.
const MOST_FAULTS: usize = 1000;
