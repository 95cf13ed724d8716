//! HTTP/2 (RFC 9113): connections that are each driven by a task of the shard, and streams granted in order. A stream
//! is granted below the limit that both the plan and the server's SETTINGS give, so that none waits within the protocol.

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::{Rc, Weak};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use h2::client::{Builder, Connection as Driver, SendRequest};
use h2::{RecvStream, SendStream};
use hammer_measure::Nanos;
use http::header::{AUTHORIZATION, CONNECTION, CONTENT_LENGTH, HOST, TRANSFER_ENCODING, UPGRADE};
use http::uri::{Authority, Parts};
use http::{HeaderValue, Uri};
use tokio::sync::Semaphore;
use tokio::task::AbortHandle;

use crate::client::Shared;
use crate::dial::Dialled;
use crate::endpoint::{Broken, Endpoint, Exchanged, Opened, closed};
use crate::failure::{Failure, FailureKind};
use crate::http1::too_large;
use crate::io::WireIo;
use crate::request::{Answer, Request};
use crate::wire::{Wire, WireTimes};

/// The connections of an endpoint. `streams` holds a permit for each stream that could be opened now.
pub(crate) struct Pool {
    streams: Semaphore,
    connections: RefCell<Vec<Rc<Connection>>>,
    dialling: Cell<usize>,
}

/// An established connection; its task ends with it.
pub(crate) struct Connection {
    sender: SendRequest<Bytes>,
    wire: Rc<Wire>,
    opened: Nanos,
    idle_since: Cell<Nanos>,
    limit: Cell<usize>,
    in_flight: Cell<usize>,
    /// Permits that the server took back while they were in use.
    debt: Cell<usize>,
    is_retired: Cell<bool>,
    task: RefCell<Option<AbortHandle>>,
}

/// A connection that nobody drives yet.
pub(crate) struct Started {
    sender: SendRequest<Bytes>,
    driver: Box<Driver<WireIo, Bytes>>,
    wire: Rc<Wire>,
    opened: Nanos,
}

impl Default for Pool {
    fn default() -> Self {
        Self { streams: Semaphore::new(0), connections: RefCell::default(), dialling: Cell::new(0) }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if let Some(task) = self.task.take() {
            task.abort();
        }
    }
}

impl Pool {
    pub(crate) fn count(&self) -> usize {
        self.connections.borrow().len()
    }

    /// Lets every connection finish its streams and take no more.
    pub(crate) fn clear(&self) {
        let connections = self.connections.take();
        for connection in connections {
            self.retire(&connection);
        }
    }

    /// Spawns the task that drives the connection, and offers its streams but for the `taken` first.
    pub(crate) fn add(
        &self,
        endpoint: &Rc<Endpoint>,
        shared: &Shared,
        started: Started,
        taken: usize,
    ) -> Rc<Connection> {
        let limit = started.driver.max_concurrent_send_streams().min(shared.config.streams);
        let connection = Rc::new(Connection {
            sender: started.sender,
            wire: started.wire,
            opened: started.opened,
            idle_since: Cell::new(started.opened),
            limit: Cell::new(limit),
            in_flight: Cell::new(0),
            debt: Cell::new(taken.saturating_sub(limit)),
            is_retired: Cell::new(false),
            task: RefCell::new(None),
        });
        let driven =
            drive(started.driver, shared.config.streams, Rc::downgrade(endpoint), Rc::downgrade(&connection));
        let task = tokio::task::spawn_local(driven);
        *connection.task.borrow_mut() = Some(task.abort_handle());
        self.connections.borrow_mut().push(Rc::clone(&connection));
        self.streams.add_permits(limit.saturating_sub(taken));
        connection
    }

    /// Takes the connection out of the pool. One permit is left over, for whoever waits to see that a dial is due.
    fn retire(&self, connection: &Rc<Connection>) {
        if connection.is_retired.replace(true) {
            return;
        }
        self.connections.borrow_mut().retain(|other| !Rc::ptr_eq(other, connection));
        let unused = connection.limit.get().saturating_sub(connection.in_flight.get());
        self.streams.forget_permits(unused);
        self.streams.add_permits(1);
    }

    /// The server's SETTINGS changed how many streams `connection` may have.
    fn set_limit(&self, connection: &Connection, limit: usize) {
        let before = connection.limit.replace(limit);
        if limit > before {
            let owed = connection.debt.get().min(limit - before);
            connection.debt.set(connection.debt.get() - owed);
            self.streams.add_permits(limit - before - owed);
        } else {
            let forgotten = self.streams.forget_permits(before - limit);
            connection.debt.set(connection.debt.get() + before - limit - forgotten);
        }
    }

    /// A stream for which a permit was taken.
    fn open(&self, shared: &Shared) -> Option<Lease<'_>> {
        if shared.expires() {
            let now = shared.clock.now();
            let expired = |connection: &&Rc<Connection>| {
                let idle_since =
                    if connection.in_flight.get() > 0 { now } else { connection.idle_since.get() };
                shared.is_expired(now, connection.opened, idle_since)
            };
            let expired: Vec<_> = self.connections.borrow().iter().filter(expired).cloned().collect();
            expired.iter().for_each(|connection| self.retire(connection));
        }
        let connections = self.connections.borrow();
        let free =
            connections.iter().filter(|connection| connection.in_flight.get() < connection.limit.get());
        let idlest = free.min_by_key(|connection| connection.in_flight.get())?;
        Some(Lease::new(self, Rc::clone(idlest)))
    }

    /// A stream of the idlest connection; of a new one when there is none below its limit.
    async fn stream(
        &self,
        endpoint: &Rc<Endpoint>,
        shared: &Rc<Shared>,
        times: &mut WireTimes,
    ) -> Result<Result<Lease<'_>, Exchanged>, Failure> {
        loop {
            let is_full = self.count() + self.dialling.get() >= shared.config.connections;
            if self.streams.available_permits() == 0 && !is_full {
                match self.dial(endpoint, shared, times).await? {
                    Opened::Http2(started) => {
                        let connection = self.add(endpoint, shared, started, 1);
                        return Ok(Ok(Lease::new(self, connection)));
                    }
                    other => return Ok(Err(Exchanged::Other(endpoint.adopt(shared, other)))),
                }
            }
            self.streams.acquire().await.map_err(|_| closed())?.forget();
            if let Some(lease) = self.open(shared) {
                return Ok(Ok(lease));
            }
        }
    }

    async fn dial(
        &self,
        endpoint: &Rc<Endpoint>,
        shared: &Rc<Shared>,
        times: &mut WireTimes,
    ) -> Result<Opened, Failure> {
        self.dialling.set(self.dialling.get() + 1);
        let mut dialling = Dialling { pool: self, is_done: false };
        let opened = Box::pin(endpoint.open(shared, times)).await;
        dialling.is_done = matches!(opened, Ok(Opened::Http2(_)));
        opened
    }
}

/// A dial under way; when it comes to nothing, whoever waited for it takes it up.
struct Dialling<'a> {
    pool: &'a Pool,
    is_done: bool,
}

impl Drop for Dialling<'_> {
    fn drop(&mut self) {
        self.pool.dialling.set(self.pool.dialling.get() - 1);
        if !self.is_done {
            self.pool.streams.add_permits(1);
        }
    }
}

/// A granted stream.
struct Lease<'a> {
    pool: &'a Pool,
    connection: Rc<Connection>,
}

impl<'a> Lease<'a> {
    fn new(pool: &'a Pool, connection: Rc<Connection>) -> Self {
        connection.in_flight.set(connection.in_flight.get() + 1);
        Self { pool, connection }
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        let connection = &self.connection;
        connection.in_flight.set(connection.in_flight.get() - 1);
        connection.idle_since.set(connection.wire.clock.now());
        if connection.is_retired.get() {
            return;
        }
        match connection.debt.get() {
            0 => self.pool.streams.add_permits(1),
            debt => connection.debt.set(debt - 1),
        }
    }
}

impl Connection {
    /// Sends the preface (RFC 9113, section 3.4).
    pub(crate) async fn start(
        dialled: Dialled,
        endpoint: &Endpoint,
        shared: &Shared,
    ) -> Result<Started, Failure> {
        let (sender, driver) = Builder::new()
            .initial_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .initial_max_send_streams(shared.config.streams.min(STREAMS_BEFORE_SETTINGS))
            .enable_push(false)
            .handshake(dialled.io)
            .await
            .map_err(|error| Failure::of_exchange(endpoint.origin.host(), &error, FailureKind::Protocol))?;
        Ok(Started { sender, driver: Box::new(driver), wire: dialled.wire, opened: dialled.opened })
    }
}

/// Drives a connection to its end, and keeps its stream limit in step with the server's.
async fn drive(
    mut driver: Box<Driver<WireIo, Bytes>>,
    streams: usize,
    endpoint: Weak<Endpoint>,
    connection: Weak<Connection>,
) {
    let mut limit = driver.max_concurrent_send_streams().min(streams);
    poll_fn(|cx| {
        let polled = Pin::new(&mut driver).poll(cx);
        let now = driver.max_concurrent_send_streams().min(streams);
        if now != limit {
            limit = now;
            if let (Some(endpoint), Some(connection)) = (endpoint.upgrade(), connection.upgrade())
                && !connection.is_retired.get()
            {
                endpoint.http2.set_limit(&connection, now);
            }
        }
        polled.map(drop)
    })
    .await;
    if let (Some(endpoint), Some(connection)) = (endpoint.upgrade(), connection.upgrade()) {
        endpoint.http2.retire(&connection);
    }
}

/// Sends `request` on a stream of the idlest connection, or of a new one.
pub(crate) async fn exchange(
    endpoint: &Rc<Endpoint>,
    shared: &Rc<Shared>,
    request: &Request,
    bearer: Option<&HeaderValue>,
    answer: &mut Answer,
) -> Result<Exchanged, Broken> {
    let pool = &endpoint.http2;
    let head = to_http(request, endpoint, bearer)?;
    let lease = match pool.stream(endpoint, shared, &mut answer.wire).await? {
        Ok(lease) => lease,
        Err(other) => return Ok(other),
    };
    let connection = &lease.connection;
    if !shared.config.keepalive {
        pool.retire(connection);
    }
    let was_alone = connection.in_flight.get() == 1;
    let sent =
        exchange_on(connection, head, request.body.clone().into_bytes(), answer, shared, endpoint).await;
    let (out, in_) = connection.wire.take_bytes();
    answer.bytes_out += out;
    answer.bytes_in += in_;
    sent.map(|()| Exchanged::Done).map_err(|error| {
        if error.is_final {
            return Broken::Final(error.failure);
        }
        pool.retire(connection);
        let was_idle = was_alone && answer.wire.sent >= Some(connection.wire.last_read());
        if error.is_unprocessed || (was_idle && answer.wire.dial_started.is_none()) {
            return Broken::Idle(error.failure);
        }
        Broken::Final(error.failure)
    })
}

/// A failed stream, and what may be done about it.
struct StreamError {
    failure: Failure,
    /// The answer had begun, or is at fault itself.
    is_final: bool,
    /// The server says that it did not touch the request (RFC 9113, section 8.7).
    is_unprocessed: bool,
}

impl StreamError {
    #[cold]
    fn before_answer(host: &str, error: &h2::Error) -> Self {
        let failure = Failure::of_exchange(host, error, FailureKind::Protocol);
        let is_unprocessed =
            error.is_remote() && (error.is_go_away() || error.reason() == Some(h2::Reason::REFUSED_STREAM));
        let is_closed = matches!(failure.kind, FailureKind::Closed | FailureKind::Reset) && !error.is_reset();
        Self { failure, is_final: !is_unprocessed && !is_closed, is_unprocessed }
    }

    fn within_answer(failure: Failure) -> Self {
        Self { failure, is_final: true, is_unprocessed: false }
    }
}

async fn exchange_on(
    connection: &Connection,
    head: http::Request<()>,
    body: Bytes,
    answer: &mut Answer,
    shared: &Shared,
    endpoint: &Endpoint,
) -> Result<(), StreamError> {
    let host = endpoint.origin.host();
    let limit = shared.config.response_limit;
    let mut sender = connection.sender.clone();
    let refused = |error: h2::Error| StreamError::before_answer(host, &error);
    poll_fn(|cx| sender.poll_ready(cx)).await.map_err(refused)?;
    answer.wire.sent = Some(shared.clock.now());
    let (mut response, stream) = sender.send_request(head, body.is_empty()).map_err(refused)?;
    let mut upload = Upload { stream, body };
    let response = poll_fn(|cx| {
        upload.poll(cx);
        Pin::new(&mut response).poll(cx)
    })
    .await
    .map_err(refused)?;
    answer.wire.first_byte = Some(shared.clock.now());

    let (head, mut stream) = response.into_parts();
    answer.status = head.status;
    answer.version = head.version;
    answer.headers = head.headers;
    loop {
        let chunk = poll_fn(|cx| {
            upload.poll(cx);
            stream.poll_data(cx)
        });
        match chunk.await {
            None => break,
            Some(Err(error)) => {
                let failure = Failure::of_exchange(host, &error, FailureKind::Protocol);
                return Err(StreamError::within_answer(failure));
            }
            Some(Ok(chunk)) => {
                take_chunk(&mut stream, &chunk, answer, limit)
                    .map_err(|()| StreamError::within_answer(too_large(host, limit)))?;
            }
        }
    }
    answer.wire.done = Some(shared.clock.now());
    Ok(())
}

fn take_chunk(stream: &mut RecvStream, chunk: &Bytes, answer: &mut Answer, limit: usize) -> Result<(), ()> {
    if answer.body.len() + chunk.len() > limit {
        return Err(());
    }
    answer.body.extend_from_slice(chunk);
    // It fails only for more than was received.
    stream.flow_control().release_capacity(chunk.len()).map_err(drop)
}

/// The body of a request under way, as far as the server's windows let it.
struct Upload {
    stream: SendStream<Bytes>,
    body: Bytes,
}

impl Upload {
    /// Sends on; an error is not its own to tell, the answer's future has it as well.
    fn poll(&mut self, cx: &mut Context<'_>) {
        let _ = self.poll_send(cx);
    }

    fn poll_send(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        while !self.body.is_empty() {
            self.stream.reserve_capacity(self.body.len());
            let granted = match self.stream.capacity() {
                0 => match ready!(self.stream.poll_capacity(cx)) {
                    Some(Ok(granted)) => granted,
                    _ => {
                        self.body.clear();
                        break;
                    }
                },
                granted => granted,
            };
            let chunk = self.body.split_to(granted.min(self.body.len()));
            if self.stream.send_data(chunk, self.body.is_empty()).is_err() {
                self.body.clear();
            }
        }
        Poll::Ready(())
    }
}

/// The request's head with the pseudo-headers of RFC 9113, section 8.3.1, and without what section 8.2.2 forbids.
fn to_http(
    request: &Request,
    endpoint: &Endpoint,
    bearer: Option<&HeaderValue>,
) -> Result<http::Request<()>, Failure> {
    let origin = &endpoint.origin;
    let unsendable = |_| {
        let detail = format!("send a request to {}: its host is no authority", origin.host());
        Failure::new(FailureKind::Request, detail)
    };
    let authority = match request.headers.get(HOST) {
        None => origin.authority.clone(),
        Some(host) => Authority::try_from(host.as_bytes()).map_err(unsendable)?,
    };
    let mut parts = Parts::default();
    parts.scheme = Some(origin.scheme.clone());
    parts.authority = Some(authority);
    parts.path_and_query = Some(request.path.clone());
    let mut http = http::Request::new(());
    *http.version_mut() = http::Version::HTTP_2;
    *http.method_mut() = request.method.clone();
    // Scheme, authority and path are all there.
    *http.uri_mut() = Uri::from_parts(parts).unwrap_or_default();
    let headers = http.headers_mut();
    let forbidden = [HOST, CONNECTION, UPGRADE, TRANSFER_ENCODING];
    for (name, value) in request.headers.iter().filter(|(name, _)| !forbidden.contains(name)) {
        headers.append(name, value.clone());
    }
    if !request.body.is_empty() {
        headers.insert(CONTENT_LENGTH, HeaderValue::from(request.body.len()));
    }
    if let Some(bearer) = bearer {
        headers.insert(AUTHORIZATION, bearer.clone());
    }
    Ok(http)
}

/// What a client may assume before the server's SETTINGS (RFC 9113, section 6.5.2, advises at least 100).
const STREAMS_BEFORE_SETTINGS: usize = 100;
const STREAM_WINDOW: u32 = 2 << 20;
const CONNECTION_WINDOW: u32 = 16 << 20;
