//! Where a thread's sockets wait: in tokio's epoll, or in one of the thread's own that is nested there.

mod nesting;
mod own_epoll;
mod readiness;
pub(crate) mod registration;
mod slots;
mod waiting_task;

use std::cell::{Cell, RefCell};
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::rc::Rc;

use hammer_measure::{Nanos, Now};

use crate::receive::{Received, Receiver};
use own_epoll::OwnEpoll;
use registration::Registration;

/// Times in a row that what arrives is let wait before it does.
const CALM: u32 = 64;

/// Where the sockets of a thread wait.
///
/// An **eager** reactor wakes the thread when something arrives. A **lazy** one does not: its owner calls [`Reactor::turn`] when it
/// wakes for other reasons. It is eager while a [`Demand`] lives, and to begin with.
///
/// Laziness takes an epoll of the thread's own, nested in tokio's as one descriptor, and then being woken costs one call more. So
/// sockets are in tokio's until the reactor is lazy for the first time; then those that there are follow with their next write.
pub struct Reactor {
    own: Rc<OwnEpoll>,
    is_own_used: Cell<bool>,
    receiver: RefCell<Receiver>,
    is_lazy: Cell<bool>,
    demands: Cell<usize>,
    /// How often in a row what arrives was let wait.
    calm: Cell<u32>,
}

/// The wish that whatever arrives wakes the thread, for as long as this lives.
pub struct Demand {
    reactor: Rc<Reactor>,
}

impl Reactor {
    /// A reactor without sockets, for use within one thread; `clock` tells when bytes arrive. It wants a `LocalSet` or a
    /// `LocalRuntime` for a task of its own.
    ///
    /// # Errors
    ///
    /// The process has no descriptor left.
    pub fn new(clock: Rc<dyn Now>) -> io::Result<Rc<Self>> {
        Ok(Rc::new(Self {
            own: OwnEpoll::new(Rc::clone(&clock))?,
            is_own_used: Cell::new(false),
            receiver: RefCell::new(Receiver::new(clock)),
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
            self.is_own_used.set(true);
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

    /// Takes all that has become ready in the thread's own epoll, without waiting, and wakes whoever waits for it.
    pub fn turn(&self) {
        if self.is_own_used.get() {
            self.own.turn();
        }
    }

    /// A turn, where the last one was longer than `age` before `now`.
    pub(crate) fn turn_after(&self, age: Nanos, now: Nanos) {
        if self.is_own_used.get() {
            self.own.turn_after(age, now);
        }
    }

    /// Adds a socket that does not block.
    pub(crate) fn register(&self, fd: OwnedFd) -> io::Result<Registration> {
        match self.is_own_used.get() {
            true => Registration::in_own(fd, &self.own, !self.is_lazy()),
            false => Registration::in_tokio(fd),
        }
    }

    /// Moves a socket that stands elsewhere to where this reactor's sockets are by now.
    pub(crate) fn gather(&self, registration: &Registration) {
        if self.is_own_used.get() {
            registration.move_to(&self.own, !self.is_lazy());
        }
    }

    /// One read of a registered socket into `buf`, with the instant at which its bytes arrived.
    pub(crate) fn receive(&self, fd: BorrowedFd<'_>, buf: &mut [u8]) -> io::Result<Received> {
        self.receiver.borrow_mut().receive(fd, buf)
    }

    fn settle(&self) {
        self.own.wake_thread(!self.is_lazy());
    }
}

impl Drop for Demand {
    fn drop(&mut self) {
        self.reactor.demands.set(self.reactor.demands.get() - 1);
        self.reactor.settle();
    }
}

#[cfg(test)]
mod tests;
