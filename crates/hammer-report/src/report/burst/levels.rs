//! Runs of intervals with one share of failures each: the likeliest that there are, where each change of the share has a price.

use std::ops::Range;

/// What ended in an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Trials {
    /// All of it.
    pub(super) ended: u64,
    /// What failed of it.
    pub(super) failed: u64,
}

impl Trials {
    pub(super) fn of(all: &[Self]) -> Self {
        let add =
            |sum: Self, one: &Self| Self { ended: sum.ended + one.ended, failed: sum.failed + one.failed };
        all.iter().fold(Self::default(), add)
    }

    pub(super) fn share(self) -> f64 {
        if self.ended > 0 { self.failed as f64 / self.ended as f64 } else { 0.0 }
    }

    /// How unlikely that is where each fails with that share: the negative logarithm, but for what the share has no part in.
    fn cost(self, share: f64) -> f64 {
        let accepted = (self.ended - self.failed) as f64;
        let term = |count: f64, share: f64| if count > 0.0 { -count * share.ln() } else { 0.0 };
        term(self.failed as f64, share) + term(accepted, 1.0 - share)
    }

    /// How much likelier these and the others are with a share of their own each than with one: the logarithm.
    pub(super) fn differs_from(self, others: Self) -> f64 {
        let own = |trials: Self| trials.cost(trials.share());
        own(Self::of(&[self, others])) - own(self) - own(others)
    }
}

/// Cuts the intervals into runs of one share each (by Viterbi's way through levels of it, in time proportional to the intervals).
pub(super) fn runs(trials: &[Trials]) -> Vec<Range<usize>> {
    let shares: Vec<f64> = shares().collect();
    let mut costs: Vec<f64> = vec![0.0; shares.len()];
    // For each interval, from which level each came to it.
    let mut steps: Vec<Vec<u8>> = Vec::with_capacity(trials.len());
    for (place, interval) in trials.iter().enumerate() {
        let cheapest = least(&costs);
        let change = costs[cheapest] + CHANGE;
        let mut from = Vec::with_capacity(shares.len());
        for (level, share) in shares.iter().enumerate() {
            let moves = place > 0 && change < costs[level];
            from.push(if moves { cheapest } else { level } as u8);
            costs[level] = if moves { change } else { costs[level] } + interval.cost(*share);
        }
        steps.push(from);
    }
    let mut level = least(&costs);
    let mut ends = Vec::new();
    for (place, from) in steps.iter().enumerate().rev() {
        let before = usize::from(from[level]);
        if before != level {
            ends.push(place);
        }
        level = before;
    }
    ends.reverse();
    let starts = std::iter::once(0).chain(ends.iter().copied());
    let ends = ends.iter().copied().chain([trials.len()]);
    starts.zip(ends).map(|(start, end)| start..end).filter(|run| !run.is_empty()).collect()
}

/// The shares that are told apart, from one in ten millions to nearly all.
fn shares() -> impl Iterator<Item = f64> {
    let rising = (0..38).map(|step| LEAST_SHARE * RATIO.powi(step)).take_while(|share| *share < 0.5);
    rising.chain([0.5, 0.7, 0.85, 0.95, 0.99, 0.999_9])
}

fn least(costs: &[f64]) -> usize {
    let places = 0..costs.len();
    places.reduce(|best, place| if costs[place] < costs[best] { place } else { best }).unwrap_or(0)
}

const LEAST_SHARE: f64 = 1e-7;
const RATIO: f64 = 1.5;
/// What a change has to make likelier, as a logarithm: chance does that once in nine millions of places.
pub(super) const CHANGE: f64 = 16.0;

#[cfg(test)]
mod tests {
    use super::*;

    fn trials(failed: &[u64]) -> Vec<Trials> {
        failed.iter().map(|failed| Trials { ended: 100, failed: *failed }).collect()
    }

    /// The runs, each by its first interval and the one that follows its last.
    fn ends(trials: &[Trials]) -> Vec<(usize, usize)> {
        runs(trials).into_iter().map(|run| (run.start, run.end)).collect()
    }

    #[test]
    fn a_run_ends_where_the_share_changes_and_not_where_it_wavers() {
        assert_eq!(ends(&trials(&[2, 0, 1, 3, 1, 0, 2])), [(0, 7)]);
        assert_eq!(ends(&trials(&[0, 0, 0, 40, 38, 45, 0, 0, 0])), [(0, 3), (3, 6), (6, 9)]);
        assert_eq!(ends(&trials(&[40, 38, 45, 0, 0, 0])), [(0, 3), (3, 6)]);
        assert_eq!(ends(&trials(&[100, 100, 100])), [(0, 3)]);
        assert_eq!(ends(&[]), []);
    }

    #[test]
    fn intervals_in_which_nothing_ended_change_nothing() {
        let mut all = trials(&[0, 0, 40, 0, 38, 0, 0]);
        all[3].ended = 0;
        assert_eq!(ends(&all), [(0, 2), (2, 5), (5, 7)]);
    }

    #[test]
    fn shares_differ_as_far_as_counts_can_tell() {
        let trials = |failed, ended| Trials { ended, failed };
        assert!(trials(5, 10).differs_from(trials(50, 100)).abs() < 1e-9);
        assert!(trials(1, 10).differs_from(trials(0, 1_000)) < CHANGE);
        assert!(trials(100, 250).differs_from(trials(0, 1_000)) > CHANGE);
    }
}
