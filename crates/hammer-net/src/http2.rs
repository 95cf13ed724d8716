//! HTTP/2 (RFC 9113): an exchange takes a granted stream of a connection that others share.

use std::future::poll_fn;
use std::pin::pin;

use bytes::Bytes;
use futures::future::{Either, select};
use h2::{RecvStream, SendStream};
use hammer_measure::Nanos;
use http::HeaderMap;
use http::header::CONTENT_ENCODING;

use self::fault::{Attempt, StreamFault};
use crate::attempt::Broken;
use crate::body::{Body, PIECE};
use crate::context::ClientContext;
use crate::request::{Answer, Request};
use crate::resolve::address_of_peer;
use crate::trouble::tells_of_trouble;

mod admission;
mod connection;
mod drive;
mod fault;
mod head;
mod pool;

pub(crate) use connection::{Http2Connection, Started};
pub(crate) use head::to_http;
pub(crate) use pool::{Grant, Http2Pool, Lease};

/// Sends `head` and `body` on the granted stream, and reads the whole answer.
pub(crate) async fn exchange(
    lease: &Lease,
    context: &ClientContext,
    host: &str,
    head: http::Request<()>,
    request: &Request,
    answer: &mut Answer,
) -> Result<(), Broken> {
    let connection = &lease.connection;
    let mut with_peer = connection.open.exchange();
    answer.wire.peer = address_of_peer(connection.open.peer());
    let (sent, written) = (answer.wire.sent, connection.wire.written());
    if connection.is_used.replace(true) {
        context.log.reused();
    }
    let mut note = Note { connection, answer };
    let fault = match exchange_on(connection, head, request, &mut note, context).await {
        Ok(took) => {
            with_peer.answered(took, tells_of_trouble(note.answer));
            return Ok(());
        }
        Err(fault) => fault,
    };
    let nothing_left = connection.wire.written() == written;
    if nothing_left {
        note.answer.wire.sent = sent;
    }
    let attempt = Attempt { lease, context, host, request, sent: note.answer.wire.sent, nothing_left };
    let broken = fault.broken(&attempt);
    if matches!(broken, Broken::Unsent(_)) {
        with_peer.unsent();
    }
    Err(broken)
}

/// Gives the answer the bytes of its connection when it is over, however it ends.
struct Note<'a> {
    connection: &'a Http2Connection,
    answer: &'a mut Answer,
}

impl Drop for Note<'_> {
    fn drop(&mut self) {
        let (out, in_) = self.connection.wire.take_bytes();
        self.answer.bytes_out += out;
        self.answer.bytes_in += in_;
    }
}

/// Says how long the peer took, from the first byte sent to the last of the answer.
async fn exchange_on(
    connection: &Http2Connection,
    head: http::Request<()>,
    request: &Request,
    note: &mut Note<'_>,
    context: &ClientContext,
) -> Result<Nanos, StreamFault> {
    let answer = &mut *note.answer;
    let body = &request.body;
    let mut sender = connection.sender.clone();
    let sent = context.clock.now();
    // What is sent again was sent when it was sent first.
    answer.wire.sent.get_or_insert(sent);
    let (response, mut upload) =
        sender.send_request(head, body.is_empty()).map_err(StreamFault::BeforeAnswer)?;
    if !body.is_empty() && !body.is_made() {
        // It is there already, so that nothing is gained by waiting for the server's windows here: h2 sends it as far as they let
        // it, and in one write with the head where they do.
        upload.send_data(body.to_bytes(), true).map_err(StreamFault::BeforeAnswer)?;
    }
    let response = if body.is_made() {
        // A server that has no wish to read on may answer before all of it has left.
        match select(response, pin!(send_made(body, &mut upload))).await {
            Either::Left((response, _)) => response,
            Either::Right((sent, response)) => {
                sent.map_err(StreamFault::BeforeAnswer)?;
                response.await
            }
        }
    } else {
        response.await
    };
    let (head, mut stream) = response.map_err(StreamFault::BeforeAnswer)?.into_parts();
    note_first_byte(connection, sent, answer, context);
    answer.status = head.status;
    answer.version = head.version;
    // They are moved, since to choose among them costs more than to keep all.
    let is_asked = !request.kept_headers.is_empty();
    let is_kept = is_asked || head.status.is_redirection() || head.headers.contains_key(CONTENT_ENCODING);
    answer.headers = if is_kept { head.headers } else { HeaderMap::new() };
    let limit = request.limit.unwrap_or(context.config.response_limit);
    while let Some(chunk) = stream.data().await {
        let chunk = chunk.map_err(StreamFault::WithinAnswer)?;
        take_chunk(&mut stream, &chunk, request, answer, limit)?;
    }
    if is_asked {
        answer.trailers = stream.trailers().await.map_err(StreamFault::WithinAnswer)?.unwrap_or_default();
    }
    let last = connection.wire.last_read();
    let done = last.arrived.max(answer.wire.first_byte.unwrap_or_default());
    answer.wire.done = Some(done);
    answer.wire.read = last.is_stamped.then_some(last.read);
    Ok(done.since(sent))
}

/// Sends a body of which parts are made as they are sent, as far and as fast as the server's windows let it.
async fn send_made(body: &Body, upload: &mut SendStream<Bytes>) -> Result<(), h2::Error> {
    let mut sent = 0;
    while sent < body.len() {
        upload.reserve_capacity((body.len() - sent).min(PIECE));
        let room = match poll_fn(|cx| upload.poll_capacity(cx)).await {
            Some(room) => room?,
            // The server reads no more of it: its answer says why.
            None => return Ok(()),
        };
        let mut piece = Vec::with_capacity(room.min(PIECE));
        body.append_piece(sent, room.min(PIECE), &mut piece);
        sent += piece.len();
        upload.send_data(piece.into(), sent == body.len())?;
    }
    Ok(())
}

/// The answer came with what the connection read last, or a little before: it is read to its end before anybody is woken.
fn note_first_byte(connection: &Http2Connection, sent: Nanos, answer: &mut Answer, context: &ClientContext) {
    let received = connection.wire.last_read();
    let first_byte = received.arrived.max(sent);
    answer.wire.first_byte = Some(first_byte);
    context.log.answered_first_byte(first_byte.since(sent));
    if !received.is_stamped {
        context.log.unstamped();
    }
}

fn take_chunk(
    stream: &mut RecvStream,
    chunk: &Bytes,
    request: &Request,
    answer: &mut Answer,
    limit: usize,
) -> Result<(), StreamFault> {
    answer.take(request.sink, chunk, limit).map_err(StreamFault::NotTaken)?;
    // It fails only for more than was received.
    stream.flow_control().release_capacity(chunk.len()).map_err(StreamFault::WithinAnswer)
}
