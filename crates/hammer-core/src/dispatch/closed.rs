//! The closed lane: users who wait for their answers. An operation is intended at the end of its user's previous one
//! plus think time, so waiting is not in its figures, and there is no backlog.

use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;

use hammer_measure::{Command, Nanos, Timing};

use crate::draw::Draws;
use crate::phase::Phases;
use crate::runtime::{Runtime, yield_now};
use crate::supply::SupplyBounds;
use crate::workload::Workload;

use super::context::LaneContext;
use super::lane::Lane;
use super::load::{Closed, Think};
use super::operation::SlotState;
use super::quantum;
use super::share::share_of;
use super::slot::{OperationSlot, PendingOperation};
use super::source::{NextOperation, OperationSource};
use super::stages::Stages;

/// A workload under closed load on one shard.
pub(super) struct ClosedLane<W: Workload, R: Runtime> {
    context: Rc<LaneContext<W, R>>,
    stages: Stages,
    think: Think,
    /// Between the first turns of users who are there from the start.
    apart: Nanos,
    draws: Draws,
    most_users: usize,
    phases: Cell<Option<Phases>>,
    end: Cell<Nanos>,
    paused: Cell<bool>,
    /// Users that are not gone for good.
    present: Cell<usize>,
    /// Users that are there by the stages, and since when that many.
    here: Cell<(usize, Nanos)>,
    in_flight: Cell<usize>,
    user_limit: Cell<usize>,
    timers: RefCell<BinaryHeap<Reverse<(Nanos, usize)>>>,
    /// When to look again whether supply brought what users wait for.
    look_for_supply: Cell<Nanos>,
    source: RefCell<OperationSource<W>>,
}

impl<W: Workload, R: Runtime> ClosedLane<W, R> {
    pub(super) fn new(context: Rc<LaneContext<W, R>>, load: &Closed, bounds: SupplyBounds) -> Rc<Self> {
        let most_users = load.stages.most_users();
        let users = (context.shard..most_users).step_by(context.shards).count();
        let source = OperationSource::new(&context, load.iterations.clone(), users, most_users, bounds);
        let apart = load.spawn_rate.map_or(FIRST_APART, |rate| Nanos::from_secs_f64(1.0 / rate));
        let lane = Rc::new(Self {
            context,
            apart,
            stages: load.stages.clone(),
            think: load.think,
            draws: Draws::new(load.seed, THINK),
            most_users,
            phases: Cell::new(None),
            end: Cell::new(Nanos::MAX),
            paused: Cell::new(false),
            present: Cell::new(users),
            here: Cell::new((0, Nanos::ZERO)),
            in_flight: Cell::new(0),
            user_limit: Cell::new(usize::MAX),
            timers: RefCell::default(),
            look_for_supply: Cell::new(Nanos::MAX),
            source: RefCell::new(source),
        });
        for _ in 0..users {
            let slot = lane.context.slots.add();
            lane.context.runtime.spawn(Box::pin(lane.clone().live(slot)));
        }
        lane
    }

    /// One user's life.
    async fn live(self: Rc<Self>, slot: Rc<OperationSlot<PendingOperation<W::Op>>>) {
        let user = slot.index * self.context.shards + self.context.shard;
        let mut state = SlotState { group: self.stages.group_of(user), ..self.context.slot_state() };
        let phases = self.arrivals_started(&slot).await;
        let mut earliest = self.first_turn(user, phases.start);
        let mut iteration = 0u64;
        let presence = Presence::of(self.as_ref());
        if size_of::<W::User>() > 0 {
            match self.enter(&slot, user, earliest, &phases, &mut state, &presence).await {
                Some(entered) => earliest = entered,
                None => return self.leave(),
            }
        }
        while let Some(intended) = self.turn(&slot, user, earliest, &phases, &presence).await {
            let Some((seq, op, is_awaited)) = self.operation(&slot, user, iteration, &mut state.op).await
            else {
                break;
            };
            let (series, phase) = (self.context.series_of(seq), phases.of(intended));
            let started = self.context.runtime.now();
            let timing = Timing::new(intended, started);
            self.context.offer(series, phase);
            let hold_up = self.context.meter.taken_up(intended, started, is_awaited);
            let pending = PendingOperation { seq, series, phase, timing, has_waited: false, hold_up, op };
            self.in_flight.set(self.in_flight.get() + 1);
            let (at_hand, ended) = self.context.perform(&slot, pending, started, &mut state).await;
            self.in_flight.set(self.in_flight.get() - 1);
            let is_to_wait = self.source.borrow_mut().ended(seq, ended);
            self.tell_end();
            let wait = if is_to_wait { FAIL_AGAIN } else { self.think.after(self.draws, seq) };
            earliest = at_hand.saturating_add(wait);
            iteration += 1;
            if iteration.is_multiple_of(YIELD_EVERY) {
                yield_now().await;
            }
        }
        self.leave();
    }

    /// The earliest instant of the user's first turn; the stages may say a later one.
    fn first_turn(&self, user: usize, start: Nanos) -> Nanos {
        let is_there_from_start = self.stages.present_from(user, Nanos::ZERO) == Some(Nanos::ZERO);
        let after = if is_there_from_start { self.apart.saturating_mul(user as u64) } else { Nanos::ZERO };
        start.saturating_add(after)
    }

    /// The user makes what it keeps, as it is due to arrive; returns when it had, or `None` where it never could.
    async fn enter(
        &self,
        slot: &OperationSlot<PendingOperation<W::Op>>,
        user: usize,
        arrival: Nanos,
        phases: &Phases,
        state: &mut SlotState<W>,
        presence: &Presence<'_, W, R>,
    ) -> Option<Nanos> {
        let mut earliest = arrival;
        while let Some(at) = self.turn(slot, user, earliest, phases, presence).await {
            let entered = self.context.enter(slot, phases.of(at), state).await;
            let now = self.context.runtime.now();
            if entered {
                return Some(now);
            }
            earliest = now + ENTER_AGAIN;
        }
        None
    }

    /// Adds up the time that users have been there until `now`.
    fn count_presence(&self, now: Nanos) {
        let (users, since) = self.here.get();
        let until = now.min(self.end.get()).max(since);
        if let Some(phases) = self.phases.get()
            && users > 0
        {
            // Who was told to stand does not wait for answers.
            let active = if self.paused.get() { 0 } else { users.min(self.user_limit.get()) };
            let time = until.since(since).saturating_mul(active as u64);
            let series = self.context.first_series;
            self.context.recorder.borrow_mut().present(series, phases.of(until), time);
        }
        self.here.set((users, until));
    }

    fn leave(&self) {
        self.present.set(self.present.get() - 1);
        self.tell_end();
    }

    /// Wakes the shard when there is nothing left for it to wait for.
    fn tell_end(&self) {
        // After most operations there is more to come, which can be said without a look at the clock.
        if self.is_over_by(|| self.context.runtime.now()) {
            self.context.bell.due(Nanos::ZERO);
        }
    }

    fn is_over_by(&self, now: impl FnOnce() -> Nanos) -> bool {
        let end = self.end.get();
        // Users who are gone for good do not shorten what was planned.
        let all_gone = || self.present.get() == 0 && (end == Nanos::MAX || now() >= end);
        let all_done = self.in_flight.get() == 0 && self.source.borrow().is_exhausted();
        (all_done || all_gone()) && self.context.checks.under_way() == 0
    }

    async fn arrivals_started(&self, slot: &OperationSlot<PendingOperation<W::Op>>) -> Phases {
        poll_fn(|cx| match self.phases.get() {
            Some(phases) => Poll::Ready(phases),
            None => {
                slot.wait(cx.waker());
                Poll::Pending
            }
        })
        .await
    }

    /// Waits for the user's next turn, at `earliest` or later; `None` when there is none.
    async fn turn(
        &self,
        slot: &OperationSlot<PendingOperation<W::Op>>,
        user: usize,
        earliest: Nanos,
        phases: &Phases,
        presence: &Presence<'_, W, R>,
    ) -> Option<Nanos> {
        let mut earliest = earliest;
        loop {
            let from = self.stages.present_from(user, earliest.since(phases.start))?;
            if from > earliest.since(phases.start) {
                presence.go();
            }
            let intended = phases.start.saturating_add(from);
            if intended >= self.end.get() {
                return None;
            }
            let suspended = self.wait_until(slot, intended).await;
            if intended >= self.end.get() {
                return None;
            }
            presence.arrive();
            if !suspended {
                return Some(intended);
            }
            // The pause is in nobody's figures: the turn is as late as it lasted.
            earliest = self.context.runtime.now();
        }
    }

    /// Waits for an instant, and for the end of a pause; whether there was a pause.
    async fn wait_until(&self, slot: &OperationSlot<PendingOperation<W::Op>>, at: Nanos) -> bool {
        let mut set = false;
        let mut suspended = false;
        poll_fn(|cx| {
            let (now, end) = (self.context.runtime.now(), self.end.get());
            let stands = self.paused.get() || slot.index >= self.user_limit.get();
            suspended |= stands;
            let over = at >= end || (stands && now >= end);
            if over || (!stands && at <= now) {
                return Poll::Ready(());
            }
            if !set {
                self.timers.borrow_mut().push(Reverse((at, slot.index)));
                self.context.bell.due(at);
                set = true;
            }
            slot.wait(cx.waker());
            Poll::Pending
        })
        .await;
        suspended
    }

    /// The user's next operation, and whether supply had it waited for; `None` when there is none, or supply did not bring it
    /// before the end.
    async fn operation(
        &self,
        slot: &OperationSlot<PendingOperation<W::Op>>,
        user: usize,
        iteration: u64,
        kept: &mut Option<W::Op>,
    ) -> Option<(u64, Option<W::Op>, bool)> {
        let seq = user as u64 + iteration * self.most_users as u64;
        let mut is_awaited = false;
        poll_fn(|cx| {
            let next = self.source.borrow_mut().next(slot.index, seq, kept);
            match next {
                NextOperation::Operation(seq, op) => Poll::Ready(Some((seq, op, is_awaited))),
                NextOperation::Done => Poll::Ready(None),
                NextOperation::NotReady | NextOperation::MayCome
                    if self.context.runtime.now() >= self.end.get() =>
                {
                    Poll::Ready(None)
                }
                NextOperation::NotReady | NextOperation::MayCome => {
                    is_awaited |= matches!(next, NextOperation::NotReady);
                    let wait =
                        if matches!(next, NextOperation::MayCome) { FAILURE_POLL } else { SUPPLY_POLL };
                    let look = self.look_for_supply.get().min(self.context.runtime.now() + wait);
                    self.look_for_supply.set(look);
                    self.context.bell.due(look);
                    slot.wait(cx.waker());
                    Poll::Pending
                }
            }
        })
        .await
    }

    fn wake_all(&self) {
        (0..self.context.slots.count()).for_each(|index| self.context.slots.get(index).wake());
    }
}

/// Whether a user is there by the stages: it counts from its first turn until the stages send it away, or it is gone.
struct Presence<'a, W: Workload, R: Runtime> {
    lane: &'a ClosedLane<W, R>,
    is_here: Cell<bool>,
}

impl<'a, W: Workload, R: Runtime> Presence<'a, W, R> {
    fn of(lane: &'a ClosedLane<W, R>) -> Self {
        Self { lane, is_here: Cell::new(false) }
    }

    fn arrive(&self) {
        self.set(true);
    }

    fn go(&self) {
        self.set(false);
    }

    fn set(&self, is_here: bool) {
        if self.is_here.replace(is_here) == is_here {
            return;
        }
        self.lane.count_presence(self.lane.context.runtime.now());
        let (users, since) = self.lane.here.get();
        self.lane.here.set((if is_here { users + 1 } else { users - 1 }, since));
    }
}

impl<W: Workload, R: Runtime> Drop for Presence<'_, W, R> {
    fn drop(&mut self) {
        self.go();
    }
}

impl<W: Workload, R: Runtime> Lane for ClosedLane<W, R> {
    fn start_arrivals(&self, phases: &Phases) {
        self.phases.set(Some(*phases));
        self.end.set(self.end.get().min(phases.arrivals_end()));
        self.wake_all();
    }

    fn is_filled(&self) -> bool {
        self.source.borrow_mut().fill()
    }

    fn pump(&self, until: Nanos, _now: Nanos) {
        loop {
            let mut timers = self.timers.borrow_mut();
            let Some(Reverse((at, index))) = timers.peek().copied() else { break };
            if at > until {
                break;
            }
            timers.pop();
            drop(timers);
            self.context.slots.get(index).wake();
        }
        if until >= self.look_for_supply.get() {
            self.look_for_supply.set(Nanos::MAX);
            self.wake_all();
        }
    }

    fn next_due(&self) -> Option<Nanos> {
        let timer = self.timers.borrow().peek().map(|Reverse((at, _))| *at);
        let look = self.look_for_supply.get();
        timer.into_iter().chain((look < Nanos::MAX).then_some(look)).min()
    }

    fn lets_answers_wait(&self) -> bool {
        // Every user waits for one.
        self.in_flight.get() == 0
    }

    fn quantum(&self) -> Nanos {
        quantum::SHORTEST
    }

    fn sweep(&self, now: Nanos) {
        self.context.sweep(now);
        self.count_presence(now);
        self.source.borrow_mut().wake();
    }

    fn command(&self, now: Nanos, command: &Command) {
        // What was until now was under the order before.
        self.count_presence(now);
        match command {
            Command::Pause => self.paused.set(true),
            Command::Resume => self.paused.set(false),
            Command::InFlight { limit, .. } => {
                self.user_limit.set(share_of(*limit, self.context.shard, self.context.shards));
            }
            Command::Rate { .. } | Command::Stop { .. } | Command::Mark { .. } => return,
        }
        self.wake_all();
    }

    fn end_arrivals(&self, at: Nanos) {
        self.end.set(self.end.get().min(at));
        self.wake_all();
    }

    fn has_ended(&self, now: Nanos) -> bool {
        now >= self.end.get() || self.present.get() == 0 || self.source.borrow().is_exhausted()
    }

    fn abandon(&self) {
        self.end.set(Nanos::ZERO);
        let never_started = self.context.abandon();
        debug_assert_eq!(never_started, 0, "a user takes up its own operation");
        self.wake_all();
    }

    fn is_settled(&self) -> bool {
        self.in_flight.get() == 0 && self.context.checks.under_way() == 0
    }

    fn is_over(&self, now: Nanos) -> bool {
        self.is_over_by(|| now)
    }
}

/// Users who are there from the start take their first turns one after another, so that the herd is not held up by the
/// generator's own work for it.
const FIRST_APART: Nanos = Nanos::from_micros(100);
/// A user whose token was refused is not there yet; it does not hammer the issuer.
const ENTER_AGAIN: Nanos = Nanos::from_secs(1);
/// A user of a fill whose operation failed does not hammer a server that restarts.
const FAIL_AGAIN: Nanos = Nanos::from_millis(500);
const THINK: u64 = 0x0074_6869_6e6b;
const YIELD_EVERY: u64 = 32;
const SUPPLY_POLL: Nanos = Nanos::from_micros(200);
/// How often a user who has nothing left to do looks whether another's failure left it something.
const FAILURE_POLL: Nanos = Nanos::from_millis(5);
