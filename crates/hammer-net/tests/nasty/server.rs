//! A server in a thread of its own, which plays one case to every connection.

use std::net::SocketAddr;
use std::thread::JoinHandle;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use crate::case::{Case, Speaks};
use crate::ledger::{Ledger, PATIENCE};
use crate::reply::{Reply, Then};
use crate::{http1, http2};

mod identity;
mod stream;

pub(crate) use identity::Identity;
use stream::Stream;

/// A running server.
pub(crate) struct Server {
    /// Where it listens.
    pub(crate) addr: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Plays `case` on a free port, with an identity where it speaks TLS.
    pub(crate) fn start(case: &'static Case, ledger: &Ledger, identity: Option<Identity>) -> Self {
        Self::start_at("127.0.0.1:0".parse().unwrap(), case, ledger, identity)
    }

    /// Plays `case` at `addr`.
    pub(crate) fn start_at(
        addr: SocketAddr,
        case: &'static Case,
        ledger: &Ledger,
        identity: Option<Identity>,
    ) -> Self {
        let listener = std::net::TcpListener::bind(addr).unwrap();
        listener.set_nonblocking(true).unwrap();
        let addr = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel();
        let ledger = ledger.clone();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(serve(listener, case, ledger, identity, stopped));
        });
        Self { addr, stop: Some(stop), thread: Some(thread) }
    }

    /// Accepts no more, and waits until the connections that there are have ended.
    pub(crate) fn finish(mut self) {
        drop(self.stop.take());
        self.thread.take().unwrap().join().unwrap();
    }

    /// Ends at once, its connections with it.
    pub(crate) fn kill(mut self) {
        self.stop.take().unwrap().send(()).unwrap();
        self.thread.take().unwrap().join().unwrap();
    }
}

async fn serve(
    listener: std::net::TcpListener,
    case: &'static Case,
    ledger: Ledger,
    identity: Option<Identity>,
    mut stopped: oneshot::Receiver<()>,
) {
    let listener = TcpListener::from_std(listener).unwrap();
    let mut connections = JoinSet::new();
    let is_killed = loop {
        let tcp = tokio::select! {
            accepted = listener.accept() => accepted.unwrap().0,
            killed = &mut stopped => break killed.is_ok(),
        };
        tcp.set_nodelay(true).unwrap();
        let number = ledger.read(|books| books.connections);
        ledger.note(|books| books.connections += 1);
        connections.spawn(play(case, ledger.clone(), identity.clone(), tcp, number));
    };
    drop(listener);
    if is_killed {
        return connections.shutdown().await;
    }
    let ended = async { while connections.join_next().await.is_some() {} };
    tokio::time::timeout(PATIENCE, ended).await.expect("a connection does not end");
}

async fn play(
    case: &'static Case,
    ledger: Ledger,
    identity: Option<Identity>,
    tcp: TcpStream,
    number: usize,
) {
    let stream = match identity {
        None => Stream::Plain(tcp),
        Some(identity) => match identity.accept(tcp).await {
            Ok(tls) => Stream::Tls(Box::new(tls)),
            Err(_) => return,
        },
    };
    let connection = Connection { stream, ledger, number };
    match case.speaks {
        Speaks::Http2 { .. } => http2::serve(connection, case).await,
        _ => http1::serve(connection, case).await,
    }
}

/// One connection, whose bytes are counted.
pub(crate) struct Connection {
    stream: Stream,
    /// The case's books.
    pub(crate) ledger: Ledger,
    /// Its place among those that were accepted.
    pub(crate) number: usize,
}

impl Connection {
    /// Appends what comes in next to `buffer`; `false` where nothing comes any more.
    pub(crate) async fn read(&mut self, buffer: &mut Vec<u8>) -> bool {
        let length = self.stream.read_buf(buffer).await.unwrap_or(0);
        self.ledger.note(|books| books.received += length as u64);
        length > 0
    }

    /// Writes `bytes`; says whether the kernel took them all.
    pub(crate) async fn write(&mut self, bytes: &[u8]) -> bool {
        let mut rest = bytes;
        while !rest.is_empty() {
            match self.stream.write(rest).await {
                Ok(length @ 1..) => {
                    self.ledger.note(|books| books.sent += length as u64);
                    rest = &rest[length..];
                }
                _ => return false,
            }
        }
        self.stream.flush().await.is_ok()
    }

    /// Says `reply` to request `seq`, and does what follows; `false` where the connection has ended by it.
    pub(crate) async fn say(&mut self, seq: u64, reply: &Reply) -> bool {
        let told = self.ledger.read(|books| books.told);
        let pieces = if reply.is_dripped { 1 } else { reply.bytes.len().max(1) };
        for piece in reply.bytes.chunks(pieces) {
            if !self.write(piece).await {
                return self.end(Then::Close).await;
            }
            if reply.is_dripped {
                tokio::task::yield_now().await;
            }
        }
        self.ledger.note_written(seq);
        if reply.then_later {
            self.ledger.until(|books| books.told > told).await;
            self.write(&reply.later).await;
        }
        self.end(reply.then).await
    }

    async fn end(&mut self, then: Then) -> bool {
        if then == Then::Reset {
            self.stream.tcp().set_zero_linger().unwrap();
        }
        if matches!(then, Then::Close | Then::Reset) {
            self.stream = Stream::Gone;
        }
        if then == Then::Finish {
            let _ = self.stream.shutdown().await;
        }
        self.ledger.note(|books| books.settled += 1);
        if then == Then::Finish {
            self.drain().await;
        }
        then == Then::GoOn
    }

    /// Counts what still comes.
    async fn drain(&mut self) {
        let mut rest = Vec::new();
        while self.read(&mut rest).await {
            rest.clear();
        }
    }
}
