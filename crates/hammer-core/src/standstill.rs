//! When a shard stood still: how late its alarms were heard, and how much of that its thread did not run. What it was late to while its
//! thread ran is work of its own, and told as that.

use std::cell::Cell;
use std::rc::Rc;

use hammer_measure::Nanos;
use hammer_measure::recorder::{HeldUp, HeldUpBy, LateAlarm};

use crate::runtime::Runtime;

/// The standstills of a shard. Its clones are the same.
#[derive(Clone)]
pub struct StandstillMeter {
    shared: Rc<MeterState>,
}

/// What an operation is held up by, as far as that is known when it is released.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct HoldUp {
    /// How much of the time until its release the shard stood still, or its supply did.
    before: Nanos,
    /// When it was released.
    released: Nanos,
    /// The meter's reading of long standstills then: what it gains until the operation's end was in its time.
    long: Nanos,
    by_supply: bool,
}

struct MeterState {
    thread_cpu: Box<dyn Fn() -> Nanos>,
    /// The instant at which the shard is to be awake: its alarm's, and later than all instants while it is awake.
    awaited: Cell<Nanos>,
    /// When the shard's task was last taken up; later than all instants before it was.
    turn: Cell<Nanos>,
    /// What the thread had used of a processor when that was last read.
    cpu: Cell<Nanos>,
    /// What it used until then, of which nobody was told.
    ran: Cell<Nanos>,
    /// All long standstills until now.
    long: Cell<Nanos>,
    last: Cell<Standstill>,
    /// What of the alarm that is due was noticed by others than the shard's own task.
    unheard: Cell<LateAlarm>,
    /// The longest that an answer may lie unread by plan.
    unread_at_most: Cell<Nanos>,
}

/// A time in which the shard was to run, of which it stood still for `stood`.
#[derive(Clone, Copy, Debug, Default)]
struct Standstill {
    from: Nanos,
    to: Nanos,
    stood: Nanos,
}

impl StandstillMeter {
    /// That of the thread of `runtime`, which is the caller's.
    pub(crate) fn on<R: Runtime>(runtime: &R) -> Self {
        let runtime = runtime.clone();
        let state = MeterState {
            thread_cpu: Box::new(move || runtime.thread_cpu()),
            awaited: Cell::new(Nanos::MAX),
            turn: Cell::new(Nanos::MAX),
            cpu: Cell::default(),
            ran: Cell::default(),
            long: Cell::default(),
            last: Cell::default(),
            unheard: Cell::default(),
            unread_at_most: Cell::default(),
        };
        state.read_cpu();
        state.ran.take();
        Self { shared: Rc::new(state) }
    }

    /// Answers may lie unread for so long, as planned.
    pub(crate) fn answers_may_wait(&self, unread_at_most: Nanos) {
        self.shared.unread_at_most.set(unread_at_most);
    }

    /// The shard sleeps from `now` on, and is to be awake at `at`.
    pub(crate) fn expect(&self, at: Nanos, now: Nanos) {
        if now.since(self.shared.turn.get()) >= LEAST_STANDSTILL {
            self.shared.turned_late(now);
        }
        self.shared.awaited.set(at);
    }

    /// The shard's task runs, at `now`: what its alarm was late, where that was due.
    pub(crate) fn heard(&self, now: Nanos) -> Option<LateAlarm> {
        self.look(now);
        let state = &self.shared;
        state.turn.set(now);
        let awaited = state.awaited.replace(Nanos::MAX);
        let unheard = state.unheard.take();
        let is_due = awaited <= now;
        is_due.then(|| LateAlarm { late: unheard.late + now.since(awaited), stood: unheard.stood })
    }

    /// What the thread used of a processor until now is no part of later standstills; it is what was used since the last mark. Read with
    /// each sweep: that is a system call, and a standstill is told too short by what the thread ran since.
    pub(crate) fn mark(&self) -> Nanos {
        self.shared.read_cpu();
        self.shared.ran.take()
    }

    /// The thread runs at `now`, whoever runs on it: tasks whose answers came are polled before the shard's own.
    pub(crate) fn look(&self, now: Nanos) {
        if now.since(self.shared.awaited.get()) >= LEAST_STANDSTILL {
            self.shared.awoke_late(now);
        }
    }

    /// An arrival is released at `now` that was intended at `intended`.
    pub(crate) fn released(&self, intended: Nanos, now: Nanos) -> HoldUp {
        let before = self.shared.last.get().within(intended, now);
        HoldUp { before, released: now, long: self.shared.long.get(), by_supply: false }
    }

    /// A user of a closed loop takes up at `now` what was intended at `intended`; where supply had it waited for, all of the
    /// time between is the generator's.
    pub(crate) fn taken_up(&self, intended: Nanos, now: Nanos, is_awaited: bool) -> HoldUp {
        self.look(now);
        if is_awaited && noticed(now.since(intended)).is_some() {
            return HoldUp { before: now.since(intended), by_supply: true, ..self.released(now, now) };
        }
        self.released(intended, now)
    }

    /// What the generator held an operation up by that ends at `now`, whose answers were read so late; `None` where that is less than
    /// anybody would notice.
    pub(crate) fn held_up(&self, hold_up: HoldUp, read_lag: Option<Nanos>, now: Nanos) -> Option<HeldUp> {
        let HoldUp { before, released, long, by_supply } = hold_up;
        let stood = self.shared.stood_since(released, long, now);
        let read_late = read_lag.unwrap_or_default().since(self.shared.unread_at_most.get());
        let time = noticed(before + stood.max(read_late))?;
        let by = match (by_supply, before + stood >= LEAST_STANDSTILL) {
            (true, _) => HeldUpBy::Supply,
            (false, true) => HeldUpBy::Standstill,
            (false, false) => HeldUpBy::Reading,
        };
        Some(HeldUp { time, by })
    }
}

/// So long a wait, where anybody would notice it.
pub(crate) fn noticed(held: Nanos) -> Option<Nanos> {
    (held >= LEAST_STANDSTILL).then_some(held)
}

impl MeterState {
    /// What the thread used of a processor since that was last read.
    fn read_cpu(&self) -> Nanos {
        let now = (self.thread_cpu)();
        let ran = now.since(self.cpu.replace(now));
        self.ran.set(self.ran.get() + ran);
        ran
    }

    /// What of standstills was in the way of an operation that was released at `released`, when the long ones had come to `long`, and ends at
    /// `now`: all long ones, which a wait of the server's hides, and one that has just ended. A short one in the middle of a long answer
    /// delays nothing, and many of them would add up to what nobody waited for.
    fn stood_since(&self, released: Nanos, long: Nanos, now: Nanos) -> Nanos {
        let last = self.last.get();
        let just =
            if now.since(last.to) < LEAST_STANDSTILL { last.within(released, now) } else { Nanos::ZERO };
        self.long.get().since(long).max(just)
    }

    #[cold]
    fn awoke_late(&self, now: Nanos) {
        let from = self.awaited.replace(now);
        self.stood_within(from, now, now.since(from));
    }

    /// The shard's turn took long: it ran all the while, or lost its processor in the middle.
    #[cold]
    fn turned_late(&self, now: Nanos) {
        self.stood_within(self.turn.get(), now, Nanos::ZERO);
    }

    /// Notes what of the time from `from` to `now` the thread stood still, by which its alarm was so `late`.
    fn stood_within(&self, from: Nanos, now: Nanos, late: Nanos) {
        let unheard = self.unheard.get();
        // What it ran since the last look may have been before: no more than the rest is a standstill for sure.
        let stood = noticed(now.since(from).since(self.read_cpu())).unwrap_or_default();
        self.unheard.set(LateAlarm { late: unheard.late + late, stood: unheard.stood + stood });
        if stood >= LONG_STANDSTILL {
            self.long.set(self.long.get() + stood);
        }
        if stood > Nanos::ZERO {
            self.last.set(Standstill { from, to: now, stood });
        }
    }
}

impl Standstill {
    /// How much of it lay between two instants.
    fn within(self, from: Nanos, to: Nanos) -> Nanos {
        self.to.min(to).since(self.from.max(from)).min(self.stood)
    }
}

/// What a thread waits for a processor beside others that sleep too is less.
const LEAST_STANDSTILL: Nanos = Nanos::from_millis(1);
/// What a thread waits for a processor beside others that never sleep is less, two slices and a bit.
const LONG_STANDSTILL: Nanos = Nanos::from_millis(10);

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use crate::runtime::simulated::Simulation;

    const MILLI: Nanos = Nanos::from_millis(1);

    fn at(millis: u64) -> Nanos {
        MILLI * millis
    }

    /// A meter of a thread that uses a processor as it is told.
    fn meter() -> (StandstillMeter, Rc<Cell<Nanos>>) {
        let cpu = Rc::new(Cell::new(Nanos::ZERO));
        let mut meter = StandstillMeter::on(&Simulation::new().runtime());
        let read = cpu.clone();
        Rc::get_mut(&mut meter.shared).unwrap().thread_cpu = Box::new(move || read.get());
        (meter, cpu)
    }

    /// For how long the operation was held up.
    fn held_up(meter: &StandstillMeter, hold_up: HoldUp, read_lag: Option<Nanos>) -> Option<Nanos> {
        let now = meter.shared.last.get().to;
        meter.held_up(hold_up, read_lag, now).map(|held_up| held_up.time)
    }

    #[test]
    fn a_late_alarm_is_a_standstill_but_for_what_the_thread_ran() {
        let (meter, cpu) = meter();
        meter.expect(at(10), Nanos::ZERO);
        cpu.set(at(2));
        assert_eq!(meter.heard(at(90)), Some(LateAlarm { late: at(80), stood: at(78) }));
        assert_eq!(meter.shared.long.get(), at(78));
        meter.expect(at(100), Nanos::ZERO);
        cpu.set(at(32));
        assert_eq!(meter.heard(at(130)), Some(LateAlarm { late: at(30), stood: Nanos::ZERO }), "it was busy");
        assert_eq!(meter.shared.long.get(), at(78));
    }

    #[test]
    fn what_the_thread_ran_is_told_once_whoever_read_it() {
        let (meter, cpu) = meter();
        cpu.set(at(3));
        assert_eq!((meter.mark(), meter.mark()), (at(3), Nanos::ZERO));
        meter.expect(at(10), Nanos::ZERO);
        cpu.set(at(5));
        let _ = meter.heard(at(90));
        cpu.set(at(6));
        assert_eq!(meter.mark(), at(3), "a late alarm read some of it before");
    }

    #[test]
    fn a_shard_that_was_woken_before_its_alarm_has_heard_none() {
        let (meter, _) = meter();
        meter.expect(at(10), Nanos::ZERO);
        assert_eq!(meter.heard(at(9)), None);
        assert_eq!(meter.heard(at(900)), None, "no alarm is due while it is awake");
        meter.expect(at(1_000), Nanos::ZERO);
        let late = Nanos::from_micros(50);
        assert_eq!(meter.heard(at(1_000) + late), Some(LateAlarm { late, stood: Nanos::ZERO }));
        assert_eq!(meter.shared.long.get(), Nanos::ZERO);
    }

    #[test]
    fn a_shard_that_loses_its_processor_in_the_middle_of_its_turn_stood_still_too() {
        let (meter, cpu) = meter();
        meter.expect(at(10), at(5));
        let _ = meter.heard(at(10));
        let under_way = meter.released(at(10), at(10));
        cpu.set(at(3));
        meter.expect(at(20), at(63));
        assert_eq!((meter.shared.long.get(), held_up(&meter, under_way, None)), (at(50), Some(at(50))));
        assert_eq!(held_up(&meter, meter.released(at(40), at(63)), None), Some(at(23)), "it was due in it");
        let late = LateAlarm { late: at(44), stood: at(50) };
        assert_eq!(meter.heard(at(64)), Some(LateAlarm { stood: late.stood + at(44), ..late }));
        cpu.set(at(30));
        meter.expect(at(100), at(90));
        assert_eq!(meter.shared.long.get(), at(50 + 44), "it ran all the while");
    }

    #[test]
    fn a_task_that_runs_first_notices_the_standstill_and_the_alarm_is_told_once_and_whole() {
        let (meter, _) = meter();
        let hold_up = meter.released(at(5), at(5));
        meter.expect(at(10), Nanos::ZERO);
        meter.look(at(70));
        meter.look(at(70));
        assert_eq!(held_up(&meter, hold_up, None), Some(at(60)));
        assert_eq!(meter.heard(at(70)), Some(LateAlarm { late: at(60), stood: at(60) }));
    }

    #[test]
    fn an_arrival_is_held_up_by_what_of_a_standstill_lay_in_its_time() {
        let (meter, _) = meter();
        let under_way = meter.released(at(0), at(0));
        meter.expect(at(10), Nanos::ZERO);
        let _ = meter.heard(at(60));
        assert_eq!(held_up(&meter, under_way, None), Some(at(50)), "it was under way all the while");
        assert_eq!(held_up(&meter, meter.released(at(40), at(60)), None), Some(at(20)), "it was due in it");
        assert_eq!(held_up(&meter, meter.released(at(60), at(60)), None), None, "it came after it");
        let waited = meter.released(at(40), at(60));
        meter.expect(at(70), Nanos::ZERO);
        let _ = meter.heard(at(100));
        assert_eq!(held_up(&meter, waited, None), Some(at(20 + 30)), "and the next one held it up as well");
    }

    #[test]
    fn short_standstills_in_the_middle_of_a_long_answer_delay_nothing_and_add_up_to_nothing() {
        let (meter, _) = meter();
        let under_way = meter.released(at(0), at(0));
        for turn in 1..40 {
            meter.expect(at(turn * 10), at(turn * 10 - 6));
            let _ = meter.heard(at(turn * 10 + 4));
        }
        assert_eq!(meter.held_up(under_way, None, at(500)), None);
        let just = meter.held_up(under_way, None, at(394)).unwrap();
        assert_eq!(just.time, at(4), "its answer may have come in the last of them");
        meter.expect(at(510), at(394));
        let _ = meter.heard(at(550));
        assert_eq!(meter.held_up(under_way, None, at(600)).unwrap().time, at(40));
    }

    #[test]
    fn an_answer_that_was_read_late_was_held_up_but_for_what_the_plan_lets_it_lie() {
        let (meter, _) = meter();
        meter.answers_may_wait(at(10));
        let hold_up = meter.released(at(0), at(0));
        assert_eq!(held_up(&meter, hold_up, Some(at(10))), None);
        assert_eq!(held_up(&meter, hold_up, Some(at(17))), Some(at(7)));
        meter.expect(at(10), Nanos::ZERO);
        let _ = meter.heard(at(15));
        assert_eq!(
            held_up(&meter, hold_up, Some(at(17))),
            Some(at(7)),
            "it lay unread while the shard stood still"
        );
    }

    #[test]
    fn what_supply_had_a_user_wait_for_held_it_up_all_the_while() {
        let (meter, _) = meter();
        let supplied = meter.taken_up(at(0), at(30), true);
        assert_eq!(
            meter.held_up(supplied, None, at(30)),
            Some(HeldUp { time: at(30), by: HeldUpBy::Supply })
        );
        assert_eq!(meter.held_up(meter.taken_up(at(0), at(30), false), None, at(30)), None);
        assert_eq!(
            meter.held_up(meter.taken_up(at(0), Nanos(9), true), None, Nanos(9)),
            None,
            "nobody would notice"
        );
    }
}
