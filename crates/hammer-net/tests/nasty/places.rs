//! Servers that never accept, are away, or come back.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use hammer_net::FailureKind::{Closed, DialRefused, DialTimeout, Reset, Truncated};
use tokio::net::{TcpListener, TcpSocket, TcpStream};

use crate::case::{Case, Pace, Speaks};
use crate::client::{Waking, ask};
use crate::frames::settings;
use crate::ledger::Ledger;
use crate::reply::{Asked, Reply, body};
use crate::server::Server;
use crate::{http1, http2, verdict};

fn honest(asked: &Asked) -> Reply {
    let body = body(asked.seq);
    let bytes = if asked.stream == 0 { http1::ok(&body) } else { http2::ok(asked.stream, &body) };
    Reply::is_ok(asked, bytes)
}

fn url(addr: SocketAddr) -> String {
    format!("http://{addr}")
}

fn assert_none(faults: &[String]) {
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// A listener that accepts nobody, and whose queue is full.
struct Full {
    runtime: tokio::runtime::Runtime,
    listener: TcpListener,
    waiting: Vec<TcpStream>,
}

impl Full {
    fn at(addr: SocketAddr) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (listener, waiting) = runtime.block_on(async {
            let socket = TcpSocket::new_v4().unwrap();
            socket.bind(addr).unwrap();
            let listener = socket.listen(1).unwrap();
            let addr = listener.local_addr().unwrap();
            let mut waiting = Vec::new();
            // The kernel lets in a few more than it was told; one that it does not answer means that the queue is full.
            while let Ok(tcp) = tokio::time::timeout(SILENCE, TcpStream::connect(addr)).await {
                waiting.push(tcp.unwrap());
            }
            (listener, waiting)
        });
        Self { runtime, listener, waiting }
    }

    fn addr(&self) -> SocketAddr {
        self.listener.local_addr().unwrap()
    }

    /// The bytes that came in for those who wait, which are none.
    fn close(self) {
        assert!(!self.waiting.is_empty());
        drop((self.listener, self.waiting, self.runtime));
    }
}

const QUEUE_IS_FULL: &Case = &Case::new("a full queue", honest)
    .configured(|config| config.dial_timeout = SILENCE)
    .losing(&[DialTimeout])
    .paced(Pace::AtOnce(4), 8)
    .counting_all();

#[test]
fn a_server_that_never_accepts_is_a_dial_that_timed_out_and_nothing_left() {
    let full = Full::at(ANY);
    let ledger = Ledger::default();
    let story = ask(QUEUE_IS_FULL, Waking::AtOnce, &[url(full.addr())], &ledger);
    assert_none(&verdict::on(QUEUE_IS_FULL, &story, &ledger));
    full.close();
}

const FOUR_ADDRESSES: &[Case] = &[
    Case::new("four addresses", honest)
        .configured(|config| config.dial_timeout = SILENCE)
        .losing(&[DialRefused, DialTimeout])
        .counting_all(),
    Case::http2("four addresses, HTTP/2", honest)
        .configured(|config| config.dial_timeout = SILENCE)
        .losing(&[DialRefused, DialTimeout]),
];

/// Two of four addresses serve, one refuses, and one is silent. How often those two are tried is a matter of time, and a test of the
/// client's own.
#[test]
fn of_four_addresses_those_that_serve_answer_and_the_others_are_failed_dials_and_passed_over() {
    for case in FOUR_ADDRESSES {
        let ledger = Ledger::default();
        let first = Server::start(case, &ledger, None);
        let at = |last| SocketAddr::from((Ipv4Addr::new(127, 0, 0, last), first.addr.port()));
        let second = Server::start_at(at(2), case, &ledger, None);
        let silent = Full::at(at(3));
        let story = ask(case, Waking::AtOnce, &[1, 2, 3, 4].map(|last| url(at(last))), &ledger);
        let answered = story.told.iter().filter(|one| matches!(one.ended, Some(Ok(())))).count() as u64;
        first.finish();
        second.finish();
        silent.close();
        assert_none(&verdict::on(case, &story, &ledger));
        assert!((case.count / 2..=case.count - 2).contains(&answered), "{}: {answered} answered", case.name);
    }
}

const RESTARTED: &[Case] = &[
    Case::new("restarted", honest)
        .losing(&[DialRefused, Closed, Reset, Truncated])
        .paced(Pace::AtOnce(4), 2000),
    Case::http2("restarted, HTTP/2", honest)
        .speaking(Speaks::Http2 { greeting: |_| settings(), initial: u32::MAX, holds: 3 })
        .losing(&[DialRefused, Closed, Reset, Truncated])
        .paced(Pace::AtOnce(8), 2000),
];

/// A port that stays bound while its server is away: nobody else gets it, and no dial gets it for its own end.
struct Reserved(TcpSocket);

impl Reserved {
    fn new() -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_reuseaddr(true).unwrap();
        socket.bind(ANY).unwrap();
        Self(socket)
    }

    fn addr(&self) -> SocketAddr {
        self.0.local_addr().unwrap()
    }
}

/// Killed and started again on its port, several times, while requests come in.
#[test]
fn what_a_server_that_is_killed_has_answered_is_answered_and_the_rest_is_named() {
    for case in RESTARTED {
        let ledger = Ledger::default();
        let reserved = Reserved::new();
        let addr = reserved.addr();
        let first = Server::start_at(addr, case, &ledger, None);
        let story = std::thread::scope(|scope| {
            let asking = scope.spawn(|| ask(case, Waking::ByTurns, &[url(addr)], &ledger));
            let last = [200, 500, 900].into_iter().fold(first, |server, told| {
                ledger.block_until(|books| books.told >= told);
                server.kill();
                let told = ledger.read(|books| books.told);
                let enough = case.count.min(told + 20);
                ledger.block_until(|books| books.told >= enough);
                Server::start_at(addr, case, &ledger, None)
            });
            let story = asking.join().unwrap();
            last.finish();
            story
        });
        assert_none(&verdict::on(case, &story, &ledger));
    }
}

const ANY: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// How long a dial waits that nothing answers.
const SILENCE: Duration = Duration::from_millis(150);
