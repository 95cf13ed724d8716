//! A server that answers as it is told to, and keeps what it was asked.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// The requests so far: head and body of each.
pub(crate) type Asked = Arc<Mutex<Vec<(String, Vec<u8>)>>>;

/// The answer to a head and a body: its status, its other headers as lines, and its body.
type Answering = dyn Fn(&str, &[u8]) -> (u16, String, Vec<u8>) + Send + Sync;

/// Serves `answer` until the test ends; its URL, and what it is asked.
pub(crate) fn serve(status: u16, answer: impl Into<Vec<u8>>) -> (String, Asked) {
    let answer = answer.into();
    serve_by(move |_, _| (status, String::new(), answer.clone()))
}

/// Serves what `answer` says until the test ends; its URL, and what it is asked.
pub(crate) fn serve_by(
    answer: impl Fn(&str, &[u8]) -> (u16, String, Vec<u8>) + Send + Sync + 'static,
) -> (String, Asked) {
    let (answer, asked): (Arc<Answering>, _) = (Arc::new(answer), Asked::default());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let keep = Arc::clone(&asked);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (answer, asked) = (Arc::clone(&answer), Arc::clone(&keep));
            thread::spawn(move || connection(&stream, answer.as_ref(), &asked));
        }
    });
    (format!("http://{address}/base"), asked)
}

fn connection(stream: &TcpStream, answer: &Answering, asked: &Asked) {
    let mut reader = BufReader::new(stream);
    while let Some((head, body)) = request(&mut reader) {
        let (status, headers, answer) = answer(&head, &body);
        asked.lock().unwrap().push((head, body));
        let head = format!("HTTP/1.1 {status} Canned\r\n{headers}Content-Length: {}\r\n\r\n", answer.len());
        let mut writer = stream;
        if writer.write_all(&[head.as_bytes(), &answer].concat()).is_err() {
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
