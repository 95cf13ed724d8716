//! The exchanges of an operation put together: from which instant to which it lasted, and what of that lay in none of them.

use hammer_measure::timing::FlowTimes;
use hammer_measure::{Nanos, Timing};

use super::exchange::Exchange;

/// What an operation did until now. Used again for the next; it keeps its memory.
#[derive(Debug, Default)]
pub(super) struct Flow {
    started: Nanos,
    /// The end of the last exchange, or of the last thing computed.
    done: Nanos,
    /// When the last of what it got was at hand: an answer that arrived is not, before it was read.
    at_hand: Nanos,
    read_lag: Option<Nanos>,
    spans: Vec<Span>,
    computed: bool,
    wire: Exchange,
}

/// One exchange: it had its connection at `sent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    started: Nanos,
    sent: Option<Nanos>,
    done: Nanos,
}

impl Flow {
    pub(super) fn start(&mut self, at: Nanos) {
        self.started = at;
        self.done = at;
        self.at_hand = at;
        self.read_lag = None;
        self.spans.clear();
        self.computed = false;
        self.wire = Exchange::default();
    }

    /// Whether it has had neither an exchange nor anything computed.
    pub(super) fn is_empty(&self) -> bool {
        self.spans.is_empty() && !self.computed
    }

    /// Its start, where nothing has happened since.
    pub(super) fn untouched_since(&self) -> Option<Nanos> {
        self.is_empty().then_some(self.started)
    }

    pub(super) fn exchanged(&mut self, started: Nanos, exchange: &Exchange, done: Nanos) {
        self.wire.sent = self.wire.sent.or(exchange.sent);
        self.wire.connected = self.wire.connected.or(exchange.connected);
        self.wire.first_byte = self.wire.first_byte.or(exchange.first_byte);
        self.wire.read = self.wire.read.max(exchange.read);
        self.wire.peer = self.wire.peer.or(exchange.peer);
        self.wire.bytes_out += exchange.bytes_out;
        self.wire.bytes_in += exchange.bytes_in;
        self.wire.resent |= exchange.resent;
        self.wire.redialled |= exchange.redialled;
        self.done = self.done.max(done);
        self.at_hand = self.at_hand.max(exchange.read.unwrap_or(done)).max(done);
        if let Some(lag) = exchange.read_lag() {
            self.read_lag = Some(self.read_lag.unwrap_or_default() + lag);
        }
        self.spans.push(Span { started, sent: exchange.sent, done });
    }

    pub(super) fn computed_until(&mut self, at: Nanos) {
        self.computed = true;
        self.ended(at);
    }

    /// It was cut off at `at`, or has had no exchange by then.
    pub(super) fn ended(&mut self, at: Nanos) {
        self.done = self.done.max(at);
        self.at_hand = self.at_hand.max(at);
    }

    /// When whoever waits for it has all of it: its end, or the instant at which its last answer was read.
    pub(super) fn at_hand(&self) -> Nanos {
        self.at_hand
    }

    /// How long the kernel had its answers before they were read, added up over its exchanges.
    pub(super) fn read_lag(&self) -> Option<Nanos> {
        self.read_lag
    }

    /// The first of its exchanges that came to each instant, the bytes of all of them, and whether one of them was sent twice or went over to
    /// another connection.
    pub(super) fn wire(&self) -> &Exchange {
        &self.wire
    }

    /// `timing`, finished.
    pub(super) fn timing(&mut self, timing: Timing) -> Timing {
        match self.spans.as_slice() {
            [] if !self.computed => timing.finished(timing.start(), self.done),
            [only] if !self.computed && only.done == self.done => {
                timing.finished(only.sent.unwrap_or(timing.start()), only.done)
            }
            _ => timing.finished_flow(self.times(timing.start())),
        }
    }

    fn times(&mut self, start: Nanos) -> FlowTimes {
        let exchanges = covered(&mut self.spans, |span| Some((span.started.max(start), span.done)));
        let service = covered(&mut self.spans, |span| Some((span.sent?.max(start), span.done)));
        FlowTimes {
            connection: exchanges.since(service),
            service,
            client: self.done.since(start).since(exchanges),
        }
    }
}

/// How much time the spans cover, where `part` says from when to when each counts.
fn covered(spans: &mut [Span], part: impl Fn(&Span) -> Option<(Nanos, Nanos)>) -> Nanos {
    spans.sort_unstable_by_key(|span| part(span));
    let mut covered = Nanos::ZERO;
    let mut until = Nanos::ZERO;
    for (from, to) in spans.iter().filter_map(part) {
        covered += to.since(from.max(until));
        until = until.max(to);
    }
    covered
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exchange(sent: u64) -> Exchange {
        Exchange { sent: Some(Nanos(sent)), bytes_out: 1, bytes_in: 2, ..Exchange::default() }
    }

    /// The timing of a flow that was intended at 0, released at 1 and started at 3.
    fn timing(flow: &mut Flow) -> Timing {
        flow.timing(Timing::new(Nanos(0), Nanos(1)).started(Nanos(3)))
    }

    fn started() -> Flow {
        let mut flow = Flow::default();
        flow.start(Nanos(3));
        flow
    }

    fn parts(timing: &Timing) -> [u64; 3] {
        let client = timing.client_time().expect("a flow has client time");
        let [lag, backlog] = [timing.dispatch_lag(), timing.backlog_wait()];
        let sum = lag + backlog + timing.connection_wait() + timing.service_time() + client;
        assert_eq!(sum, timing.response_time(), "the six durations add up");
        [timing.connection_wait().0, timing.service_time().0, client.0]
    }

    #[test]
    fn a_single_exchange_leaves_no_client_time() {
        let mut flow = started();
        flow.exchanged(Nanos(3), &exchange(5), Nanos(9));
        let timing = timing(&mut flow);
        assert_eq!(timing.client_time(), None);
        assert_eq!((timing.connection_wait(), timing.service_time()), (Nanos(2), Nanos(4)));
        assert_eq!(timing.response_time(), Nanos(9));
    }

    #[test]
    fn time_between_exchanges_is_the_clients() {
        let mut flow = started();
        flow.exchanged(Nanos(3), &exchange(5), Nanos(9));
        flow.exchanged(Nanos(20), &exchange(21), Nanos(30));
        assert_eq!(parts(&timing(&mut flow)), [3, 13, 11]);
        assert_eq!((flow.wire().bytes_out, flow.wire().bytes_in), (2, 4));
    }

    #[test]
    fn exchanges_that_overlap_count_once() {
        let mut flow = started();
        // The one that ended first started last; a wait for a connection beside an answer is no wait.
        flow.exchanged(Nanos(6), &exchange(8), Nanos(10));
        flow.exchanged(Nanos(3), &exchange(5), Nanos(12));
        flow.exchanged(Nanos(11), &exchange(15), Nanos(16));
        assert_eq!(parts(&timing(&mut flow)), [2 + 3, 7 + 1, 0]);
    }

    #[test]
    fn computing_after_the_last_answer_belongs_to_the_operation() {
        let mut flow = started();
        flow.exchanged(Nanos(3), &exchange(4), Nanos(9));
        flow.computed_until(Nanos(29));
        assert_eq!(parts(&timing(&mut flow)), [1, 5, 20]);
        flow.start(Nanos(3));
        flow.computed_until(Nanos(5));
        assert_eq!(parts(&timing(&mut flow)), [0, 0, 2], "what was used before is forgotten");
    }

    #[test]
    fn what_was_never_sent_waited_for_its_connection() {
        let mut flow = started();
        let unsent = Exchange::default();
        flow.exchanged(Nanos(3), &exchange(4), Nanos(9));
        flow.exchanged(Nanos(10), &unsent, Nanos(40));
        assert_eq!(parts(&timing(&mut flow)), [1 + 30, 5, 1]);
    }

    #[test]
    fn what_was_read_last_is_at_hand_then_and_each_answer_adds_to_the_lag() {
        let mut flow = started();
        assert_eq!((flow.at_hand(), flow.read_lag()), (Nanos(3), None));
        let read = |done, read| Exchange { done: Some(Nanos(done)), read: Some(Nanos(read)), ..exchange(4) };
        flow.exchanged(Nanos(3), &read(9, 12), Nanos(9));
        flow.exchanged(Nanos(3), &read(8, 30), Nanos(8));
        assert_eq!((flow.at_hand(), flow.read_lag()), (Nanos(30), Some(Nanos(3 + 22))));
        flow.exchanged(Nanos(31), &Exchange::default(), Nanos(40));
        assert_eq!((flow.at_hand(), flow.read_lag()), (Nanos(40), Some(Nanos(3 + 22))), "a failure has none");
        flow.computed_until(Nanos(50));
        assert_eq!(flow.at_hand(), Nanos(50));
    }

    #[test]
    fn a_flow_that_was_cut_off_between_exchanges_lasts_until_then() {
        let mut flow = started();
        flow.exchanged(Nanos(3), &exchange(4), Nanos(9));
        flow.ended(Nanos(100));
        assert_eq!(parts(&timing(&mut flow)), [1, 5, 91]);
        assert_eq!(timing(&mut flow).response_time(), Nanos(100));
    }
}
