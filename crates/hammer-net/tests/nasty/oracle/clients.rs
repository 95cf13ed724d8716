//! Both clients, asked the same.

use std::future::Future;
use std::time::Duration;

use hammer_measure::ConnectionLog;
use hammer_net::{Answer, Client, ClientConfig, Request};
use http_body_util::{BodyExt as _, Empty};
use hyper::body::Bytes;
use hyper::client::conn::http1::{Builder, SendRequest};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use super::{Made, Server};
use crate::client::turns;
use crate::clock::Clock;

/// One altered answer that is asked for.
pub(super) struct Asking<'a> {
    pub(super) server: &'a Server,
    pub(super) number: u64,
    /// How long the answer may take.
    pub(super) patience: Duration,
}

impl Asking<'_> {
    fn path(&self) -> String {
        format!("/altered/{}", self.number)
    }

    /// What `altered` ends with, and whether `honest`, which follows it, goes on the same connection.
    async fn made(
        &self,
        altered: impl Future<Output = Option<(u16, Vec<u8>)>>,
        honest: impl Future<Output = bool>,
    ) -> Made {
        let said = self.server.said.borrow().len();
        let answer = match tokio::time::timeout(self.patience, altered).await {
            Err(_) => return Made::Nothing,
            Ok(None) => return Made::Failure,
            Ok(Some(answer)) => answer,
        };
        // What stands behind the answer has come as well.
        let all_came = async {
            while self.server.said.borrow().len() == said {
                tokio::task::yield_now().await;
            }
        };
        let _ = tokio::time::timeout(self.patience, all_came).await;
        turns().await;
        self.server.honest_on.set(usize::MAX);
        let is_answered = honest.await;
        let altered_on = self.server.said.borrow().last().copied();
        let is_reused = is_answered && altered_on == Some(self.server.honest_on.get());
        Made::Answer { status: answer.0, body: answer.1, is_reused }
    }
}

/// What hyper makes of it.
pub(super) async fn of_hyper(asking: &Asking<'_>) -> Made {
    let tcp = TcpStream::connect(asking.server.addr).await.unwrap();
    tcp.set_nodelay(true).unwrap();
    // As whoever reads answers has to (RFC 9112 section 5.2), and not by itself.
    let mut builder = Builder::new();
    builder.allow_obsolete_multiline_headers_in_responses(true);
    let (sender, driver) = builder.handshake(TokioIo::new(tcp)).await.unwrap();
    let driver = tokio::task::spawn_local(driver);
    let sender = tokio::sync::Mutex::new(sender);
    let altered = async { hyper_get(&mut *sender.lock().await, &asking.path()).await };
    let honest = async {
        let mut sender = sender.lock().await;
        sender.ready().await.is_ok()
            && hyper_get(&mut sender, "/honest").await.is_some_and(|answer| is_honest(&answer))
    };
    let made = asking.made(altered, honest).await;
    driver.abort();
    made
}

async fn hyper_get(sender: &mut SendRequest<Empty<Bytes>>, path: &str) -> Option<(u16, Vec<u8>)> {
    let request = http::Request::get(path).header("host", "loopback").body(Empty::new()).unwrap();
    let response = sender.send_request(request).await.ok()?;
    let status = response.status().as_u16();
    let body = response.into_body().collect().await.ok()?.to_bytes();
    Some((status, body.to_vec()))
}

/// What hammer makes of it.
pub(super) async fn of_hammer(asking: &Asking<'_>) -> Made {
    let mut config = ClientConfig::new(format!("http://{}", asking.server.addr).parse().unwrap());
    config.connections = 1;
    let client = Client::new(config, Clock::Machine.start(), ConnectionLog::default()).unwrap();
    let path = asking.path();
    let altered = hammer_get(&client, &path);
    let honest = async { hammer_get(&client, "/honest").await.is_some_and(|answer| is_honest(&answer)) };
    asking.made(altered, honest).await
}

async fn hammer_get(client: &Client, path: &str) -> Option<(u16, Vec<u8>)> {
    let mut answer = Answer::new();
    client.send(&Request::get(client.path(path).unwrap()), &mut answer).await.ok()?;
    Some((answer.status.as_u16(), answer.body))
}

fn is_honest(answer: &(u16, Vec<u8>)) -> bool {
    let is_so = *answer == (200, b"honest".to_vec());
    assert!(is_so, "an honest request is answered {answer:?}");
    is_so
}
