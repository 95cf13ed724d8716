//! What an authority may reply to a query over HTTP (RFC 3161 section 3.4): none of it ends hammer, and each ends as what it is.

use std::collections::BTreeSet;
use std::io::{BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

use hammer_cms::timestamp::TimestampQuery;
use hammer_lab_pki::PkiLabPlan;

use super::{Service, accepted};
use crate::server::request;

/// Where every query is replied to with `head` (status line and headers but for the length) and `body`.
fn replying(head: &'static str, body: Vec<u8>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let answer = Arc::new(
        [format!("HTTP/1.1 {head}\r\ncontent-length: {}\r\n\r\n", body.len()).into_bytes(), body].concat(),
    );
    thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let answer = Arc::clone(&answer);
            thread::spawn(move || {
                let read = stream.try_clone().unwrap();
                let mut reader = BufReader::new(&read);
                while request(&mut reader).is_some() && stream.write_all(&answer).is_ok() {}
            });
        }
    });
    url
}

/// A reply that an honest authority once made to another query.
fn another_reply(service: &Service) -> Vec<u8> {
    let mut query = Vec::new();
    TimestampQuery { imprint_sha256: [7; 32], nonce: Some(7), certificates: true }.write(&mut query);
    let head = format!(
        "POST /tsa HTTP/1.1\r\nhost: lab\r\nconnection: close\r\nauthorization: Bearer lab-token\r\ncontent-type: application/timestamp-query\r\ncontent-length: {}\r\n\r\n",
        query.len()
    );
    let mut stream = TcpStream::connect(service.lab.url.strip_prefix("http://").unwrap()).unwrap();
    stream.write_all(&[head.as_bytes(), &query].concat()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let end = answer.windows(4).position(|window| window == b"\r\n\r\n").unwrap();
    answer.split_off(end + 4)
}

const REPLY: &str = "200 OK\r\ncontent-type: application/timestamp-reply";
/// Granted, without a token.
const GRANTED: &[u8] = &[0x30, 0x05, 0x30, 0x03, 0x02, 0x01, 0x00];
/// Rejected, for badAlg.
const REJECTED: &[u8] = &[0x30, 0x09, 0x30, 0x07, 0x02, 0x01, 0x02, 0x03, 0x02, 0x07, 0x80];

#[test]
fn a_reply_that_is_no_timestamp_for_its_query_is_never_kept() {
    let service = Service::of(PkiLabPlan::default());
    let other = another_reply(&service);
    let with_zeros = |length| [&other[..], &vec![0; length]].concat();
    // The second is longer than `target.connection.response_limit`.
    let (huge, too_large) = (with_zeros(8 << 20), with_zeros(17 << 20));
    let html = b"<html>200 OK</html>".to_vec();
    // What each ends as: a fate and its cause, or a broken promise of that name.
    for (head, body, found) in [
        (REPLY, other.clone(), Err("timestamp-imprint")),
        (REPLY, other[..other.len() / 2].to_vec(), Err("malformed-timestamp")),
        (REPLY, huge, Err("malformed-timestamp")),
        (REPLY, too_large, Ok(("malformed", "answer too large"))),
        (REPLY, Vec::new(), Err("malformed-timestamp")),
        (REPLY, html.clone(), Err("malformed-timestamp")),
        (REPLY, GRANTED.to_vec(), Err("malformed-timestamp")),
        (REPLY, REJECTED.to_vec(), Ok(("refused", "badAlg"))),
        ("200 OK\r\ncontent-type: text/html", html, Ok(("malformed", "answer of another media type"))),
        ("200 OK", other.clone(), Ok(("malformed", "answer of another media type"))),
        ("201 Created\r\ncontent-type: application/timestamp-reply", other, Ok(("malformed", "not 200"))),
    ] {
        let asked = ["--by", "http", "--timestamp-roots", "roots.pem", "--rate", "20/s", "-z", "200ms"];
        let ended = service.pki_at(&replying(head, body), "timestamp", &asked);
        let report = ended.report();
        let promises = &report.promises.all;
        match found {
            Err(kind) => {
                assert!(promises.made > 0 && promises.broken == promises.made, "{kind} {promises:?}");
                let names: BTreeSet<&str> = report.breaches.iter().map(|breach| &*breach.kind).collect();
                assert_eq!((names, report.verdict.exit_code), (BTreeSet::from([kind]), 4));
            }
            Ok((fate, cause)) => {
                assert_eq!((promises.made, accepted(&report, "timestamp/timestamp")), (0, 0));
                let written = serde_json::to_value(&report).unwrap();
                let fates = &written["totals"]["all"]["fates"];
                assert!(fates[fate].as_u64() > Some(0), "{fates}");
                assert!(written.to_string().contains(cause), "{cause}: {written}");
            }
        }
    }
}
