//! Reading a socket, and when what was read arrived.

use std::io::{self, IoSliceMut};
use std::os::fd::{AsRawFd as _, BorrowedFd, OwnedFd};
use std::rc::Rc;

use hammer_measure::{Nanos, Now, WallNanos};
use nix::sys::socket::{ControlMessageOwned, MsgFlags, RecvMsg, recvmsg, setsockopt, sockopt};
use nix::sys::time::TimeSpec;
use rustix::net::{self, AddressFamily, SocketFlags, SocketType};

use crate::arrival::ArrivalClock;

/// What one read of a socket brought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Received {
    /// How many bytes were read; none is the end of the stream.
    pub bytes: usize,
    /// When the kernel received the last of them; `read` where it did not say.
    pub arrived: Nanos,
    /// When they were read.
    pub read: Nanos,
    /// Whether `arrived` is from the kernel. It never is at the end of the stream.
    pub is_stamped: bool,
}

/// The reads of one thread.
pub(crate) struct Receiver {
    clock: Rc<dyn Now>,
    arrivals: ArrivalClock,
    /// Room for one control message, a stamp.
    control: Vec<u8>,
    /// The kernel stamps nothing for anybody until the first socket asks for it, and stops with the last: both take long, and so
    /// this one asks as long as others may come and go.
    _asking: Option<OwnedFd>,
}

impl Receiver {
    pub(crate) fn new(clock: Rc<dyn Now>) -> Self {
        let arrivals = ArrivalClock::new(&*clock);
        let asking =
            net::socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None).ok();
        let asking = asking.filter(|socket| ask_for_stamps(socket).is_ok());
        Self { clock, arrivals, control: nix::cmsg_space!(TimeSpec), _asking: asking }
    }

    /// One `recvmsg` without waiting.
    pub(crate) fn receive(&mut self, socket: BorrowedFd<'_>, buf: &mut [u8]) -> io::Result<Received> {
        let mut room = [IoSliceMut::new(buf)];
        let control = Some(&mut self.control[..]);
        let message = recvmsg::<()>(socket.as_raw_fd(), &mut room, control, MsgFlags::MSG_DONTWAIT)?;
        let read = self.clock.now();
        let instant = self.arrivals.instant_of(stamp_of(&message), read, &*self.clock);
        Ok(Received {
            bytes: message.bytes,
            arrived: instant.unwrap_or(read),
            read,
            is_stamped: instant.is_some(),
        })
    }
}

/// What the kernel receives for `socket` has a stamp from now on.
pub(crate) fn ask_for_stamps(socket: &OwnedFd) -> nix::Result<()> {
    setsockopt(socket, sockopt::ReceiveTimestampns, &true)
}

/// When the last byte of the message arrived, by the wall clock.
fn stamp_of(message: &RecvMsg<'_, '_, ()>) -> Option<WallNanos> {
    message.cmsgs().ok()?.find_map(|control| match control {
        ControlMessageOwned::ScmTimestampns(stamp) => {
            let seconds = u64::try_from(stamp.tv_sec()).ok()?;
            Some(WallNanos(seconds * 1_000_000_000 + u64::try_from(stamp.tv_nsec()).ok()?))
        }
        _ => None,
    })
}
