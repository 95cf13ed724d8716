//! An issuer of tokens that answers as it is told, and keeps what it was asked.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::json;

/// What an issuer was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) path: String,
    pub(crate) authorization: String,
    pub(crate) body: String,
}

/// What it answers.
#[derive(Clone)]
pub(crate) enum Reply {
    /// A status and a body.
    Says(u16, String),
    /// Nothing.
    Silence,
}

/// An issuer that answers the n-th request for a token as it was told; it ends with the test.
pub(crate) struct Issuer {
    pub(crate) at: SocketAddr,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Issuer {
    pub(crate) fn answering(reply: impl Fn(usize) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (at, asked, reply) = (listener.local_addr().unwrap(), Arc::default(), Arc::new(reply));
        let told: Arc<Mutex<Vec<Asked>>> = Arc::clone(&asked);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (told, reply) = (told.clone(), reply.clone());
                // Who has gone away asks no more.
                thread::spawn(move || serve(&stream, &at.to_string(), &told, reply.as_ref()));
            }
        });
        Self { at, asked }
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

fn serve(
    stream: &TcpStream,
    at: &str,
    asked: &Mutex<Vec<Asked>>,
    reply: &dyn Fn(usize) -> Reply,
) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some(path) = line.split(' ').nth(1).map(str::to_owned) else { return Ok(()) };
        let (mut length, mut authorization) = (0, String::new());
        loop {
            let mut header = String::new();
            reader.read_line(&mut header)?;
            let Some((name, value)) = header.trim_end().split_once(": ") else { break };
            match name.to_ascii_lowercase().as_str() {
                "content-length" => length = value.parse().unwrap(),
                "authorization" => authorization = value.to_owned(),
                _ => {}
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        let (status, body) = if path.ends_with("/.well-known/openid-configuration") {
            let issuer = format!("http://{at}");
            (200, json!({ "issuer": issuer, "token_endpoint": format!("{issuer}/token") }).to_string())
        } else {
            let number = {
                let mut asked = asked.lock().unwrap();
                asked.push(Asked { path, authorization, body: String::from_utf8(body).unwrap() });
                asked.len() - 1
            };
            match reply(number) {
                Reply::Says(status, body) => (status, body),
                Reply::Silence => continue,
            }
        };
        let length = body.len();
        write!(&*stream, "HTTP/1.1 {status} Told\r\nContent-Length: {length}\r\n\r\n{body}")?;
    }
}
