use proptest::prelude::*;

use super::*;

fn profiles() -> Vec<Profile> {
    vec![
        Profile::Constant(Constant { rate: 333.3 }),
        Profile::Ramp(Ramp { from: 10.0, to: 500.0, over: 5.0 }),
        Profile::Ramp(Ramp { from: 500.0, to: 10.0, over: 5.0 }),
        Profile::Steps(Steps {
            steps: vec![
                Step { rate: 100.0, seconds: 2.0 },
                Step { rate: 0.0, seconds: 1.0 },
                Step { rate: 300.0, seconds: 2.0 },
            ],
        }),
        Profile::Burst(Burst { size: 50, every: 0.5, within: 0.1 }),
        Profile::Trace(Trace::parse("0.1\n0.2\n# late\n3.5\n").unwrap()),
    ]
}

fn all(schedule: &Schedule, shards: usize) -> Vec<Arrival> {
    let mut arrivals: Vec<Arrival> = (0..shards).flat_map(|shard| schedule.arrivals(shard, shards)).collect();
    arrivals.sort_by_key(|arrival| arrival.seq);
    arrivals
}

#[test]
fn splitting_changes_neither_what_is_sent_nor_when() {
    for profile in profiles() {
        for schedule in [Schedule::even(profile.clone()), Schedule::poisson(profile.clone(), 9, 1)] {
            let schedule = schedule.until(Nanos::from_secs(6));
            let whole = all(&schedule, 1);
            assert!(!whole.is_empty());
            assert!(whole.is_sorted_by_key(|arrival| arrival.at), "{profile:?}");
            for shards in [2, 7] {
                assert_eq!(all(&schedule, shards), whole, "{profile:?} over {shards}");
            }
        }
    }
}

#[test]
fn two_hundred_thousand_a_second_are_five_microseconds_apart() {
    let schedule =
        Schedule::even(Profile::Constant(Constant { rate: 200_000.0 })).until(Nanos::from_secs(10));
    let arrivals: Vec<Arrival> = schedule.arrivals(0, 1).collect();
    assert_eq!(arrivals.len(), 2_000_000);
    assert!(arrivals.windows(2).all(|pair| (4_999..=5_001).contains(&(pair[1].at - pair[0].at).0)));
}

#[test]
fn a_ramp_has_the_area_under_it() {
    let ramp = Profile::Ramp(Ramp { from: 10.0, to: 500.0, over: 5.0 });
    let arrivals = all(&Schedule::even(ramp).until(Nanos::from_secs(6)), 1);
    let during = arrivals.iter().filter(|arrival| arrival.at < Nanos::from_secs(5)).count();
    assert!((1274..=1276).contains(&during), "{during}");
    assert!((499..=501).contains(&(arrivals.len() - during)), "then 500 a second");
}

#[test]
fn steps_hold_their_rates_and_a_zero_step_is_silent() {
    let arrivals = all(&Schedule::even(profiles()[3].clone()).until(Nanos::from_secs(6)), 1);
    let between = |from, to| {
        arrivals.iter().filter(|a| a.at >= Nanos::from_secs(from) && a.at < Nanos::from_secs(to)).count()
    };
    assert_eq!((between(0, 2), between(2, 3), between(3, 6)), (200, 0, 900));
}

#[test]
fn a_burst_comes_together_within_its_width() {
    let burst = Profile::Burst(Burst { size: 50, every: 0.5, within: 0.0 });
    let arrivals = all(&Schedule::even(burst).until(Nanos::from_secs(1)), 1);
    assert_eq!(arrivals.len(), 100);
    assert!(arrivals[..50].iter().all(|arrival| arrival.at == Nanos::ZERO));
    assert!(arrivals[50..].iter().all(|arrival| arrival.at == Nanos::from_millis(500)));
}

#[test]
fn poisson_gaps_have_the_mean_and_the_spread_of_an_exponential() {
    let schedule = Schedule::poisson(Profile::Constant(Constant { rate: 1000.0 }), 5, 2).operations(100_000);
    let arrivals = all(&schedule, 3);
    let gaps: Vec<f64> = arrivals.windows(2).map(|pair| (pair[1].at - pair[0].at).as_secs_f64()).collect();
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
    assert!((mean - 0.001).abs() < 0.000_02, "{mean}");
    assert!((variance.sqrt() - 0.001).abs() < 0.000_03, "{}", variance.sqrt());
}

#[test]
fn operations_bound_the_arrivals_whatever_the_shards() {
    let schedule = Schedule::even(Profile::Constant(Constant { rate: 10.0 })).operations(11);
    assert_eq!(all(&schedule, 1).len(), 11);
    assert_eq!(all(&schedule, 4).len(), 11);
}

#[test]
fn a_bad_trace_names_its_line() {
    assert_eq!(Trace::parse("0\nx\n"), Err(TraceError::Number { line: 2, text: "x".into() }));
    assert_eq!(Trace::parse("1\n\n0.5\n"), Err(TraceError::Order { line: 3 }));
    assert_eq!(Trace::parse("# nothing\n"), Err(TraceError::Empty));
}

proptest! {
    #[test]
    fn a_ramp_and_its_inverse_agree(from in 0.0f64..1e4, to in 0.1f64..1e4, over in 0.1f64..100.0, share in 0.0f64..1.0) {
        let seconds = share * over;
        let count = from * seconds + (to - from) * seconds * seconds / (2.0 * over);
        let back = Profile::Ramp(Ramp { from, to, over }).seconds_at(count).unwrap();
        prop_assert!((back - seconds).abs() < 1e-5 * over.max(1.0), "{back} {seconds}");
    }
}
