//! The instants and bytes of a connection, noted where they pass.

use std::cell::Cell;
use std::net::SocketAddr;
use std::rc::Rc;

use hammer_measure::{Nanos, Now};

use crate::receive::Received;

/// The instants of one operation on the wire. `None`: it did not come to that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WireTimes {
    /// The dial started; `None` on a connection that was there already.
    pub dial_started: Option<Nanos>,
    /// TCP was connected.
    pub connected: Option<Nanos>,
    /// The TLS handshake was done.
    pub tls_done: Option<Nanos>,
    /// The first byte was handed to an established connection, or to a granted stream.
    pub sent: Option<Nanos>,
    /// The first byte of the answer arrived (over HTTP/2: its headers).
    pub first_byte: Option<Nanos>,
    /// The last byte of the answer arrived.
    pub done: Option<Nanos>,
    /// The last byte of the answer was read; `None` where the kernel did not say when it had arrived, and `done` is that instant.
    pub read: Option<Nanos>,
    /// Whose connection carries it.
    pub peer: Option<SocketAddr>,
}

/// What passed on a connection that several operations share.
pub(crate) struct Wire {
    pub(crate) clock: Rc<dyn Now>,
    last_read: Cell<Received>,
    bytes: Cell<(u64, u64)>,
    taken: Cell<(u64, u64)>,
    written: Cell<u64>,
}

impl Wire {
    /// Of a connection that was established at `opened`.
    pub(crate) fn new(clock: Rc<dyn Now>, opened: Nanos) -> Self {
        let last_read = Received { arrived: opened, read: opened, ..Received::default() };
        Self {
            clock,
            last_read: Cell::new(last_read),
            bytes: Cell::default(),
            taken: Cell::default(),
            written: Cell::default(),
        }
    }

    /// Plain bytes, above TLS, were read.
    pub(crate) fn note_read(&self, received: Received) {
        self.last_read.set(received);
    }

    /// What the last read brought; when the connection was established where there was none.
    pub(crate) fn last_read(&self) -> Received {
        self.last_read.get()
    }

    /// More bytes, above TLS, were taken to be written. Over TLS they may not have left yet; those that were not taken cannot.
    pub(crate) fn note_written(&self, bytes: usize) {
        self.written.set(self.written.get() + bytes as u64);
    }

    /// Bytes, above TLS, that were taken to be written so far.
    pub(crate) fn written(&self) -> u64 {
        self.written.get()
    }

    /// That many bytes went out and came in until now.
    pub(crate) fn note_bytes(&self, out: u64, in_: u64) {
        self.bytes.set((out, in_));
    }

    /// Bytes (out, in) that nobody has taken yet.
    pub(crate) fn take_bytes(&self) -> (u64, u64) {
        let (bytes, taken) = (self.bytes.get(), self.taken.get());
        self.taken.set(bytes);
        (bytes.0 - taken.0, bytes.1 - taken.1)
    }
}
