//! The sessions of the backend, in memory and bounded.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Mutex, MutexGuard, PoisonError},
};

use hammer_lab_authority::hex;
use ring::{
    error::Unspecified,
    rand::{SecureRandom as _, SystemRandom},
};

/// Sessions by their ids.
#[derive(Debug)]
pub(super) struct SessionStore {
    most: usize,
    random: SystemRandom,
    state: Mutex<OpenSessions>,
}

#[derive(Debug, Default)]
struct OpenSessions {
    started: u64,
    numbers: HashMap<String, u64>,
    /// The oldest first.
    sessions: BTreeMap<u64, Session>,
}

#[derive(Debug)]
struct Session {
    id: String,
    secret: String,
    user: Option<String>,
    reads: u64,
}

/// A session that was started.
#[derive(Debug)]
pub(super) struct StartedSession {
    /// How many were started before it.
    pub(super) number: u64,
    /// What names it, in hexadecimal digits.
    pub(super) id: String,
    /// What its cookie has to hold, in hexadecimal digits.
    pub(super) secret: String,
}

/// What is told of a session.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SessionView {
    pub(super) id: String,
    /// How often it was read, this time included.
    pub(super) reads: u64,
    /// Who started it.
    pub(super) user: Option<String>,
}

/// Why a session is not read or ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SessionFault {
    /// There is none with this id, any more or at all.
    Unknown,
    /// The cookie is missing, or not its own.
    Forbidden,
}

impl SessionStore {
    pub(super) fn new(most: usize) -> Self {
        Self { most, random: SystemRandom::new(), state: Mutex::default() }
    }

    /// Starts a session; the oldest goes where there is no room.
    ///
    /// # Errors
    /// There is no randomness.
    pub(super) fn start(&self, user: Option<&str>) -> Result<StartedSession, Unspecified> {
        let mut bytes = [0; 24];
        self.random.fill(&mut bytes)?;
        let (id, secret) = (hex(&bytes[..8]), hex(&bytes[8..]));
        let mut state = self.state();
        let number = state.started;
        state.started += 1;
        state.numbers.insert(id.clone(), number);
        let session =
            Session { id: id.clone(), secret: secret.clone(), user: user.map(str::to_owned), reads: 0 };
        state.sessions.insert(number, session);
        if state.sessions.len() > self.most
            && let Some((_, oldest)) = state.sessions.pop_first()
        {
            state.numbers.remove(&oldest.id);
        }
        Ok(StartedSession { number, id, secret })
    }

    /// Reads a session, which is counted.
    pub(super) fn read(&self, id: &str, secret: Option<&str>) -> Result<SessionView, SessionFault> {
        let mut state = self.state();
        let number = state.number(id, secret)?;
        let session = state.sessions.get_mut(&number).ok_or(SessionFault::Unknown)?;
        session.reads += 1;
        Ok(session.view())
    }

    /// Ends a session.
    pub(super) fn end(&self, id: &str, secret: Option<&str>) -> Result<(), SessionFault> {
        let mut state = self.state();
        let number = state.number(id, secret)?;
        state.sessions.remove(&number);
        state.numbers.remove(id);
        Ok(())
    }

    /// The youngest session that is not this one.
    pub(super) fn another(&self, id: &str) -> Option<SessionView> {
        let state = self.state();
        state.sessions.values().rev().find(|session| session.id != id).map(Session::view)
    }

    pub(super) fn count(&self) -> usize {
        self.state().sessions.len()
    }

    pub(super) fn clear(&self) {
        let mut state = self.state();
        state.sessions.clear();
        state.numbers.clear();
    }

    fn state(&self) -> MutexGuard<'_, OpenSessions> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenSessions {
    /// The number of a session whose cookie is shown.
    fn number(&self, id: &str, secret: Option<&str>) -> Result<u64, SessionFault> {
        let number = *self.numbers.get(id).ok_or(SessionFault::Unknown)?;
        let session = self.sessions.get(&number).ok_or(SessionFault::Unknown)?;
        (secret == Some(&session.secret)).then_some(number).ok_or(SessionFault::Forbidden)
    }
}

impl Session {
    fn view(&self) -> SessionView {
        SessionView { id: self.id.clone(), reads: self.reads, user: self.user.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_session_goes_where_there_is_no_room() {
        let store = SessionStore::new(2);
        let started: Vec<_> = (0..3).map(|_| store.start(None).unwrap()).collect();
        let read = |place: usize| store.read(&started[place].id, Some(&started[place].secret));
        assert_eq!(read(0), Err(SessionFault::Unknown));
        assert_eq!((read(1).unwrap().reads, read(1).unwrap().reads, store.count()), (1, 2, 2));
        assert_eq!(store.another(&started[2].id).unwrap().id, started[1].id);
        store.end(&started[1].id, Some(&started[1].secret)).unwrap();
        assert_eq!((read(1), store.another(&started[2].id)), (Err(SessionFault::Unknown), None));
    }

    #[test]
    fn a_session_is_read_and_ended_by_its_own_secret_alone() {
        let store = SessionStore::new(2);
        let [own, other] = [(), ()].map(|()| store.start(Some("jane")).unwrap());
        for secret in [None, Some(other.secret.as_str())] {
            assert_eq!(store.read(&own.id, secret), Err(SessionFault::Forbidden));
            assert_eq!(store.end(&own.id, secret), Err(SessionFault::Forbidden));
        }
        assert_eq!(store.read(&own.id, Some(&own.secret)).unwrap().user.as_deref(), Some("jane"));
    }
}
