//! When a rule is due: pure counting, with the time as an argument.

use std::time::Duration;

use hammer_values::KeyConflict;

use crate::ct::plan::{CtLabPlan, lie::Lie};
use crate::told_lie::LieKind;

/// A rule of the plan, and how far it has come.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) lie: Lie,
    /// What was counted, started or not.
    seen: u64,
    /// What was counted since the start.
    started: u64,
    told: u64,
}

impl Rule {
    /// The rule of a lie that has a meaning in this plan.
    pub(super) fn new(lie: &Lie, plan: &CtLabPlan) -> Result<Self, KeyConflict> {
        match lie.conflict(plan) {
            Some(conflict) => Err(conflict),
            None => Ok(Self { lie: lie.clone(), seen: 0, started: 0, told: 0 }),
        }
    }

    pub(super) fn is_of_entries(&self) -> bool {
        !self.is_of_checkpoints() && self.lie.kind != LieKind::DuplicateNewIndex
    }

    pub(super) fn is_of_checkpoints(&self) -> bool {
        self.lie.kind.is_of_checkpoints()
    }

    /// Counts an entry or a duplicate, `since` the start of the log, and says whether it has the lie.
    pub(super) fn next(&mut self, since: Duration) -> bool {
        self.seen += 1;
        if self.seen <= self.lie.after || !self.has_begun(since) {
            return false;
        }
        let nth = self.started;
        self.started += 1;
        let due = nth.is_multiple_of(self.lie.every.get() as u64)
            && self.lie.times.is_none_or(|times| self.told < times);
        self.told += u64::from(due);
        due
    }

    /// Whether a checkpoint after one of `published` entries has the lie. One entry at least must be published.
    pub(super) fn is_due_at(&self, since: Duration, published: u64) -> bool {
        let times = self.lie.times.unwrap_or(1);
        self.has_begun(since) && published >= self.lie.after.max(1) && self.told < times
    }

    /// As [`Rule::is_due_at`], and counts it.
    pub(super) fn next_checkpoint(&mut self, since: Duration, published: u64) -> bool {
        let due = self.is_due_at(since, published);
        self.told += u64::from(due);
        due
    }

    fn has_begun(&self, since: Duration) -> bool {
        self.lie.at.is_none_or(|at| since >= at.duration())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hammer_values::{Count, TimeSpan};

    fn rule(lie: &Lie) -> Rule {
        Rule::new(lie, &CtLabPlan::default()).unwrap()
    }

    fn dues(lie: &Lie, count: usize) -> Vec<usize> {
        let mut rule = rule(lie);
        (0..count).filter(|_| rule.next(Duration::ZERO)).collect()
    }

    #[test]
    fn a_rule_starts_after_its_entries_and_has_every_nth_at_most_so_often() {
        let lie = Lie { after: 3, every: Count::at_least_one(4), ..Lie::of(LieKind::LostLeaf) };
        assert_eq!(dues(&lie, 16), [3, 7, 11, 15]);
        assert_eq!(dues(&Lie { times: Some(2), ..lie }, 16), [3, 7]);
        assert_eq!(dues(&Lie::of(LieKind::LostLeaf), 3), [0, 1, 2]);
    }

    #[test]
    fn a_rule_starts_at_its_time() {
        let lie = Lie {
            at: Some(TimeSpan::from_millis(10)),
            every: Count::at_least_one(2),
            ..Lie::of(LieKind::WrongIndex)
        };
        let mut rule = rule(&lie);
        let due: Vec<u64> = (0..16).filter(|ms| rule.next(Duration::from_millis(*ms))).collect();
        assert_eq!(due, [10, 12, 14]);
    }

    #[test]
    fn a_checkpoint_lies_once_from_its_size_on() {
        let mut rule = rule(&Lie { after: 5, ..Lie::of(LieKind::ShrinkingTree) });
        let due: Vec<u64> = (0..9).filter(|size| rule.next_checkpoint(Duration::ZERO, *size)).collect();
        assert_eq!(due, [5]);
    }
}
