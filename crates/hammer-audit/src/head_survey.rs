//! What all servers of a log have at once.

use std::cell::RefCell;

use hammer_measure::Nanos;
use hammer_tlog::logs::follow::Head;

use crate::trouble::Trouble;

/// The heads that the servers of a log have now, of those that serve one.
#[derive(Debug, Default)]
pub(crate) struct HeadSurvey {
    /// Each is verified, and beside the tree that it is of.
    pub(crate) heads: Vec<(u64, Head)>,
    /// Who served none: what it has is not known.
    pub(crate) silent: Vec<String>,
    /// Who of those served what is not the log's head, and what is wrong with it.
    pub(crate) foreign: Vec<(String, Trouble)>,
}

impl HeadSurvey {
    /// The heads of that tree.
    pub(crate) fn of(&self, tree: u64) -> impl Iterator<Item = &Head> {
        self.heads.iter().filter(move |(other, _)| *other == tree).map(|(_, head)| head)
    }
}

/// Servers that did not answer a moment ago, and are not waited for again at once.
#[derive(Debug, Default)]
pub(crate) struct SilentServers(RefCell<Vec<(usize, Nanos)>>);

impl SilentServers {
    /// Takes that a server did not answer by `now`.
    pub(crate) fn add(&self, server: usize, now: Nanos) {
        self.0.borrow_mut().push((server, now));
    }

    /// Whether a server is left alone at `now`.
    pub(crate) fn has(&self, server: usize, now: Nanos) -> bool {
        let mut silent = self.0.borrow_mut();
        silent.retain(|(_, since)| now.since(*since) < ASKED_AGAIN);
        silent.iter().any(|(known, _)| *known == server)
    }
}

const ASKED_AGAIN: Nanos = Nanos::from_secs(10);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_did_not_answer_is_asked_again_ten_seconds_later() {
        let silent = SilentServers::default();
        silent.add(1, Nanos::from_secs(3));
        let has = |server, s| silent.has(server, Nanos::from_secs(s));
        assert_eq!([has(1, 3), has(0, 3), has(1, 12), has(1, 13)], [true, false, true, false]);
    }
}
