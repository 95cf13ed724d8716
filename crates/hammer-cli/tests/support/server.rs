//! A bare HTTP/1.1 server on loopback that keeps what it is sent, byte for byte as it came.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// One request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// Method, path and version.
    pub(crate) line: String,
    /// Header lines without their ends.
    pub(crate) headers: Vec<String>,
    pub(crate) body: Vec<u8>,
}

/// Serves until the test's process ends.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    kept: Arc<Mutex<Kept>>,
}

#[derive(Default)]
struct Kept {
    connections: usize,
    requests: Vec<Request>,
}

impl Server {
    /// Answers every request with `answer`, the whole of it from status line to body.
    pub(crate) fn answering(answer: impl Into<String>) -> Self {
        let answer = answer.into();
        Self::answering_each(move |_| answer.clone())
    }

    /// Answers the n-th request, from 0 on, with what `answer` makes of n.
    pub(crate) fn answering_each(answer: impl Fn(usize) -> String + Send + Sync + 'static) -> Self {
        Self::answering_to(move |number, _| answer(number))
    }

    /// Answers the n-th request, from 0 on, with what `answer` makes of n and of the request.
    pub(crate) fn answering_to(answer: impl Fn(usize, &Request) -> String + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let kept = Arc::new(Mutex::new(Kept::default()));
        let (answer, shared) = (Arc::new(answer), Arc::clone(&kept));
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                shared.lock().unwrap().connections += 1;
                let (answer, kept) = (Arc::clone(&answer), Arc::clone(&shared));
                thread::spawn(move || serve(&stream, &*answer, &kept));
            }
        });
        Self { address, kept }
    }

    /// Answers every request with 200.
    pub(crate) fn ok() -> Self {
        Self::answering("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.kept.lock().unwrap().requests.clone()
    }

    pub(crate) fn connections(&self) -> usize {
        self.kept.lock().unwrap().connections
    }
}

impl Request {
    /// The value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.values(name).first().copied()
    }

    /// The values of all headers of that name.
    pub(crate) fn values(&self, name: &str) -> Vec<&str> {
        let pairs = self.headers.iter().filter_map(|line| line.split_once(':'));
        pairs.filter(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim()).collect()
    }
}

fn serve(mut stream: &TcpStream, answer: &dyn Fn(usize, &Request) -> String, kept: &Mutex<Kept>) {
    let mut reader = BufReader::new(stream);
    while let Some(request) = request(&mut reader) {
        let number = {
            let mut kept = kept.lock().unwrap();
            kept.requests.push(request.clone());
            kept.requests.len() - 1
        };
        if stream.write_all(answer(number, &request).as_bytes()).is_err() {
            break;
        }
    }
}

/// The next request that comes on a connection; none where it ends.
pub(crate) fn request(reader: &mut BufReader<&TcpStream>) -> Option<Request> {
    let line = text_line(reader)?;
    let headers: Vec<String> =
        std::iter::from_fn(|| text_line(reader)).take_while(|line| !line.is_empty()).collect();
    let mut request = Request { line, headers, body: Vec::new() };
    let length = request.header("content-length").map_or(0, |length| length.parse().unwrap());
    request.body = vec![0; length];
    reader.read_exact(&mut request.body).ok()?;
    Some(request)
}

fn text_line(reader: &mut impl BufRead) -> Option<String> {
    let mut line = String::new();
    (reader.read_line(&mut line).ok()? > 0).then(|| line.trim_end().to_owned())
}
