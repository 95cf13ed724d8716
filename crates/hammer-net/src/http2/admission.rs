//! Who opens a stream on which connection of an endpoint, who dials, and who waits: by counts alone, without I/O or time.

use std::collections::VecDeque;
use std::task::{Context, Poll, Waker};

/// A connection within its [`Admission`]; none is used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ConnectionId(u64);

/// What whoever asks for a stream is given; it is given back by [`Admission::give_back`].
#[derive(Clone, Debug)]
pub(crate) enum Admitted<C> {
    /// A stream of this connection.
    Stream(ConnectionId, C),
    /// Leave to dial a connection.
    Dial,
}

/// The place of somebody who waits.
#[derive(Debug)]
pub(crate) struct Ticket(usize);

/// The connections `C` of an endpoint with the streams under way on each, the dials under way, and those who wait, in order.
///
/// Between any two calls:
/// - nobody waits while a connection has fewer streams under way than its limit, or fewer connections are open or dialled than
///   are allowed: every call that makes room ends with [`Admission::serve`];
/// - no stream was admitted beyond the limit that its connection had then (a limit that falls cuts nobody off);
/// - each stream and each dial that is counted belongs to one caller, or to one who waits and has not looked yet. Who is dropped
///   before he looks gives it back, and the next one has it.
pub(crate) struct Admission<C> {
    most_connections: usize,
    /// So many are opened before a connection has a second stream; streams are then spread evenly over all of them.
    spread: usize,
    dialling: usize,
    open: Vec<OpenStreams<C>>,
    last_id: u64,
    /// Places in `waiters`, who came first in front.
    queue: VecDeque<usize>,
    waiters: Vec<Waiter<C>>,
    unused: Vec<usize>,
}

/// The streams of one connection.
struct OpenStreams<C> {
    id: ConnectionId,
    connection: C,
    limit: usize,
    in_flight: usize,
    /// How often a stream of it was admitted, and, where it came later than others, of the busiest of those before.
    admitted: u64,
}

/// Somebody who waits, or an unused place.
struct Waiter<C> {
    admitted: Option<Admitted<C>>,
    waker: Option<Waker>,
}

impl<C: Clone> Admission<C> {
    /// No connection yet, of `most_connections`, of which there are to be `spread` before one has a second stream.
    pub(crate) fn new(most_connections: usize, spread: usize) -> Self {
        Self {
            most_connections,
            spread: spread.min(most_connections),
            dialling: 0,
            open: Vec::new(),
            last_id: 0,
            queue: VecDeque::new(),
            waiters: Vec::new(),
            unused: Vec::new(),
        }
    }

    /// Its open connections.
    pub(crate) fn connections(&self) -> impl Iterator<Item = &C> {
        self.open.iter().map(|streams| &streams.connection)
    }

    /// How many connections are open or being dialled.
    pub(crate) fn count(&self) -> usize {
        self.open.len() + self.dialling
    }

    /// A stream or leave to dial; or a place in the queue, where there is neither.
    pub(crate) fn ask(&mut self) -> Result<Admitted<C>, Ticket> {
        // Where somebody waits, there is neither: nobody is overtaken.
        self.admit().ok_or_else(|| self.enqueue())
    }

    /// What whoever has `ticket` was given. The ticket is void then.
    pub(crate) fn poll(&mut self, ticket: &Ticket, cx: &Context<'_>) -> Poll<Admitted<C>> {
        let waiter = &mut self.waiters[ticket.0];
        match waiter.admitted.take() {
            Some(admitted) => {
                self.unused.push(ticket.0);
                Poll::Ready(admitted)
            }
            None => {
                waiter.waker = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }

    /// Whoever has `ticket`, which is not void, waits no longer.
    pub(crate) fn abandon(&mut self, ticket: &Ticket) {
        self.unused.push(ticket.0);
        let waiter = &mut self.waiters[ticket.0];
        waiter.waker = None;
        match waiter.admitted.take() {
            Some(admitted) => self.give_back(&admitted),
            // Those who wait for longest are given up first, so that it stands in front.
            None => self.queue.retain(|place| *place != ticket.0),
        }
    }

    /// The stream is over, or the dial came to nothing.
    pub(crate) fn give_back(&mut self, admitted: &Admitted<C>) {
        match admitted {
            Admitted::Stream(id, _) => self.release(*id),
            Admitted::Dial => {
                self.dialling -= 1;
                self.serve();
            }
        }
    }

    /// A stream of `id` is over.
    pub(crate) fn release(&mut self, id: ConnectionId) {
        if let Some(streams) = self.find(id) {
            streams.in_flight -= 1;
            self.serve();
        }
    }

    /// The dial that somebody had leave for made `connection`, whose first stream is theirs.
    pub(crate) fn dialled(&mut self, connection: C, limit: usize) -> ConnectionId {
        self.dialling -= 1;
        self.insert(connection, limit, 1)
    }

    /// A connection that was made without leave.
    pub(crate) fn add(&mut self, connection: C, limit: usize) -> ConnectionId {
        self.insert(connection, limit, 0)
    }

    /// From now on `id` may have so many streams under way.
    pub(crate) fn set_limit(&mut self, id: ConnectionId, limit: usize) {
        if let Some(streams) = self.find(id) {
            streams.limit = limit;
            self.serve();
        }
    }

    /// No stream is admitted on `id` any more, and another connection may be dialled in its place.
    #[must_use = "what the end of a connection does must find the counts at rest"]
    pub(crate) fn retire(&mut self, id: ConnectionId) -> Option<C> {
        let place = self.open.iter().position(|streams| streams.id == id)?;
        let retired = self.open.remove(place);
        self.serve();
        Some(retired.connection)
    }

    /// Retires those of which `is_over` says so, told the streams under way.
    #[must_use = "what the end of a connection does must find the counts at rest"]
    pub(crate) fn retire_where(&mut self, is_over: impl Fn(&C, usize) -> bool) -> Vec<C> {
        let is_over = |streams: &mut OpenStreams<C>| is_over(&streams.connection, streams.in_flight);
        let retired: Vec<_> = self.open.extract_if(.., is_over).map(|streams| streams.connection).collect();
        if !retired.is_empty() {
            self.serve();
        }
        retired
    }

    /// The streams under way on `id`, unless it was retired.
    pub(crate) fn in_flight(&self, id: ConnectionId) -> Option<usize> {
        self.open.iter().find(|streams| streams.id == id).map(|streams| streams.in_flight)
    }

    fn insert(&mut self, connection: C, limit: usize, in_flight: usize) -> ConnectionId {
        self.last_id += 1;
        let id = ConnectionId(self.last_id);
        let admitted = self.open.iter().map(|streams| streams.admitted).max().unwrap_or(0);
        self.open.push(OpenStreams { id, connection, limit, in_flight, admitted });
        self.serve();
        id
    }

    fn find(&mut self, id: ConnectionId) -> Option<&mut OpenStreams<C>> {
        self.open.iter_mut().find(|streams| streams.id == id)
    }

    fn enqueue(&mut self) -> Ticket {
        let place = self.unused.pop().unwrap_or_else(|| {
            self.waiters.push(Waiter { admitted: None, waker: None });
            self.waiters.len() - 1
        });
        self.queue.push_back(place);
        Ticket(place)
    }

    /// Counts a stream of the idlest connection, or a dial, for whoever asks.
    fn admit(&mut self) -> Option<Admitted<C>> {
        let (count, is_spread) = (self.count(), self.spread > 1);
        let free = self.open.iter_mut().filter(|streams| streams.in_flight < streams.limit);
        // One that streams are not spread over is the first with as few.
        let idlest =
            free.min_by_key(|streams| (streams.in_flight, if is_spread { streams.admitted } else { 0 }));
        if let Some(streams) = idlest.filter(|idlest| idlest.in_flight == 0 || count >= self.spread) {
            streams.in_flight += 1;
            streams.admitted += 1;
            return Some(Admitted::Stream(streams.id, streams.connection.clone()));
        }
        (self.count() < self.most_connections).then(|| {
            self.dialling += 1;
            Admitted::Dial
        })
    }

    /// Gives what there is to those who wait, in order.
    fn serve(&mut self) {
        while let Some(&place) = self.queue.front() {
            let Some(admitted) = self.admit() else { return };
            self.queue.pop_front();
            let waiter = &mut self.waiters[place];
            waiter.admitted = Some(admitted);
            if let Some(waker) = waiter.waker.take() {
                waker.wake();
            }
        }
    }
}

#[cfg(test)]
mod tests;
