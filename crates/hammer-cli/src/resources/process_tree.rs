//! What processes used together with all that they started.

use std::collections::HashMap;

use hammer_pages::proc::ProcessStat;

/// The CPU time of a changing set of processes, which never falls: what a process had used stays counted once it has gone.
#[derive(Debug, Default)]
pub(super) struct TreeAccount {
    known: HashMap<ProcessKey, KnownProcess>,
    /// When the youngest process of the machine had started at the last look.
    youngest: Option<u64>,
    /// Ticks used since the first look.
    used: u64,
}

type ProcessKey = (u32, u64);

#[derive(Clone, Copy, Debug)]
struct KnownProcess {
    own: u64,
    waited: u64,
    parent: u32,
}

impl TreeAccount {
    /// The ticks that were used since the first look, when `members` are the processes now, and `all` those of the machine.
    pub(super) fn look(&mut self, members: &[ProcessStat], all: &[ProcessStat]) -> u64 {
        let mut now = HashMap::with_capacity(members.len());
        let (mut used, mut waited) = (0, 0);
        for process in members {
            let key = (process.pid, process.started);
            let before = match self.known.get(&key) {
                Some(before) => (before.own, before.waited),
                // What started since then used all of its time since then; an older one joins with what it has used so far.
                None if self.youngest.is_some_and(|youngest| process.started >= youngest) => (0, 0),
                None => (process.own(), process.waited),
            };
            used += process.own().saturating_sub(before.0);
            waited += process.waited.saturating_sub(before.1);
            let known = KnownProcess { own: process.own(), waited: process.waited, parent: process.parent };
            now.insert(key, known);
        }
        // A parent has the whole time of a child that it waited for, most of which was counted while the child lived.
        let counted: u64 = self.gone(&now).map(|process| process.own + process.waited).sum();
        self.used += used + waited.saturating_sub(counted);
        self.known = now;
        self.youngest = all.iter().map(|process| process.started).max().max(self.youngest);
        self.used
    }

    /// Those that have gone since the last look, and that some process which is still there may have waited for.
    fn gone<'a>(
        &'a self,
        now: &'a HashMap<ProcessKey, KnownProcess>,
    ) -> impl Iterator<Item = &'a KnownProcess> + 'a {
        let is_known = |pid: u32| self.known.keys().any(|(known, _)| *known == pid);
        let gone = self.known.iter().filter(|(key, _)| !now.contains_key(key));
        gone.map(|(_, process)| process).filter(move |process| is_known(process.parent))
    }
}

/// Adds to `members` the processes of `all`, which are sorted by number, that `is_root` names, and all that they started.
pub(super) fn members(
    all: &[ProcessStat],
    members: &mut Vec<ProcessStat>,
    is_root: impl Fn(&ProcessStat) -> bool,
) {
    members.clear();
    let of = |pid: u32| all.binary_search_by_key(&pid, |process| process.pid).ok().map(|place| &all[place]);
    for process in all {
        let mut ancestor = Some(process);
        for _ in 0..MOST_ANCESTORS {
            match ancestor {
                Some(found) if is_root(found) => {
                    members.push(*process);
                    break;
                }
                Some(found) if found.parent != 0 => ancestor = of(found.parent),
                _ => break,
            }
        }
    }
}

/// Of a process: numbers that come again could lead round.
pub(super) const MOST_ANCESTORS: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    fn process(pid: u32, parent: u32, started: u64, own: u64, waited: u64) -> ProcessStat {
        let name = Default::default();
        ProcessStat {
            pid,
            name,
            has_ended: false,
            parent,
            started,
            user: own,
            system: 0,
            waited,
            resident_pages: 1,
        }
    }

    fn looks(account: &mut TreeAccount, members: &[ProcessStat]) -> u64 {
        account.look(members, members)
    }

    #[test]
    fn a_child_that_was_waited_for_is_counted_once() {
        let mut account = TreeAccount::default();
        assert_eq!(looks(&mut account, &[process(10, 1, 100, 50, 0), process(11, 10, 110, 20, 0)]), 0);
        assert_eq!(looks(&mut account, &[process(10, 1, 100, 55, 0), process(11, 10, 110, 30, 0)]), 15);
        // It used three more before it ended.
        assert_eq!(looks(&mut account, &[process(10, 1, 100, 56, 33)]), 19);
    }

    #[test]
    fn a_grandchild_that_ended_with_its_parent_is_counted_once() {
        let mut account = TreeAccount::default();
        looks(
            &mut account,
            &[process(10, 1, 100, 0, 0), process(11, 10, 101, 5, 0), process(12, 11, 102, 7, 0)],
        );
        assert_eq!(looks(&mut account, &[process(10, 1, 100, 0, 12)]), 0);
    }

    #[test]
    fn what_a_process_used_stays_counted_when_it_was_killed_and_started_again() {
        let mut account = TreeAccount::default();
        looks(&mut account, &[process(10, 1, 100, 50, 0)]);
        assert_eq!(looks(&mut account, &[process(10, 1, 100, 80, 0)]), 30);
        assert_eq!(looks(&mut account, &[]), 30);
        assert_eq!(looks(&mut account, &[process(20, 1, 300, 4, 0)]), 34);
        // The same number, another process.
        assert_eq!(looks(&mut account, &[process(20, 1, 400, 6, 0)]), 40);
    }

    #[test]
    fn an_old_process_that_joins_brings_nothing_along() {
        let mut account = TreeAccount::default();
        let (young, old) = (process(10, 1, 500, 3, 0), process(9, 1, 100, 1_000, 7));
        account.look(&[young], &[old, young]);
        assert_eq!(account.look(&[old, young], &[old, young]), 0);
        let later = process(9, 1, 100, 1_004, 7);
        assert_eq!(account.look(&[later, young], &[later, young]), 4);
    }

    #[test]
    fn members_are_the_roots_and_all_that_they_started() {
        let all = [
            process(1, 0, 1, 0, 0),
            process(10, 1, 2, 0, 0),
            process(11, 10, 3, 0, 0),
            process(12, 11, 4, 0, 0),
            process(13, 1, 5, 0, 0),
        ];
        let mut found = Vec::new();
        members(&all, &mut found, |process| process.pid == 10);
        assert_eq!(found.iter().map(|process| process.pid).collect::<Vec<_>>(), [10, 11, 12]);
    }
}
