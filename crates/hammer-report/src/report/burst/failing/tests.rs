use super::*;

/// The bursts, each by its first interval and the one that follows its last.
fn found(trials: &[Trials]) -> Vec<(usize, usize)> {
    failing(trials).into_iter().map(|burst| (burst.start, burst.end)).collect()
}

/// SplitMix64 (Steele, Lea and Flood, 2014).
struct Draws(u64);

impl Draws {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A count by Poisson of that mean (Knuth), in pieces that a factor can hold.
    fn poisson(&mut self, mean: f64) -> u64 {
        let pieces = (mean / 100.0).ceil().max(1.0);
        let least = (-mean / pieces).exp();
        let mut count = 0;
        for _ in 0..pieces as usize {
            let mut product = self.next();
            while product > least {
                product *= self.next();
                count += 1;
            }
        }
        count
    }

    /// An interval in which so many ended on average, and so many of them failed.
    fn interval(&mut self, ended: f64, share: f64) -> Trials {
        let (failed, accepted) = (self.poisson(ended * share), self.poisson(ended * (1.0 - share)));
        Trials { ended: failed + accepted, failed }
    }
}

#[test]
fn what_fails_evenly_is_never_a_burst() {
    for (run, rate) in [5.0, 25.0, 250.0, 2_000.0].into_iter().cycle().take(200).enumerate() {
        let share = [0.01, 0.001, 0.05, 0.4][run / 50];
        let intervals = [900, 60, 300, 12][run / 4 % 4];
        let mut draws = Draws(run as u64);
        let trials: Vec<Trials> = (0..intervals).map(|_| draws.interval(rate, share)).collect();
        assert_eq!(found(&trials), [], "run {run}: {intervals} intervals of {rate}/s, {share} failed");
    }
}

#[test]
fn one_in_a_hundred_is_never_a_burst_at_any_rate() {
    for run in 0..200 {
        let rate = [2.0, 20.0, 100.0, 250.0, 1_000.0][run % 5];
        let mut draws = Draws(1_000 + run as u64);
        let trials: Vec<Trials> = (0..900).map(|_| draws.interval(rate, 0.01)).collect();
        assert_eq!(found(&trials), [], "run {run} at {rate}/s");
    }
}

#[test]
fn fifteen_seconds_of_a_hundred_in_two_hundred_and_fifty_are_always_found_and_within_a_second() {
    for run in 0..100_usize {
        let usual = [0.0, 0.001, 0.01, 0.05][run % 4];
        let start = 20 + 8 * run;
        let mut draws = Draws(2_000 + run as u64);
        let share = |second: usize| if (start..start + 15).contains(&second) { 0.4 } else { usual };
        let trials: Vec<Trials> = (0..900).map(|second| draws.interval(250.0, share(second))).collect();
        let found = failing(&trials);
        let [burst] = &found[..] else { panic!("run {run} from {start}: {found:?}") };
        assert!(burst.start.abs_diff(start) <= 1 && burst.end.abs_diff(start + 15) <= 1, "{run}: {burst:?}");
    }
}

/// So many of a hundred fail in each second.
fn of_hundred(failed: &[u64]) -> Vec<Trials> {
    failed.iter().map(|failed| Trials { ended: 100, failed: *failed }).collect()
}

fn seconds(pieces: &[(usize, u64)]) -> Vec<u64> {
    pieces.iter().flat_map(|(seconds, failed)| vec![*failed; *seconds]).collect()
}

#[test]
fn bursts_have_their_ends_whatever_lies_around_them() {
    for (what, failed, expected) in [
        (
            "two are two",
            seconds(&[(50, 0), (15, 40), (40, 0), (15, 50), (30, 0)]),
            vec![(50, 65), (105, 120)],
        ),
        ("one that nothing follows", seconds(&[(30, 0), (30, 20)]), vec![(30, 60)]),
        ("one that lasts for most of a run", seconds(&[(8, 0), (52, 20)]), vec![(8, 60)]),
        ("one at the start", seconds(&[(3, 60), (57, 1)]), vec![(0, 3)]),
        ("a run that fails from start to end", seconds(&[(60, 30)]), vec![]),
        ("a run that fails altogether", seconds(&[(60, 100)]), vec![]),
        ("one that fails altogether", seconds(&[(20, 0), (5, 100), (20, 0)]), vec![(20, 25)]),
        (
            "an interval without a failure within",
            seconds(&[(20, 0), (4, 40), (1, 0), (4, 40), (20, 0)]),
            vec![(20, 29)],
        ),
        (
            "three without one between",
            seconds(&[(20, 0), (4, 40), (3, 0), (4, 40), (20, 0)]),
            vec![(20, 24), (27, 31)],
        ),
        (
            "a wave that rises and falls",
            seconds(&[(20, 0), (2, 10), (4, 80), (2, 20), (20, 0)]),
            vec![(20, 28)],
        ),
        ("more than usual", seconds(&[(30, 5), (5, 60), (30, 5)]), vec![(30, 35)]),
        ("twice of what is usual", seconds(&[(30, 10), (10, 20), (30, 10)]), vec![]),
        ("one second alone", seconds(&[(30, 0), (1, 12), (30, 0)]), vec![(30, 31)]),
        ("a handful", seconds(&[(30, 0), (1, 4), (30, 0)]), vec![]),
        ("a short run", seconds(&[(3, 0), (2, 60)]), vec![(3, 5)]),
        ("nothing", seconds(&[(60, 0)]), vec![]),
    ] {
        assert_eq!(found(&of_hundred(&failed)), expected, "{what}");
    }
}

#[test]
fn an_interval_in_which_nothing_ended_splits_no_burst() {
    let mut trials = of_hundred(&seconds(&[(20, 0), (10, 40), (20, 0)]));
    trials[24] = Trials::default();
    assert_eq!(found(&trials), [(20, 30)]);
}

#[test]
fn a_burst_is_told_by_its_share_where_the_rate_changes() {
    // Ten times as much is sent, and as great a share fails.
    let trials = |rate: u64| Trials { ended: rate, failed: rate / 20 };
    let rates = [vec![100; 30], vec![1_000; 30], vec![100; 30]].concat();
    assert_eq!(found(&rates.into_iter().map(trials).collect::<Vec<_>>()), []);
}
