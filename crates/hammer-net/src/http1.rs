//! HTTP/1.1 (RFC 9112): a pool, and connections that are driven by the operation that holds them. No second task,
//! no wake across tasks; whoever drops an exchange halfway drops its connection with it.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use hammer_measure::Nanos;
use http::header::{AUTHORIZATION, CONNECTION, HOST, USER_AGENT};
use http::{HeaderMap, HeaderValue, Uri};
use http_body::Body as _;
use hyper::body::Incoming;
use hyper::client::conn::http1::{Builder, Connection as Driver, SendRequest};
use hyper_util::rt::TokioIo;
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::attempt::Broken;
use crate::body::Body;
use crate::context::ClientContext;
use crate::dial::Dialled;
use crate::failure::{Failure, FailureKind, closed, too_large};
use crate::io::WireIo;
use crate::request::{Answer, Request};
use crate::resolve::Origin;
use crate::signal::Signal;
use crate::wire::Wire;

/// The connections of an endpoint that wait for work, and the slots that bound those at work.
pub(crate) struct Http1Pool {
    connections: usize,
    slots: Semaphore,
    idle: RefCell<VecDeque<Box<Http1Connection>>>,
}

/// An established connection.
pub(crate) struct Http1Connection {
    sender: SendRequest<Body>,
    /// Dropped when it has finished: a request that it did not take comes back only then.
    driver: Option<Driver<TokioIo<WireIo>, Body>>,
    signal: Arc<Signal>,
    waker: Waker,
    wire: Rc<Wire>,
    opened: Nanos,
}

impl Http1Pool {
    pub(crate) fn new(connections: usize) -> Self {
        Self { connections, slots: Semaphore::new(connections), idle: RefCell::default() }
    }

    /// A slot for one connection, held while an exchange has one; who came first gets it first. Idle connections hold none: who has a
    /// slot takes one of them before it opens another, so that no more are open than there are slots.
    pub(crate) async fn slot(&self) -> Result<SemaphorePermit<'_>, Failure> {
        if let Ok(slot) = self.slots.try_acquire() {
            return Ok(slot);
        }
        self.slots.acquire().await.map_err(|_| closed())
    }

    pub(crate) fn put(&self, connection: Box<Http1Connection>) {
        self.idle.borrow_mut().push_back(connection);
    }

    /// The connection that was used last, when it is neither idle nor old for too long.
    pub(crate) fn take(&self, context: &ClientContext) -> Option<Box<Http1Connection>> {
        let mut idle = self.idle.borrow_mut();
        if !context.expires() {
            return idle.pop_back();
        }
        let now = context.clock.now();
        let is_expired = |one: &Http1Connection| context.is_expired(now, one.opened, one.wire.last_read());
        while idle.front().is_some_and(|longest_idle| is_expired(longest_idle)) {
            idle.pop_front();
        }
        while idle.back().is_some_and(|last_used| is_expired(last_used)) {
            idle.pop_back();
        }
        idle.pop_back()
    }

    /// Connections that are established or being so.
    pub(crate) fn count(&self) -> usize {
        self.idle.borrow().len() + self.connections - self.slots.available_permits()
    }

    pub(crate) fn clear(&self) {
        self.idle.borrow_mut().clear();
    }
}

/// The request in origin form (RFC 9112, section 3.2.1). `headers` lends its memory.
pub(crate) fn to_http(
    request: &Request,
    origin: &Origin,
    bearer: Option<&HeaderValue>,
    context: &ClientContext,
    mut headers: HeaderMap,
) -> http::Request<Body> {
    // Those of the redirect that led here, if any.
    headers.clear();
    if !request.headers.contains_key(HOST) {
        headers.insert(HOST, origin.host_header.clone());
    }
    if let Some(user_agent) = &context.config.user_agent
        && !request.headers.contains_key(USER_AGENT)
    {
        headers.insert(USER_AGENT, user_agent.clone());
    }
    for (name, value) in &request.headers {
        headers.append(name, value.clone());
    }
    if let Some(bearer) = bearer {
        headers.insert(AUTHORIZATION, bearer.clone());
    }
    if !context.config.keepalive {
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
    }
    let mut http = http::Request::new(request.body.clone());
    *http.method_mut() = request.method.clone();
    *http.uri_mut() = Uri::from(request.path.clone());
    *http.headers_mut() = headers;
    http
}

impl Http1Connection {
    pub(crate) async fn start(dialled: Dialled, origin: &Origin) -> Result<Box<Self>, Failure> {
        let (sender, driver) = Builder::new()
            .handshake(TokioIo::new(dialled.io))
            .await
            .map_err(|error| Failure::of_exchange(origin.host(), &error, FailureKind::Protocol))?;
        let signal = Arc::new(Signal::default());
        dialled.wire.note_opened(dialled.opened);
        Ok(Box::new(Self {
            sender,
            driver: Some(driver),
            waker: Waker::from(Arc::clone(&signal)),
            signal,
            wire: dialled.wire,
            opened: dialled.opened,
        }))
    }

    /// Sends `request` and reads the whole answer; whether the connection can serve another one.
    pub(crate) async fn exchange(
        &mut self,
        request: http::Request<Body>,
        answer: &mut Answer,
        limit: usize,
        host: &str,
    ) -> Result<bool, Failure> {
        self.wire.start();
        let response = self.sender.try_send_request(request);
        let mut response = pin!(response);
        let mut note = Note { wire: Rc::clone(&self.wire), answer };
        let response = poll_fn(|cx| {
            let polled = self.drive(cx, false, |cx| response.as_mut().poll(cx));
            note.take();
            polled
        })
        .await
        .map_err(|error| Failure::of_exchange(host, &error.into_error(), FailureKind::Protocol))?;

        let (head, mut body) = response.into_parts();
        note.answer.status = head.status;
        note.answer.version = head.version;
        note.answer.headers = head.headers;
        if body.size_hint().lower() > limit as u64 {
            return Err(too_large(host, limit));
        }
        while !body.is_end_stream() {
            let chunk = poll_fn(|cx| {
                let polled = self.drive(cx, true, |cx| next_chunk(&mut body, cx));
                note.take();
                polled
            });
            match chunk.await {
                None => break,
                Some(Err(error)) => {
                    return Err(Failure::of_exchange(host, &error, FailureKind::Protocol));
                }
                Some(Ok(chunk)) if note.answer.body.len() + chunk.len() > limit => {
                    return Err(too_large(host, limit));
                }
                Some(Ok(chunk)) => note.answer.body.extend_from_slice(&chunk),
            }
        }
        note.answer.wire.done = Some(self.wire.last_read());
        Ok(self.settle())
    }

    /// Polls the connection, and with it `part`, which only the connection can move on. `ready_first` when there may be
    /// something for `part` already.
    fn drive<T>(
        &mut self,
        cx: &mut Context<'_>,
        ready_first: bool,
        mut part: impl FnMut(&mut Context<'_>) -> Poll<T>,
    ) -> Poll<T> {
        let mut inner = Context::from_waker(&self.waker);
        let mut is_turn_of_part = ready_first;
        for _ in 0..MOST_TURNS {
            self.signal.enter(cx.waker());
            if is_turn_of_part && let Poll::Ready(value) = part(&mut inner) {
                self.signal.leave();
                return Poll::Ready(value);
            }
            poll_driver(&mut self.driver, &mut inner);
            if let Poll::Ready(value) = part(&mut inner) {
                self.signal.leave();
                return Poll::Ready(value);
            }
            is_turn_of_part = false;
            if !self.signal.leave() {
                return Poll::Pending;
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Whether the connection is ready for another request.
    fn settle(&mut self) -> bool {
        if !self.sender.is_ready() {
            poll_driver(&mut self.driver, &mut Context::from_waker(&self.waker));
        }
        self.driver.is_some() && self.sender.is_ready()
    }

    pub(crate) fn broken(&self, failure: Failure, was_idle: bool) -> Broken {
        let is_closed = matches!(failure.kind, FailureKind::Closed | FailureKind::Reset);
        match (self.wire.sent(), self.wire.first_read()) {
            _ if !was_idle || !is_closed => Broken::Final(failure),
            // Whatever was read then is no answer to it: a 408 before the close, or bytes behind the last answer.
            (None, _) => Broken::Unsent(failure),
            (Some(_), None) => Broken::Idle(failure),
            (Some(_), Some(_)) => Broken::Final(failure),
        }
    }
}

/// Moves the connection on. Its error, if any, is told to the request as well.
fn poll_driver(driver: &mut Option<Driver<TokioIo<WireIo>, Body>>, cx: &mut Context<'_>) {
    if let Some(running) = driver
        && Pin::new(running).poll(cx).is_ready()
    {
        *driver = None;
    }
}

/// Keeps the answer's instants and bytes up to date at every poll, so that they hold for one that is cut off.
struct Note<'a> {
    wire: Rc<Wire>,
    answer: &'a mut Answer,
}

impl Note<'_> {
    fn take(&mut self) {
        self.answer.wire.sent = self.wire.sent();
        self.answer.wire.first_byte = self.wire.first_read();
        let (out, in_) = self.wire.take_bytes();
        self.answer.bytes_out += out;
        self.answer.bytes_in += in_;
    }
}

/// The next data of a body; trailers are passed over.
fn next_chunk(body: &mut Incoming, cx: &mut Context<'_>) -> Poll<Option<hyper::Result<bytes::Bytes>>> {
    loop {
        match std::task::ready!(Pin::new(&mut *body).poll_frame(cx)) {
            None => return Poll::Ready(None),
            Some(Err(error)) => return Poll::Ready(Some(Err(error))),
            Some(Ok(frame)) => {
                if let Ok(data) = frame.into_data() {
                    return Poll::Ready(Some(Ok(data)));
                }
            }
        }
    }
}

/// A connection that wakes itself more often within one poll lets the other tasks have their turn.
const MOST_TURNS: usize = 16;
