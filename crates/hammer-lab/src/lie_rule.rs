//! Lies of embedded services: rules that say which answer has one, and the record of those told.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use hammer_values::{Count, TimeSpan};
use serde::{Deserialize, Serialize};

/// One rule by which a service lies on purpose: what, from when on, and how often. Answers are counted in the order in
/// which they are made, and the first rule that is due for one has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LieRule<K> {
    /// What the lie is.
    pub kind: K,
    /// Starts after this many answers.
    #[serde(default)]
    pub after: u64,
    /// Starts this long after the start of the service (or the last restart of its faults); at once without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<TimeSpan>,
    /// Every n-th answer from the start on, the first included.
    #[serde(default = "each")]
    pub every: Count,
    /// Most often; without end when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<u64>,
}

impl<K> LieRule<K> {
    /// A lie of this kind in every answer.
    #[must_use]
    pub const fn of(kind: K) -> Self {
        Self { kind, after: 0, at: None, every: Count::ONE, times: None }
    }
}

const fn each() -> Count {
    Count::ONE
}

/// A lie that was told, with what whoever was lied to knows it by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LieRecord<K> {
    /// What the lie was.
    pub kind: K,
    /// What was asked for: the e-mail address of a certificate, the hexadecimal imprint of a timestamp.
    pub subject: String,
    /// The serial number of what was answered, in hexadecimal digits.
    pub serial: String,
}

/// The lies of one service, by kinds `K`, each recorded as an `R`. An honest one has no rules.
#[derive(Debug)]
pub struct AnswerLies<K, R = LieRecord<K>> {
    state: Mutex<AnswerLiesState<K, R>>,
}

#[derive(Debug)]
struct AnswerLiesState<K, R> {
    started_at: Duration,
    rules: Vec<RuleProgress<K>>,
    told: Vec<R>,
    unlisted: u64,
}

/// A rule, and how far it has come.
#[derive(Debug)]
struct RuleProgress<K> {
    rule: LieRule<K>,
    /// What was counted, started or not.
    seen: u64,
    /// What was counted since the start.
    started: u64,
    told: u64,
}

impl<K: Copy, R: Clone> AnswerLies<K, R> {
    /// The lies of these rules; `elapsed` is the service's start.
    #[must_use]
    pub fn new(rules: &[LieRule<K>], elapsed: Duration) -> Self {
        let progress = |rule: &LieRule<K>| RuleProgress { rule: rule.clone(), seen: 0, started: 0, told: 0 };
        let rules = rules.iter().map(progress).collect();
        Self {
            state: Mutex::new(AnswerLiesState { started_at: elapsed, rules, told: Vec::new(), unlisted: 0 }),
        }
    }

    /// Counts the times of the rules from `elapsed`.
    pub fn restart(&self, elapsed: Duration) {
        self.lock().started_at = elapsed;
    }

    /// Counts an answer, and says which lie it has.
    pub fn next(&self, elapsed: Duration) -> Option<K> {
        self.next_of(elapsed, |_| true)
    }

    /// The same of an answer that only some kinds can be told of, whose rules alone count it.
    pub fn next_of(&self, elapsed: Duration, can_be_told: impl Fn(K) -> bool) -> Option<K> {
        let mut state = self.lock();
        let since = elapsed.saturating_sub(state.started_at);
        let mut due = None;
        for progress in state.rules.iter_mut().filter(|progress| can_be_told(progress.rule.kind)) {
            // Every rule counts every answer that it could have, whoever has it.
            let is_due = progress.next(since, due.is_none());
            due = due.or(is_due.then_some(progress.rule.kind));
        }
        due
    }

    /// Records a lie as told.
    pub fn tell(&self, record: R) {
        let mut state = self.lock();
        if state.told.len() < MOST_LISTED {
            state.told.push(record);
        } else {
            state.unlisted += 1;
        }
    }

    /// The first lies that were told, and the count of those beyond them.
    #[must_use]
    pub fn told(&self) -> (Vec<R>, u64) {
        let state = self.lock();
        (state.told.clone(), state.unlisted)
    }

    fn lock(&self) -> MutexGuard<'_, AnswerLiesState<K, R>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K> RuleProgress<K> {
    /// Counts an answer, `since` the start, and says whether it has the lie, which it can only where it is `free`.
    fn next(&mut self, since: Duration, free: bool) -> bool {
        let rule = &self.rule;
        self.seen += 1;
        if self.seen <= rule.after || rule.at.is_some_and(|at| since < at.duration()) {
            return false;
        }
        let nth = self.started;
        self.started += 1;
        let due = free
            && nth.is_multiple_of(rule.every.get() as u64)
            && rule.times.is_none_or(|times| self.told < times);
        self.told += u64::from(due);
        due
    }
}

/// Lies that are listed one by one.
const MOST_LISTED: usize = 10_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn dues(rules: &[LieRule<char>], count: u64) -> String {
        let lies = AnswerLies::<char>::new(rules, Duration::ZERO);
        (0..count).map(|ms| lies.next(Duration::from_millis(ms)).unwrap_or('.')).collect()
    }

    #[test]
    fn a_rule_starts_after_its_answers_and_has_every_nth_at_most_so_often() {
        let rule = LieRule { after: 2, every: Count::at_least_one(3), ..LieRule::of('x') };
        assert_eq!(dues(std::slice::from_ref(&rule), 10), "..x..x..x.");
        assert_eq!(dues(&[LieRule { times: Some(2), ..rule }], 10), "..x..x....");
        assert_eq!(dues(&[], 3), "...");
    }

    #[test]
    fn a_rule_starts_at_its_time() {
        let rule = LieRule { at: Some(TimeSpan::from_millis(4)), ..LieRule::of('x') };
        assert_eq!(dues(&[rule], 6), "....xx");
    }

    #[test]
    fn the_first_rule_that_is_due_has_the_answer_and_the_other_keeps_its_times() {
        let every_second = LieRule { every: Count::at_least_one(2), ..LieRule::of('a') };
        let twice = LieRule { times: Some(2), ..LieRule::of('b') };
        assert_eq!(dues(&[every_second, twice], 7), "ababa.a");
    }

    #[test]
    fn a_rule_counts_only_the_answers_that_it_could_have() {
        let second = LieRule { after: 1, ..LieRule::of('b') };
        let lies = AnswerLies::<char>::new(&[second], Duration::ZERO);
        let had = |can: &str| lies.next_of(Duration::ZERO, |kind| can.contains(kind));
        assert_eq!([had("b"), had("a"), had("ab"), had("a")], [None, None, Some('b'), None]);
    }

    #[test]
    fn a_rule_reads_from_text_and_refuses_unknown_keys() {
        let rule: LieRule<char> = serde_json::from_str(r#"{"kind": "x", "every": 2}"#).unwrap();
        assert_eq!(rule, LieRule { every: Count::at_least_one(2), ..LieRule::of('x') });
        assert!(serde_json::from_str::<LieRule<char>>(r#"{"kind": "x", "late": "1s"}"#).is_err());
    }

    #[test]
    fn what_was_told_is_listed_up_to_its_bound_and_counted_beyond_it() {
        let lies = AnswerLies::<char>::new(&[], Duration::ZERO);
        for _ in 0..MOST_LISTED + 3 {
            lies.tell(LieRecord { kind: 'x', subject: String::new(), serial: String::new() });
        }
        let (told, unlisted) = lies.told();
        assert_eq!((told.len(), unlisted), (MOST_LISTED, 3));
    }
}
