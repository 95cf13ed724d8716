//! The lies of one log: which entry or checkpoint has one, and what was told. An honest log has none of this.

mod ledger;
mod rule;

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use hammer_tlog::{
    logs::merkle::{Hash, leaf_hash},
    logs::tile::{Level, TileId},
};

use super::{
    entry::Entry,
    key::LogSigner,
    plan::{CtLabPlan, Flavour, config::KeySource},
};
use crate::error::LabError;
use crate::told_lie::{LieKind, ToldLie};

use ledger::Ledger;
use rule::Rule;

/// What a log lies about, and has lied about.
#[derive(Debug)]
pub(crate) struct Lies {
    /// The log whose SCTs are passed off as this one's own.
    pub(crate) another: LogSigner,
    flavour: Flavour,
    max_merge_delay_ms: u64,
    inner: Mutex<LiesState>,
}

#[derive(Debug)]
struct LiesState {
    started_at: Duration,
    rules: Vec<Rule>,
    /// The lie about each entry that has one, with its rule's lateness, by identity.
    entries: HashMap<Hash, (LieKind, Option<Duration>)>,
    /// Leaves whose hash is altered in its tile, and whether that was served.
    tampered: BTreeMap<u64, (ToldLie, bool)>,
    /// The first index that no checkpoint may cover yet, and until when.
    withheld: Option<(u64, Option<u64>)>,
    /// Whether the log goes back to a checkpoint of before, once all that is not withheld is covered, or has gone.
    rolls_back: bool,
    is_rolled_back: bool,
    /// Entries that may come to miss their merge delay, with its end.
    waiting: Vec<(u64, ToldLie)>,
    /// Entries kept from being sequenced, with the time of their release.
    held: Vec<Held>,
    /// How many SCTs were answered that cannot be read.
    unreadable: u64,
    ledger: Ledger,
}

#[derive(Debug)]
struct Held {
    release_ms: u64,
    entry: Arc<Entry>,
    timestamp_ms: u64,
}

impl Lies {
    /// The lies of a plan, if it has any; `elapsed` is the log's start.
    pub(crate) fn new(plan: &CtLabPlan, elapsed: Duration) -> Result<Option<Arc<Self>>, LabError> {
        if plan.lies.is_empty() {
            return Ok(None);
        }
        let rule = |(place, lie)| {
            Rule::new(lie, plan).map_err(|conflict| LabError::Plan {
                key: format!("lies[{place}].{}", conflict.key()).into(),
                reason: conflict.reason().to_owned(),
            })
        };
        let inner = LiesState {
            started_at: elapsed,
            rules: plan.lies.iter().enumerate().map(rule).collect::<Result<_, _>>()?,
            entries: HashMap::new(),
            tampered: BTreeMap::new(),
            withheld: None,
            rolls_back: false,
            is_rolled_back: false,
            waiting: Vec::new(),
            held: Vec::new(),
            unreadable: 0,
            ledger: Ledger::default(),
        };
        Ok(Some(Arc::new(Self {
            another: LogSigner::new(&KeySource::Seed(!plan.key_seed))?,
            flavour: plan.flavour,
            max_merge_delay_ms: milliseconds(plan.max_merge_delay.duration()),
            inner: Mutex::new(inner),
        })))
    }

    /// Counts the times of the rules from `elapsed`.
    pub(crate) fn restart(&self, elapsed: Duration) {
        self.lock().started_at = elapsed;
    }

    /// Takes the next new entry and settles what is lied about it. Says whether it must be kept from being sequenced.
    pub(crate) fn accept(&self, entry: &Arc<Entry>, elapsed: Duration, timestamp_ms: u64) -> bool {
        let mut inner = self.lock();
        let since = elapsed.saturating_sub(inner.started_at);
        let mut due = None;
        for rule in inner.rules.iter_mut().filter(|rule| rule.is_of_entries()) {
            due = due.or(rule.next(since).then_some((rule.lie.kind, rule.lie.late.map(Duration::from))));
        }
        let Some((kind, late)) = due else { return false };
        inner.entries.insert(entry.identity, (kind, late));
        let holds = kind == LieKind::MmdMissed && self.flavour == Flavour::Rfc6962;
        if holds {
            let deadline_ms = timestamp_ms + self.max_merge_delay_ms;
            inner.waiting.push((deadline_ms, told(kind, entry, &entry.leaf_input(timestamp_ms, None), None)));
            if let Some(late) = late {
                let release_ms = deadline_ms + milliseconds(late);
                inner.held.push(Held { release_ms, entry: Arc::clone(entry), timestamp_ms });
            }
        }
        holds
    }

    /// Whether the next duplicate is to become an entry of its own.
    pub(crate) fn repeats(&self, elapsed: Duration) -> bool {
        let mut inner = self.lock();
        let since = elapsed.saturating_sub(inner.started_at);
        let mut rules = inner.rules.iter_mut().filter(|rule| rule.lie.kind == LieKind::DuplicateNewIndex);
        rules.any(|rule| rule.next(since))
    }

    /// The entries that may be sequenced now although they were held, with their timestamps.
    pub(crate) fn released(&self, unix_ms: u64) -> Vec<(Arc<Entry>, u64)> {
        let mut inner = self.lock();
        let released = inner.held.extract_if(.., |held| held.release_ms <= unix_ms);
        released.map(|held| (held.entry, held.timestamp_ms)).collect()
    }

    /// The lie about an entry.
    pub(crate) fn about(&self, identity: &Hash) -> Option<LieKind> {
        self.lock().entries.get(identity).map(|(kind, _)| *kind)
    }

    /// Notes a lie about an entry's SCT, whose leaf is `leaf_input`.
    pub(crate) fn tell_entry(
        &self,
        kind: LieKind,
        entry: &Entry,
        leaf_input: &[u8],
        at: (Option<u64>, Option<u64>),
    ) {
        let (index, holds) = at;
        self.tell(ToldLie { holds, ..told(kind, entry, leaf_input, index) });
    }

    pub(crate) fn tell(&self, told: ToldLie) {
        self.lock().ledger.push(told);
    }

    /// The number of the next SCT that cannot be read.
    pub(super) fn next_form(&self) -> u64 {
        let mut inner = self.lock();
        let number = inner.unreadable;
        inner.unreadable += 1;
        number
    }

    /// The leaf hash and the TileLeaf of an entry at its index: honest ones unless it is lied about.
    pub(crate) fn sequenced(
        &self,
        entry: &Entry,
        timestamp_ms: u64,
        index: u64,
        leaf_input: &[u8],
    ) -> (Hash, Vec<u8>) {
        let mut inner = self.lock();
        let lie = inner.entries.get(&entry.identity).copied();
        if let Some((LieKind::MmdMissed, late)) = lie
            && self.flavour == Flavour::StaticCt
        {
            let until_ms = late.map(|late| timestamp_ms + self.max_merge_delay_ms + milliseconds(late));
            inner.withheld.get_or_insert((index, until_ms));
        }
        if let Some((LieKind::RolledBackCheckpoint, _)) = lie {
            inner.rolls_back = true;
            inner.withheld.get_or_insert((index, None));
        }
        if inner.withheld.is_some() {
            let missed = told(LieKind::MmdMissed, entry, leaf_input, Some(index));
            inner.waiting.push((timestamp_ms + self.max_merge_delay_ms, missed));
        }
        let honest = || (leaf_hash(leaf_input), entry.tile_leaf(leaf_input));
        let Some((kind, _)) = lie else { return honest() };
        let promised = told(kind, entry, leaf_input, Some(index));
        let with_index = (self.flavour == Flavour::StaticCt).then_some(index);
        let other = || {
            let other = entry.altered();
            let leaf_input = other.leaf_input(timestamp_ms, with_index);
            (leaf_hash(&leaf_input), other.tile_leaf(&leaf_input))
        };
        match kind {
            LieKind::LostLeaf => {
                inner.ledger.push(promised);
                other()
            }
            LieKind::AlteredLeaf => {
                inner.ledger.push(promised);
                (leaf_hash(leaf_input), other().1)
            }
            LieKind::AlteredChain => {
                inner.ledger.push(promised);
                (leaf_hash(leaf_input), entry.without_root(leaf_input))
            }
            LieKind::ReversedChain => match entry.with_reversed_chain(leaf_input) {
                Some(altered) => {
                    inner.ledger.push(promised);
                    (leaf_hash(leaf_input), altered)
                }
                None => honest(),
            },
            LieKind::AlteredPrecertificate => match entry.with_another_precertificate(leaf_input) {
                Some(altered) => {
                    inner.ledger.push(promised);
                    (leaf_hash(leaf_input), altered)
                }
                None => honest(),
            },
            LieKind::TamperedTile => {
                inner.tampered.insert(index, (promised, false));
                honest()
            }
            _ => honest(),
        }
    }

    /// Alters the hashes of a tile that are lied about.
    pub(crate) fn tamper(&self, tile: &TileId, bytes: &mut [u8]) {
        if tile.level != Level::Hashes(0) {
            return;
        }
        let LiesState { tampered, ledger, .. } = &mut *self.lock();
        for (index, (lie, served)) in tampered.range_mut(tile.first()..) {
            let at = usize::try_from((index - tile.first()) * 32).unwrap_or(usize::MAX);
            let Some(byte) = bytes.get_mut(at) else { return };
            *byte ^= 1;
            if !std::mem::replace(served, true) {
                ledger.push(*lie);
            }
        }
    }

    /// Whether a checkpoint lie is due while a checkpoint of this size is the last.
    pub(crate) fn is_due(&self, elapsed: Duration, published: u64) -> bool {
        let inner = self.lock();
        let since = elapsed.saturating_sub(inner.started_at);
        inner.rules.iter().any(|rule| rule.is_of_checkpoints() && rule.is_due_at(since, published))
    }

    /// Whether the next checkpoint tells this lie, and counts it.
    pub(crate) fn next_checkpoint(&self, kind: LieKind, elapsed: Duration, published: u64) -> bool {
        let mut inner = self.lock();
        let since = elapsed.saturating_sub(inner.started_at);
        let mut rules = inner.rules.iter_mut().filter(|rule| rule.lie.kind == kind);
        rules.any(|rule| rule.next_checkpoint(since, published))
    }

    /// Most entries that a checkpoint may cover now.
    pub(crate) fn most_entries(&self, unix_ms: u64) -> u64 {
        let mut inner = self.lock();
        inner.withheld = inner.withheld.filter(|(_, until_ms)| until_ms.is_none_or(|until| unix_ms < until));
        inner.withheld.map_or(u64::MAX, |(index, _)| index)
    }

    /// Whether a checkpoint of before is served from now on, where the last one has this size.
    pub(crate) fn is_rolled_back(&self, published: u64) -> bool {
        let mut inner = self.lock();
        let is_covered = inner.withheld.is_some_and(|(index, _)| published >= index);
        inner.is_rolled_back |= inner.rolls_back && is_covered;
        inner.is_rolled_back
    }

    /// Notes which entries a checkpoint of this size and time covers too late.
    pub(crate) fn covered(&self, size: u64, timestamp_ms: u64) {
        let LiesState { waiting, ledger, .. } = &mut *self.lock();
        let covered = waiting.extract_if(.., |(_, lie)| lie.index.is_some_and(|index| index < size));
        covered.filter(|(end_ms, _)| *end_ms < timestamp_ms).for_each(|(_, lie)| ledger.push(lie));
    }

    /// What was told up to now, and how many lies more than can be listed.
    pub(crate) fn told(&self, unix_ms: u64) -> (Vec<ToldLie>, u64) {
        let inner = self.lock();
        let missed = inner.waiting.iter().filter(|(end_ms, _)| *end_ms < unix_ms);
        inner.ledger.with(missed.map(|(_, lie)| *lie))
    }

    fn lock(&self) -> MutexGuard<'_, LiesState> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn told(kind: LieKind, entry: &Entry, leaf_input: &[u8], index: Option<u64>) -> ToldLie {
    ToldLie { seq: entry.seq(), index, leaf_hash: Some(leaf_hash(leaf_input)), ..ToldLie::of(kind) }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
