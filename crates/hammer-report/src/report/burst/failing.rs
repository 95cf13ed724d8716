//! The intervals in which more failed than usual explains.

use std::ops::Range;

use super::levels::{CHANGE, Trials, runs};

/// Rows of intervals in which far more failed than what fails usually explains. Two with hardly anything between them are one.
pub(super) fn failing(trials: &[Trials]) -> Vec<Range<usize>> {
    if trials.iter().all(|interval| interval.failed == 0) {
        return Vec::new();
    }
    let runs = runs(trials);
    let usual = usual(trials, &runs);
    let mut bursts: Vec<Range<usize>> = Vec::new();
    for run in runs.into_iter().filter(|run| is_burst(Trials::of(&trials[run.clone()]), usual)) {
        match bursts.last_mut().filter(|last| run.start - last.end <= MOST_BETWEEN) {
            Some(last) => last.end = run.end,
            None => bursts.push(run),
        }
    }
    bursts
}

/// What fails usually: in those runs with the smallest shares that are a tenth of measurement together.
fn usual(trials: &[Trials], runs: &[Range<usize>]) -> Trials {
    let enough = (trials.len() / 10).max(LEAST_USUAL);
    let mut runs: Vec<&Range<usize>> = runs.iter().collect();
    let share = |run: &Range<usize>| Trials::of(&trials[run.clone()]).share();
    runs.sort_by(|one, other| share(one).total_cmp(&share(other)));
    let mut usual = Vec::new();
    for run in runs {
        if usual.len() >= enough {
            break;
        }
        usual.extend_from_slice(&trials[run.clone()]);
    }
    Trials::of(&usual)
}

/// Whether what fails usually is no reason for these failures, by chance or otherwise.
fn is_burst(these: Trials, usual: Trials) -> bool {
    let explained = usual.share() * these.ended as f64;
    these.share() >= LEAST_TIMES * usual.share()
        && these.failed as f64 - explained >= LEAST_FAILED
        && these.differs_from(usual) >= CHANGE
}

const LEAST_USUAL: usize = 2;
/// Intervals without a burst between two that are one.
const MOST_BETWEEN: usize = 2;
/// How many times what fails usually is worth telling, however sure it is.
const LEAST_TIMES: f64 = 3.0;
const LEAST_FAILED: f64 = 5.0;

#[cfg(test)]
mod tests;
