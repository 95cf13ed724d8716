//! A server that gives one answer to whatever it is asked.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

use hammer_ct::{LogKind, LogTarget};
use hammer_tlog::keys::key::LogKey;

/// Status and body for a path.
type Answers = Arc<dyn Fn(&str) -> (u16, Vec<u8>) + Send + Sync>;

/// Serves `answers` until the test ends; its URL.
pub(crate) fn serve(answers: impl Fn(&str) -> (u16, Vec<u8>) + Send + Sync + 'static) -> String {
    let answers: Answers = Arc::new(answers);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let answers = Arc::clone(&answers);
            thread::spawn(move || connection(&stream, &answers));
        }
    });
    format!("http://{address}/log")
}

/// A log that gives that answer, with the key of the recorded answers.
pub(crate) fn log(kind: LogKind, status: u16, answer: impl Into<Vec<u8>>) -> LogTarget {
    let key: LogKey = include_str!("../../testdata/log-public-key.b64").parse().unwrap();
    let answer = answer.into();
    LogTarget::new(kind, serve(move |_| (status, answer.clone())).parse().unwrap(), key)
}

fn connection(stream: &TcpStream, answers: &Answers) {
    let mut reader = BufReader::new(stream);
    while let Some((path, length)) = request(&mut reader) {
        let mut body = vec![0; length];
        if reader.read_exact(&mut body).is_err() {
            return;
        }
        let (status, answer) = answers(&path);
        let head = format!("HTTP/1.1 {status} Canned\r\nContent-Length: {}\r\n\r\n", answer.len());
        let mut writer = stream;
        if writer.write_all(&[head.as_bytes(), &answer].concat()).is_err() {
            return;
        }
    }
}

/// Path and length of the body of the next request; none at the end.
fn request(reader: &mut impl BufRead) -> Option<(String, usize)> {
    let (mut path, mut length) = (None, 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line == "\r\n" {
            return Some((path?, length));
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        path = path.or_else(|| line.split(' ').nth(1).map(str::to_owned));
    }
}
