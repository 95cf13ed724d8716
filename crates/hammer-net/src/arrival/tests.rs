use std::cell::Cell;

use super::*;

const MILLI: u64 = 1_000_000;
const SECOND: u64 = 1_000_000_000;
/// The wall clock at the run's epoch.
const EPOCH: u64 = 1_760_000_000 * SECOND;

/// Both clocks, moved by hand. Reading the wall clock may take a while, once.
#[derive(Default)]
struct TwoClocks {
    now: Cell<u64>,
    stepped: Cell<i64>,
    has_no_wall: Cell<bool>,
    interruption: Cell<u64>,
}

impl Now for TwoClocks {
    fn now(&self) -> Nanos {
        Nanos(self.now.get())
    }

    fn wall(&self) -> Option<WallNanos> {
        self.now.set(self.now.get() + self.interruption.take());
        (!self.has_no_wall.get()).then(|| self.stamp())
    }
}

impl TwoClocks {
    fn pass(&self, nanos: u64) {
        self.now.set(self.now.get() + nanos);
    }

    fn step(&self, nanos: i64) {
        self.stepped.set(self.stepped.get() + nanos);
    }

    /// What the kernel would stamp on bytes that arrive now.
    fn stamp(&self) -> WallNanos {
        WallNanos((EPOCH + self.now.get()).strict_add_signed(self.stepped.get()))
    }

    fn read(&self, arrivals: &mut ArrivalClock, stamp: WallNanos) -> Option<u64> {
        arrivals.instant_of(Some(stamp), self.now(), self).map(|at| at.0)
    }
}

/// Clocks that have been running for ten seconds, nine of them under an arrival clock.
fn settled() -> (TwoClocks, ArrivalClock) {
    let clocks = TwoClocks::default();
    clocks.pass(SECOND);
    let mut arrivals = ArrivalClock::new(&clocks);
    clocks.pass(9 * SECOND);
    assert_eq!(clocks.read(&mut arrivals, clocks.stamp()), Some(10 * SECOND));
    (clocks, arrivals)
}

#[test]
fn a_stamp_maps_to_the_instant_at_which_it_was_put_on() {
    let (clocks, mut arrivals) = settled();
    let stamp = clocks.stamp();
    clocks.pass(3 * SECOND);
    assert_eq!(clocks.read(&mut arrivals, stamp), Some(10 * SECOND));
}

#[test]
fn bytes_without_a_stamp_have_no_instant() {
    let (clocks, mut arrivals) = settled();
    assert_eq!(arrivals.instant_of(None, clocks.now(), &clocks), None);
}

#[test]
fn a_clock_without_a_wall_clock_maps_nothing() {
    let clocks = TwoClocks::default();
    clocks.has_no_wall.set(true);
    let mut arrivals = ArrivalClock::new(&clocks);
    assert_eq!(clocks.read(&mut arrivals, clocks.stamp()), None);
}

#[test]
fn a_stamp_from_before_a_step_is_refused_either_way() {
    for step in [-5, -1, 1, 5, 3_600] {
        let (clocks, mut arrivals) = settled();
        let stamp = clocks.stamp();
        clocks.pass(2 * SECOND);
        clocks.step(step * SECOND as i64);
        assert_eq!(clocks.read(&mut arrivals, stamp), None, "a step of {step} s");
    }
}

#[test]
fn stamps_from_after_a_step_forward_are_trusted_at_once() {
    let (clocks, mut arrivals) = settled();
    clocks.step(3_600 * SECOND as i64);
    clocks.pass(MILLI);
    assert_eq!(clocks.read(&mut arrivals, clocks.stamp()), Some(10 * SECOND + MILLI));
}

#[test]
fn stamps_are_trusted_again_once_a_step_back_cannot_hide_in_them() {
    let (clocks, mut arrivals) = settled();
    clocks.step(-(SECOND as i64));
    assert_eq!(clocks.read(&mut arrivals, clocks.stamp()), None);
    clocks.pass(SECOND / 2);
    assert_eq!(clocks.read(&mut arrivals, clocks.stamp()), None);
    clocks.pass(SECOND);
    assert_eq!(clocks.read(&mut arrivals, clocks.stamp()), Some(11 * SECOND + SECOND / 2));
}

#[test]
fn after_a_step_back_by_an_hour_stamps_are_trusted_within_a_minute() {
    let (clocks, mut arrivals) = settled();
    clocks.step(-3_600 * SECOND as i64);
    assert_eq!(clocks.read(&mut arrivals, clocks.stamp()), None);
    clocks.pass(61 * SECOND);
    assert_eq!(clocks.read(&mut arrivals, clocks.stamp()), Some(71 * SECOND));
}

#[test]
fn a_wall_clock_that_is_slewed_is_followed() {
    for rate in [-500, 500] {
        let (clocks, mut arrivals) = settled();
        for _ in 0..10_000 {
            clocks.pass(MILLI);
            clocks.step(rate);
            let at = clocks.read(&mut arrivals, clocks.stamp()).unwrap();
            assert!(clocks.now.get() - at < 2_000, "{rate} ns a millisecond: {}", clocks.now.get() - at);
        }
    }
}

#[test]
fn a_thread_that_lost_its_core_between_two_readings_saw_no_step() {
    for lost in [50_000, 20 * MILLI] {
        let (clocks, mut arrivals) = settled();
        clocks.pass(MILLI);
        let stamp = clocks.stamp();
        clocks.pass(1_000);
        clocks.interruption.set(lost);
        let at = clocks.read(&mut arrivals, stamp).unwrap();
        assert!(at.abs_diff(10 * SECOND + MILLI) < 2_000, "{lost} ns moved it to {at}");
    }
}

#[test]
fn a_stamp_from_a_little_later_than_now_is_of_now_and_one_from_much_later_is_refused() {
    let (clocks, mut arrivals) = settled();
    let WallNanos(stamp) = clocks.stamp();
    assert_eq!(clocks.read(&mut arrivals, WallNanos(stamp + 90_000)), Some(10 * SECOND));
    assert_eq!(clocks.read(&mut arrivals, WallNanos(stamp + 200_000)), None);
}

#[test]
fn stamps_from_before_the_clock_began_and_before_1970_are_refused() {
    let (clocks, mut arrivals) = settled();
    assert_eq!(clocks.read(&mut arrivals, WallNanos(EPOCH + SECOND / 2)), None);
    assert_eq!(clocks.read(&mut arrivals, WallNanos(0)), None);
    assert_eq!(clocks.read(&mut arrivals, WallNanos(u64::MAX)), None);
}
