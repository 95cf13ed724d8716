//! A closed loop of GETs against one URL, to find what a request costs this process.
//!
//! `loop <net|http2|bare> <url> <connections> <seconds>` prints requests, CPU time for each (user and system), and memory.
//! `net` is this crate, `http2` the same with prior knowledge and ten streams for each connection; `bare` is hyper alone with a spawned task for each connection.

#[path = "support/cpu_time.rs"]
mod cpu_time;

use std::cell::Cell;
use std::error::Error;
use std::fs;
use std::io::Write as _;
use std::rc::Rc;

use bytes::Bytes;
use hammer_core::clock::MonotonicClock;
use hammer_measure::connection::ConnectionLog;
use hammer_measure::{Nanos, Now};
use hammer_net::{Answer, Client, ClientConfig, HttpVersion, Request};
use http::Uri;
use http_body_util::{BodyExt as _, Empty};
use hyper_util::rt::TokioIo;
use rustix::time::ClockId;
use tokio::net::TcpStream;
use tokio::task::LocalSet;

use cpu_time::cpu_time;

type Failed = Box<dyn Error>;

fn main() -> Result<(), Failed> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [mode, url, connections, seconds] = &arguments[..] else {
        return Err("usage: loop <net|http2|bare> <url> <connections> <seconds>".into());
    };
    let url: Uri = url.parse()?;
    let (connections, seconds): (usize, u64) = (connections.parse()?, seconds.parse()?);
    let clock = MonotonicClock::starting_now();
    let end = Nanos::from_secs(seconds);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let requests = LocalSet::new().block_on(&runtime, run(mode, &url, connections, clock, end))?;
    let cpu = cpu_time(ClockId::ProcessCPUTime);
    let status = fs::read_to_string("/proc/self/status")?;
    let memory = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default();
    let each = cpu.0 as f64 / 1e3 / requests as f64;
    let rate = requests / seconds;
    writeln!(std::io::stdout(), "{mode}: {requests} requests, {rate}/s, {each:.2} us CPU each, {memory}")?;
    Ok(())
}

async fn run(
    mode: &str,
    url: &Uri,
    connections: usize,
    clock: MonotonicClock,
    end: Nanos,
) -> Result<u64, Failed> {
    let count = Rc::new(Cell::new(0));
    let mut users = Vec::new();
    let client = Rc::new(client(mode, url, connections, clock)?);
    if mode != "bare" {
        client.warm_up(connections).await?;
    }
    for _ in 0..connections {
        let count = Rc::clone(&count);
        users.push(match mode {
            "net" | "http2" => {
                tokio::task::spawn_local(through_net(Rc::clone(&client), url.clone(), end, count))
            }
            _ => tokio::task::spawn_local(through_hyper(url.clone(), clock, end, count)),
        });
    }
    for user in users {
        user.await??;
    }
    Ok(count.get())
}

fn client(mode: &str, url: &Uri, connections: usize, clock: MonotonicClock) -> Result<Client, Failed> {
    let origin = Uri::builder().scheme("http").authority(url.authority().ok_or("no host")?.as_str());
    let mut config = ClientConfig::new(origin.path_and_query("/").build()?);
    config.connections = connections;
    if mode == "http2" {
        config.version = HttpVersion::Http2PriorKnowledge;
        config.streams = 10;
        config.connections = connections.div_ceil(10);
    }
    Ok(Client::new(config, Rc::new(clock), ConnectionLog::default())?)
}

async fn through_net(client: Rc<Client>, url: Uri, end: Nanos, count: Rc<Cell<u64>>) -> Result<(), Failed> {
    let request = Request::get(client.path(url.path())?);
    let mut answer = Answer::new();
    loop {
        client.send(&request, &mut answer).await?;
        assert_eq!((answer.status.as_u16(), answer.body.len()), (200, 128));
        count.set(count.get() + 1);
        if answer.wire.done > Some(end) {
            return Ok(());
        }
    }
}

async fn through_hyper(
    url: Uri,
    clock: MonotonicClock,
    end: Nanos,
    count: Rc<Cell<u64>>,
) -> Result<(), Failed> {
    let authority = url.authority().ok_or("no host")?.as_str().to_owned();
    let tcp = TcpStream::connect(&authority).await?;
    tcp.set_nodelay(true)?;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(tcp)).await?;
    tokio::task::spawn_local(connection);
    loop {
        let request = http::Request::get(url.path()).header("host", &authority).body(Empty::<Bytes>::new())?;
        let response = sender.send_request(request).await?;
        assert_eq!(response.status().as_u16(), 200);
        assert_eq!(response.into_body().collect().await?.to_bytes().len(), 128);
        count.set(count.get() + 1);
        if clock.now() > end {
            return Ok(());
        }
        sender.ready().await?;
    }
}
