//! A server that gives one answer to whatever it is asked.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

use hammer_ct::{LogKind, LogTarget};
use hammer_tlog::key::LogKey;

/// Serves `answer` until the test ends; its URL.
pub(crate) fn serve(status: u16, answer: impl Into<Vec<u8>>) -> String {
    let answer = answer.into();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let answer = answer.clone();
            thread::spawn(move || connection(&stream, status, &answer));
        }
    });
    format!("http://{address}/log")
}

/// A log that gives that answer, with the key of the recorded answers.
pub(crate) fn log(kind: LogKind, status: u16, answer: impl Into<Vec<u8>>) -> LogTarget {
    let key: LogKey = include_str!("../../testdata/log-public-key.b64").parse().unwrap();
    LogTarget::new(kind, serve(status, answer).parse().unwrap(), key)
}

fn connection(stream: &TcpStream, status: u16, answer: &[u8]) {
    let mut reader = BufReader::new(stream);
    while let Some(length) = request(&mut reader) {
        let mut body = vec![0; length];
        if reader.read_exact(&mut body).is_err() {
            return;
        }
        let head = format!("HTTP/1.1 {status} Canned\r\nContent-Length: {}\r\n\r\n", answer.len());
        let mut writer = stream;
        if writer.write_all(&[head.as_bytes(), answer].concat()).is_err() {
            return;
        }
    }
}

/// The length of the next request's body; none at the end.
fn request(reader: &mut impl BufRead) -> Option<usize> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line == "\r\n" {
            return Some(length);
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
    }
}
