//! HTTP/2 (RFC 9113) as a server that only wants to know who asks: frames in, and whatever a case says out.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use crate::case::{Case, Speaks};
use crate::frames::{self, DATA, END, Frame, HEADERS, LAST_STREAM, PING, RST_STREAM, SETTINGS};
use crate::reply::Asked;
use crate::server::Connection;

mod away;
mod ends;
mod limits;
mod policies;
mod streams;

/// Reads requests, and replies to one after another as the case says, for as long as both sides go on.
pub(crate) async fn serve(mut connection: Connection, case: &'static Case) {
    let Speaks::Http2 { greeting, initial, holds } = case.speaks else { return };
    let greeting = greeting(connection.number);
    let mut session = Session::new(initial);
    session.note_said(&greeting);
    if !connection.write(&greeting).await || !session.read_preface(&mut connection).await {
        return;
    }
    loop {
        while let Some(frame) = frames::take(&mut session.buffer) {
            let echo = session.take(&frame, &connection);
            if !connection.write(&echo).await {
                return;
            }
        }
        let is_due = session.waiting.len() >= holds;
        if is_due || (!session.waiting.is_empty() && !session.more_comes(&mut connection).await) {
            if !session.reply(&mut connection, case).await {
                return;
            }
        } else if session.waiting.is_empty() && !connection.read(&mut session.buffer).await {
            return;
        }
    }
}

/// What a server knows of one connection.
struct Session {
    buffer: Vec<u8>,
    /// Requests that are not whole, by stream.
    open: BTreeMap<u32, Open>,
    /// Whole requests, in the order of their last bytes.
    waiting: VecDeque<Waiting>,
    /// Requests that were replied to.
    replied: usize,
    /// How many streams it allows, by the last SETTINGS that were acknowledged.
    limit: u32,
    /// What SETTINGS allow that are not acknowledged yet.
    announced: VecDeque<Option<u32>>,
    is_acknowledged: bool,
    /// The last stream of the last GOAWAY.
    last: u32,
}

/// A request that came in as far as its head.
struct Open {
    body: Vec<u8>,
    /// Whether the streams that were open then, with its own, were no more than were allowed.
    is_within_limit: bool,
}

/// A whole request.
struct Waiting {
    stream: u32,
    seq: u64,
    head: Open,
}

impl Session {
    fn new(limit: u32) -> Self {
        Self {
            buffer: Vec::new(),
            open: BTreeMap::new(),
            waiting: VecDeque::new(),
            replied: 0,
            limit,
            announced: VecDeque::new(),
            is_acknowledged: false,
            last: LAST_STREAM,
        }
    }

    /// Section 3.4.
    async fn read_preface(&mut self, connection: &mut Connection) -> bool {
        while self.buffer.len() < PREFACE.len() {
            if !connection.read(&mut self.buffer).await {
                return false;
            }
        }
        self.buffer.drain(..PREFACE.len()).eq(PREFACE.iter().copied())
    }

    /// Whether something comes in before whoever waits has waited long enough for company.
    async fn more_comes(&mut self, connection: &mut Connection) -> bool {
        let read = tokio::time::timeout(FOR_COMPANY, connection.read(&mut self.buffer));
        read.await.unwrap_or(false)
    }

    /// Takes `frame`; what is said back at once, as the protocol wants.
    fn take(&mut self, frame: &Frame, connection: &Connection) -> Vec<u8> {
        match frame.kind {
            HEADERS => self.open(frame.stream),
            DATA => self.data(frame),
            RST_STREAM => drop(self.open.remove(&frame.stream)),
            SETTINGS if frame.has(END) => self.acknowledged(),
            SETTINGS => return frames::frame(SETTINGS, END, 0, b""),
            PING if !frame.has(END) => return frames::frame(PING, END, 0, &frame.payload),
            _ => {}
        }
        if matches!(frame.kind, HEADERS | DATA) && frame.has(END) {
            self.whole(frame.stream, connection);
        }
        Vec::new()
    }

    fn data(&mut self, frame: &Frame) {
        if let Some(one) = self.open.get_mut(&frame.stream) {
            one.body.extend(&frame.payload);
        }
    }

    fn acknowledged(&mut self) {
        let is_first = !std::mem::replace(&mut self.is_acknowledged, true);
        match self.announced.pop_front().flatten() {
            Some(limit) => self.limit = limit,
            // SETTINGS that say nothing of it leave it as it is, and to begin with there is no limit (section 6.5.2).
            None if is_first => self.limit = u32::MAX,
            None => {}
        }
    }

    fn open(&mut self, stream: u32) {
        let open = self.open.len() + self.waiting.len() + 1;
        let is_within_limit = open <= self.limit as usize;
        self.open.insert(stream, Open { body: Vec::new(), is_within_limit });
    }

    fn whole(&mut self, stream: u32, connection: &Connection) {
        let Some(head) = self.open.remove(&stream) else { return };
        let seq = String::from_utf8_lossy(&head.body).trim_start_matches("seq ").parse().unwrap();
        if stream > self.last {
            return connection.ledger.note_refused(seq);
        }
        self.waiting.push_back(Waiting { stream, seq, head });
    }

    /// Replies to the request that has waited longest.
    async fn reply(&mut self, connection: &mut Connection, case: &Case) -> bool {
        let Some(first) = self.waiting.pop_front() else { return true };
        let asked = Asked {
            seq: first.seq,
            nth: self.replied,
            connection: connection.number,
            stream: first.stream,
            is_within_limit: first.head.is_within_limit,
            is_acknowledged: self.is_acknowledged,
        };
        let reply = (case.reply)(&asked);
        self.replied += 1;
        self.note_said(&reply.bytes);
        self.note_said(&reply.later);
        connection.ledger.note_read(first.seq, &reply);
        for unread in self.waiting.iter().filter(|waiting| waiting.stream > self.last) {
            connection.ledger.note_refused(unread.seq);
        }
        self.waiting.retain(|waiting| waiting.stream <= self.last);
        connection.say(first.seq, &reply).await
    }

    /// SETTINGS and GOAWAY among `bytes` bind the server as well.
    fn note_said(&mut self, bytes: &[u8]) {
        let mut said = bytes.to_vec();
        while let Some(frame) = frames::take(&mut said) {
            self.last = frame.last_stream().unwrap_or(self.last);
            if frame.kind == SETTINGS {
                self.announced.push_back(frame.most_streams());
            }
        }
    }
}

/// An answer of status 200 with `body`.
pub(crate) fn ok(stream: u32, body: &[u8]) -> Vec<u8> {
    [frames::headers(stream, &frames::status("200")), frames::data(stream, body, true)].concat()
}

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// How long a request waits for others beside it; it decides who meets whom, and no verdict.
const FOR_COMPANY: Duration = Duration::from_millis(2);
