//! Reading a socket, and when what was read arrived.

use std::io::{self, IoSliceMut};
use std::os::fd::{AsRawFd as _, BorrowedFd};
use std::rc::Rc;

use hammer_measure::{Nanos, Now, WallNanos};
use nix::sys::socket::{ControlMessageOwned, MsgFlags, RecvMsg, recvmsg};
use nix::sys::time::TimeSpec;

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
}

impl Receiver {
    pub(crate) fn new(clock: Rc<dyn Now>) -> Self {
        let arrivals = ArrivalClock::new(&*clock);
        Self { clock, arrivals, control: nix::cmsg_space!(TimeSpec) }
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
