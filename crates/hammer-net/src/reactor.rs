//! An epoll for the sockets of one thread, nested in tokio's as one descriptor.

mod driver;
mod readiness;
mod slots;
mod waiting;

use std::cell::{Cell, RefCell};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::rc::Rc;

use hammer_measure::{Nanos, Now};
use rustix::buffer::spare_capacity;
use rustix::event::{Timespec, epoll};

use crate::receive::{Received, Receiver};
use driver::Nesting;
use readiness::Readiness;
use slots::Slots;

/// Events that one call takes at most.
const EVENTS: usize = 256;
/// Times in a row that what arrives is let wait before it does.
const CALM: u32 = 64;
const NO_WAIT: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

/// A thread's epoll for its sockets: it wakes whoever waits for one that became ready.
///
/// An **eager** reactor wakes the thread when something arrives. A **lazy** one does not: its owner calls [`Reactor::turn`] when it
/// wakes for other reasons. It is eager while a [`Demand`] lives, and to begin with.
pub struct Reactor {
    epoll: Rc<OwnedFd>,
    events: RefCell<Vec<epoll::Event>>,
    slots: RefCell<Slots>,
    receiver: RefCell<Receiver>,
    nesting: Rc<Nesting>,
    clock: Rc<dyn Now>,
    /// When the last turn was taken.
    turned: Cell<Nanos>,
    is_lazy: Cell<bool>,
    demands: Cell<usize>,
    /// How often in a row what arrives was let wait.
    calm: Cell<u32>,
}

/// The wish that whatever arrives wakes the thread, for as long as this lives.
pub struct Demand {
    reactor: Rc<Reactor>,
}

/// A descriptor in the reactor's epoll; it must be closed when this is dropped, which alone takes it out of there.
pub(crate) struct Registration {
    pub(crate) readiness: Rc<Readiness>,
    pub(crate) reactor: Rc<Reactor>,
    token: u64,
}

impl Reactor {
    /// An eager reactor without sockets, for use within one thread; `clock` tells when bytes arrive. Its task is spawned with the
    /// first socket, for which a `LocalSet` or a `LocalRuntime` must be there.
    ///
    /// # Errors
    ///
    /// The process has no descriptor left.
    pub fn new(clock: Rc<dyn Now>) -> io::Result<Rc<Self>> {
        let epoll = Rc::new(epoll::create(epoll::CreateFlags::CLOEXEC)?);
        Ok(Rc::new(Self {
            nesting: Rc::new(Nesting::new(Rc::clone(&epoll))),
            epoll,
            events: RefCell::new(Vec::with_capacity(EVENTS)),
            slots: RefCell::default(),
            receiver: RefCell::new(Receiver::new(Rc::clone(&clock))),
            turned: Cell::new(clock.now()),
            clock,
            is_lazy: Cell::new(false),
            demands: Cell::new(0),
            calm: Cell::new(0),
        }))
    }

    /// Whether what arrives may wait for the next [`Reactor::turn`]. It is lazy once it was let wait some times in a row, since each
    /// change of mind costs two calls; what may not wait wakes the thread from now on.
    pub fn let_wait(&self, may_wait: bool) {
        if !may_wait || self.demands.get() > 0 {
            self.calm.set(0);
            self.set_lazy(false);
        } else if self.calm.get() < CALM {
            self.calm.set(self.calm.get() + 1);
        } else {
            self.set_lazy(true);
        }
    }

    /// Whether answers are to wake the thread (not lazy) or to wait for the next [`Reactor::turn`].
    pub fn set_lazy(&self, is_lazy: bool) {
        if self.is_lazy.replace(is_lazy) != is_lazy {
            self.settle();
        }
    }

    /// Whether answers wait for the next [`Reactor::turn`]: it was asked for, and nobody demands otherwise.
    pub fn is_lazy(&self) -> bool {
        self.is_lazy.get() && self.demands.get() == 0
    }

    /// Answers wake the thread for as long as what is returned lives.
    pub fn demand(self: &Rc<Self>) -> Demand {
        self.demands.set(self.demands.get() + 1);
        if self.calm.replace(0) > 0 {
            // Whoever lets it wait is to see calm again first: connections that come and go would change its mind each time.
            self.is_lazy.set(false);
        }
        self.settle();
        Demand { reactor: Rc::clone(self) }
    }

    /// A turn, where the last one was longer than `age` before `now`.
    pub(crate) fn turn_after(&self, age: Nanos, now: Nanos) {
        if now.since(self.turned.get()) > age {
            self.turn();
        }
    }

    /// Takes all that has become ready, without waiting, and wakes whoever waits for it.
    pub fn turn(&self) {
        self.turned.set(self.clock.now());
        let mut events = self.events.borrow_mut();
        loop {
            events.clear();
            // Nothing can be wrong with a call that does not wait; without events there is nobody to wake.
            let taken = epoll::wait(&*self.epoll, spare_capacity(&mut events), Some(&NO_WAIT));
            for event in events.iter() {
                // Cloned, so that nothing is borrowed while others are woken.
                let readiness = self.slots.borrow().get(event.data.u64()).map(Rc::clone);
                if let Some(readiness) = readiness {
                    readiness.mark(event.flags);
                }
            }
            // What did not fit is still in the inner epoll, which tells the outer one of new events alone: there would be no
            // other edge for it.
            if taken.is_err() || events.len() < EVENTS {
                return;
            }
        }
    }

    /// Adds a descriptor, edge-triggered, so that it is one call for its whole life.
    pub(crate) fn register(self: &Rc<Self>, fd: impl AsFd) -> io::Result<Registration> {
        let readiness = Rc::new(Readiness::default());
        let token = self.slots.borrow_mut().insert(Rc::clone(&readiness));
        let registration = Registration { readiness, reactor: Rc::clone(self), token };
        let interest =
            epoll::EventFlags::IN | epoll::EventFlags::OUT | epoll::EventFlags::RDHUP | epoll::EventFlags::ET;
        epoll::add(&*self.epoll, fd, epoll::EventData::new_u64(token), interest)?;
        if self.nesting.start() {
            self.spawn_driver();
            self.settle();
        }
        Ok(registration)
    }

    fn spawn_driver(self: &Rc<Self>) {
        let reactor = Rc::downgrade(self);
        let turn = move || {
            if let Some(reactor) = reactor.upgrade() {
                reactor.turn();
            }
        };
        tokio::task::spawn_local(driver::drive(Rc::clone(&self.nesting), turn));
    }

    /// One read of a registered socket into `buf`, with the instant at which its bytes arrived.
    pub(crate) fn receive(&self, fd: &OwnedFd, buf: &mut [u8]) -> io::Result<Received> {
        self.receiver.borrow_mut().receive(fd, buf)
    }

    /// Nests the epoll in tokio's or takes it out, as is wanted now.
    fn settle(&self) {
        if self.nesting.set(!self.is_lazy()) {
            // What came while nobody was told is taken at once.
            self.turn();
        }
    }
}

impl Drop for Reactor {
    fn drop(&mut self) {
        self.nesting.end();
    }
}

impl Drop for Demand {
    fn drop(&mut self) {
        self.reactor.demands.set(self.reactor.demands.get() - 1);
        self.reactor.settle();
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.reactor.slots.borrow_mut().remove(self.token);
    }
}

#[cfg(test)]
mod tests;
