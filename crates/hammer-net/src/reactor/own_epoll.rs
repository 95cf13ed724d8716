//! An epoll of a thread's own, and the sockets in it.

use std::cell::{Cell, RefCell};
use std::io;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::task::{Context, Poll};

use hammer_measure::{Nanos, Now};
use rustix::buffer::spare_capacity;
use rustix::event::epoll::EventFlags;
use rustix::event::{Timespec, epoll};

use super::nesting::{Nesting, drive};
use super::readiness::Readiness;
use super::slots::Slots;

/// Events that one call takes at most.
pub(super) const EVENTS: usize = 256;
const NO_WAIT: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };
/// Edge-triggered, so that a socket costs one call for its whole life.
const INTEREST: EventFlags =
    EventFlags::IN.union(EventFlags::OUT).union(EventFlags::RDHUP).union(EventFlags::ET);

/// The epoll, nested in tokio's while the thread is to be woken.
pub(super) struct OwnEpoll {
    epoll: Rc<OwnedFd>,
    events: RefCell<Vec<epoll::Event>>,
    pub(super) slots: RefCell<Slots>,
    pub(super) nesting: Rc<Nesting>,
    clock: Rc<dyn Now>,
    /// When the last turn was taken.
    turned: Cell<Nanos>,
}

/// A socket in the epoll, which its closing alone takes out of there: it is closed when this is dropped, before any other is opened.
pub(crate) struct OwnSocket {
    readiness: Rc<Readiness>,
    pub(super) token: u64,
    owner: Rc<OwnEpoll>,
}

impl OwnEpoll {
    pub(super) fn new(clock: Rc<dyn Now>) -> io::Result<Rc<Self>> {
        let epoll = Rc::new(epoll::create(epoll::CreateFlags::CLOEXEC)?);
        Ok(Rc::new(Self {
            nesting: Rc::new(Nesting::new(Rc::clone(&epoll))),
            epoll,
            events: RefCell::new(Vec::with_capacity(EVENTS)),
            slots: RefCell::default(),
            turned: Cell::new(clock.now()),
            clock,
        }))
    }

    /// A turn, where the last one was longer than `age` before `now`.
    pub(super) fn turn_after(&self, age: Nanos, now: Nanos) {
        if now.since(self.turned.get()) > age {
            self.turn();
        }
    }

    /// Takes all that has become ready, without waiting, and wakes whoever waits for it.
    pub(super) fn turn(&self) {
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

    /// Adds a socket. The thread is woken by the first one if `is_eager`, by all others as was set.
    pub(super) fn register(self: &Rc<Self>, fd: &OwnedFd, is_eager: bool) -> io::Result<OwnSocket> {
        let readiness = Rc::new(Readiness::default());
        let token = self.slots.borrow_mut().insert(Rc::clone(&readiness));
        let socket = OwnSocket { readiness, token, owner: Rc::clone(self) };
        epoll::add(&*self.epoll, fd, epoll::EventData::new_u64(token), INTEREST)?;
        if self.nesting.start() {
            self.spawn_driver();
            self.wake_thread(is_eager);
        }
        Ok(socket)
    }

    /// Nests the epoll in tokio's, so that the thread is woken, or takes it out of there.
    pub(super) fn wake_thread(&self, is_eager: bool) {
        if self.nesting.set(is_eager) {
            // What came while nobody was told is taken at once.
            self.turn();
        }
    }

    fn spawn_driver(self: &Rc<Self>) {
        let epoll = Rc::downgrade(self);
        let turn = move || {
            if let Some(epoll) = epoll.upgrade() {
                epoll.turn();
            }
        };
        tokio::task::spawn_local(drive(Rc::clone(&self.nesting), turn));
    }
}

impl OwnSocket {
    pub(super) fn readiness(&self) -> &Readiness {
        &self.readiness
    }

    pub(super) fn poll_readable(&self, cx: &mut Context<'_>) -> Poll<&Readiness> {
        self.readiness.poll_readable(cx).map(|()| &*self.readiness)
    }

    pub(super) fn poll_writable(&self, cx: &mut Context<'_>) -> Poll<&Readiness> {
        self.readiness.poll_writable(cx).map(|()| &*self.readiness)
    }
}

impl Drop for OwnEpoll {
    fn drop(&mut self) {
        self.nesting.end();
    }
}

impl Drop for OwnSocket {
    fn drop(&mut self) {
        self.owner.slots.borrow_mut().remove(self.token);
    }
}
