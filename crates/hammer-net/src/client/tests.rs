//! The client against servers on loopback, in the same thread as the client.

mod endpoints;
mod grpc;
mod http1;
mod http2;
mod logged;
mod made_bodies;
mod mutated;
mod places;
mod pool;
mod redirects;
mod server;
mod tls;

use std::cell::Cell;
use std::time::Duration;

use hammer_measure::{Nanos, Outcome};
use http::HeaderValue;

use super::*;
use crate::config::{HttpVersion, Resend};

/// A clock that only a test moves, but for a nanosecond at each reading.
pub(crate) struct HandClock(Cell<u64>);

impl HandClock {
    pub(crate) fn new() -> Rc<Self> {
        Rc::new(Self(Cell::new(1)))
    }

    pub(crate) fn advance(&self, by: Duration) {
        self.0.set(self.0.get() + Nanos::from(by).0);
    }
}

impl Now for HandClock {
    fn now(&self) -> Nanos {
        self.0.set(self.0.get() + 1);
        Nanos(self.0.get())
    }
}

/// Runs `test` on a current-thread runtime within a local set; one that hangs fails.
pub(crate) fn run<T>(test: impl Future<Output = T>) -> T {
    run_within(Duration::from_secs(120), test)
}

pub(crate) fn run_within<T>(limit: Duration, test: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    tokio::task::LocalSet::new()
        .block_on(&runtime, async { tokio::time::timeout(limit, test).await.expect("the test hangs") })
}

pub(crate) fn config(url: &str) -> ClientConfig {
    ClientConfig::new(url.parse().unwrap())
}

pub(crate) fn client(config: ClientConfig) -> Client {
    Client::new(config, HandClock::new(), ConnectionLog::default()).unwrap()
}

pub(crate) async fn get(client: &Client, path: &str) -> Result<Answer, Failure> {
    let mut answer = Answer::new();
    client.send(&Request::get(client.path(path).unwrap()), &mut answer).await.map(|()| answer)
}

pub(crate) async fn kind_of_failure(client: &Client) -> FailureKind {
    get(client, "/").await.map(|answer| answer.status).unwrap_err().kind
}

#[test]
fn paths_stand_behind_the_path_of_the_url() {
    let client = client(config("http://127.0.0.1:1/2026h1/"));
    assert_eq!(client.path("/ct/v1/get-sth").unwrap(), "/2026h1/ct/v1/get-sth");
    assert!(client.path("/a b").is_err());
}

#[test]
fn an_endpoint_that_cannot_be_one_is_refused_when_the_client_is_made() {
    for url in [
        "http://127.0.0.1:99999/",
        "ftp://127.0.0.1/",
        "/only/a/path",
        "http://user:password@127.0.0.1/",
        "http://127.0.0.1/?q",
    ] {
        let refused = Client::new(config(url), HandClock::new(), ConnectionLog::default()).err().expect(url);
        assert!(matches!(refused, ConfigError::Endpoint { .. }), "{url}: {refused}");
    }
    let mut none = config("http://127.0.0.1/");
    none.connections = 0;
    assert!(matches!(
        Client::new(none, HandClock::new(), ConnectionLog::default()),
        Err(ConfigError::Zero { what: "connections" })
    ));
}

#[test]
fn the_future_of_a_send_is_small_enough_for_one_per_operation() {
    let client = client(config("http://127.0.0.1:1"));
    let (request, mut answer) = (Request::get(client.path("/").unwrap()), Answer::new());
    let send = client.send(&request, &mut answer);
    assert!(size_of_val(&send) <= 2_048, "{} bytes", size_of_val(&send));
}
