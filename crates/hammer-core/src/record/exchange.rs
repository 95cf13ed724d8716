//! What is known of an exchange on the wire.

use std::net::SocketAddr;

use hammer_measure::{Nanos, SampledWire};

/// One exchange with the server, as far as it came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exchange {
    /// The first byte handed to an established connection or granted stream; `None` when none ever was.
    pub sent: Option<Nanos>,
    /// The last byte of the answer arrived: the kernel had it. Or the failure; `None` while it is under way.
    pub done: Option<Nanos>,
    /// The last byte of the answer was read, not before it arrived; `None` where none was, or nobody knows when it arrived.
    pub read: Option<Nanos>,
    /// The connection was ready that was dialled for it; `None` where one was there, or none was made.
    pub connected: Option<Nanos>,
    /// The first byte of the answer arrived.
    pub first_byte: Option<Nanos>,
    /// Whose connection carried it.
    pub peer: Option<SocketAddr>,
    /// Bytes handed to connections.
    pub bytes_out: u64,
    /// Bytes read from connections.
    pub bytes_in: u64,
    /// Its bytes left this machine twice.
    pub resent: bool,
    /// It went over to another connection before anything of it had left.
    pub redialled: bool,
}

impl Exchange {
    /// How long the kernel had the answer before it was read: nobody's lateness but the generator's own.
    pub fn read_lag(&self) -> Option<Nanos> {
        Some(self.read?.since(self.done?))
    }

    /// What of it is kept with a sampled operation.
    pub(crate) fn sampled(&self) -> SampledWire {
        let Self { sent, done: _, read, connected, first_byte, peer, bytes_out, bytes_in, resent, redialled } =
            *self;
        SampledWire { connected, sent, first_byte, read, peer, bytes_out, bytes_in, resent, redialled }
    }
}
