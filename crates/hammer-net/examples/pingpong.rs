//! Bytes to and fro on loopback, to find what a socket of hammer's own saves.
//!
//! `pingpong <tokio|socket|own|dial-tokio|dial-socket|dial-own> <connections> <rounds> [bytes]` prints the CPU time of a round (user and system) of the thread that asks;
//! another one answers. `tokio` is its `TcpStream`, `socket` hammer's in tokio's epoll, `own` hammer's in an epoll of its own,
//! and `dial-` makes a connection for each round. Under `strace -c` it shows the calls as well: they are the asking thread's, without `-f`.

#[path = "support/cpu_time.rs"]
mod cpu_time;

use std::error::Error;
use std::future::poll_fn;
use std::io::{self, IoSlice, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::rc::Rc;

use hammer_core::clock::MonotonicClock;
use hammer_measure::Now as _;
use hammer_net::reactor::Reactor;
use hammer_net::socket::Socket;
use rustix::time::ClockId;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::{LocalSet, spawn_local};

use cpu_time::cpu_time;

type Failed = Box<dyn Error>;

fn main() -> Result<(), Failed> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [mode, connections, rounds, bytes @ ..] = &arguments[..] else {
        return Err(
            "usage: pingpong <tokio|socket|own|dial-tokio|dial-socket|dial-own> <connections> <rounds> [bytes]".into(),
        );
    };
    let (connections, rounds): (usize, usize) = (connections.parse()?, rounds.parse()?);
    let bytes = bytes.first().map_or(Ok(100), |bytes| bytes.parse())?;
    let addr = answering()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (clock, cpu) = (MonotonicClock::starting_now(), cpu_time(ClockId::ThreadCPUTime));
    LocalSet::new().block_on(&runtime, ask(mode, addr, connections, rounds, bytes))?;
    let count = (connections * rounds) as f64;
    let cpu = cpu_time(ClockId::ThreadCPUTime).since(cpu).0 as f64 / 1e3 / count;
    let took = clock.now().0 as f64 / 1e3 / count;
    writeln!(io::stdout(), "{mode}: {cpu:.2} us CPU, {took:.2} us a round")?;
    Ok(())
}

/// A thread that sends back whatever it reads, on as many connections as are made.
fn answering() -> io::Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let addr = listener.local_addr()?;
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            listener.set_nonblocking(true)?;
            let listener = tokio::net::TcpListener::from_std(listener)?;
            loop {
                let mut stream = listener.accept().await?.0;
                tokio::spawn(async move {
                    let (mut read, mut write) = stream.split();
                    tokio::io::copy(&mut read, &mut write).await
                });
            }
            #[expect(unreachable_code, reason = "it says of what type the errors are")]
            io::Result::Ok(())
        })
    });
    Ok(addr)
}

async fn ask(
    mode: &str,
    addr: SocketAddr,
    connections: usize,
    rounds: usize,
    bytes: usize,
) -> Result<(), Failed> {
    let reactor = Reactor::new(Rc::new(MonotonicClock::starting_now()))?;
    if mode.ends_with("own") {
        reactor.set_lazy(true);
        reactor.set_lazy(false);
    }
    let mut asking = Vec::new();
    for _ in 0..connections {
        asking.push(match mode {
            "dial-tokio" => spawn_local(async move {
                for _ in 0..rounds {
                    through_tokio(TcpStream::connect(addr).await?, 1, bytes).await?;
                }
                Ok(())
            }),
            "dial-socket" | "dial-own" => {
                let reactor = Rc::clone(&reactor);
                spawn_local(async move {
                    for _ in 0..rounds {
                        through_socket(Socket::connect(&reactor, addr).await?, 1, bytes).await?;
                    }
                    Ok(())
                })
            }
            "tokio" => spawn_local(through_tokio(TcpStream::connect(addr).await?, rounds, bytes)),
            _ => spawn_local(through_socket(Socket::connect(&reactor, addr).await?, rounds, bytes)),
        });
    }
    for task in asking {
        task.await??;
    }
    Ok(())
}

async fn through_tokio(mut stream: TcpStream, rounds: usize, bytes: usize) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let (sent, mut back) = (vec![1; bytes], vec![0; 2 * bytes]);
    for _ in 0..rounds {
        stream.write_all(&sent).await?;
        let mut read = 0;
        while read < bytes {
            read += stream.read(&mut back).await?;
        }
    }
    Ok(())
}

async fn through_socket(socket: Socket, rounds: usize, bytes: usize) -> io::Result<()> {
    let (sent, mut back) = (vec![1; bytes], vec![0; 2 * bytes]);
    for _ in 0..rounds {
        let mut left = &sent[..];
        while !left.is_empty() {
            left = &left[poll_fn(|cx| socket.poll_send(cx, &[IoSlice::new(left)])).await?..];
        }
        let mut read = 0;
        while read < bytes {
            read += poll_fn(|cx| socket.poll_recv(cx, &mut back)).await?.bytes;
        }
    }
    Ok(())
}
