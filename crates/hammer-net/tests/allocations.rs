//! An exchange over a kept connection allocates nothing once its buffers have grown. Alone in its process, since the count is of
//! all threads; so the server allocates nothing for a request.

use std::alloc::System;
use std::cell::Cell;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::rc::Rc;
use std::thread;

use bytes::Bytes;
use hammer_measure::connection::ConnectionLog;
use hammer_measure::{Nanos, Now};
use hammer_net::{Answer, Body, BodySink, Client, ClientConfig, Request};
use http::HeaderValue;
use http::header::CONTENT_TYPE;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// More than one segment, so that an answer comes in parts.
const BODY: usize = 100_000;
/// Larger than what is copied behind its head.
const UPLOAD: usize = 10_000;

#[derive(Default)]
struct Counter(Cell<u64>);

impl Now for Counter {
    fn now(&self) -> Nanos {
        self.0.set(self.0.get() + 1);
        Nanos(self.0.get())
    }
}

/// Answers whatever ends with an empty line, or is as long as the upload.
fn serve(mut stream: TcpStream) {
    let mut answer = format!("HTTP/1.1 200 OK\r\nserver: x\r\ncontent-length: {BODY}\r\n\r\n").into_bytes();
    answer.resize(answer.len() + BODY, b'x');
    let (mut buffer, mut filled) = (vec![0; 1 << 16], 0);
    while let Ok(read @ 1..) = stream.read(&mut buffer[filled..]) {
        filled += read;
        let is_upload = buffer.starts_with(b"POST");
        if (is_upload && filled > UPLOAD) || (!is_upload && buffer[..filled].ends_with(b"\r\n\r\n")) {
            filled = 0;
            if stream.write_all(&answer).is_err() {
                return;
            }
        }
    }
}

fn server() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || serve(stream));
        }
    });
    address
}

async fn exchanges(client: &Client, requests: &[Request], answer: &mut Answer, count: usize) {
    for request in requests.iter().cycle().take(count) {
        client.send(request, answer).await.unwrap();
        assert_eq!((answer.status.as_u16(), answer.body_length), (200, BODY));
    }
}

#[test]
fn an_exchange_allocates_nothing_in_steady_state() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    tokio::task::LocalSet::new().block_on(&runtime, async {
        let url = format!("http://{}", server()).parse().unwrap();
        let config = ClientConfig::new(url);
        let client = Client::new(config, Rc::new(Counter::default()), ConnectionLog::default()).unwrap();
        let path = client.path("/a?b").unwrap();
        let mut typed = Request::get(path.clone());
        typed.headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
        let parts = [Bytes::from(vec![b'a'; UPLOAD / 2]), Bytes::from(vec![b'b'; UPLOAD / 2])];
        let uploaded = Request { sink: BodySink::Discard, ..Request::post(path.clone(), "") };
        let uploaded = Request { body: Body::rope(parts), ..uploaded };
        let digested = Request { sink: BodySink::Digest, ..Request::get(path) };
        let requests = [typed, uploaded, digested];
        let mut answer = Answer::new();
        exchanges(&client, &requests, &mut answer, 60).await;
        let region = Region::new(ALLOCATOR);
        exchanges(&client, &requests, &mut answer, 600).await;
        let change = region.change();
        assert_eq!((change.allocations, change.reallocations), (0, 0), "{change:?}");
    });
}
