//! HTTP/2 (RFC 9113): an exchange takes a granted stream of a context connection.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use h2::{RecvStream, SendStream};
use http::header::{AUTHORIZATION, CONNECTION, CONTENT_LENGTH, HOST, TRANSFER_ENCODING, UPGRADE, USER_AGENT};
use http::uri::{Authority, Parts};
use http::{HeaderValue, Uri};

use crate::attempt::{Broken, Exchanged};
use crate::context::ClientContext;
use crate::failure::{Failure, FailureKind, too_large};
use crate::request::{Answer, Request};
use crate::resolve::Origin;

mod pool;

pub(crate) use pool::{Grant, Http2Connection, Http2Pool, Lease, Started};

/// Sends `head` and `body` on the granted stream, and reads the whole answer.
pub(crate) async fn exchange(
    lease: &Lease,
    pool: &Http2Pool,
    context: &ClientContext,
    host: &str,
    head: http::Request<()>,
    body: Bytes,
    answer: &mut Answer,
) -> Result<Exchanged, Broken> {
    let connection = &lease.connection;
    if !context.config.keepalive {
        pool.retire(connection);
    }
    let was_alone = connection.has_one_stream();
    let sent = exchange_on(connection, head, body, answer, context, host).await;
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
    /// The answer had started, or is at fault itself.
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
    connection: &Http2Connection,
    head: http::Request<()>,
    body: Bytes,
    answer: &mut Answer,
    context: &ClientContext,
    host: &str,
) -> Result<(), StreamError> {
    let limit = context.config.response_limit;
    let mut sender = connection.sender.clone();
    let refused = |error: h2::Error| StreamError::before_answer(host, &error);
    poll_fn(|cx| sender.poll_ready(cx)).await.map_err(refused)?;
    answer.wire.sent = Some(context.clock.now());
    let (mut response, stream) = sender.send_request(head, body.is_empty()).map_err(refused)?;
    let mut upload = Upload { stream, body };
    let response = poll_fn(|cx| {
        upload.poll(cx);
        Pin::new(&mut response).poll(cx)
    })
    .await
    .map_err(refused)?;
    answer.wire.first_byte = Some(context.clock.now());

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
    answer.wire.done = Some(context.clock.now());
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
pub(crate) fn to_http(
    request: &Request,
    origin: &Origin,
    bearer: Option<&HeaderValue>,
    user_agent: Option<&HeaderValue>,
) -> Result<http::Request<()>, Failure> {
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
    if let Some(user_agent) = user_agent.filter(|_| !request.headers.contains_key(USER_AGENT)) {
        headers.insert(USER_AGENT, user_agent.clone());
    }
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
