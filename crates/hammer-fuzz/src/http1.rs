//! Any bytes as an answer of HTTP/1.1.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use hammer_measure::connection::ConnectionLog;
use hammer_measure::{Nanos, Now};
use hammer_net::{Answer, Client, ClientConfig, Request};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

/// The most that an answer may have here.
const LIMIT: usize = 1 << 16;
/// The server closes behind the answer, so that nobody has to wait.
const PATIENCE: Duration = Duration::from_secs(10);

/// The exchange ends, and no answer is larger than was allowed.
pub(crate) fn answer(data: &[u8]) -> bool {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    tokio::task::LocalSet::new().block_on(&runtime, async {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("its address");
        let served = tokio::task::spawn_local(serve(listener, data.to_vec()));
        let url = format!("http://{address}").parse().expect("a URL");
        let config = ClientConfig { response_limit: LIMIT, ..ClientConfig::new(url) };
        let client =
            Client::new(config, Rc::new(Counter::default()), ConnectionLog::default()).expect("a client");
        let (request, mut answer) =
            (Request::get(client.path("/").expect("a path")).accept_gzip(), Answer::new());
        let sent = tokio::time::timeout(PATIENCE, client.send(&request, &mut answer)).await;
        served.abort();
        let _ = answer.decode(LIMIT);
        assert!(answer.body.len() <= LIMIT);
        assert!(answer.bytes_in <= data.len() as u64);
        sent.expect("an exchange whose server closes ends").is_ok()
    })
}

/// Says `data` to whoever has sent a whole request head.
async fn serve(listener: TcpListener, data: Vec<u8>) {
    while let Ok((mut tcp, _)) = listener.accept().await {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            match tcp.read_u8().await {
                Ok(byte) => head.push(byte),
                Err(_) => break,
            }
        }
        let _ = tcp.write_all(&data).await;
    }
}

/// A clock by which time passes whenever it is asked.
#[derive(Default)]
struct Counter(Cell<u64>);

impl Now for Counter {
    fn now(&self) -> Nanos {
        self.0.set(self.0.get() + 1);
        Nanos(self.0.get())
    }
}
