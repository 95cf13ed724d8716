//! How many users there are, over time.

use hammer_measure::Nanos;
use hammer_measure::recorder::UserGroup;

/// One stage of a ramp of users.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stage {
    /// Users at its end.
    pub users: usize,
    /// Its length; the number changes linearly over it.
    pub over: Nanos,
}

/// Stages one after another; the last number holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stages {
    first: usize,
    stages: Vec<Stage>,
    /// How many groups the users are counted by; 0: by none.
    groups: usize,
}

impl Stages {
    /// `users` from the start on.
    pub fn constant(users: usize) -> Self {
        Self::ramped(users, Vec::new())
    }

    /// From `first` users through the stages.
    pub fn ramped(first: usize, stages: Vec<Stage>) -> Self {
        Self { first, stages, groups: 0 }
    }

    /// The same users, counted by so many groups; there are as many of each, or one more, whenever users come and go.
    #[must_use]
    pub fn in_groups(self, groups: usize) -> Self {
        Self { groups, ..self }
    }

    /// The group of user `user`, from 0; none where they are counted by none.
    pub fn group_of(&self, user: usize) -> Option<UserGroup> {
        let place = user.checked_rem(self.groups)?;
        Some(UserGroup { place, of: self.groups })
    }

    /// The most users that there ever are.
    pub fn most_users(&self) -> usize {
        self.stages.iter().map(|stage| stage.users).fold(self.first, usize::max)
    }

    /// The first instant at or after `from` (both since the load's start) at which user `user`, from 0, is there;
    /// `None` when they never are again.
    pub fn present_from(&self, user: usize, from: Nanos) -> Option<Nanos> {
        let (mut start, mut users) = (Nanos::ZERO, self.first);
        for stage in &self.stages {
            let end = start.saturating_add(stage.over);
            if from < end
                && let Some(at) = crossing(start, *stage, users, user, from.max(start))
            {
                return Some(at);
            }
            (start, users) = (end, stage.users);
        }
        (user < users).then(|| from.max(start))
    }
}

/// The first instant at or after `from` within the stage at which there are more than `user` users.
fn crossing(start: Nanos, stage: Stage, first: usize, user: usize, from: Nanos) -> Option<Nanos> {
    let (first, last, over) = (first as f64, stage.users as f64, stage.over.0 as f64);
    let there = |at: Nanos| first + (last - first) * (at.since(start).0 as f64 / over) > user as f64;
    if there(from) {
        return Some(from);
    }
    if last <= user as f64 || last <= first {
        return None;
    }
    // User u is there once more than u users are: the instant after the line passes u.
    let passes = Nanos(((user as f64 - first).max(0.0) / (last - first) * over) as u64);
    let passes = start.saturating_add(passes).saturating_add(Nanos(1));
    Some(passes.max(from))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Nanos = Nanos::from_secs(1);

    #[test]
    fn a_constant_number_is_there_from_the_start() {
        let stages = Stages::constant(3);
        assert_eq!(stages.present_from(2, Nanos(5)), Some(Nanos(5)));
        assert_eq!(stages.present_from(3, Nanos(5)), None);
    }

    #[test]
    fn groups_have_as_many_users_whoever_of_them_is_there() {
        let stages = Stages::constant(40).in_groups(4);
        let users_of = |place| {
            let group = UserGroup { place, of: 4 };
            (0..40).filter(|user| stages.group_of(*user) == Some(group)).count()
        };
        assert_eq!([0, 1, 2, 3, 4].map(users_of), [10, 10, 10, 10, 0]);
        assert_eq!(Stages::constant(40).group_of(7), None);
    }

    #[test]
    fn users_come_one_by_one_and_go_again() {
        let up = Stage { users: 10, over: Nanos::from_secs(10) };
        let down = Stage { users: 0, over: Nanos::from_secs(10) };
        let stages = Stages::ramped(0, vec![up, down]);
        assert_eq!(stages.most_users(), 10);
        let fifth = stages.present_from(4, Nanos::ZERO).unwrap();
        assert!(fifth >= Nanos::from_secs(4) && fifth < Nanos::from_secs(4) + SECOND, "{fifth}");
        assert_eq!(stages.present_from(4, Nanos::from_secs(12)), Some(Nanos::from_secs(12)));
        assert_eq!(stages.present_from(4, Nanos::from_secs(17)), None);
    }

    #[test]
    fn stages_longer_than_time_itself_hold_their_number() {
        let for_ages = |users| Stage { users, over: Nanos(u64::MAX / 2) };
        let stages = Stages::ramped(3, vec![for_ages(2), for_ages(2), for_ages(2), for_ages(4)]);
        assert_eq!(stages.present_from(1, SECOND), Some(SECOND));
        assert_eq!(stages.present_from(3, SECOND), Some(Nanos::MAX), "at an instant that never comes");
        let ever = Stages::ramped(0, vec![Stage { users: 1, over: Nanos::MAX }]);
        assert_eq!(ever.present_from(0, Nanos::ZERO), Some(Nanos(1)));
        let slow = Stages::ramped(0, vec![Stage { users: 1 << 60, over: Nanos::MAX }]);
        assert_eq!(slow.present_from((1 << 60) - 1, Nanos::ZERO), Some(Nanos::MAX));
    }

    #[test]
    fn a_user_who_left_comes_back_with_a_later_stage() {
        let stages = Stages::ramped(
            4,
            vec![
                Stage { users: 1, over: SECOND },
                Stage { users: 1, over: SECOND },
                Stage { users: 4, over: SECOND },
            ],
        );
        let back = stages.present_from(2, Nanos::from_millis(1500)).unwrap();
        assert!(back > Nanos::from_secs(2) && back < Nanos::from_secs(3), "{back}");
        assert_eq!(stages.present_from(3, Nanos::from_secs(9)), Some(Nanos::from_secs(9)));
    }
}
