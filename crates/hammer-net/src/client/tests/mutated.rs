//! Answers altered at random: each exchange ends in its time, and has no part of another's answer.

mod answers;

use hammer_mutate::{Mutator, cases};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::server::{Script, Seen, Server, read_head, reply, serve_http2};
use super::*;

/// What no exchange asked for.
const POISON: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\npoison";

/// Longer than loopback takes, shorter than a test that waits for it many times would like.
const PATIENCE: Duration = Duration::from_millis(15);

/// As many cases as are asked for; each exchange has its own limit.
const MANY_CASES: Duration = Duration::from_secs(3600);

/// A request that may never be answered; none where it did not end in time.
async fn try_to(client: &Client, path: &str) -> Option<Result<Answer, Failure>> {
    tokio::time::timeout(PATIENCE, get(client, path)).await.ok()
}

/// The body of a request that is answered.
async fn honest(client: &Client, number: u64) -> String {
    let path = format!("/honest/{number}");
    let answer = tokio::time::timeout(Duration::from_secs(60), get(client, &path)).await;
    let answer = answer.unwrap_or_else(|_| panic!("{path} is not answered"));
    String::from_utf8_lossy(&answer.unwrap_or_else(|failure| panic!("{path}: {failure}")).body).into()
}

/// The honest body for a request's path.
fn token(path: &str) -> String {
    format!("the answer to {path} and to nothing else")
}

fn path(head: &[u8]) -> String {
    String::from_utf8_lossy(head).split(' ').nth(1).unwrap_or_default().to_owned()
}

/// Answers `/altered/<n>` with bytes that follow from n, and any other path as it should.
async fn altering(mut tcp: TcpStream) {
    while let Some(head) = read_head(&mut tcp).await {
        let path = path(&head);
        let number = path.strip_prefix("/altered/").and_then(|number| number.parse().ok());
        let (answer, closes) = match number {
            Some(number) => altered(number, &token(&path)),
            None => (answer("content-length", &token(&path)), false),
        };
        if tcp.write_all(&answer).await.is_err() || closes {
            return;
        }
    }
}

fn answer(length: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\n{length}: {}\r\nserver: loopback\r\n\r\n{body}", body.len()).into()
}

/// An answer that is wrong in one known way, in any way, or in both; and whether the server closes behind it.
fn altered(seed: u64, body: &str) -> (Vec<u8>, bool) {
    let mut mutator = Mutator::new(seed);
    let mut out = answers::by_rule(mutator.rng(), body).into_bytes();
    if mutator.rng().one_in(2) {
        out = mutator.bytes(&out, POISON);
    }
    if mutator.rng().one_in(4) {
        out.extend_from_slice(POISON);
    }
    // Whoever waits for what does not come waits for its deadline: that is tried, and not too often.
    let closes = !mutator.rng().one_in(6);
    (out, closes)
}

#[test]
fn every_altered_answer_ends_in_its_time_and_the_next_exchange_has_its_own() {
    run_within(MANY_CASES, async {
        let server = Server::raw(|_, _, tcp| Box::pin(altering(tcp))).await;
        let mut few = config(&server.url());
        few.connections = 2;
        few.response_limit = 64 << 10;
        // Servers close behind an answer without a word of it.
        few.resend = Resend::Idle;
        let client = client(few);
        let (mut cut_off, mut accepted, mut failed) = (0, 0, 0);
        let cases = cases(1500);
        for number in 0..cases {
            match try_to(&client, &format!("/altered/{number}")).await {
                Some(Ok(_)) => accepted += 1,
                Some(Err(_)) => failed += 1,
                None => cut_off += 1,
            }
            assert_eq!(honest(&client, number).await, token(&format!("/honest/{number}")));
        }
        // Each way to end came about, so that the cases say something.
        assert!(
            cases < 500 || (cut_off > 0 && accepted > 50 && failed > 50),
            "{cut_off} {accepted} {failed}"
        );
    });
}

#[test]
fn bytes_behind_an_answer_are_no_answer_to_the_next_request() {
    run(async {
        let server = Server::raw(|_, number, mut tcp| {
            Box::pin(async move {
                while let Some(head) = read_head(&mut tcp).await {
                    let mut bytes = answer("content-length", &token(&path(&head)));
                    if number % 2 == 0 {
                        bytes.extend_from_slice(POISON);
                    }
                    if tcp.write_all(&bytes).await.is_err() {
                        return;
                    }
                }
            })
        })
        .await;
        let client = client(config(&server.url()));
        for number in 0..20 {
            assert_eq!(honest(&client, number).await, token(&format!("/honest/{number}")));
        }
        assert_eq!(server.connections(), 2, "the first one is given up, the second kept");
    });
}

#[test]
fn what_a_server_says_unasked_before_it_closes_is_no_answer() {
    run(async {
        let server = Server::raw(|_, _, mut tcp| {
            Box::pin(async move {
                let Some(head) = read_head(&mut tcp).await else { return };
                tcp.write_all(&answer("content-length", &token(&path(&head)))).await.unwrap();
                tokio::task::yield_now().await;
                // As a server does that is tired of an idle connection.
                let _ = tcp.write_all(b"HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\n\r\n").await;
            })
        })
        .await;
        let client = client(config(&server.url()));
        for number in 0..20 {
            assert_eq!(honest(&client, number).await, token(&format!("/honest/{number}")));
            server.until(|seen| seen.closed.get() as u64 > number).await;
        }
    });
}

fn ok() -> Script {
    Rc::new(|_| Box::pin(async { reply(200, "ok") }))
}

/// Serves HTTP/2 over `tcp`, with what goes to the client altered now and then.
async fn altering_frames(mut tcp: TcpStream, seen: Rc<Seen>, seed: u64) {
    let (near, far) = tokio::io::duplex(1 << 16);
    let served = tokio::task::spawn_local(serve_http2(far, 100, seen, ok()));
    let (mut from_server, mut to_server) = tokio::io::split(near);
    let (mut from_client, mut to_client) = tcp.split();
    let mut mutator = Mutator::new(seed);
    let alter = async {
        let mut chunk = vec![0; 16 << 10];
        while let Ok(length @ 1..) = from_server.read(&mut chunk).await {
            let is_altered = mutator.rng().one_in(2);
            let bytes =
                if is_altered { mutator.bytes(&chunk[..length], POISON) } else { chunk[..length].to_vec() };
            if to_client.write_all(&bytes).await.is_err() {
                return;
            }
        }
    };
    tokio::select! {
        () = alter => {}
        _ = tokio::io::copy(&mut from_client, &mut to_server) => {}
    }
    served.abort();
}

#[test]
fn altered_frames_end_every_exchange_and_the_client_recovers() {
    run_within(MANY_CASES, async {
        let server = Server::raw(|seen, number, tcp| {
            Box::pin(async move {
                match number % 3 {
                    0 => serve_http2(tcp, 100, seen, ok()).await,
                    _ => altering_frames(tcp, seen, number as u64).await,
                }
            })
        })
        .await;
        let mut http2 = config(&server.url());
        http2.version = HttpVersion::Http2PriorKnowledge;
        http2.dial_timeout = PATIENCE;
        let (mut recovered, cases) = (0, cases(300));
        for _ in 0..cases {
            let client = client(http2.clone());
            for exchange in 0..4 {
                if let Some(Ok(answer)) = try_to(&client, &format!("/{exchange}")).await {
                    recovered += u64::from(answer.body == b"ok");
                }
            }
        }
        // A third of the servers alter nothing; a slow machine may lose some of their answers to `PATIENCE`.
        assert!(recovered > cases / 4, "{recovered} exchanges of {}", cases * 4);
    });
}
