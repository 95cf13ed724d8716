//! A server that gives one answer to whatever it is asked, and keeps what it was asked.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// The requests so far: head and body of each.
pub(crate) type Asked = Arc<Mutex<Vec<(String, Vec<u8>)>>>;

/// Serves `answer` until the test ends; its URL, and what it is asked.
pub(crate) fn serve(status: u16, answer: impl Into<Vec<u8>>) -> (String, Asked) {
    let (answer, asked) = (answer.into(), Asked::default());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let keep = Arc::clone(&asked);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (answer, asked) = (answer.clone(), Arc::clone(&keep));
            thread::spawn(move || connection(&stream, status, &answer, &asked));
        }
    });
    (format!("http://{address}/base"), asked)
}

fn connection(stream: &TcpStream, status: u16, answer: &[u8], asked: &Asked) {
    let mut reader = BufReader::new(stream);
    while let Some(request) = request(&mut reader) {
        asked.lock().unwrap().push(request);
        let head = format!("HTTP/1.1 {status} Canned\r\nContent-Length: {}\r\n\r\n", answer.len());
        let mut writer = stream;
        if writer.write_all(&[head.as_bytes(), answer].concat()).is_err() {
            return;
        }
    }
}

/// The next request; none at the end.
fn request(reader: &mut impl BufRead) -> Option<(String, Vec<u8>)> {
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let start = head.len();
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
        let line = head[start..].to_ascii_lowercase();
        if line == "\r\n" {
            let mut body = vec![0; length];
            reader.read_exact(&mut body).ok()?;
            return Some((head, body));
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
    }
}
