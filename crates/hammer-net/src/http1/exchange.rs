//! One request and its answer on a connection.

use std::io;
use std::task::{Context, Poll, ready};

use hammer_measure::{Nanos, PeerExchange};

use super::answer_reader::{AnswerReader, AtClose};
use super::connection::Http1Connection;
use super::fault::AnswerFault;
use super::outgoing::Outgoing;
use crate::attempt::{Broken, may_repeat};
use crate::config::Resend;
use crate::context::ClientContext;
use crate::failure::{Failure, FailureKind, words};
use crate::reactor::Demand;
use crate::receive::Received;
use crate::request::{Answer, Request};
use crate::resolve::address_of_peer;
use crate::trouble::tells_of_trouble;

/// A request under way. Whoever drops it halfway drops its connection, too; the answer holds the instants and bytes until then.
pub(super) struct Http1Exchange<'a> {
    connection: &'a mut Http1Connection,
    context: &'a ClientContext,
    host: &'a str,
    request: &'a Request,
    answer: &'a mut Answer,
    outgoing: Outgoing,
    reader: AnswerReader,
    /// What came last of a success that is whole before its request has left: then the rest is still to be read by the server (RFC
    /// 9112, section 9.3, has a client stop for errors alone).
    early: Option<Received>,
    /// Of an answer that is not whole: a full window would stop the server until somebody reads. Or of one whose arrival nobody tells
    /// but who reads it, and of one that may be none, where it matters how soon its connection was closed.
    awaited: Option<Demand>,
    with_peer: PeerExchange,
}

impl<'a> Http1Exchange<'a> {
    /// An exchange of what is `outgoing`.
    pub(super) fn new(
        connection: &'a mut Http1Connection,
        context: &'a ClientContext,
        host: &'a str,
        request: &'a Request,
        outgoing: Outgoing,
        answer: &'a mut Answer,
    ) -> Self {
        let reader = AnswerReader::new(request, context.config.response_limit);
        let may_be_repeated = connection.is_used && context.config.resend == Resend::Idle;
        let is_awaited = may_be_repeated || context.has_large_answers.get() || !context.has_stamps.get();
        let awaited = is_awaited.then(|| context.reactor.demand());
        let with_peer = connection.open.exchange();
        answer.wire.peer = address_of_peer(connection.open.peer());
        Self { connection, context, host, request, answer, outgoing, reader, early: None, awaited, with_peer }
    }

    /// Ready when the answer is whole, with whether the connection can serve another request.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<bool, Broken>> {
        let polled = self.poll_both(cx);
        self.connection.note_bytes(self.answer);
        polled
    }

    fn poll_both(&mut self, cx: &mut Context<'_>) -> Poll<Result<bool, Broken>> {
        if !self.outgoing.is_done() {
            let written = self.outgoing.poll(cx, &mut self.connection.stream, self.request, self.context);
            self.answer.wire.sent = self.answer.wire.sent.or(self.outgoing.sent);
            match written {
                // A server that has no wish to read on may have said so.
                Poll::Ready(Err(error)) if self.outgoing.sent.is_none() => {
                    let failure = self.lost(&error);
                    return Poll::Ready(Err(self.broken(failure)));
                }
                _ => {}
            }
        }
        match self.early {
            Some(received) if self.outgoing.is_done() => Poll::Ready(Ok(self.finish(received))),
            Some(_) => Poll::Pending,
            None => self.poll_answer(cx),
        }
    }

    fn poll_answer(&mut self, cx: &mut Context<'_>) -> Poll<Result<bool, Broken>> {
        loop {
            let mut buffer = self.context.buffer.borrow_mut();
            let received = match ready!(self.connection.stream.poll_recv(cx, &mut buffer)) {
                Ok(received) => received,
                Err(error) => return Poll::Ready(self.failed(&error)),
            };
            if received.bytes == 0 {
                return Poll::Ready(self.closed(received));
            }
            if let Err(failure) = self.note_arrival(received) {
                return Poll::Ready(Err(Broken::Final(failure)));
            }
            let fed = self.reader.feed(&buffer[..received.bytes], self.request, self.answer);
            if let Err(fault) = fed {
                return Poll::Ready(Err(Broken::Final(self.faulty(&fault, &buffer[..received.bytes]))));
            }
            drop(buffer);
            if self.reader.is_whole() && !self.outgoing.is_done() && self.answer.status.is_success() {
                self.early = Some(received);
                return Poll::Pending;
            }
            if self.reader.is_whole() {
                return Poll::Ready(Ok(self.finish(received)));
            }
            self.awaited.get_or_insert_with(|| self.context.reactor.demand());
        }
    }

    fn note_arrival(&mut self, received: Received) -> Result<(), Failure> {
        let sent = self.outgoing.sent;
        if received.is_stamped && sent.is_none_or(|sent| received.arrived + UNSURE < sent) {
            return Err(self.unasked());
        }
        self.connection.idle_since = received.arrived;
        let wire = &mut self.answer.wire;
        if wire.first_byte.is_none() {
            wire.first_byte = Some(received.arrived);
            let log = &self.context.log;
            log.answered_first_byte(received.arrived.since(sent.unwrap_or(received.arrived)));
            self.context.has_stamps.set(received.is_stamped);
            if !received.is_stamped {
                log.unstamped();
            }
        }
        Ok(())
    }

    /// The answer is whole, with what was `received` last.
    fn finish(&mut self, received: Received) -> bool {
        self.answer.wire.done = Some(received.arrived);
        let sent = self.outgoing.sent.unwrap_or(received.arrived);
        self.with_peer.answered(received.arrived.since(sent), tells_of_trouble(self.answer));
        self.answer.wire.read = received.is_stamped.then_some(received.read);
        if self.awaited.is_some() && self.answer.bytes_in > LARGE_ANSWER {
            self.context.has_large_answers.set(true);
        }
        self.outgoing.has_left() && self.reader.is_kept() && !self.request.headers.lines().closes
    }

    /// The peer sends no more.
    fn closed(&mut self, received: Received) -> Result<bool, Broken> {
        match self.reader.closed() {
            AtClose::Whole => Ok(self.finish(received)),
            AtClose::Absent => {
                let detail = format!("get an answer from {}: {CLOSED} before any of it was there", self.host);
                Err(self.broken(Failure::new(FailureKind::Closed, detail)))
            }
            AtClose::Truncated => Err(self.truncated(FailureKind::Closed, CLOSED)),
        }
    }

    fn failed(&mut self, error: &io::Error) -> Result<bool, Broken> {
        let failure = self.lost(error);
        Err(match (self.reader.closed(), failure.kind) {
            (AtClose::Absent, _) => self.broken(failure),
            (_, end @ (FailureKind::Closed | FailureKind::Reset | FailureKind::Tls)) => {
                let how = match error.kind() {
                    io::ErrorKind::UnexpectedEof => CLOSED_WITHOUT_NOTIFY.into(),
                    _ => words(error),
                };
                self.truncated(end, &how)
            }
            _ => Broken::Final(failure),
        })
    }

    /// The connection came to its `end` within the answer.
    fn truncated(&self, end: FailureKind, how: &str) -> Broken {
        self.count_end(end);
        let detail = format!("get an answer from {}: {how} before all of it was there", self.host);
        Broken::Final(Failure::new(FailureKind::Truncated, detail))
    }

    /// Whether the peer ended the connection, which is counted then.
    fn count_end(&self, end: FailureKind) -> bool {
        match end {
            FailureKind::Closed => self.context.log.closed(),
            FailureKind::Reset => self.context.log.reset(),
            FailureKind::Tls => {
                // A server of TLS 1.3 that refuses the client's certificate says so behind the handshake, and closes.
                self.context.log.closed();
                return false;
            }
            _ => return false,
        }
        true
    }

    /// What may be done about an exchange that ended before any byte of an answer.
    fn broken(&mut self, failure: Failure) -> Broken {
        let sent = self.outgoing.sent;
        let is_end = matches!(failure.kind, FailureKind::Closed | FailureKind::Reset);
        if is_end && sent.is_none() && self.connection.is_used {
            self.context.log.closed_idle();
            self.with_peer.unsent();
            return Broken::Unsent(failure);
        }
        let has_ended = self.count_end(failure.kind);
        match has_ended && self.connection.is_used && may_repeat(self.context, &self.request.method, sent) {
            true => Broken::Idle(failure),
            false => Broken::Final(failure),
        }
    }

    #[cold]
    fn lost(&self, error: &io::Error) -> Failure {
        Failure::of_exchange(self.host, error, FailureKind::Protocol)
    }

    /// `fault` is found in what came last, or in that behind what there was of the head.
    #[cold]
    fn faulty(&self, fault: &AnswerFault, last: &[u8]) -> Failure {
        let start = self.reader.start_of(last);
        let seen = matches!(fault, AnswerFault::Head(_) | AnswerFault::Status(_) | AnswerFault::Chunk);
        let seen = seen.then(|| start[..start.len().min(MOST_SEEN)].into());
        let detail = format!("get an answer from {}: {fault}", self.host);
        Failure { seen, ..Failure::new(fault.kind(), detail) }
    }

    #[cold]
    fn unasked(&self) -> Failure {
        let detail = format!("get an answer from {}: it sent one before it was asked", self.host);
        Failure::new(FailureKind::Protocol, detail)
    }
}

/// What the run's clock and the kernel's stamp may differ by, where a thread loses its core between two looks at its clocks.
const UNSURE: Nanos = Nanos::from_micros(50);
/// More than a window of the kernel's takes to begin with, in bytes: a server that says so much waits for its reader.
const LARGE_ANSWER: u64 = 32 << 10;
/// Bytes that are kept of what is no HTTP.
const MOST_SEEN: usize = 100;

/// How TLS ends without its own word for it (RFC 8446 section 6.1).
const CLOSED_WITHOUT_NOTIFY: &str = "the connection was closed without a close_notify of TLS";
const CLOSED: &str = "the connection was closed";
