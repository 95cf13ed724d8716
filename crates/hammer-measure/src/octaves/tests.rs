use super::*;

#[test]
fn every_duration_lies_below_the_bound_of_its_octave_and_not_below_the_one_before() {
    for nanos in [0, 1, 31_249, 31_250, 999_999, 1_000_000, 1_000_001, 5_000_000_000, 200_000_000_000] {
        let place = Octaves::place(Nanos(nanos));
        assert!(nanos < Octaves::bound(place).0, "{nanos}");
        assert!(place == 0 || nanos >= Octaves::bound(place - 1).0, "{nanos}");
    }
    assert_eq!(Octaves::bound(5), Nanos::from_millis(1));
    assert_eq!(Octaves::place(Nanos::MAX), Octaves::COUNT - 1);
}

#[test]
fn merging_adds_octave_by_octave() {
    let (mut ours, mut theirs) = (Octaves::default(), Octaves::default());
    ours.record(Nanos::from_millis(3), 2);
    theirs.record(Nanos::from_millis(3), 1);
    theirs.record(Nanos::from_secs(1), 4);
    ours.merge(&theirs);
    assert_eq!(ours.counts[Octaves::place(Nanos::from_millis(3))], 3);
    assert_eq!(ours.count(), 7);
}
