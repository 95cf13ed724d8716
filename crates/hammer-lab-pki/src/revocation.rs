//! Lists of revoked certificates, of which nothing is known but how long each takes.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use crate::plan::RevocationPlan;

/// The lists that were fetched, by the issuer's `Name`.
#[derive(Debug)]
pub(crate) struct RevocationLists {
    plan: Option<RevocationPlan>,
    /// From when each is there.
    there: Mutex<HashMap<Vec<u8>, Duration>>,
}

impl RevocationLists {
    pub(crate) fn new(plan: Option<RevocationPlan>) -> Self {
        Self { plan, there: Mutex::default() }
    }

    /// From when the list of that issuer is there, for whoever asks at `now`: it is fetched where it is not, or too old.
    pub(crate) fn there_at(&self, issuer: &[u8], now: Duration) -> Duration {
        let Some(RevocationPlan { delay, kept }) = self.plan else { return now };
        let mut there = self.there.lock().unwrap_or_else(PoisonError::into_inner);
        let is_kept = |since: &&mut Duration| now < **since + kept.duration();
        match there.get_mut(issuer).filter(is_kept) {
            Some(since) => *since,
            None => {
                let since = now + delay.duration();
                there.insert(issuer.to_vec(), since);
                since
            }
        }
    }

    /// Forgets all of them.
    pub(crate) fn clear(&self) {
        self.there.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

#[cfg(test)]
mod tests {
    use hammer_values::TimeSpan;

    use super::*;

    #[test]
    fn a_list_is_fetched_once_and_again_when_it_is_old() {
        let plan = RevocationPlan { delay: TimeSpan::from_secs(2), kept: TimeSpan::from_secs(10) };
        let lists = RevocationLists::new(Some(plan));
        let at = |issuer: &str, now| lists.there_at(issuer.as_bytes(), Duration::from_secs(now)).as_secs();
        assert_eq!([at("a", 1), at("a", 2), at("b", 2), at("a", 12), at("a", 13)], [3, 3, 4, 3, 15]);
        assert_eq!(RevocationLists::new(None).there_at(b"a", Duration::from_secs(5)).as_secs(), 5);
    }
}
