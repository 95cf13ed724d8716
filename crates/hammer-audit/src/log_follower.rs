//! A log that is followed without load.

use std::rc::Rc;

use hammer_core::runtime::Clock;
use hammer_net::ConfigError;
use hammer_tlog::logs::audit::ReceiptClock;
use hammer_tlog::logs::follow::{Event, Follower, Head};

use crate::absent_tiles::AbsentTiles;
use crate::head_dates::{HeadDates, MisdatedHead};
use crate::messages::event_words;
use crate::place::LogPlace;
use crate::prove::prove;
use crate::reader::AuditReader;
use crate::source::LogSource;
use crate::trouble::Trouble;

/// Follows a log without load: each head's signature is verified, and that it continues the one before. It lives on one thread,
/// within a `LocalSet`.
pub struct LogFollower<L> {
    reader: AuditReader<L>,
    follower: Follower,
    absent: AbsentTiles,
    dates: HeadDates,
    /// Heads that are dated as they cannot be, and were not told yet.
    misdated: Vec<Followed>,
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
        let (dates, misdated) = (HeadDates::new(own_clock), Vec::new());
        let reader = AuditReader::new(log, place, clock)?;
        Ok(Self { reader, follower, absent: AbsentTiles::default(), dates, misdated })
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
        match self.reader.head().await {
            Ok(head) => {
                let found = self.dates.dated(&head, self.follower.trusted()).into_iter();
                self.misdated.extend(found.map(|MisdatedHead { kind, detail, .. }| Followed::Breach {
                    kind,
                    index: None,
                    detail,
                    heads: None,
                }));
                self.follower.head(head);
            }
            Err(why) => {
                let Some(kind) = why.breach_kind() else { return Err(why) };
                let detail = format!("failed to {why}");
                return Ok(vec![Followed::Breach { kind, index: None, detail, heads: None }]);
            }
        }
        let doubted = self.follower.doubted();
        let proved = prove(&self.reader, self.reader.shards().active, &mut self.follower).await;
        let seen = self.told();
        proved?;
        if let (true, Some(why)) = (seen.is_empty(), self.absent.why()) {
            return Err(Trouble::Other(why));
        }
        if seen.is_empty() && self.follower.doubted() > doubted {
            let newest = self.follower.trusted().map_or(0, |head| head.size);
            let why =
                format!("prove how the tree of {newest} leaves went on: no consistency proof holds so far");
            return Err(Trouble::Other(why));
        }
        Ok(seen)
    }

    /// What nothing more will come of, once nobody looks any more: proofs of a head that do not hold.
    pub fn end(&mut self) -> Vec<Followed> {
        self.follower.end();
        self.told()
    }

    fn told(&mut self) -> Vec<Followed> {
        let events = self.follower.events();
        self.follower.ask_again();
        let now = self.reader.now();
        let told = |event: &&Event| self.absent.is_to_be_told(event, now);
        let events: Vec<_> = events.iter().filter(told).collect();
        let seen: Vec<_> = events.into_iter().filter_map(|event| self.seen(event)).collect();
        std::mem::take(&mut self.misdated).into_iter().chain(seen).collect()
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
