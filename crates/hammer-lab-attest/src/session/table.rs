//! The sessions that are there.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use hammer_lab::fault::{TimedFault, draw};
use hammer_values::Count;

use super::{
    id::SessionId,
    state::{Session, Stage},
};
use crate::plan::LostSessions;

/// Sessions by their identifiers: bounded, each gone once its time is over or it was lost.
#[derive(Debug)]
pub(crate) struct Sessions {
    most: usize,
    lost: Option<LostSessions>,
    /// Of the draws that say which are lost.
    seed: u64,
    table: Mutex<Table>,
}

#[derive(Debug)]
struct Table {
    kept: HashMap<SessionId, KeptSession>,
    /// Identifiers in the order in which they were made, those that are gone by now among them.
    order: VecDeque<SessionId>,
    begun: u64,
    /// From when the time of a loss counts, on the clock.
    origin: Duration,
    /// The loss is over.
    is_over: bool,
}

#[derive(Debug)]
struct KeptSession {
    session: Session,
    number: u64,
}

impl Sessions {
    /// `now` is the service's start, on its clock.
    pub(crate) fn new(most: Count, lost: Option<LostSessions>, seed: u64, now: Duration) -> Self {
        let (kept, order) = (HashMap::new(), VecDeque::new());
        let table = Table { kept, order, begun: 0, origin: now, is_over: false };
        Self { most: most.get(), lost, seed, table: Mutex::new(table) }
    }

    /// Counts the time of a loss from `now` of the clock.
    pub(crate) fn restart(&self, now: Duration) {
        let mut table = self.lock();
        (table.origin, table.is_over) = (now, false);
    }

    /// The loss that has a time.
    pub(crate) fn timed_faults(&self) -> Vec<TimedFault> {
        let told = self.lost.and_then(|lost| {
            let text = format!("{:.0} % of its sessions lost", lost.share.of_1() * 100.0);
            Some(TimedFault::new(lost.at?.duration(), text))
        });
        told.into_iter().collect()
    }

    /// Keeps a new session, unless it is one that is lost at once; `now` is the clock's, `unix` that of the sessions' ends.
    pub(crate) fn begin(&self, id: SessionId, session: Session, (now, unix): (Duration, Duration)) {
        let mut table = self.lock();
        self.lose(&mut table, now);
        let number = table.begun;
        table.begun += 1;
        if self.lost.is_some_and(|lost| lost.at.is_none() && self.is_drawn(lost, number)) {
            return;
        }
        table.sweep(unix, self.most.saturating_sub(1));
        table.kept.insert(id, KeptSession { session, number });
        table.order.push_back(id);
    }

    /// What `change` makes of a session; none where it is gone.
    pub(crate) fn with<T>(
        &self,
        id: SessionId,
        (now, unix): (Duration, Duration),
        change: impl FnOnce(&mut Session) -> T,
    ) -> Option<T> {
        let mut table = self.lock();
        self.lose(&mut table, now);
        let kept = table.kept.get_mut(&id).filter(|kept| kept.session.expires > unix)?;
        Some(change(&mut kept.session))
    }

    /// A look at a session, which may be the one by which its result is shown.
    pub(crate) fn look(&self, id: SessionId, times: (Duration, Duration)) -> Option<Session> {
        self.with(id, times, |session| {
            if let Stage::Processing { appraised, polls, until } = &mut session.stage {
                match *polls == 0 && times.0 >= *until {
                    true => session.stage = Stage::Complete(appraised.clone()),
                    false => *polls = polls.saturating_sub(1),
                }
            }
            session.clone()
        })
    }

    /// Forgets a session, where it is there.
    pub(crate) fn delete(&self, id: SessionId) {
        self.lock().kept.remove(&id);
    }

    /// Forgets all.
    pub(crate) fn clear(&self) {
        let mut table = self.lock();
        table.kept.clear();
        table.order.clear();
    }

    /// Forgets those whose time is over.
    pub(crate) fn sweep(&self, unix: Duration) {
        self.lock().sweep(unix, self.most);
    }

    /// How many are there, over or not.
    #[cfg(test)]
    fn count(&self) -> usize {
        self.lock().kept.len()
    }

    /// Loses those that are there, if it is time.
    fn lose(&self, table: &mut Table, now: Duration) {
        let Some((lost, at)) = self.lost.and_then(|lost| Some((lost, lost.at?))) else { return };
        if !table.is_over && now >= table.origin + at.duration() {
            table.is_over = true;
            table.kept.retain(|_, kept| !self.is_drawn(lost, kept.number));
        }
    }

    fn is_drawn(&self, lost: LostSessions, number: u64) -> bool {
        draw::uniform(self.seed, number, LOSS) < lost.share.of_1()
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    /// Forgets what is over, and the oldest ones beyond `most`.
    fn sweep(&mut self, unix: Duration, most: usize) {
        while let Some(oldest) = self.order.front() {
            let is_over = self.kept.get(oldest).is_none_or(|kept| kept.session.expires <= unix);
            if !is_over && self.kept.len() <= most {
                break;
            }
            self.kept.remove(oldest);
            self.order.pop_front();
        }
        // Those that were deleted behind one that is still there would pile up otherwise.
        if self.order.len() > self.kept.len() * 2 + FEW {
            self.order.retain(|id| self.kept.contains_key(id));
        }
    }
}

/// The draws of losses, apart from others of the same seed.
const LOSS: u64 = u64::from_be_bytes(*b"sessions");
const FEW: usize = 1024;

#[cfg(test)]
mod tests {
    use hammer_values::{Share, TimeSpan};
    use ring::rand::SystemRandom;

    use super::*;
    use crate::session::{id::SessionIds, nonce::Nonce};

    const NOW: (Duration, Duration) = (Duration::ZERO, Duration::ZERO);

    fn begun(sessions: &Sessions, count: usize, expires: u64) -> Vec<SessionId> {
        let ids = SessionIds::new([1; 8]);
        let nonce = Nonce::of_query("", &SystemRandom::new()).unwrap().into_nonce();
        let expires = Duration::from_secs(expires);
        let begin = |_| {
            let id = ids.next(expires);
            sessions.begin(id, Session { nonce: nonce.clone(), expires, stage: Stage::Waiting }, NOW);
            id
        };
        (0..count).map(begin).collect()
    }

    fn there(sessions: &Sessions, ids: &[SessionId], times: (Duration, Duration)) -> usize {
        ids.iter().filter(|id| sessions.look(**id, times).is_some()).count()
    }

    #[test]
    fn beyond_the_bound_the_oldest_go_and_the_order_stays_as_short() {
        let sessions = Sessions::new(Count::at_least_one(100), None, 1, Duration::ZERO);
        let ids = begun(&sessions, 250, 10);
        assert_eq!(there(&sessions, &ids[..150], NOW), 0);
        assert_eq!(there(&sessions, &ids[150..], NOW), 100);
        let _oldest = begun(&sessions, 1, 11);
        for id in begun(&sessions, 10_000, 12) {
            sessions.delete(id);
        }
        assert!(sessions.lock().order.len() <= FEW + 201 + 2);
    }

    #[test]
    fn a_session_is_there_until_its_time_is_over_and_then_swept() {
        let sessions = Sessions::new(Count::at_least_one(100), None, 1, Duration::ZERO);
        let ids = begun(&sessions, 10, 5);
        let at = |ms| (Duration::ZERO, Duration::from_millis(ms));
        assert_eq!(there(&sessions, &ids, at(4_999)), 10);
        assert_eq!(there(&sessions, &ids, at(5_000)), 0);
        assert_eq!(sessions.count(), 10);
        sessions.sweep(Duration::from_secs(5));
        assert_eq!(sessions.count(), 0);
    }

    #[test]
    fn a_share_of_new_sessions_is_lost_and_the_same_ones_each_time() {
        let lost = LostSessions { share: Share::percent(20), at: None };
        let count = |seed| {
            let sessions = Sessions::new(Count::at_least_one(2000), Some(lost), seed, Duration::ZERO);
            let ids = begun(&sessions, 1000, 5);
            ids.iter().map(|id| sessions.look(*id, NOW).is_some()).collect::<Vec<_>>()
        };
        let there = count(7);
        let missing = there.iter().filter(|there| !**there).count();
        assert!((150..250).contains(&missing), "{missing}");
        assert_eq!(there, count(7));
        assert_ne!(there, count(8));
    }

    #[test]
    fn at_its_time_all_that_are_there_are_lost_and_later_ones_stay() {
        let lost = LostSessions { share: Share::ALL, at: Some(TimeSpan::from_secs(2)) };
        let sessions = Sessions::new(Count::at_least_one(100), Some(lost), 1, Duration::ZERO);
        let ids = begun(&sessions, 10, 5);
        let at = |ms| (Duration::from_millis(ms), Duration::ZERO);
        assert_eq!(there(&sessions, &ids, at(1_999)), 10);
        assert_eq!(there(&sessions, &ids, at(2_000)), 0);
        let ids = begun(&sessions, 10, 5);
        assert_eq!(there(&sessions, &ids, at(2_001)), 10);
        sessions.restart(Duration::from_secs(3));
        assert_eq!(there(&sessions, &ids, at(4_999)), 10);
        assert_eq!(there(&sessions, &ids, at(5_000)), 0);
    }
}
