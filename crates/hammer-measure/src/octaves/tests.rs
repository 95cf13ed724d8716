use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::fixture::any_nanos;

fn of(durations: &[(Nanos, u64)]) -> Octaves {
    let mut octaves = Octaves::default();
    durations.iter().for_each(|(duration, count)| octaves.record(*duration, *count));
    octaves
}

fn merged(one: Octaves, other: &Octaves) -> Octaves {
    let mut all = one;
    all.merge(other);
    all
}

fn assert_lies_in_its_octave(duration: Nanos) {
    let place = Octaves::place(duration);
    assert!(duration < Octaves::bound(place), "{duration:?}");
    assert!(place == 0 || duration >= Octaves::bound(place - 1), "{duration:?}");
}

proptest! {
    #[test]
    fn any_duration_lies_in_its_octave(nanos in 0..u64::MAX, small in any_nanos()) {
        assert_lies_in_its_octave(Nanos(nanos));
        assert_lies_in_its_octave(small);
    }

    #[test]
    fn merging_loses_no_count_and_has_no_order(
        a in vec((any_nanos(), 0..1_000u64), 0..20),
        b in vec((any_nanos(), 0..1_000u64), 0..20),
        c in vec((any_nanos(), 0..1_000u64), 0..20),
    ) {
        let whole = of(&[a.clone(), b.clone()].concat());
        prop_assert_eq!(whole.count(), a.iter().chain(&b).map(|(_, count)| count).sum::<u64>());
        let (a, b, c) = (of(&a), of(&b), of(&c));
        prop_assert_eq!(merged(a, &b), whole);
        prop_assert_eq!(merged(a, &b), merged(b, &a));
        prop_assert_eq!(merged(merged(a, &b), &c), merged(a, &merged(b, &c)));
        prop_assert_eq!(merged(a, &Octaves::default()), a);
    }
}

#[test]
fn every_bound_starts_the_next_octave() {
    for place in 0..Octaves::COUNT - 1 {
        let bound = Octaves::bound(place);
        assert_eq!(
            (Octaves::place(Nanos(bound.0 - 1)), Octaves::place(bound)),
            (place, place + 1),
            "{bound}"
        );
    }
    assert_eq!(Octaves::bound(5), Nanos::from_millis(1));
    assert_eq!(Octaves::bound(Octaves::COUNT - 1), Nanos::MAX);
    assert_eq!(Octaves::place(Nanos::MAX), Octaves::COUNT - 1);
    [0, 1, 5_000_000_000, 200_000_000_000].into_iter().map(Nanos).for_each(assert_lies_in_its_octave);
}

#[test]
fn each_octave_reaches_twice_as_far_as_the_one_before_it() {
    let bounds: Vec<u64> = (0..Octaves::COUNT - 1).map(|place| Octaves::bound(place).0).collect();
    assert_eq!(bounds[0], 31_250);
    assert!(bounds.windows(2).all(|pair| pair[1] == 2 * pair[0]), "{bounds:?}");
    assert_eq!(bounds.last(), Some(&131_072_000_000), "the last holds what is above 131 s");
}

#[test]
fn merging_adds_octave_by_octave() {
    let ours = of(&[(Nanos::from_millis(3), 2)]);
    let all = merged(ours, &of(&[(Nanos::from_millis(3), 1), (Nanos::from_secs(1), 4)]));
    assert_eq!(all.counts[Octaves::place(Nanos::from_millis(3))], 3);
    assert_eq!(all.count(), 7);
}
