//! Two servers at two addresses with one port: which of them gets what, by hammer's own figures and by the servers' counts.

#[path = "support/folder.rs"]
mod folder;
#[path = "support/hammer.rs"]
mod hammer;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use h2::server::SendResponse;
use http::{HeaderMap, HeaderName, HeaderValue, Response};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};

use folder::Folder;
use hammer::hammer;

/// Two servers, and how many requests each has answered.
struct Pair {
    port: u16,
    answered: [Arc<AtomicU64>; 2],
}

impl Pair {
    /// Serves until the test ends.
    fn start(speaks_http2: bool) -> Self {
        let listeners = listeners();
        let port = listeners[0].local_addr().unwrap().port();
        let answered = listeners.map(|listener| {
            let answered = Arc::<AtomicU64>::default();
            let counted = Arc::clone(&answered);
            thread::spawn(move || serve(listener, speaks_http2, &counted));
            answered
        });
        Self { port, answered }
    }

    fn answered(&self) -> [u64; 2] {
        self.answered.each_ref().map(|answered| answered.load(Ordering::SeqCst))
    }
}

/// One port of both addresses.
fn listeners() -> [std::net::TcpListener; 2] {
    loop {
        let first = std::net::TcpListener::bind((ADDRESSES[0], 0)).unwrap();
        let port = first.local_addr().unwrap().port();
        // Somebody else may have it there.
        if let Ok(second) = std::net::TcpListener::bind((ADDRESSES[1], port)) {
            return [first, second];
        }
    }
}

fn serve(listener: std::net::TcpListener, speaks_http2: bool, answered: &Arc<AtomicU64>) {
    listener.set_nonblocking(true).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let listener = TcpListener::from_std(listener).unwrap();
        while let Ok((tcp, _)) = listener.accept().await {
            let answered = Arc::clone(answered);
            match speaks_http2 {
                true => drop(tokio::spawn(over_http2(tcp, answered))),
                false => drop(tokio::spawn(over_http1(tcp, answered))),
            }
        }
    });
}

async fn over_http1(tcp: TcpStream, answered: Arc<AtomicU64>) {
    let (reader, mut writer) = tcp.into_split();
    let mut lines = BufReader::new(reader).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        if line.is_empty() {
            answered.fetch_add(1, Ordering::SeqCst);
            if writer.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").await.is_err() {
                return;
            }
        }
    }
}

async fn over_http2(tcp: TcpStream, answered: Arc<AtomicU64>) {
    let Ok(mut connection) = h2::server::handshake(tcp).await else { return };
    while let Some(Ok((request, respond))) = connection.accept().await {
        tokio::spawn(answer(request.into_body(), respond, Arc::clone(&answered)));
    }
}

/// An empty message of gRPC, which is an answer of HTTP as well.
async fn answer(
    mut body: h2::RecvStream,
    mut respond: SendResponse<bytes::Bytes>,
    answered: Arc<AtomicU64>,
) -> Result<(), h2::Error> {
    while let Some(chunk) = body.data().await {
        chunk?;
    }
    answered.fetch_add(1, Ordering::SeqCst);
    let head = Response::builder().header("content-type", "application/grpc").body(()).unwrap();
    let mut stream = respond.send_response(head, false)?;
    stream.send_data(bytes::Bytes::from_static(b"\0\0\0\0\0"), false)?;
    let status = (HeaderName::from_static("grpc-status"), HeaderValue::from_static("0"));
    stream.send_trailers(HeaderMap::from_iter([status]))
}

#[test]
fn one_server_of_two_gets_all_under_pick_first_and_each_a_half_under_round_robin() {
    let folder = Folder::new();
    for (request, http, is_http2) in [
        ("path: /", "1.1", false),
        ("path: /", "2-prior-knowledge", true),
        ("grpc: /trillian.TrillianLog/GetLatestSignedLogRoot", "2", true),
    ] {
        for (balancing, expected) in [("pick_first", [200, 0]), ("round_robin", [100, 100])] {
            let pair = Pair::start(is_http2);
            let [one, two] = ADDRESSES.map(|address| format!("\"http://{address}:{}\"", pair.port));
            let plan = folder.write(
                "plan.yaml",
                &format!(
                    "\
target:
  url: [ {one}, {two} ]
  connection: {{ http: {http}, balancing: {balancing} }}
workloads:
  - name: ask
    http: {{ {request} }}
    load: {{ users: 4, operations: 200 }}
threads: {{ shards: 1 }}
"
                ),
            );
            let ended = hammer(&["run", &plan, "--out", "-"]);
            let report = ended.report();
            let case = format!("{request}, {http}, {balancing}: {}", ended.stderr);
            assert_eq!(report.totals.all.fates.accepted, 200, "{case}");
            assert_eq!(pair.answered(), expected, "{case}");
            let peers = &report.connections[0].peers;
            let told = ADDRESSES.map(|address| {
                let address = SocketAddr::new(address, pair.port).to_string();
                let peer = peers.iter().find(|peer| peer.peer.as_deref() == Some(address.as_str()));
                peer.map_or(0, |peer| peer.requests)
            });
            assert_eq!(told, expected, "{case}");
            assert!(peers.iter().all(|peer| peer.failures + peer.error_answers == 0), "{case}");
            let shares = ended.stderr.lines().filter(|line| line.contains(" 50.0 % ")).count();
            assert_eq!(shares, if balancing == "round_robin" { 2 } else { 0 }, "{case}");
        }
    }
}

const ADDRESSES: [IpAddr; 2] =
    [IpAddr::V4(Ipv4Addr::new(127, 0, 0, 1)), IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2))];
