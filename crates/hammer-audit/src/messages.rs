//! The words for what an audit finds.

use hammer_core::promise::Fault;
use hammer_measure::peer_start;
use hammer_tlog::logs::audit::{BesideFault, Breach, BundleFault, Finding, Flaw, Kind, Published, Receipt};
use hammer_tlog::logs::follow::{Event, TileFault};
use hammer_tlog::logs::tile::{Level, TileId};

use crate::lane_seq::seq;
use crate::source::HeadId;

/// The words for a broken promise in which protocols differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuditWords {
    /// What a promise is called, as `sct`.
    pub promise: &'static str,
    /// The kind of breach, as reports have it, where no head covers the leaf in time.
    pub overdue: &'static str,
    /// What is over then, as `merge delay`.
    pub allowance: &'static str,
}

/// Why promises without a verdict have none that wait for the head that they came with.
pub(crate) const UNJOINED: &str = "whose checkpoint was not joined to the followed tree";

/// What is broken about a promise whose head is of another tree than the log's.
pub(crate) fn not_of_the_tree(receipt: &Receipt, head: &HeadId) -> Fault {
    let detail = format!("its checkpoint of {} leaves is not of the log's tree", head.size);
    Fault { kind: "forked-checkpoint", place: receipt.index(), detail }
}

impl Default for AuditWords {
    fn default() -> Self {
        Self { promise: "promise", overdue: "overdue", allowance: "time that was promised" }
    }
}

impl AuditWords {
    /// The kind of a breach as reports have it.
    pub fn kind(&self, kind: &Kind) -> &'static str {
        match kind {
            Kind::Overdue { .. } => self.overdue,
            kind => kind.as_str(),
        }
    }

    /// What was found about a broken promise.
    pub fn breach(&self, breach: &Breach) -> String {
        let (receipt, said) = (&breach.receipt, self.promise);
        let promise = match receipt.index() {
            Some(index) => format!("leaf {} of index {index}", receipt.leaf),
            None => format!("leaf {}", receipt.leaf),
        };
        let found = match breach.kind {
            Kind::LostLeaf { found } => format!("the tree has {found} there"),
            Kind::WrongIndex { holds } => format!("the tree has it at index {holds}"),
            Kind::AlteredLeaf { found: Some(found) } => {
                format!("the tree has it, and its entry is served as that of {found}")
            }
            Kind::AlteredLeaf { found: None } => {
                "the tree has it, and what is served as its entry cannot be read".to_owned()
            }
            Kind::TamperedTile { got } => format!("the tree has it, and its tile has {got} there"),
            Kind::PromisedTwice { first: Some(first) } => {
                format!("it was promised to submission {} too", seq(first))
            }
            Kind::PromisedTwice { first: None } => "it was promised before".to_owned(),
            Kind::AlteredBeside(BesideFault::Chain) => {
                "the tree has it, and the certificates above it are served as others than were sent, or in another order".to_owned()
            }
            Kind::AlteredBeside(BesideFault::Precertificate) => {
                "the tree has it, and its precertificate is served as another than was sent".to_owned()
            }
            Kind::NoIndex => format!("the {said} has no index"),
            Kind::Overdue { published: Some(Published { size, earlier, .. }) }
                if earlier.signed_ms > receipt.deadline_ms =>
            {
                let delay = earlier.signed_ms.saturating_sub(receipt.promised_ms);
                format!(
                    "first covered by the head of size {size}, and not yet by one that is dated {delay} ms after the {said}"
                )
            }
            Kind::Overdue { published: Some(Published { size, earlier, .. }) } => {
                let delay = earlier.asked_ns.saturating_sub(receipt.received_ns) / 1_000_000;
                format!(
                    "first covered by the head of size {size}, and not yet by one that was asked for {delay} ms after the answer"
                )
            }
            Kind::Overdue { published: None } => {
                format!("no head covers it although the {} is over", self.allowance)
            }
        };
        format!("{promise}: {found}")
    }
}

/// Kind, index and detail of what the log serves wrong, and to no submission alone; none where that is our own fault.
pub(crate) fn finding_words(finding: &Finding) -> Option<(&'static str, Option<u64>, String)> {
    Some(match finding {
        Finding::TamperedBundle { tile, index, fault } => bundle_words(tile, *index, fault),
        Finding::MissingTile { tile } => (MISSING_TILE, None, not_served(tile)),
        Finding::TamperedTile { tile, receipts } => (
            TAMPERED_TILE,
            None,
            format!("{tile} does not lead to the root; {receipts} promises cannot be judged by it"),
        ),
        Finding::TamperedEntries { start, size, computed, expected } => (
            "tampered-entries",
            None,
            format!("entries {start} to the head of size {size} lead to the root {computed}, not {expected}"),
        ),
        Finding::Unspilled { .. } => return None,
    })
}

/// Kind, index and detail of what a sweep found.
pub fn flaw_words(flaw: &Flaw) -> (&'static str, Option<u64>, String) {
    match flaw {
        Flaw::Bundle { tile, index, fault } => bundle_words(tile, *index, fault),
        Flaw::Index { index, says } => {
            let says = says.map_or("no index".to_owned(), |says| format!("that it has index {says}"));
            ("wrong-index", Some(*index), format!("the entry of index {index} says {says}"))
        }
        Flaw::Tile { tile, fault } => {
            (TAMPERED_TILE, leaf_of(tile, fault), format!("{tile} is not the tree's: {fault}"))
        }
        Flaw::Missing { tile } => (MISSING_TILE, None, format!("{tile} is not served")),
        Flaw::Root { computed, expected } => {
            ("wrong-root", None, format!("the entries lead to the root {computed}, not {expected}"))
        }
    }
}

/// Kind, index and detail of what shows in a head or its tiles; none where nothing is wrong.
pub(crate) fn event_words(event: &Event) -> Option<(&'static str, Option<u64>, String)> {
    Some(match event {
        Event::First { .. } | Event::Same { .. } | Event::Grew { .. } | Event::Stale { .. } => return None,
        Event::Shrank { older, newer } => {
            (SHRINKING_TREE, None, format!("it shrank: it had {older}, and then {newer}"))
        }
        Event::Forked { older, newer, evidence } => {
            let lacks = if newer.precedes(older) { "precede" } else { "continue" };
            let detail =
                format!("it forked: it had {older}, and then {newer}, which does not {lacks} it: {evidence}");
            ("forked-checkpoint", None, detail)
        }
        Event::BadProof { older, newer, error, is_proved } => {
            let (older, newer) = (older.size, newer.size);
            // Where none holds to the end, no more is known than that the log never proved its head.
            let (kind, again) = match is_proved {
                true => ("bad-consistency-proof", "one that was asked for again does"),
                false => (UNPROVED_CHECKPOINT, "none that does was served to the end"),
            };
            let detail = format!(
                "the consistency proof from {older} to {newer} leaves that was served first does not hold ({error}); {again}"
            );
            (kind, None, detail)
        }
        Event::TamperedTile { tile, fault, head } => {
            (TAMPERED_TILE, leaf_of(tile, fault), format!("{tile} is not of the tree of {head}: {fault}"))
        }
        Event::MissingTile { tile, head } => {
            (MISSING_TILE, None, format!("{}; it is of the tree of {head}", not_served(tile)))
        }
        Event::Unproved { head, reason } => {
            (UNPROVED_CHECKPOINT, None, format!("a head of {head} is not proved: {reason}"))
        }
    })
}

/// Kind, index and detail of what is wrong with a bundle, or with its entry of that index.
fn bundle_words(tile: &TileId, index: u64, fault: &BundleFault) -> (&'static str, Option<u64>, String) {
    let (width, before) = (usize::from(tile.width), index.saturating_sub(tile.first()) as usize);
    match fault {
        // The tree has an entry there.
        BundleFault::Entries(entries) if *entries <= before && before < width => (
            ALTERED_LEAF,
            Some(index),
            format!("{tile} lacks the entry of index {index}: {fault}, not {width}"),
        ),
        BundleFault::Entries(_) => {
            (ALTERED_LEAF, None, format!("{tile} is not the tree's: {fault}, not {width}"))
        }
        BundleFault::Trailing(_) => (ALTERED_LEAF, None, format!("{tile} is not the tree's: {fault}")),
        _ => (
            ALTERED_LEAF,
            Some(index),
            format!("{tile}: the entry of index {index} is not the tree's: {fault}"),
        ),
    }
}

/// What is served at the path of an issuer, and is not that.
pub fn altered_issuer(path: &str, served: &[u8]) -> String {
    match served.first() {
        Some(&SEQUENCE) => format!("{path} is another certificate"),
        _ => format!("{path} is no certificate, and {}", peer_start(served)),
    }
}

/// The tag that each certificate starts with (X.690 section 8.9).
const SEQUENCE: u8 = 0x30;

/// That a tile is not served, nor what may be served in its place.
fn not_served(tile: &TileId) -> String {
    match tile.is_full() {
        true => format!("{tile} is not served"),
        false => format!("{tile} is not served, nor {} in its place", tile.full()),
    }
}

/// The leaf whose hash is wrong, where it is a leaf's.
fn leaf_of(tile: &TileId, fault: &TileFault) -> Option<u64> {
    match fault {
        TileFault::Hash { position, .. } if tile.level == Level::Hashes(0) => {
            Some(tile.first() + u64::from(*position))
        }
        _ => None,
    }
}

/// A log that serves a smaller tree than before.
pub const SHRINKING_TREE: &str = "shrinking-tree";

/// A log that signs a head with a time that has not come.
pub(crate) const FUTURE_CHECKPOINT: &str = "future-checkpoint";
/// A head that is dated before a smaller one, or before what it covers.
pub const BACKDATED_CHECKPOINT: &str = "backdated-checkpoint";

/// A head that is older than the maximum merge delay, of a log that takes entries.
pub(crate) const OLD_CHECKPOINT: &str = "old-checkpoint";

/// A head that its log does not prove to be of its tree.
pub(crate) const UNPROVED_CHECKPOINT: &str = "unproved-checkpoint";

/// The observation that becomes 1 when the log forked or shrank, for a rule that stops the run.
pub const LOG_FORKED: &str = "log_forked";

const ALTERED_LEAF: &str = "altered-leaf";
const TAMPERED_TILE: &str = "tampered-tile";
pub(crate) const MISSING_TILE: &str = "missing-tile";
