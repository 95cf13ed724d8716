//! A log that is followed without load.

use std::rc::Rc;

use hammer_core::runtime::Clock;
use hammer_measure::Nanos;
use hammer_net::ConfigError;
use hammer_tlog::logs::audit::ReceiptClock;
use hammer_tlog::logs::follow::{Event, Follower, Head};

use crate::absent_tiles::AbsentTiles;
use crate::head_dates::{HeadDates, MisdatedHead};
use crate::late_head::LateHead;
use crate::messages::{UNPROVED_CHECKPOINT, event_words};
use crate::place::LogPlace;
use crate::prove::prove;
use crate::reader::AuditReader;
use crate::refused_proof::RefusedProof;
use crate::source::LogSource;
use crate::trouble::Trouble;

/// Follows a log without load: each head's signature is verified, and that it continues the one before. It lives on one thread,
/// within a `LocalSet`.
pub struct LogFollower<L> {
    reader: AuditReader<L>,
    follower: Follower,
    absent: AbsentTiles,
    late: LateHead,
    dates: HeadDates,
    refused: RefusedProof,
    doubt: Doubt,
    /// What was found beside the follower's events, and not told yet.
    found: Vec<Followed>,
}

/// What a look at the log has shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Followed {
    /// A head of a tree that was not known; it continues the one before.
    Head {
        /// The head.
        head: Head,
        /// Leaves more than the head before; none for the first.
        grown: Option<u64>,
        /// Who else signed the checkpoint, by name. Their keys are not known: nothing is verified.
        cosigners: Vec<String>,
    },
    /// A head of an earlier state of the tree, which a server that lags behind still serves.
    Stale {
        /// The head as fetched now.
        head: Head,
        /// Leaves of the tree that was seen before.
        newest: u64,
    },
    /// A promise to everyone that is broken.
    Breach {
        /// Its kind, as reports have it.
        kind: &'static str,
        /// The leaf that it is of, where it is one's.
        index: Option<u64>,
        /// What was found.
        detail: String,
        /// The two heads that no append-only log can have, where that is what was found.
        heads: Option<Box<[Head; 2]>>,
    },
}

/// Heads in a row of which no consistency proof holds, which a server that lags behind may be the reason of for a while.
#[derive(Default)]
struct Doubt {
    /// The tree that was trusted, and since when none that follows it is.
    since: Option<(u64, Nanos)>,
    is_told: bool,
}

impl Doubt {
    /// Takes whether a look has doubted how that tree went on; says whether that is to be told now, which it is once.
    fn looked(&mut self, trusted: u64, is_doubted: bool, now: Nanos) -> bool {
        if !is_doubted {
            // A look without a new head says nothing.
            self.since.take_if(|(doubted, _)| *doubted != trusted);
            return false;
        }
        let (_, since) = *self.since.get_or_insert((trusted, now));
        let is_due = now.since(since) >= DOUBTED_FOR;
        is_due && !std::mem::replace(&mut self.is_told, true)
    }
}

/// How long how a tree goes on is doubted before that is told, as in an audit.
const DOUBTED_FOR: Nanos = Nanos::from_secs(10);

impl Followed {
    /// A promise to everyone that is broken by no leaf and no two heads alone.
    fn of(kind: &'static str, detail: String) -> Self {
        Self::Breach { kind, index: None, detail, heads: None }
    }
}

impl<L: LogSource> LogFollower<L> {
    /// Follows `log`, as it is read at `place`, by that follower. It counts the instants of heads from `clock`'s epoch, which is
    /// `epoch_unix_ms`.
    ///
    /// # Errors
    /// Those of [`hammer_net::Client::new`].
    pub fn new(
        log: L,
        place: LogPlace,
        follower: Follower,
        clock: Rc<dyn Clock>,
        epoch_unix_ms: u64,
    ) -> Result<Self, ConfigError> {
        let skew_ms = log.skew().as_millis() as u64;
        let own_clock = ReceiptClock { epoch_unix_ms, skew_ms, is_of_one_server: false };
        let (absent, dates) = (AbsentTiles::default(), HeadDates::new(own_clock));
        let (late, refused, doubt, found) = Default::default();
        let reader = AuditReader::new(log, place, clock)?;
        Ok(Self { reader, follower, absent, late, dates, refused, doubt, found })
    }

    /// How many requests were sent so far.
    pub fn requests(&self) -> u64 {
        self.reader.requests()
    }

    /// Fetches the head and what proves it.
    ///
    /// # Errors
    /// When the log does not answer, or not with what can be read. A head that is not the log's is a breach.
    pub async fn look(&mut self) -> Result<Vec<Followed>, Trouble> {
        if self.late.feed(&mut self.follower) {
            // What could not be read is asked for again with the newest head.
            let _ = prove(&self.reader, self.reader.shards().active, &mut self.follower).await;
        }
        match self.reader.head().await {
            Ok(head) => {
                let found = self.dates.dated(&head, self.follower.trusted()).into_iter();
                self.found.extend(found.map(|MisdatedHead { kind, detail, .. }| Followed::of(kind, detail)));
                self.follower.head(head);
            }
            Err(why) => {
                let Some(kind) = why.breach_kind() else { return Err(why) };
                return Ok(vec![Followed::of(kind, format!("failed to {why}"))]);
            }
        }
        let doubted = self.follower.doubted();
        let proved = prove(&self.reader, self.reader.shards().active, &mut self.follower).await;
        let now = self.reader.now();
        // Of several servers the one that is asked may not be the one that served the head.
        if !self.reader.are_several() {
            let refused = self.refused.went(self.follower.need().as_ref(), &proved, now);
            self.found.extend(refused.map(|said| Followed::of(UNPROVED_CHECKPOINT, said)));
        }
        let newest = self.follower.trusted().map_or(0, |head| head.size);
        let is_doubted = self.follower.doubted() > doubted;
        if self.doubt.looked(newest, is_doubted, now) {
            let said = format!(
                "the log signs how its tree of {newest} leaves went on, and no consistency proof of that holds"
            );
            self.found.push(Followed::of(UNPROVED_CHECKPOINT, said));
        }
        let events = self.follower.events();
        let events = self.certain(events).await;
        let seen = self.told(&events);
        if !seen.is_empty() {
            return Ok(seen);
        }
        proved?;
        if let Some(why) = self.absent.why() {
            return Err(Trouble::Other(why));
        }
        if is_doubted {
            let why =
                format!("prove how the tree of {newest} leaves went on: no consistency proof holds so far");
            return Err(Trouble::Other(why));
        }
        Ok(seen)
    }

    /// What nothing more will come of, once nobody looks any more: proofs of a head that do not hold.
    pub fn end(&mut self) -> Vec<Followed> {
        if !self.doubt.is_told {
            self.follower.end();
        }
        let events = self.follower.events();
        self.told(&events)
    }

    /// What is certain of these: a tile that was missed for long enough is asked for several times at once, since of those behind one URL that
    /// answer by turns the one that lags may have been asked each time.
    async fn certain(&mut self, events: Vec<Event>) -> Vec<Event> {
        let mut certain = Vec::with_capacity(events.len());
        for event in events {
            self.late.follow(&event);
            match &event {
                Event::First { .. } | Event::Grew { .. } => self.absent.proved(),
                Event::MissingTile { tile, .. } => {
                    let Some(first) = self.absent.missed(*tile, self.reader.now()) else { continue };
                    match self.reader.by_now_surely(first).await {
                        Ok(None) => {}
                        Ok(Some(_)) => {
                            self.absent.came(*tile, self.reader.now());
                            continue;
                        }
                        Err(why) => {
                            // That very tile was asked for alone as well, and is not there.
                            let is_answered = first == *tile && !why.is_silence();
                            if !self.absent.unsure(*tile, is_answered) {
                                continue;
                            }
                        }
                    }
                    self.absent.told(*tile);
                }
                _ => {}
            }
            certain.push(event);
        }
        certain
    }

    fn told(&mut self, events: &[Event]) -> Vec<Followed> {
        self.follower.ask_again();
        let seen: Vec<_> = events.iter().filter_map(|event| self.seen(event)).collect();
        std::mem::take(&mut self.found).into_iter().chain(seen).collect()
    }

    fn seen(&self, event: &Event) -> Option<Followed> {
        let (head, grown) = match event {
            Event::First { head } => (head, None),
            Event::Grew { from, to, .. } => (to, Some(to.size - from.size)),
            Event::Stale { head, newest } => {
                return Some(Followed::Stale { head: head.clone(), newest: newest.size });
            }
            event => {
                let (kind, index, detail) = event_words(event)?;
                let heads = match event {
                    Event::Forked { older, newer, .. } | Event::Shrank { older, newer } => {
                        Some(Box::new([older.clone(), newer.clone()]))
                    }
                    _ => None,
                };
                return Some(Followed::Breach { kind, index, detail, heads });
            }
        };
        let cosigners = self.reader.cosigners().iter().map(|cosigner| cosigner.name.clone()).collect();
        Some(Followed::Head { head: head.clone(), grown, cosigners })
    }
}
