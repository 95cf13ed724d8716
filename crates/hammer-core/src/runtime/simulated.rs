//! A runtime whose clock stands still until every task waits, then jumps to the next alarm.

use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::future::poll_fn;
use std::io;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use futures::executor::{LocalPool, LocalSpawner};
use futures::task::LocalSpawnExt as _;
use hammer_measure::{Nanos, Now};

use super::{Alarm, Clock, LocalFuture, Runtime};

/// Runs tasks against a simulated clock.
#[derive(Debug)]
pub struct Simulation {
    pool: LocalPool,
    runtime: SimulatedRuntime,
}

/// The runtime inside a [`Simulation`].
#[derive(Clone, Debug)]
pub struct SimulatedRuntime {
    clock: Rc<SimulatedClock>,
    spawner: LocalSpawner,
}

/// The simulated clock.
#[derive(Debug, Default)]
pub struct SimulatedClock {
    now: Cell<Nanos>,
    timers: RefCell<BinaryHeap<Reverse<(Nanos, u64)>>>,
    wakers: RefCell<Vec<Option<Waker>>>,
}

/// An alarm on the simulated clock.
#[derive(Debug)]
pub struct SimulatedAlarm {
    clock: Rc<SimulatedClock>,
    slot: usize,
    at: Option<Nanos>,
}

impl Simulation {
    /// A simulation at the epoch.
    pub fn new() -> Self {
        let pool = LocalPool::new();
        let runtime = SimulatedRuntime { clock: Rc::default(), spawner: pool.spawner() };
        Self { pool, runtime }
    }

    /// The runtime for what is simulated.
    pub fn runtime(&self) -> SimulatedRuntime {
        self.runtime.clone()
    }

    /// Runs until every task has ended or waits for something that no alarm will bring.
    pub fn run(&mut self) {
        loop {
            self.pool.run_until_stalled();
            if !self.runtime.clock.advance() {
                return;
            }
        }
    }
}

impl Default for Simulation {
    fn default() -> Self {
        Self::new()
    }
}

impl SimulatedRuntime {
    /// Time passes in which nobody runs, as where the process is stopped.
    pub fn stand_still(&self, span: Nanos) {
        self.clock.now.set(self.clock.now.get() + span);
    }
}

impl Runtime for SimulatedRuntime {
    type Alarm = SimulatedAlarm;

    fn now(&self) -> Nanos {
        self.clock.now.get()
    }

    /// None: a task takes no time.
    fn thread_cpu(&self) -> Nanos {
        Nanos::ZERO
    }

    fn alarm(&self) -> io::Result<SimulatedAlarm> {
        Ok(SimulatedAlarm::new(&self.clock))
    }

    fn spawn(&self, task: LocalFuture<()>) {
        self.spawner.spawn_local(task).expect("a simulation outlives its tasks");
    }

    fn clock(&self) -> Rc<dyn Clock> {
        Rc::new(ClockHandle(self.clock.clone()))
    }
}

impl SimulatedClock {
    /// Jumps to the next alarm and wakes who set it; `false` when none is set.
    fn advance(&self) -> bool {
        while let Some(Reverse((at, slot))) = self.timers.borrow_mut().pop() {
            self.now.set(self.now.get().max(at));
            if let Some(waker) = self.wakers.borrow_mut()[slot as usize].take() {
                waker.wake();
                return true;
            }
        }
        false
    }
}

impl SimulatedAlarm {
    fn new(clock: &Rc<SimulatedClock>) -> Self {
        let mut wakers = clock.wakers.borrow_mut();
        wakers.push(None);
        Self { clock: clock.clone(), slot: wakers.len() - 1, at: None }
    }
}

impl Alarm for SimulatedAlarm {
    fn set(&mut self, at: Nanos) {
        self.at = Some(at);
        self.clock.timers.borrow_mut().push(Reverse((at, self.slot as u64)));
    }

    fn poll_rung(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.at.is_some_and(|at| at <= self.clock.now.get()) {
            self.at = None;
            return Poll::Ready(());
        }
        self.clock.wakers.borrow_mut()[self.slot] = Some(cx.waker().clone());
        Poll::Pending
    }
}

struct ClockHandle(Rc<SimulatedClock>);

impl Now for ClockHandle {
    fn now(&self) -> Nanos {
        self.0.now.get()
    }
}

impl Clock for ClockHandle {
    fn sleep_until(&self, at: Nanos) -> LocalFuture<()> {
        let mut alarm = SimulatedAlarm::new(&self.0);
        alarm.set(at);
        Box::pin(async move { poll_fn(|cx| alarm.poll_rung(cx)).await })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_jumps_from_alarm_to_alarm_in_order() {
        let mut simulation = Simulation::new();
        let runtime = simulation.runtime();
        let log = Rc::new(RefCell::new(Vec::new()));
        for at in [30, 10, 20] {
            let (clock, log) = (runtime.clock(), log.clone());
            runtime.spawn(Box::pin(async move {
                clock.sleep_until(Nanos(at)).await;
                log.borrow_mut().push(clock.now().0);
            }));
        }
        simulation.run();
        assert_eq!(*log.borrow(), [10, 20, 30]);
        assert_eq!(runtime.now(), Nanos(30));
    }
}
