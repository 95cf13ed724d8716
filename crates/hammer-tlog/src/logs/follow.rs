//! Following a log: each new head is held against the trusted one, by tiles or by consistency proof, and trusted only
//! once that is proved. A state machine: it is fed heads and what it says it needs, and tells what it found out.

use std::cmp::Ordering;
use std::collections::{BTreeSet, VecDeque};

use crate::hash::Hash;
use crate::logs::merkle::{Frontier, MerkleError, verify_consistency};
use crate::logs::tile::{Level, TileId};

mod doubted_heads;
mod event;
mod false_proofs;
mod growth;
mod head;
mod prefix;

pub use event::{Event, Evidence, TileFault, Unproved};
pub use head::Head;

use doubted_heads::DoubtedHeads;
use false_proofs::{FalseProofs, ProofFault};
pub(crate) use growth::subtrees;
use growth::{Growth, Outcome};
use prefix::{Known, Prefix};

/// Heads that wait while an earlier one is proved; beyond them the oldest is skipped, and counted.
pub const QUEUE: usize = 64;

/// Trees that are remembered as earlier states of the trusted one.
pub const KNOWN: usize = 1000;

/// Hashes of tampered tiles that are told one by one.
const TAMPERED: usize = 1 << 16;

/// How the log proves that it only grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProofMethod {
    /// By the hash tiles of every new leaf, whose hashes come with [`Event::Grew`]: what an audit needs.
    Leaves,
    /// By the fewest hash tiles.
    Edges,
    /// By a consistency proof (RFC 6962 section 4.4).
    Proofs,
}

/// Where the bundles of a log's entries lie, and what its own format makes of their bytes.
#[derive(Debug, Clone, Copy)]
pub struct Bundles {
    /// The level of their tiles.
    pub level: Level,
    /// The leaf hashes of a bundle's entries in order, of as many as are asked for. They end before the first entry that
    /// cannot be read.
    pub leaf_hashes: fn(bytes: &[u8], most: u16) -> Vec<Hash>,
}

/// What has to be fetched before anything more can be found out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Need {
    /// These tiles, in any order. Bundles are asked for only to find out which hash tile is tampered with.
    Tiles(Vec<TileId>),
    /// The consistency proof between these sizes.
    ConsistencyProof {
        /// Leaves of the older tree.
        first: u64,
        /// Leaves of the newer tree.
        second: u64,
        /// How many that were served lead from neither root to the other: another server may have the right one.
        refused: u32,
    },
}

/// Follows one log. Its trusted head moves only to heads that were proved to continue it.
#[derive(Debug)]
pub struct Follower {
    by: ProofMethod,
    bundles: Bundles,
    /// Whether a smaller head is never later, since heads have no time of their own.
    in_any_order: bool,
    trusted: Option<Trusted>,
    proving: Option<Growth>,
    queue: VecDeque<Head>,
    /// Heads that may be earlier ones, of which the first is being proved when nothing else is.
    stale: VecDeque<Head>,
    prefix: Option<Prefix>,
    known: Known,
    false_proofs: FalseProofs,
    /// How often a head was set aside since no proof of it held so far.
    doubted: u64,
    doubted_heads: DoubtedHeads,
    /// Whether two heads were told that no log has both: no proof of such a log can hold.
    has_forked: bool,
    skipped: u64,
    refused: Option<Event>,
    /// Hashes in tiles that were told to be tampered with: level, tile, position.
    tampered: BTreeSet<(Level, u64, u16)>,
    events: Vec<Event>,
}

/// The trusted head, and the right edge of its tree.
#[derive(Debug, Clone)]
struct Trusted {
    head: Head,
    frontier: Frontier,
    /// The leaf hashes of the partial tile at the edge; kept where leaves are followed.
    tail: Vec<Hash>,
}

impl Follower {
    /// A follower that trusts the first head that it is fed. `bundles` reads the log's entries.
    pub fn new(by: ProofMethod, bundles: Bundles) -> Self {
        Self {
            by,
            bundles,
            in_any_order: false,
            trusted: None,
            proving: None,
            queue: VecDeque::new(),
            stale: VecDeque::new(),
            prefix: None,
            known: Known::default(),
            false_proofs: FalseProofs::default(),
            doubted: 0,
            doubted_heads: DoubtedHeads::default(),
            has_forked: false,
            skipped: 0,
            refused: None,
            tampered: BTreeSet::new(),
            events: Vec::new(),
        }
    }

    /// A follower that starts at the tree without leaves: it proves the first head too, and tells all of its leaves.
    pub fn from_empty(by: ProofMethod, bundles: Bundles) -> Self {
        let trusted = Trusted { head: Head::empty(), frontier: Default::default(), tail: Vec::new() };
        Self { trusted: Some(trusted), ..Self::new(by, bundles) }
    }

    /// The same, of a log whose heads say no time and may come in any order: a smaller head is proved to be of an earlier state of the
    /// tree, whenever it comes.
    #[must_use]
    pub fn in_any_order(self) -> Self {
        Self { in_any_order: true, ..self }
    }

    /// The newest head that is proved.
    pub fn trusted(&self) -> Option<&Head> {
        self.trusted.as_ref().map(|trusted| &trusted.head)
    }

    /// Heads fed that are not yet proved or refused.
    pub fn behind(&self) -> usize {
        self.queue.len() + usize::from(self.proving.is_some())
    }

    /// Heads that were never proved because too many came while earlier ones waited.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// Takes a head whose signature holds.
    pub fn head(&mut self, head: Head) {
        // Whichever of them is of the tree, if any is: this one goes on to be proved.
        if let Some(older) = self.doubted_heads.contradicting(&head) {
            self.refuse(Event::Forked { older, newer: head.clone(), evidence: Evidence::SameSize });
        }
        let waiting = self.queue.back().or(self.proving.as_ref().map(|growth| &growth.head));
        let Some(newest) = waiting.or(self.trusted()).cloned() else {
            return self.enqueue(head);
        };
        if newest.same_tree(&head) {
            if self.behind() == 0 {
                self.events.push(Event::Same { head });
            }
        } else if self.may_precede(&head, &newest) {
            self.stale(head);
        } else if head.size < newest.size {
            self.refuse(Event::Shrank { older: newest, newer: head });
        } else if head.size == newest.size {
            self.refuse(Event::Forked { older: newest, newer: head, evidence: Evidence::SameSize });
        } else {
            self.enqueue(head);
        }
    }

    /// Takes a head that somebody else was served at some time. A smaller one than the trusted one is proved to be of an earlier state of
    /// the tree, whether or not heads come in order.
    pub fn earlier(&mut self, head: Head) {
        let Some(trusted) = self.trusted().cloned() else { return self.head(head) };
        match head.size.cmp(&trusted.size) {
            Ordering::Less => self.stale(head),
            Ordering::Equal if trusted.same_tree(&head) => self.events.push(Event::Same { head }),
            Ordering::Equal => {
                self.refuse(Event::Forked { older: trusted, newer: head, evidence: Evidence::SameSize });
            }
            Ordering::Greater => self.head(head),
        }
    }

    /// Whether a head can be of an earlier state of the tree of the other.
    pub fn may_precede(&self, head: &Head, newer: &Head) -> bool {
        head.precedes(newer) || (self.in_any_order && head.size < newer.size)
    }

    /// Whether the head is known to be of the trusted tree or of an earlier state of it.
    pub fn knows(&self, head: &Head) -> bool {
        self.known.holds(head) || self.trusted().is_some_and(|trusted| trusted.same_tree(head))
    }

    /// Gives the head up that is being proved, without a word of it: what proves it is not to be had for now. It may be fed again. False
    /// consistency proofs that were served until then count on.
    pub fn set_aside(&mut self) {
        if self.proving.take().is_none() {
            self.prefix = None;
        }
        self.prove_next();
    }

    /// How many times a head was set aside since no consistency proof of it held so far, which a server that lags behind may be the reason of.
    pub fn doubted(&self) -> u64 {
        self.doubted
    }

    /// Tells the false consistency proofs of heads that have been set aside: no other proof will come. Of a log that forked they say nothing
    /// more.
    pub fn end(&mut self) {
        let untold = self.false_proofs.end();
        self.events.extend(untold.filter(|_| !self.has_forked));
    }

    /// What has to be fetched now; none while there is nothing to prove. Says the same until it is fed.
    pub fn need(&self) -> Option<Need> {
        let Some(growth) = &self.proving else { return Some(self.prefix.as_ref()?.need(self.by)) };
        match self.by {
            ProofMethod::Leaves | ProofMethod::Edges => Some(Need::Tiles(growth.wanted())),
            ProofMethod::Proofs => {
                let first = self.trusted().map_or(0, |head| head.size);
                Some(Need::ConsistencyProof { first, second: growth.head.size, refused: growth.refused() })
            }
        }
    }

    /// Takes the bytes of a tile: those of `tile` as it was asked for, or of the full one in its place. Tiles that are
    /// not wanted are passed over.
    pub fn tile(&mut self, tile: TileId, bytes: &[u8]) {
        let Some(growth) = &mut self.proving else { return self.tile_of_prefix(tile, bytes) };
        match growth.tile(tile, bytes) {
            Ok(()) => self.advance(),
            Err((tile, fault)) => {
                let head = growth.head.clone();
                self.give_up(Event::TamperedTile { tile, fault, head });
            }
        }
    }

    /// Takes that a tile is not served. For a partial one the full one is needed from now on: a log may drop partial
    /// tiles once they are full (C2SP tlog-tiles).
    pub fn missing(&mut self, tile: TileId) {
        let growth = self.proving.as_mut().or(self.prefix.as_mut().map(Prefix::growth));
        let Some(growth) = growth else { return };
        let Some(tile) = growth.missing(tile) else { return };
        let head = growth.head.clone();
        // Whoever serves a head of long ago may not have the tiles of the tree since.
        if self.proving.is_none() && self.in_any_order {
            return self.set_aside();
        }
        if self.proving.is_some() {
            self.doubted_heads.add(&head);
        }
        self.give_up(Event::MissingTile { tile, head });
    }

    /// Forgets that a tile was not served, which is told again where it still is not when its head is fed next.
    pub fn ask_again(&mut self) {
        self.refused.take_if(|refused| matches!(refused, Event::MissingTile { .. }));
    }

    /// Takes the consistency proof between two sizes; one that is not wanted is passed over. One that does not hold is wanted again, a few
    /// times: whoever stands between may have mixed up an answer.
    pub fn consistency_proof(&mut self, first: u64, second: u64, proof: &[Hash]) {
        if !matches!(self.need(), Some(Need::ConsistencyProof { first: f, second: s, .. }) if (f, s) == (first, second))
        {
            return;
        }
        let (older, newer, growth) = match (&mut self.proving, &mut self.prefix, &self.trusted) {
            (Some(growth), _, Some(trusted)) => (trusted.head.clone(), growth.head.clone(), growth),
            (None, Some(prefix), _) => (prefix.head.clone(), prefix.growth.head.clone(), &mut prefix.growth),
            _ => return,
        };
        let held = verify_consistency(first, second, &older.root, &newer.root, proof);
        let evidence: fn(MerkleError) -> Evidence = match &held {
            Ok(()) => {
                self.events.extend(self.false_proofs.proved(&older, &newer));
                Evidence::Proof
            }
            // From a tree without leaves nothing has to be proved, and nobody was asked.
            Err(_) if first == 0 => Evidence::Proof,
            Err(error) => match ProofFault::of(&older, &newer, proof, error) {
                ProofFault::Fork => Evidence::Prefix,
                fault => {
                    let is_wanted_again = growth.refuse_proof();
                    self.events.extend(self.false_proofs.add(&older, &newer, fault, error));
                    match self.false_proofs.is_fork(&older, &newer) {
                        true if !matches!(error, MerkleError::ProofLength { .. }) => Evidence::Proof,
                        _ if is_wanted_again => return,
                        false if fault == ProofFault::Length => Evidence::Proof,
                        _ => {
                            self.doubted += 1;
                            if self.proving.is_some() {
                                self.doubted_heads.add(&newer);
                            }
                            return self.set_aside();
                        }
                    }
                }
            },
        };
        if self.proving.is_none()
            && let Some(prefix) = self.prefix.take()
        {
            return self.judged(prefix.judge(held, evidence));
        }
        match held {
            Ok(()) => {
                let Some(trusted) = self.trusted.clone() else { return };
                self.trust(Trusted { head: newer, ..trusted }, Vec::new());
            }
            Err(error @ MerkleError::ProofLength { .. }) => {
                self.give_up(Event::Unproved { head: newer, reason: Unproved::Proof(error) });
            }
            Err(error) => self.give_up(Event::Forked { older, newer, evidence: evidence(error) }),
        }
    }

    /// What was found out since the last call, in order.
    pub fn events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    fn enqueue(&mut self, head: Head) {
        if self.queue.len() == QUEUE {
            self.queue.pop_front();
            self.skipped += 1;
        }
        self.queue.push_back(head);
        self.prove_next();
    }

    /// Starts to prove the next head, unless one is being proved.
    fn prove_next(&mut self) {
        while self.proving.is_none() {
            let Some(head) = self.queue.pop_front() else { return self.prove_stale() };
            self.prove(head);
        }
    }

    /// Takes a head that is smaller and was signed before: another server of the log may lag behind.
    fn stale(&mut self, head: Head) {
        if self.known.holds(&head) {
            return self.tell_stale(head);
        }
        if self.stale.len() < QUEUE && !self.stale.iter().any(|other| other.same_tree(&head)) {
            self.stale.push_back(head);
        }
        self.prove_next();
    }

    /// Starts to prove that the next of the stale heads is of an earlier state of the trusted tree.
    fn prove_stale(&mut self) {
        while self.prefix.is_none() {
            let (Some(head), Some(trusted)) = (self.stale.pop_front(), &self.trusted) else { return };
            let newer = trusted.head.clone();
            if head.size >= newer.size {
                // What it seemed older than was never trusted. It is served again where it matters.
                continue;
            }
            let prefix = Prefix::new(head, newer, self.by, self.bundles);
            if prefix.is_empty() {
                self.tell(prefix.judge_empty());
            } else {
                self.prefix = Some(prefix);
            }
        }
    }

    fn tile_of_prefix(&mut self, tile: TileId, bytes: &[u8]) {
        let Some(prefix) = &mut self.prefix else { return };
        let growth = prefix.growth();
        if let Err((tile, fault)) = growth.tile(tile, bytes) {
            let head = growth.head.clone();
            return self.give_up(Event::TamperedTile { tile, fault, head });
        }
        if let Some(event) = prefix.judge_tiles() {
            self.judged(event);
        }
    }

    fn judged(&mut self, event: Event) {
        self.prefix = None;
        self.tell(event);
        self.prove_next();
    }

    fn tell(&mut self, event: Event) {
        match event {
            Event::Stale { head, .. } => {
                self.known.add(&head);
                if !self.doubted_heads.settled(&head) {
                    self.tell_stale(head);
                }
            }
            event => self.refuse(event),
        }
    }

    fn tell_stale(&mut self, head: Head) {
        if let Some(newest) = self.trusted().cloned() {
            self.events.push(Event::Stale { head, newest });
        }
    }

    fn prove(&mut self, head: Head) {
        let Some(trusted) = &self.trusted else {
            if self.by == ProofMethod::Proofs {
                let first = Trusted { head, frontier: Default::default(), tail: Vec::new() };
                return self.trust(first, Vec::new());
            }
            self.proving = Some(Growth::first(head, self.by, self.bundles));
            return self.step();
        };
        match Growth::new(trusted, head.clone(), self.by, self.bundles) {
            Ok(growth) => self.proving = Some(growth),
            Err(leaves) => return self.refuse(Event::Unproved { head, reason: Unproved::Growth { leaves } }),
        }
        if self.by == ProofMethod::Proofs && trusted.head.size == 0 {
            self.consistency_proof(0, head.size, &[]);
        } else {
            self.step();
        }
    }

    fn advance(&mut self) {
        self.step();
        self.prove_next();
    }

    /// Goes as far as the tiles at hand lead.
    fn step(&mut self) {
        while let Some(growth) = &mut self.proving {
            if self.by == ProofMethod::Proofs {
                return;
            }
            let (events, outcome) = growth.step(self.trusted.as_ref());
            events.into_iter().for_each(|event| self.tampered(event));
            match outcome {
                Outcome::Wants => return,
                Outcome::Again => {}
                Outcome::Proved { trusted, leaves } => {
                    self.proving = None;
                    self.believe(*trusted, leaves);
                }
                Outcome::Refused(event) => {
                    self.proving = None;
                    self.refuse(*event);
                }
            }
        }
    }

    /// Tells of a tile that is tampered with, once for each of its hashes.
    fn tampered(&mut self, event: Event) {
        if let Event::TamperedTile { tile, fault: TileFault::Hash { position, .. }, .. } = &event {
            let is_news = self.tampered.insert((tile.level, tile.index, *position));
            if !is_news || self.tampered.len() > TAMPERED {
                return;
            }
        }
        self.events.push(event);
    }

    fn trust(&mut self, trusted: Trusted, leaves: Vec<Hash>) {
        self.proving = None;
        self.believe(trusted, leaves);
        self.prove_next();
    }

    fn believe(&mut self, trusted: Trusted, leaves: Vec<Hash>) {
        let to = trusted.head.clone();
        self.refused = None;
        self.known.add(&to);
        self.events.push(match self.trusted.replace(trusted) {
            Some(Trusted { head: from, .. }) => Event::Grew { from, to: to.clone(), leaves },
            None => Event::First { head: to.clone() },
        });
        for head in self.doubted_heads.covered_by(&to) {
            if head.size == to.size {
                let (older, newer) = (to.clone(), head);
                self.refuse(Event::Forked { older, newer, evidence: Evidence::SameSize });
            } else if self.stale.len() < QUEUE {
                // By a proof of its own, and however the two were dated.
                self.stale.push_back(head);
            }
        }
    }

    fn give_up(&mut self, event: Event) {
        if self.proving.take().is_none() {
            self.prefix = None;
        }
        self.refuse(event);
        self.prove_next();
    }

    /// Tells a refusal, once: a head that is fetched and refused again, for the same reason, is no news.
    fn refuse(&mut self, event: Event) {
        let known = self.refused.as_ref().is_some_and(|refused| refused.is_same_refusal(&event));
        if !known {
            if let Event::Forked { newer, .. } = &event {
                self.has_forked = true;
                self.doubted_heads.forget(newer);
            }
            self.events.push(event.clone());
            self.refused = Some(event);
        }
    }
}
