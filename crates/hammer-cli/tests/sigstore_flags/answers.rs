//! What a service answers to a bare request.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use serde_json::Value;

pub(super) fn json_at(url: &str, path: &str) -> Value {
    serde_json::from_str(&get(url, path)).unwrap()
}

/// The body of what stands there.
pub(super) fn get(url: &str, path: &str) -> String {
    let address = url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    body.to_owned()
}
