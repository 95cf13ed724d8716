//! HTTP/1.1 (RFC 9112) as a server that only wants to know who asks.

use crate::case::Case;
use crate::reply::Asked;
use crate::server::Connection;

mod ends;
mod framing;
mod heads;
mod idle;
mod over_tls;
mod policies;

/// Reads requests, and replies to each as the case says, for as long as both sides go on.
pub(crate) async fn serve(mut connection: Connection, case: &'static Case) {
    let mut buffer = Vec::new();
    let mut nth = 0;
    while let Some(request) = next(&mut connection, &mut buffer).await {
        let asked = Asked {
            seq: request.seq,
            nth,
            connection: connection.number,
            stream: 0,
            is_within_limit: true,
            is_acknowledged: true,
        };
        let reply = (case.reply)(&asked);
        if !request.is_again {
            connection.ledger.note_read(request.seq, &reply);
        }
        if !connection.say(request.seq, &reply).await {
            return;
        }
        nth += 1;
    }
}

struct Incoming {
    seq: u64,
    /// A redirect led here.
    is_again: bool,
}

/// The next whole request; one that ends early is noted.
async fn next(connection: &mut Connection, buffer: &mut Vec<u8>) -> Option<Incoming> {
    loop {
        if let Some(length) = whole(buffer) {
            let request = path(buffer);
            buffer.drain(..length);
            return request;
        }
        if !connection.read(buffer).await {
            if let Some(part) = path(buffer) {
                connection.ledger.note_part(part.seq);
            }
            return None;
        }
    }
}

/// How long the request at the start of `bytes` is, once it is there.
fn whole(bytes: &[u8]) -> Option<usize> {
    let head = bytes.windows(4).position(|end| end == b"\r\n\r\n")? + 4;
    let text = String::from_utf8_lossy(&bytes[..head]).to_ascii_lowercase();
    let length = text.lines().find_map(|line| line.strip_prefix("content-length:"));
    let length = head + length.map_or(0, |length| length.trim().parse::<usize>().unwrap());
    (bytes.len() >= length).then_some(length)
}

/// Who asks: `METHOD /seq/N`, or `/again/N`.
fn path(bytes: &[u8]) -> Option<Incoming> {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(100)]).into_owned();
    let mut parts = text.split(' ').nth(1)?.split('/').skip(1);
    let is_again = parts.next()? == "again";
    Some(Incoming { seq: parts.next()?.parse().ok()?, is_again })
}

/// An answer of status 200 with those fields, each ended by CRLF.
fn answer(fields: &str, body: &[u8]) -> Vec<u8> {
    [format!("HTTP/1.1 200 OK\r\n{fields}\r\n").as_bytes(), body].concat()
}

/// An honest answer of status 200.
pub(crate) fn ok(body: &[u8]) -> Vec<u8> {
    answer(&format!("Content-Length: {}\r\n", body.len()), body)
}

/// `body` in one chunk, with what follows its size, and the last chunk with its trailers.
fn chunked(body: &[u8], extension: &str, last: &str) -> Vec<u8> {
    let size = format!("{:x}{extension}\r\n", body.len());
    let chunks = [size.as_bytes(), body, b"\r\n", last.as_bytes()].concat();
    answer("Transfer-Encoding: chunked\r\n", &chunks)
}
