//! What a unary call of gRPC costs the thread that makes it, against a POST of the same bytes over HTTP/2.
//!
//! `unary both [rounds] [exchanges] [bytes]` runs one behind the other in each round, against a server on a thread of its own that
//! answers with what it was sent, and prints the CPU time of each, their ratio, and the median of the ratios. With `post` or `call` in
//! place of `both` it runs that alone, for a profiler.

#[path = "support/cpu_time.rs"]
mod cpu_time;

use std::cell::Cell;
use std::error::Error;
use std::io::Write as _;
use std::net::{SocketAddr, TcpListener};
use std::rc::Rc;
use std::thread;

use bytes::{Bytes, BytesMut};
use h2::server::SendResponse;
use hammer_core::clock::MonotonicClock;
use hammer_measure::connection::ConnectionLog;
use hammer_net::grpc::{GrpcStatus, frame, unary_reply, unary_request};
use hammer_net::{Answer, Client, ClientConfig, HttpVersion, Request};
use http::HeaderValue;
use http::header::CONTENT_TYPE;
use http::uri::PathAndQuery;
use rustix::time::ClockId;
use tokio::task::LocalSet;

use cpu_time::cpu_time;

type Failed = Box<dyn Error>;

/// Calls under way at once.
const STREAMS: usize = 50;

fn main() -> Result<(), Failed> {
    let mode = std::env::args().nth(1).unwrap_or_default();
    let mut numbers = std::env::args().skip(2).map(|text| text.parse::<u32>());
    let mut next = |default| numbers.next().unwrap_or(Ok(default));
    let (rounds, exchanges, bytes) = (next(15)?, next(100_000)?, next(1_024)? as usize);
    let at = serve()?;
    match mode.as_str() {
        "both" => compare(at, rounds, exchanges, bytes),
        "post" | "call" => {
            let each = measure(at, exchanges, bytes, mode == "call")?;
            Ok(writeln!(std::io::stdout(), "{mode} {each:.2} us")?)
        }
        _ => Err("usage: unary <both|post|call> [rounds] [exchanges] [bytes]".into()),
    }
}

fn compare(at: SocketAddr, rounds: u32, exchanges: u32, bytes: usize) -> Result<(), Failed> {
    let mut ratios = Vec::new();
    for round in 1..=rounds {
        let post = measure(at, exchanges, bytes, false)?;
        let call = measure(at, exchanges, bytes, true)?;
        ratios.push(call / post);
        writeln!(std::io::stdout(), "{round}: POST {post:.2} us, call {call:.2} us, {:.3}", call / post)?;
    }
    ratios.sort_by(f64::total_cmp);
    writeln!(std::io::stdout(), "median {:.3}", ratios[ratios.len() / 2])?;
    Ok(())
}

/// Microseconds of this thread's CPU for each exchange.
fn measure(at: SocketAddr, exchanges: u32, bytes: usize, is_call: bool) -> Result<f64, Failed> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    LocalSet::new().block_on(&runtime, async {
        let mut config = ClientConfig::new(format!("http://{at}").parse()?);
        (config.version, config.connections) = (HttpVersion::Http2PriorKnowledge, 1);
        let clock = Rc::new(MonotonicClock::starting_now());
        let client = Rc::new(Client::new(config, clock, ConnectionLog::default())?);
        client.warm_up(STREAMS).await?;
        let (left, from) = (Rc::new(Cell::new(exchanges)), cpu_time(ClockId::ThreadCPUTime));
        let users = (0..STREAMS).map(|_| {
            let (client, left) = (Rc::clone(&client), Rc::clone(&left));
            tokio::task::spawn_local(async move { user(&client, &left, bytes, is_call).await.is_ok() })
        });
        for user in users.collect::<Vec<_>>() {
            assert!(user.await?);
        }
        Ok(cpu_time(ClockId::ThreadCPUTime).since(from).0 as f64 / 1e3 / f64::from(exchanges))
    })
}

async fn user(client: &Client, left: &Cell<u32>, bytes: usize, is_call: bool) -> Result<(), Failed> {
    let path = client.path(if is_call { "/test.Echo/Echo" } else { "/echo" })?;
    let (message, mut buffer) = (vec![7; bytes], BytesMut::new());
    let mut request = match is_call {
        true => unary_request(path, Bytes::new()),
        false => post(path),
    };
    let mut answer = Answer::new();
    while left.get() > 0 {
        left.set(left.get() - 1);
        request.body = match is_call {
            true => frame(&message, &mut buffer)?.into(),
            false => {
                buffer.extend_from_slice(&message);
                buffer.split().freeze().into()
            }
        };
        client.send(&request, &mut answer).await?;
        if is_call {
            let reply = unary_reply(&answer)?;
            assert_eq!((reply.status, reply.message.len()), (GrpcStatus::Ok, bytes));
        }
    }
    Ok(())
}

fn post(path: PathAndQuery) -> Request {
    let mut request = Request::post(path, Bytes::new());
    request.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
    request
}

/// A server of HTTP/2 on a thread of its own.
fn serve() -> Result<SocketAddr, Failed> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    listener.set_nonblocking(true)?;
    let at = listener.local_addr()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    thread::spawn(move || {
        LocalSet::new().block_on(&runtime, async {
            let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
            while let Ok((tcp, _)) = listener.accept().await {
                // Else trailers that are written behind a message wait for its acknowledgement.
                if tcp.set_nodelay(true).is_err() {
                    return;
                }
                tokio::task::spawn_local(async move {
                    let Ok(mut connection) = h2::server::handshake(tcp).await else { return };
                    while let Some(Ok((request, respond))) = connection.accept().await {
                        tokio::task::spawn_local(echo(request, respond));
                    }
                });
            }
        });
    });
    Ok(at)
}

async fn echo(
    request: http::Request<h2::RecvStream>,
    mut respond: SendResponse<Bytes>,
) -> Result<(), h2::Error> {
    let is_call = request.headers().contains_key("te");
    let mut stream = request.into_body();
    let mut body = BytesMut::new();
    while let Some(chunk) = stream.data().await {
        let chunk = chunk?;
        stream.flow_control().release_capacity(chunk.len())?;
        body.extend_from_slice(&chunk);
    }
    let mut answer = respond.send_response(http::Response::new(()), false)?;
    answer.send_data(body.freeze(), !is_call)?;
    if is_call {
        answer.send_trailers(http::HeaderMap::from_iter([(
            http::HeaderName::from_static("grpc-status"),
            HeaderValue::from_static("0"),
        )]))?;
    }
    Ok(())
}
