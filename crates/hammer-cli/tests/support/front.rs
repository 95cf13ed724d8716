//! A front of a log: what it is asked it passes on, or answers as it is told.

use std::io::{BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

use http::Uri;

use crate::server::{Request, request};

/// What becomes of a request.
pub(crate) enum Passed {
    /// The log answers it.
    On,
    /// It is answered with these bytes.
    Answered(Vec<u8>),
    /// It has this status, and a page that is longer than a hash tile.
    Refused(u16),
    /// It is to be asked again in so many seconds.
    Later(u32),
}

/// Bytes of what a web server shows of a name that it does not have.
const LENGTH_OF_PAGE: usize = 12 << 10;

/// The URL of a front of the log at `url`, which serves until the test's process ends. `rule` says what becomes of a request by its path below
/// the log's.
pub(crate) fn front(url: &str, rule: impl Fn(&str) -> Passed + Send + Sync + 'static) -> String {
    let (log, rule): (Uri, Arc<_>) = (url.parse().unwrap(), Arc::new(rule));
    let base = log.path().trim_end_matches('/').to_owned();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let own = format!("http://{}{base}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (authority, base, rule) = (log.authority().unwrap().to_string(), base.clone(), rule.clone());
            thread::spawn(move || {
                let mut reader = BufReader::new(&stream);
                while let Some(asked) = request(&mut reader) {
                    let path = asked.line.split(' ').nth(1).unwrap().to_owned();
                    let answer = match rule(path.trim_start_matches(base.as_str())) {
                        Passed::On => passed_on(&authority, &path, &asked),
                        Passed::Answered(body) => {
                            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len());
                            [head.into_bytes(), body].concat()
                        }
                        Passed::Later(seconds) => format!(
                            "HTTP/1.1 503 Later\r\nretry-after: {seconds}\r\ncontent-length: 0\r\n\r\n"
                        )
                        .into(),
                        Passed::Refused(status) => {
                            let page = " ".repeat(LENGTH_OF_PAGE);
                            let length = page.len();
                            format!("HTTP/1.1 {status} Refused\r\ncontent-length: {length}\r\n\r\n{page}")
                                .into()
                        }
                    };
                    if (&stream).write_all(&answer).is_err() {
                        return;
                    }
                }
            });
        }
    });
    own
}

/// What the log has at a path below its URL.
pub(crate) fn read(url: &str, path: &str) -> Vec<u8> {
    let url: Uri = format!("{}{path}", url.trim_end_matches('/')).parse().unwrap();
    let asked = Request { line: "GET".to_owned(), headers: vec!["host: log".to_owned()], body: Vec::new() };
    let place = url.path_and_query().unwrap().as_str();
    let answer = passed_on(url.authority().unwrap().as_str(), place, &asked);
    let end = answer.windows(4).position(|window| window == b"\r\n\r\n").unwrap();
    answer[end + 4..].to_vec()
}

/// What the log answers, byte for byte.
fn passed_on(authority: &str, path: &str, asked: &Request) -> Vec<u8> {
    let mut stream = TcpStream::connect(authority).unwrap();
    let method = asked.line.split(' ').next().unwrap();
    let kept = asked.headers.iter().filter(|line| !line.to_ascii_lowercase().starts_with("connection:"));
    let headers: String = kept.map(|line| format!("{line}\r\n")).collect();
    let head = format!("{method} {path} HTTP/1.1\r\n{headers}connection: close\r\n\r\n");
    stream.write_all(&[head.as_bytes(), &asked.body].concat()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    without_close(&answer)
}

/// The answer as of a connection that stays open.
fn without_close(answer: &[u8]) -> Vec<u8> {
    let end = answer.windows(4).position(|window| window == b"\r\n\r\n").unwrap();
    let head = String::from_utf8_lossy(&answer[..end]).into_owned();
    let kept = head.split("\r\n").filter(|line| !line.to_ascii_lowercase().starts_with("connection:"));
    let head = kept.collect::<Vec<_>>().join("\r\n");
    [head.as_bytes(), &answer[end..]].concat()
}
