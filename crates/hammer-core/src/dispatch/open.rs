//! The open lane: what is due goes out, whatever became of what went before. There is no arrow from an outcome back to
//! the schedule.

use std::cell::{Cell, RefCell};
use std::iter::Peekable;
use std::rc::{Rc, Weak};

use hammer_measure::{Command, Detail, Fate, Nanos, Phase, Recorder, Timing};

use crate::phase::Phases;
use crate::runtime::{Runtime, yield_now};
use crate::schedule::warp::Warp;
use crate::schedule::{Arrival, Arrivals};
use crate::standstill::noticed;
use crate::supply::{Supply, SupplyBounds};
use crate::workload::{Preparation, Workload};

use super::context::LaneContext;
use super::lane::Lane;
use super::load::Open;
use super::queue::Backlog;
use super::sampled::UnstartedOperation;
use super::share::{in_flight_share, share_of};
use super::slot::{OperationSlot, PendingOperation};

/// A workload under open load on one shard.
pub(super) struct OpenLane<W: Workload, R: Runtime> {
    context: Rc<LaneContext<W, R>>,
    state: RefCell<State<W>>,
    in_flight: Cell<usize>,
    limit: Cell<usize>,
    free: RefCell<Vec<usize>>,
    this: Weak<Self>,
}

struct State<W: Workload> {
    arrivals: Peekable<Arrivals>,
    supply: Option<Prefetch<W>>,
    backlog: Backlog<PendingOperation<W::Op>>,
    warp: Warp,
    phases: Option<Phases>,
    end: Nanos,
}

/// Supply that runs ahead of the arrivals in their own order.
struct Prefetch<W: Workload> {
    supply: Supply<W>,
    ahead: Arrivals,
    spare: Vec<W::Op>,
    exhausted: bool,
}

impl<W: Workload, R: Runtime> OpenLane<W, R> {
    pub(super) fn new(context: Rc<LaneContext<W, R>>, load: &Open, bounds: SupplyBounds) -> Rc<Self> {
        let (shard, shards) = (context.shard, context.shards);
        let arrivals = load.schedule.arrivals(shard, shards);
        let supply = (context.workload.preparation() == Preparation::Ahead).then(|| {
            let (mut supply, worker) = Supply::new(context.workload.clone(), shards, bounds);
            supply.served_by(context.supply.add(shard, worker));
            let mut prefetch =
                Prefetch { supply, ahead: arrivals.clone(), spare: Vec::new(), exhausted: false };
            prefetch.refill(0, &context.workload);
            prefetch.supply.wake();
            prefetch
        });
        let state = State {
            arrivals: arrivals.peekable(),
            supply,
            backlog: Backlog::with_capacity(share_of(load.backlog, shard, shards)),
            warp: Warp::starting_at(Nanos::ZERO),
            phases: None,
            end: Nanos::MAX,
        };
        Rc::new_cyclic(|this| Self {
            context,
            state: RefCell::new(state),
            in_flight: Cell::new(0),
            limit: Cell::new(in_flight_share(load.in_flight, shard, shards)),
            free: RefCell::default(),
            this: this.clone(),
        })
    }

    /// The life of a slot: an operation, then whatever waits in the backlog, then the next operation.
    async fn serve(self: Rc<Self>, slot: Rc<OperationSlot<PendingOperation<W::Op>>>) {
        let mut state = self.context.slot_state();
        loop {
            let mut pending = slot.next_task().await;
            let mut started = self.context.runtime.now();
            // A queue full of starts must not hold up what comes due meanwhile.
            self.release(started, started);
            let mut in_a_row = 0;
            loop {
                self.context.perform(&slot, pending, started, &mut state).await;
                self.give_back(&mut state.op);
                self.in_flight.set(self.in_flight.get() - 1);
                let now = self.context.runtime.now();
                // What waits goes before what is due now.
                let Some(next) = self.next_waiting() else {
                    self.free.borrow_mut().push(slot.index);
                    self.release(now, now);
                    if self.is_over(now) {
                        self.context.bell.due(now);
                    }
                    break;
                };
                let mut late = self.release(now, now);
                pending = next;
                in_a_row += 1;
                if in_a_row % YIELD_EVERY == 0 {
                    yield_now().await;
                    late = true;
                }
                started = if late { self.context.runtime.now() } else { now };
            }
        }
    }

    /// An operation of the backlog that may start now, the slot being the caller's.
    fn next_waiting(&self) -> Option<PendingOperation<W::Op>> {
        if !self.has_free_slot() {
            return None;
        }
        let pending = self.state.borrow_mut().backlog.pop()?;
        self.in_flight.set(self.in_flight.get() + 1);
        Some(pending)
    }

    fn give_back(&self, op: &mut Option<W::Op>) {
        if let Some(prefetch) = &mut self.state.borrow_mut().supply
            && let Some(op) = op.take()
        {
            prefetch.give_back(op);
        }
    }

    /// Moves what is due by `until` out of the schedule at `now`: into a slot, into the backlog, or out. Whether there
    /// was anything.
    fn release(&self, until: Nanos, now: Nanos) -> bool {
        self.context.meter.look(now);
        let mut state = self.state.borrow_mut();
        let had_room = self.has_free_slot() || !state.backlog.is_full();
        // The instant for which the last arrival was meant that found a place.
        let mut placed: Option<Nanos> = None;
        let mut released = false;
        while let Some((arrival, intended)) = state.pop_due(until) {
            released = true;
            let phases = state.phases.as_ref().expect("arrivals follow the start");
            let (series, phase) = (self.context.series_of(arrival.seq), phases.of(intended));
            let unstarted = UnstartedOperation { seq: arrival.seq, series, phase, intended };
            let mut recorder = self.context.recorder.borrow_mut();
            recorder.offer(series, phase);
            let Some(op) = state.prepared(arrival.seq, &self.context.workload) else {
                recorder.starve(series, phase);
                self.context.sample_unstarted(&mut recorder, unstarted, now, (Fate::Starved, Detail::None));
                continue;
            };
            let can_start = self.has_free_slot();
            if !can_start && state.backlog.is_full() {
                // What fills the backlog within one release came together since it came late, but for what was meant to come together.
                let came_together = had_room && placed.is_some_and(|placed| intended > placed);
                shed(&mut recorder, series, phase, noticed(now.since(intended)).filter(|_| came_together));
                self.context.sample_unstarted(&mut recorder, unstarted, now, (Fate::Shed, Detail::None));
                state.reuse(op);
                continue;
            }
            placed = Some(intended);
            let (seq, timing) = (arrival.seq, Timing::new(intended, now));
            let hold_up = self.context.meter.released(intended, now);
            let pending =
                PendingOperation { seq, series, phase, timing, has_waited: !can_start, hold_up, op };
            recorder.queue(series, phase);
            drop(recorder);
            if can_start {
                self.start(pending);
            } else {
                state.backlog.push(pending);
            }
        }
        if released && !self.has_free_slot() {
            // The next arrival finds no slot: the next answer frees one.
            self.context.answers.wake_at_once();
        }
        released
    }

    fn has_free_slot(&self) -> bool {
        self.in_flight.get() < self.limit.get()
    }

    fn start(&self, pending: PendingOperation<W::Op>) {
        self.in_flight.set(self.in_flight.get() + 1);
        let free = self.free.borrow_mut().pop();
        match free {
            Some(index) => self.context.slots.get(index).assign(pending),
            None => {
                let slot = self.context.slots.add();
                slot.assign(pending);
                let this = self.this.upgrade().expect("a lane in use is alive");
                self.context.runtime.spawn(Box::pin(this.serve(slot)));
            }
        }
    }

    /// Fills slots from the backlog after the limit was raised.
    fn start_waiting(&self) {
        while let Some(pending) = self.next_waiting() {
            self.in_flight.set(self.in_flight.get() - 1);
            self.start(pending);
        }
    }
}

fn shed(recorder: &mut Recorder, series: usize, phase: Phase, late: Option<Nanos>) {
    match late {
        Some(late) => recorder.shed_late(series, phase, late),
        None => recorder.shed(series, phase),
    }
}

impl<W: Workload> State<W> {
    fn next_intended(&mut self) -> Option<Nanos> {
        self.phases.as_ref()?;
        let arrival = self.arrivals.peek()?;
        self.warp.intended(arrival.at).filter(|intended| *intended < self.end)
    }

    fn pop_due(&mut self, now: Nanos) -> Option<(Arrival, Nanos)> {
        let intended = self.next_intended().filter(|intended| *intended <= now)?;
        Some((self.arrivals.next()?, intended))
    }

    /// Whether nothing more can arrive; what was due by `now` has been released.
    fn is_exhausted(&mut self, now: Nanos) -> bool {
        // A load that has arrivals left lasts as long as planned, even if the next would come after the end.
        self.phases.is_some() && (now >= self.end || self.arrivals.peek().is_none())
    }

    /// The operation where supply prepares it, `Some(None)` where the slot does, `None` when it is not there.
    fn prepared(&mut self, seq: u64, workload: &W) -> Option<Option<W::Op>> {
        match &mut self.supply {
            None => Some(None),
            Some(_) if workload.preparation_of(seq) == Preparation::Inline => Some(None),
            Some(prefetch) => prefetch.take(seq, workload).map(Some),
        }
    }

    fn reuse(&mut self, op: Option<W::Op>) {
        if let (Some(prefetch), Some(op)) = (&mut self.supply, op) {
            prefetch.give_back(op);
        }
    }
}

impl<W: Workload> Prefetch<W> {
    /// The operation `seq`; those before it came too late and are dropped, or not asked for.
    fn take(&mut self, seq: u64, workload: &W) -> Option<W::Op> {
        while self.supply.peek().is_some_and(|ready| ready <= seq) {
            let (ready, op) = self.supply.pop(workload)?;
            if ready == seq {
                self.refill(seq, workload);
                return Some(op);
            }
            self.give_back(op);
        }
        self.refill(seq, workload);
        None
    }

    /// Keeps an operation's allocations for another one, as many as are prepared ahead: answers come in lumps, and the
    /// arrivals until the next lump use them. What a stall piled up in the backlog beyond that is let go of.
    fn give_back(&mut self, op: W::Op) {
        if self.spare.len() < self.supply.depth() {
            self.spare.push(op);
        }
    }

    /// Asks for as many operations as the bounds allow, `due` being the latest that was due.
    fn refill(&mut self, due: u64, workload: &W) {
        while !self.exhausted && self.supply.has_room() {
            match self.ahead.next() {
                Some(arrival) if arrival.seq < due => {}
                Some(arrival) if workload.preparation_of(arrival.seq) == Preparation::Inline => {}
                Some(arrival) => self.supply.request(arrival.seq, self.spare.pop()),
                None => self.exhausted = true,
            }
        }
    }
}

impl<W: Workload, R: Runtime> Lane for OpenLane<W, R> {
    fn start_arrivals(&self, phases: &Phases) {
        let mut state = self.state.borrow_mut();
        state.warp = Warp::starting_at(phases.start);
        state.end = state.end.min(phases.arrivals_end());
        state.phases = Some(*phases);
    }

    fn is_filled(&self) -> bool {
        let mut state = self.state.borrow_mut();
        let Some(prefetch) = &mut state.supply else { return true };
        prefetch.supply.weigh(&self.context.workload);
        prefetch.refill(0, &self.context.workload);
        prefetch.supply.is_filled()
    }

    fn pump(&self, until: Nanos, now: Nanos) {
        self.release(until, now);
    }

    fn next_due(&self) -> Option<Nanos> {
        self.state.borrow_mut().next_intended()
    }

    fn lets_answers_wait(&self) -> bool {
        let mut state = self.state.borrow_mut();
        let has_room = self.has_free_slot() && state.backlog.is_empty();
        // Without an arrival to come, an answer is what the shard wakes for.
        has_room && self.context.checks.under_way() == 0 && state.next_intended().is_some()
    }

    fn quantum(&self) -> Nanos {
        self.context.quantum.span()
    }

    fn sweep(&self, now: Nanos) {
        self.context.sweep(now);
        if let Some(prefetch) = &mut self.state.borrow_mut().supply {
            prefetch.supply.wake();
        }
    }

    fn command(&self, now: Nanos, command: &Command) {
        match command {
            Command::Pause => self.state.borrow_mut().warp.pause(now),
            Command::Resume => self.state.borrow_mut().warp.resume(now),
            Command::Rate { factor, .. } => self.state.borrow_mut().warp.set_factor(now, *factor),
            Command::InFlight { limit, .. } => {
                self.limit.set(in_flight_share(*limit, self.context.shard, self.context.shards));
                self.start_waiting();
            }
            Command::Stop { .. } | Command::Mark { .. } => {}
        }
    }

    fn end_arrivals(&self, at: Nanos) {
        let mut state = self.state.borrow_mut();
        state.end = state.end.min(at);
    }

    fn has_ended(&self, now: Nanos) -> bool {
        self.state.borrow_mut().is_exhausted(now)
    }

    fn abandon(&self) {
        let mut state = self.state.borrow_mut();
        while let Some(pending) = state.backlog.pop() {
            self.context.abandon_queued(&pending);
        }
        drop(state);
        let never_started = self.context.abandon();
        self.in_flight.set(self.in_flight.get() - never_started);
    }

    fn is_settled(&self) -> bool {
        self.in_flight.get() == 0 && self.context.checks.under_way() == 0
    }

    fn is_over(&self, now: Nanos) -> bool {
        if !self.is_settled() {
            return false;
        }
        let mut state = self.state.borrow_mut();
        state.backlog.is_empty() && state.is_exhausted(now)
    }
}

const YIELD_EVERY: usize = 32;
