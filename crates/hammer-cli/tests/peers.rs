//! Two servers at two addresses with one port: which of them gets what, by hammer's own figures and by the servers' counts.

#[path = "support/folder.rs"]
mod folder;
#[path = "support/hammer.rs"]
mod hammer;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use h2::server::SendResponse;
use http::{HeaderMap, HeaderName, HeaderValue, Response};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use hammer_report::Report;
use hammer_report::report::{Event, PeerFigures};

use folder::Folder;
use hammer::{Ended, hammer};

/// Two servers, and what each has done.
struct Pair {
    port: u16,
    servers: [Arc<Server>; 2],
}

/// What a server has done.
#[derive(Default)]
struct Server {
    /// Requests that it has answered, in all and by connection.
    answered: watch::Sender<u64>,
    of_connections: Mutex<Vec<Arc<AtomicU64>>>,
    /// What the other one has to have answered before this one answers at all.
    waits_for: Option<(Arc<Server>, u64)>,
    /// What it answers who asks how it is (`ServingStatus`); without it, that it cannot be asked.
    health: Option<u8>,
}

impl Server {
    /// Another connection, whose answers are counted by what is given.
    fn connected(&self) -> Arc<AtomicU64> {
        let counted = Arc::<AtomicU64>::default();
        self.of_connections.lock().unwrap().push(Arc::clone(&counted));
        counted
    }

    /// A request is about to be answered.
    async fn answers(&self, connection: &AtomicU64) {
        if let Some((other, count)) = &self.waits_for {
            let mut answered = other.answered.subscribe();
            answered.wait_for(|answered| answered >= count).await.unwrap();
        }
        self.answered.send_modify(|answered| *answered += 1);
        connection.fetch_add(1, Ordering::SeqCst);
    }

    fn by_connection(&self) -> Vec<u64> {
        self.of_connections.lock().unwrap().iter().map(|count| count.load(Ordering::SeqCst)).collect()
    }
}

impl Pair {
    /// Serves until the test ends.
    fn start(speaks_http2: bool) -> Self {
        Self::of(speaks_http2, [Arc::default(), Arc::default()])
    }

    /// The first answers only once the second has answered so many.
    fn with_a_slow_one(speaks_http2: bool, waits_for: u64) -> Self {
        let fast = Arc::<Server>::default();
        let slow = Server { waits_for: Some((Arc::clone(&fast), waits_for)), ..Server::default() };
        Self::of(speaks_http2, [Arc::new(slow), fast])
    }

    fn of(speaks_http2: bool, servers: [Arc<Server>; 2]) -> Self {
        let listeners = listeners();
        let port = listeners[0].local_addr().unwrap().port();
        for (listener, server) in listeners.into_iter().zip(&servers) {
            let server = Arc::clone(server);
            thread::spawn(move || serve(listener, speaks_http2, &server));
        }
        Self { port, servers }
    }

    fn answered(&self) -> [u64; 2] {
        self.servers.each_ref().map(|server| *server.answered.borrow())
    }

    /// A run of 200 operations of four users on both, with such connections.
    fn run(&self, folder: &Folder, request: &str, connection: &str, load: &str) -> Ended {
        let [one, two] = ADDRESSES.map(|address| format!("\"http://{address}:{}\"", self.port));
        let plan = folder.write(
            "plan.yaml",
            &format!(
                "\
target:
  url: [ {one}, {two} ]
  connection: {{ {connection} }}
workloads:
  - name: ask
    http: {{ {request} }}
    load: {{ users: 4, operations: 200{load} }}
    timeout: 60s
threads: {{ shards: 1 }}
"
            ),
        );
        hammer(&["run", &plan, "--out", "-"])
    }
}

/// What the report has of the peer at an address.
fn peer_at(report: &Report, address: IpAddr, port: u16) -> Option<&PeerFigures> {
    let address = SocketAddr::new(address, port).to_string();
    report.connections[0].peers.iter().find(|peer| peer.peer.as_deref() == Some(address.as_str()))
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

fn serve(listener: std::net::TcpListener, speaks_http2: bool, server: &Arc<Server>) {
    listener.set_nonblocking(true).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let listener = TcpListener::from_std(listener).unwrap();
        while let Ok((tcp, _)) = listener.accept().await {
            let (server, counted) = (Arc::clone(server), server.connected());
            match speaks_http2 {
                true => drop(tokio::spawn(over_http2(tcp, server, counted))),
                false => drop(tokio::spawn(over_http1(tcp, server, counted))),
            }
        }
    });
}

async fn over_http1(tcp: TcpStream, server: Arc<Server>, counted: Arc<AtomicU64>) {
    let (reader, mut writer) = tcp.into_split();
    let mut lines = BufReader::new(reader).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        if line.is_empty() {
            server.answers(&counted).await;
            if writer.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").await.is_err() {
                return;
            }
        }
    }
}

async fn over_http2(tcp: TcpStream, server: Arc<Server>, counted: Arc<AtomicU64>) {
    let Ok(mut connection) = h2::server::handshake(tcp).await else { return };
    while let Some(Ok((request, respond))) = connection.accept().await {
        if request.uri().path() == "/grpc.health.v1.Health/Check" {
            tokio::spawn(say_health(respond, server.health));
            continue;
        }
        tokio::spawn(answer(request.into_body(), respond, Arc::clone(&server), Arc::clone(&counted)));
    }
}

/// An empty message of gRPC, which is an answer of HTTP as well.
async fn answer(
    mut body: h2::RecvStream,
    mut respond: SendResponse<bytes::Bytes>,
    server: Arc<Server>,
    counted: Arc<AtomicU64>,
) -> Result<(), h2::Error> {
    while let Some(chunk) = body.data().await {
        chunk?;
    }
    server.answers(&counted).await;
    let head = Response::builder().header("content-type", "application/grpc").body(()).unwrap();
    let mut stream = respond.send_response(head, false)?;
    stream.send_data(bytes::Bytes::from_static(b"\0\0\0\0\0"), false)?;
    let status = (HeaderName::from_static("grpc-status"), HeaderValue::from_static("0"));
    stream.send_trailers(HeaderMap::from_iter([status]))
}

async fn say_health(mut respond: SendResponse<bytes::Bytes>, health: Option<u8>) -> Result<(), h2::Error> {
    let head = Response::builder().header("content-type", "application/grpc");
    let Some(health) = health else {
        let unimplemented = head.header("grpc-status", "12").body(()).unwrap();
        return respond.send_response(unimplemented, true).map(drop);
    };
    let mut stream = respond.send_response(head.body(()).unwrap(), false)?;
    stream.send_data(bytes::Bytes::from(vec![0, 0, 0, 0, 2, 8, health]), false)?;
    let status = (HeaderName::from_static("grpc-status"), HeaderValue::from_static("0"));
    stream.send_trailers(HeaderMap::from_iter([status]))
}

#[test]
fn each_server_is_asked_before_the_run_whether_it_serves_and_one_that_does_not_is_told_aloud() {
    let folder = Folder::new();
    let server = |health| Arc::new(Server { health, ..Server::default() });
    let pair = Pair::of(true, [server(Some(1)), server(Some(2))]);
    let silent = Pair::of(true, [server(None), server(Some(0))]);
    let told = |pair: &Pair| {
        let [one, two] = ADDRESSES.map(|address| format!("\"http://{address}:{}\"", pair.port));
        let plan = format!(
            "\
target: {{ trillian: {{ url: [ {one}, {two} ], tree_id: 1, integration_delay: 1s }} }}
workloads:
  - name: roots
    trillian: {{ mix: {{ get-latest-signed-log-root: 1 }} }}
    load: {{ users: 1, operations: 4 }}
threads: {{ shards: 1 }}
"
        );
        let ended = hammer(&["run", &folder.write("plan.yaml", &plan), "--out", "-"]);
        assert_eq!(pair.answered(), [2, 2], "no operation is spent on it: {}", ended.stderr);
        let told = serde_json::to_string(&ended.report().events).unwrap();
        let [one, two] = ADDRESSES.map(|address| format!("trillian: {address}:{}", pair.port));
        (told, one, two)
    };
    let (events, one, two) = told(&pair);
    assert!(events.contains(&format!("{one} says that it serves (grpc.health)")), "{events}");
    assert!(events.contains(&format!("{two} SAYS THAT IT DOES NOT SERVE (grpc.health)")), "{events}");
    let (events, one, two) = told(&silent);
    assert!(!events.contains(&one), "{events}");
    assert!(events.contains(&format!("{two} does not know whether it serves (grpc.health)")), "{events}");
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
            let connection = format!("http: {http}, balancing: {balancing}");
            let ended = pair.run(&folder, request, &connection, "");
            let report = ended.report();
            let case = format!("{request}, {http}, {balancing}: {}", ended.stderr);
            assert_eq!(report.totals.all.fates.accepted, 200, "{case}");
            assert_eq!(pair.answered(), expected, "{case}");
            let peers = &report.connections[0].peers;
            let told =
                ADDRESSES.map(|address| peer_at(&report, address, pair.port).map_or(0, |peer| peer.requests));
            assert_eq!(told, expected, "{case}");
            assert!(peers.iter().all(|peer| peer.failures + peer.error_answers == 0), "{case}");
            let shares = ended.stderr.lines().filter(|line| line.contains(" 50.0 % ")).count();
            assert_eq!(shares, if balancing == "round_robin" { 2 } else { 0 }, "{case}");
        }
    }
}

#[test]
fn each_address_has_as_many_connections_as_the_plan_says_and_streams_are_spread_over_them() {
    let folder = Folder::new();
    for connections in [1, 3] {
        let pair = Pair::start(true);
        let wanted = format!("http: 2-prior-knowledge, per_address: {connections}");
        let ended = pair.run(&folder, "path: /", &wanted, "");
        let report = ended.report();
        assert_eq!(report.totals.all.fates.accepted, 200, "{}", ended.stderr);
        assert_eq!(pair.answered(), [100, 100]);
        for (address, server) in ADDRESSES.into_iter().zip(&pair.servers) {
            let answered = server.by_connection();
            assert_eq!(answered.len(), connections, "{answered:?}");
            // One that was established late, as on a busy machine, had less to answer.
            assert!(answered.iter().all(|count| *count > 0), "{answered:?}");
            let most = answered.iter().max().copied().unwrap_or_default();
            assert!(connections == 1 || most <= 60, "one has the streams of the others: {answered:?}");
            let peer = peer_at(&report, address, pair.port).unwrap();
            assert_eq!((peer.dials, peer.most_open), (connections as u64, connections as u64), "{peer:?}");
        }
    }
}

#[test]
fn the_server_with_the_fewest_in_flight_gets_what_the_other_has_no_time_for() {
    let folder = Folder::new();
    for (http, is_http2) in [("1.1", false), ("2-prior-knowledge", true)] {
        let pair = Pair::with_a_slow_one(is_http2, 150);
        let ended = pair.run(&folder, "path: /", &format!("http: {http}, balancing: least_in_flight"), "");
        let report = ended.report();
        assert_eq!(report.totals.all.fates.accepted, 200, "{}", ended.stderr);
        let [slow, fast] = pair.answered();
        // Of four users two wait for the slow one until the other has answered 150; then both answer.
        assert_eq!(slow + fast, 200);
        assert!((1..=50).contains(&slow) && fast >= 150, "{http}: {slow} and {fast}");
        let told =
            ADDRESSES.map(|address| peer_at(&report, address, pair.port).map_or(0, |peer| peer.requests));
        assert_eq!(told, [slow, fast], "{http}");
    }
}

#[test]
fn a_connection_that_is_too_old_is_replaced_and_nothing_fails_by_it() {
    let folder = Folder::new();
    for (http, is_http2) in [("1.1", false), ("2-prior-knowledge", true)] {
        let pair = Pair::start(is_http2);
        // Half a second at least.
        let ended = pair.run(&folder, "path: /", &format!("http: {http}, max_age: 50ms"), ", think: 10ms");
        let report = ended.report();
        assert_eq!(report.totals.all.fates.accepted, 200, "{}", ended.stderr);
        assert_eq!(pair.answered(), [100, 100], "{http}");
        for (address, server) in ADDRESSES.into_iter().zip(&pair.servers) {
            let dialled = server.by_connection().len() as u64;
            let peer = peer_at(&report, address, pair.port).unwrap();
            assert!(dialled >= 4, "{http}: {dialled}");
            assert_eq!(peer.dials, dialled, "{http}");
            assert_eq!((peer.failures, peer.error_answers), (0, 0), "{peer:?}");
        }
    }
}

/// The second server listens once the first has answered so much; until then dials to it fail.
#[test]
fn a_server_that_joins_in_mid_run_is_told_and_each_interval_has_the_share_of_each() {
    let folder = Folder::new();
    let [first, second] = listeners();
    let address = second.local_addr().unwrap();
    drop(second);
    let [early, late] = [Arc::<Server>::default(), Arc::<Server>::default()];
    let serving = Arc::clone(&early);
    thread::spawn(move || serve(first, false, &serving));
    let (watched, joining) = (early.answered.subscribe(), Arc::clone(&late));
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let mut watched = watched;
        runtime.block_on(watched.wait_for(|answered| *answered >= 200)).unwrap();
        drop(watched);
        serve(std::net::TcpListener::bind(address).unwrap(), false, &joining);
    });
    let [one, two] = ADDRESSES.map(|ip| format!("\"http://{}\"", SocketAddr::new(ip, address.port())));
    let plan = format!(
        "\
target: {{ url: [ {one}, {two} ] }}
workloads:
  - name: ask
    http: {{ path: / }}
    load: {{ rate: 100/s }}
phases: {{ measurement: 5s }}
interval: 250ms
threads: {{ shards: 1 }}
"
    );
    let events = folder.path("events.jsonl");
    let ended = hammer(&["run", &folder.write("plan.yaml", &plan), "--out", "-", "--events", &events]);
    let report = ended.report();
    let joined = report.events.iter().filter_map(|event| match event {
        Event::PeerJoined { at_ns, service, peer } => Some((*at_ns, service.as_str(), peer.clone())),
        _ => None,
    });
    let joined: Vec<_> = joined.collect();
    let [(at_ns, service, peer)] = &joined[..] else { panic!("{:?}", report.events) };
    assert_eq!((*service, peer), ("url", &address.to_string()));
    assert!(*at_ns >= 2_000_000_000, "{at_ns}");
    let said = format!("{peer} of url first answered");
    let text = ended.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains(&said), "{text}");
    // Each interval has what went to each of them.
    let lines = std::fs::read_to_string(events).unwrap();
    let lines: Vec<serde_json::Value> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let shares = |of: &serde_json::Value| -> Vec<f64> {
        let peers = of["peers"].as_array().into_iter().flatten();
        peers.map(|peer| peer["share"].as_f64().unwrap()).collect()
    };
    let intervals: Vec<_> = lines.iter().filter(|line| line["event"] == "interval").collect();
    let before = intervals.iter().filter(|line| line["at_ns"].as_u64().unwrap() < 1_900_000_000);
    assert!(before.map(|line| shares(line)).all(|shares| shares == [1.0, 0.0] || shares.is_empty()));
    let after = intervals.iter().filter(|line| line["at_ns"].as_u64().unwrap() > at_ns + 500_000_000);
    let after: Vec<_> =
        after.map(|line| shares(line)).filter(|shares| shares.iter().sum::<f64>() > 0.0).collect();
    assert!(after.iter().all(|shares| (shares[0] - 0.5).abs() < 0.3), "{after:?}");
}

#[test]
fn a_name_is_looked_up_again_as_often_as_the_plan_says() {
    let folder = Folder::new();
    for (every, least, most) in [(", resolve_every: 20ms", 3, u64::MAX), ("", 1, 1)] {
        let pair = Pair::start(false);
        let plan = format!(
            "\
target: {{ url: \"http://localhost:{}\", connection: {{ http: 1.1{every} }} }}
workloads:
  - name: ask
    http: {{ path: / }}
    load: {{ users: 1, operations: 40, think: 10ms }}
threads: {{ shards: 1 }}
",
            pair.port
        );
        let ended = hammer(&["run", &folder.write("plan.yaml", &plan), "--out", "-"]);
        let report = ended.report();
        assert_eq!(report.totals.all.fates.accepted, 40, "{}", ended.stderr);
        let look_ups = report.connections[0].look_ups;
        assert!((least..=most).contains(&look_ups), "{look_ups}");
        assert_eq!(
            report.connections[0].dials, 1,
            "what is looked up again and found again keeps its connection"
        );
    }
}

#[test]
fn connections_for_each_address_that_cannot_be_are_refused_with_their_key() {
    let folder = Folder::new();
    let pair = Pair::start(true);
    for (connection, why) in [
        ("http: 1.1, per_address: 2", "`connections` says how many there are"),
        ("connections: 2, per_address: 3", "it is more than `connections`"),
        ("keepalive: false, per_address: 2", "a connection of its own"),
        ("per_address: 0", "it must be 1 at least"),
    ] {
        let ended = pair.run(&folder, "path: /", connection, "");
        assert_eq!(ended.code, 2, "{}", ended.stderr);
        let told = ended.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains("target.connection.per_address: ") && told.contains(why), "{told}");
    }
    assert_eq!(pair.answered(), [0, 0]);
}

const ADDRESSES: [IpAddr; 2] =
    [IpAddr::V4(Ipv4Addr::new(127, 0, 0, 1)), IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2))];
