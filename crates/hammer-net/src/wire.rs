//! The instants and bytes of a connection, noted where they pass.

use std::cell::Cell;
use std::rc::Rc;

use hammer_measure::{Nanos, Now};

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
    /// The first byte of the answer was read (over HTTP/2: its headers).
    pub first_byte: Option<Nanos>,
    /// The last byte of the answer was read.
    pub done: Option<Nanos>,
}

/// What the socket of one connection saw; its operations read it.
pub(crate) struct Wire {
    pub(crate) clock: Rc<dyn Now>,
    sent: Cell<Option<Nanos>>,
    first_read: Cell<Option<Nanos>>,
    last_read: Cell<Nanos>,
    bytes_out: Cell<u64>,
    bytes_in: Cell<u64>,
}

impl Wire {
    pub(crate) fn new(clock: Rc<dyn Now>) -> Self {
        Self {
            clock,
            sent: Cell::new(None),
            first_read: Cell::new(None),
            last_read: Cell::new(Nanos::ZERO),
            bytes_out: Cell::new(0),
            bytes_in: Cell::new(0),
        }
    }

    /// Forgets the instants of the operation before.
    pub(crate) fn start(&self) {
        self.sent.set(None);
        self.first_read.set(None);
    }

    /// The first write of the operation, if any.
    pub(crate) fn sent(&self) -> Option<Nanos> {
        self.sent.get()
    }

    pub(crate) fn note_sent(&self, at: Nanos) {
        self.sent.set(Some(at));
    }

    /// The connection is established: its idle time starts.
    pub(crate) fn note_opened(&self, at: Nanos) {
        self.last_read.set(at);
    }

    /// Plain bytes, above TLS, were read.
    pub(crate) fn note_read(&self) {
        let now = self.clock.now();
        if self.first_read.get().is_none() {
            self.first_read.set(Some(now));
        }
        self.last_read.set(now);
    }

    /// The first read since [`Wire::start`], if any.
    pub(crate) fn first_read(&self) -> Option<Nanos> {
        self.first_read.get()
    }

    /// The last read.
    pub(crate) fn last_read(&self) -> Nanos {
        self.last_read.get()
    }

    pub(crate) fn add_out(&self, bytes: usize) {
        self.bytes_out.set(self.bytes_out.get() + bytes as u64);
    }

    pub(crate) fn add_in(&self, bytes: usize) {
        self.bytes_in.set(self.bytes_in.get() + bytes as u64);
    }

    /// Bytes (out, in) that nobody has taken yet.
    pub(crate) fn take_bytes(&self) -> (u64, u64) {
        (self.bytes_out.take(), self.bytes_in.take())
    }
}
