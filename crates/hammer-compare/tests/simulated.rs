//! What the statistics promise, on pairs of variants of which the truth is known: twenty thousand each, of a seed, so that the figures are the same each time.

use hammer_compare::{RatioEstimate, Sample};

/// Runs whose figures spread by five parts in a hundred about a mean that some variants have more of.
struct SimulatedRuns(u64);

impl SimulatedRuns {
    /// SplitMix64 (Steele, Lea and Flood, 2014), as a number above zero and up to one.
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ mixed >> 31) >> 11) as f64 / (1_u64 << 53) as f64 + f64::EPSILON
    }

    fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }

    fn sample(&mut self, mean: f64, runs: usize) -> Sample {
        Sample::new((0..runs).map(|_| mean * (1.0 + SPREAD * self.normal())).collect())
    }

    /// The shares of pairs whose interval has the true ratio, and of those whose interval does not have 1.
    fn shares(&mut self, effect: f64, runs: [usize; 2], confidence: f64) -> (f64, f64) {
        let (mut covered, mut told) = (0, 0);
        for _ in 0..PAIRS {
            let pair = (self.sample(1.0, runs[0]), self.sample(effect, runs[1]));
            let RatioEstimate { low, high, p_value, .. } =
                RatioEstimate::of(&pair.0, &pair.1, confidence).unwrap();
            covered += u32::from((low..=high).contains(&effect));
            told += u32::from(!(low..=high).contains(&1.0));
            assert_eq!(p_value < 1.0 - confidence, !(low..=high).contains(&1.0));
        }
        (f64::from(covered) / PAIRS as f64, f64::from(told) / PAIRS as f64)
    }
}

#[test]
fn variants_that_are_the_same_are_seldom_told_apart() {
    for runs in [[5, 5], [20, 20], [3, 12]] {
        let (_, told) = SimulatedRuns(1).shares(1.0, runs, 0.99);
        assert!(told <= 0.015, "{told} of pairs of {runs:?} runs");
    }
}

#[test]
fn intervals_hold_the_true_ratio_as_often_as_they_say() {
    for runs in [[5, 5], [20, 20], [5, 12]] {
        // Another effect scales figures and intervals alike.
        let (covered, _) = SimulatedRuns(2).shares(1.05, runs, 0.95);
        assert!((0.94..=0.96).contains(&covered), "{covered} of pairs of {runs:?} runs");
    }
}

#[test]
fn a_difference_of_the_spread_is_found_with_twenty_runs_a_side() {
    let (_, found) = SimulatedRuns(3).shares(1.05, [20, 20], 0.95);
    assert!(found >= 0.85, "{found}");
}

const SPREAD: f64 = 0.05;
const PAIRS: usize = 20_000;
