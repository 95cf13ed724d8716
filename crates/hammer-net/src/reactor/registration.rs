//! A socket where its readiness is known, and what is told of it there.

use std::cell::{Cell, Ref, RefCell};
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::rc::Rc;
use std::task::{Context, Poll, Waker, ready};

use rustix::io::Errno;
use rustix::net::{RecvFlags, recv};
use tokio::io::Interest;
use tokio::io::unix::{AsyncFd, AsyncFdReadyGuard};
use tokio::task::coop;

use super::own_epoll::{OwnEpoll, OwnSocket};
use super::readiness::Readiness;

/// A socket in an epoll.
pub(crate) struct Registration {
    // Before the descriptor, which is closed only when it is in no epoll of tokio's any more.
    place: RefCell<Place>,
    fd: Rc<OwnedFd>,
    /// Somebody waits to read, where the socket is now.
    is_awaited: Cell<bool>,
}

/// Which epoll it is in: one of the thread's own, or tokio's.
pub(crate) enum Place {
    Own(OwnSocket),
    Tokio(AsyncFd<Rc<OwnedFd>>),
}

/// Leave to call the kernel, and the place where its answer is noted.
pub(crate) enum Ready<'a> {
    Own(&'a Readiness),
    Tokio(AsyncFdReadyGuard<'a, Rc<OwnedFd>>),
    /// The kernel was asked, and said that there is something; its epoll will say so, too.
    Asked,
}

impl Registration {
    pub(super) fn in_own(fd: OwnedFd, own: &Rc<OwnEpoll>, is_eager: bool) -> io::Result<Self> {
        let place = Place::Own(own.register(&fd, is_eager)?);
        Ok(Self { place: RefCell::new(place), fd: Rc::new(fd), is_awaited: Cell::new(false) })
    }

    #[expect(
        deprecated,
        reason = "its successor is unsafe; an OwnedFd cannot close or change its descriptor"
    )]
    pub(super) fn in_tokio(fd: OwnedFd) -> io::Result<Self> {
        let fd = Rc::new(fd);
        let place = AsyncFd::with_interest(Rc::clone(&fd), Interest::READABLE | Interest::WRITABLE)?;
        Ok(Self { place: RefCell::new(Place::Tokio(place)), fd, is_awaited: Cell::new(false) })
    }

    /// Moves the socket from tokio's epoll to `own`, unless somebody waits, whose wake-up would get lost, or the kernel does not want
    /// to.
    pub(super) fn move_to(&self, own: &Rc<OwnEpoll>, is_eager: bool) {
        if self.is_awaited.get() || matches!(*self.place.borrow(), Place::Own(_)) {
            return;
        }
        if let Ok(socket) = own.register(&self.fd, is_eager) {
            self.place.replace(Place::Own(socket));
            // What it was ready for is known there from the first look on.
            own.turn();
        }
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    pub(crate) fn place(&self) -> Ref<'_, Place> {
        self.place.borrow()
    }

    /// Notes whether somebody waits to read.
    pub(crate) fn set_awaited(&self, is_awaited: bool) {
        self.is_awaited.set(is_awaited);
    }

    /// Whether the kernel knows more than its epoll has said so far. A turn of one's own epoll asks that for all its sockets.
    pub(crate) fn has_news(&self) -> bool {
        let flags = RecvFlags::PEEK | RecvFlags::DONTWAIT;
        matches!(*self.place.borrow(), Place::Tokio(_))
            && recv(&self.fd, &mut [0; 1], flags) != Err(Errno::AGAIN)
    }
}

impl Place {
    /// Waits until there may be something to read.
    pub(crate) fn poll_readable(&self, cx: &mut Context<'_>) -> Poll<io::Result<Ready<'_>>> {
        match self {
            Self::Own(own) => in_turn(cx, |cx| own.poll_readable(cx)),
            Self::Tokio(fd) => fd.poll_read_ready(cx).map_ok(Ready::Tokio),
        }
    }

    /// Waits until there may be room to write.
    pub(crate) fn poll_writable(&self, cx: &mut Context<'_>) -> Poll<io::Result<Ready<'_>>> {
        match self {
            Self::Own(own) => in_turn(cx, |cx| own.poll_writable(cx)),
            Self::Tokio(fd) => fd.poll_write_ready(cx).map_ok(Ready::Tokio),
        }
    }

    /// Whether nothing is known to be there to read, neither bytes nor an end nor an error; while nobody waits to read.
    pub(crate) fn is_quiet(&self) -> bool {
        match self {
            Self::Own(own) => own.readiness().is_quiet(),
            Self::Tokio(fd) => fd.poll_read_ready(&mut Context::from_waker(Waker::noop())).is_pending(),
        }
    }
}

impl Ready<'_> {
    /// The read took all that was there. More is another edge; the end of the stream is none if it came with the last one, and so
    /// a socket that is ending stays readable.
    pub(crate) fn note_short_read(&mut self) {
        match self {
            Self::Own(readiness) => readiness.note_short_read(),
            Self::Tokio(guard) => guard.clear_ready(),
            Self::Asked => {}
        }
    }

    /// The kernel said that there is nothing to read, whatever was known.
    pub(crate) fn note_nothing_to_read(&mut self) {
        match self {
            Self::Own(readiness) => readiness.note_nothing_to_read(),
            Self::Tokio(guard) => guard.clear_ready(),
            Self::Asked => {}
        }
    }

    /// The kernel said that it takes no more.
    pub(crate) fn note_full(&mut self) {
        match self {
            Self::Own(readiness) => readiness.note_full(),
            Self::Tokio(guard) => guard.clear_ready(),
            Self::Asked => {}
        }
    }

    /// Whether the socket may have an error to tell of.
    pub(crate) fn has_failed(&self) -> bool {
        match self {
            Self::Own(readiness) => readiness.has_failed(),
            Self::Tokio(guard) => guard.ready().is_write_closed(),
            Self::Asked => false,
        }
    }
}

/// Waits within the task's budget of tokio's, which comes back to others in between: a peer that sends faster than this thread
/// reads must not keep it from all else.
fn in_turn<'a>(
    cx: &mut Context<'_>,
    poll: impl FnOnce(&mut Context<'_>) -> Poll<&'a Readiness>,
) -> Poll<io::Result<Ready<'a>>> {
    let budget = ready!(coop::poll_proceed(cx));
    let readiness = ready!(poll(cx));
    budget.made_progress();
    Poll::Ready(Ok(Ready::Own(readiness)))
}
