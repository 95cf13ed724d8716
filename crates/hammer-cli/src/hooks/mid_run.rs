//! Commands, their numbers and marks in mid-run, as a run knows them: an observer that lends them its sink and ends them, and a reporter that
//! says when measurement starts.

use std::io;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};

use hammer_core::clock::MonotonicClock;
use hammer_core::observe::{ObservationSink, Observer};
use hammer_core::runtime::{Clock, LocalFuture};
use hammer_measure::{Phase, Reporter, RunEvent};
use hammer_values::Agreed;
use rustix::event::{EventfdFlags, eventfd};
use tokio::sync::oneshot;

use super::attendant::{Attendant, Order};
use super::looks::{CommandNumber, Looks};
use super::marks::MarkFile;
use super::scripted_faults::ScriptedFaults;
use crate::plan::Plan;
use crate::plan::observe::ObservePlan;

/// The commands and marks of one run. They have a thread of their own, which has ended once this is dropped.
pub(crate) struct MidRun {
    orders: OrderSender,
    thread: Option<JoinHandle<()>>,
}

impl MidRun {
    /// Starts the thread; none where nothing is planned in mid-run. A file of marks is followed from its end as it is now.
    ///
    /// # Errors
    /// When there is no descriptor or no thread left.
    pub(crate) fn start(
        plan: &Plan,
        faults: ScriptedFaults,
        clock: MonotonicClock,
    ) -> io::Result<Option<Self>> {
        let (hooks, numbers) = (&plan.hooks, numbers(plan));
        if hooks.at.is_empty() && hooks.marks.is_none() && numbers.is_empty() && faults.is_empty() {
            return Ok(None);
        }
        let doorbell = Arc::new(eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?);
        let (sender, orders) = channel();
        let attendant = Attendant {
            clock,
            orders,
            doorbell: doorbell.clone(),
            hooks: hooks.at.clone(),
            faults,
            looks: Looks::new(numbers),
            mark_file: hooks.marks.clone().map(MarkFile::at_its_end),
        };
        let thread = thread::Builder::new().name("hooks".to_owned()).spawn(move || attendant.attend())?;
        let orders = OrderSender { orders: sender, doorbell };
        Ok(Some(Self { orders, thread: Some(thread) }))
    }

    /// Who lends the thread its sink, and ends it with the run.
    pub(crate) fn observer(&self) -> Box<dyn Observer> {
        Box::new(MidRunObserver { orders: self.orders.clone() })
    }
}

impl Reporter for MidRun {
    fn event(&mut self, event: &RunEvent) {
        if let RunEvent::Phase { phase: Phase::Measurement, at } = event {
            self.orders.send(Order::Measured(*at));
        }
    }
}

impl Drop for MidRun {
    fn drop(&mut self) {
        // Where the run never started, its observer may be there as well, and be silent.
        self.orders.send(Order::End(oneshot::channel().0));
        if let Some(thread) = self.thread.take() {
            // What it panicked with was printed there.
            let _ = thread.join();
        }
    }
}

/// What commands of the plan are to print.
fn numbers(plan: &Plan) -> Vec<CommandNumber> {
    let number = |observed: &Agreed<ObservePlan>| {
        let (name, every) = (observed.name.to_string(), observed.every.duration().into());
        Some(CommandNumber { name, run: observed.run.clone()?, every })
    };
    plan.observe.iter().filter_map(number).collect()
}

struct MidRunObserver {
    orders: OrderSender,
}

impl Observer for MidRunObserver {
    fn observe(
        self: Box<Self>,
        sink: ObservationSink,
        _clock: Rc<dyn Clock>,
        ending: LocalFuture<()>,
    ) -> LocalFuture<()> {
        self.orders.send(Order::Open(sink));
        Box::pin(async move {
            ending.await;
            let (done, ended) = oneshot::channel();
            self.orders.send(Order::End(done));
            // Dropped when everything was told, so that it is told before the run's end.
            let _ = ended.await;
        })
    }
}

/// Sends orders, and rings.
#[derive(Clone)]
struct OrderSender {
    orders: Sender<Order>,
    doorbell: Arc<OwnedFd>,
}

impl OrderSender {
    fn send(&self, order: Order) {
        // A thread that has ended needs no order, and a bell that rings already is heard.
        let _ = self.orders.send(order);
        let _ = rustix::io::write(&self.doorbell, &1_u64.to_ne_bytes());
    }
}
