//! Connections: ahead of need, idle, old, and waited for.

use futures::future::join_all;

use super::server::{Server, Speaks, reply};
use super::*;

#[test]
fn warm_connections_are_there_before_the_first_request() {
    run(async {
        for speaks in [Speaks::Http1, Speaks::Http2 { streams: 100 }] {
            let is_http1 = matches!(speaks, Speaks::Http1);
            let server = Server::ok(speaks).await;
            let mut warm = config(&server.url());
            warm.connections = 5;
            warm.version = if is_http1 { HttpVersion::Http1 } else { HttpVersion::Http2PriorKnowledge };
            let client = client(warm);
            client.warm_up(4).await.unwrap();
            assert_eq!(get(&client, "/").await.unwrap().wire.dial_started, None);
            // A hundred streams fit one connection of HTTP/2.
            client.warm_up(500).await.unwrap();
            server.until(|seen| seen.connections.get() == 5).await;
            assert_eq!(server.requests(), 1);
        }
    });
}

#[test]
fn a_warm_up_that_finds_nobody_says_so() {
    run(async {
        let client = client(config("http://8.8.8.8"));
        assert_eq!(client.warm_up(2).await.unwrap_err().kind, FailureKind::Unauthorized);
    });
}

#[test]
fn a_connection_that_was_idle_for_too_long_is_closed_and_not_used() {
    run(async {
        for version in [HttpVersion::Http1, HttpVersion::Http2PriorKnowledge] {
            let is_http1 = version == HttpVersion::Http1;
            let speaks = if is_http1 { Speaks::Http1 } else { Speaks::Http2 { streams: 100 } };
            let server = Server::ok(speaks).await;
            let mut config = config(&server.url());
            config.version = version;
            config.max_idle = Some(Duration::from_secs(4));
            let clock = HandClock::new();
            let client = Client::new(config, clock.clone(), ConnectionLog::default()).unwrap();
            for _ in 0..3 {
                get(&client, "/").await.unwrap();
                clock.advance(Duration::from_secs(3));
            }
            assert_eq!(server.connections(), 1);
            clock.advance(Duration::from_secs(2));
            let answer = get(&client, "/").await.unwrap();
            assert!(!answer.resent && !answer.redialled);
            assert_eq!(server.connections(), 2);
            server.until(|seen| seen.closed.get() == 1).await;
        }
    });
}

#[test]
fn a_connection_that_is_too_old_is_not_used_however_busy_it_was() {
    run(async {
        for version in [HttpVersion::Http1, HttpVersion::Http2PriorKnowledge] {
            let is_http1 = version == HttpVersion::Http1;
            let speaks = if is_http1 { Speaks::Http1 } else { Speaks::Http2 { streams: 100 } };
            let server = Server::ok(speaks).await;
            let mut config = config(&server.url());
            config.version = version;
            config.max_age = Some(Duration::from_secs(5));
            let clock = HandClock::new();
            let client = Client::new(config, clock.clone(), ConnectionLog::default()).unwrap();
            for _ in 0..7 {
                get(&client, "/").await.unwrap();
                clock.advance(Duration::from_secs(1));
            }
            assert_eq!(server.connections(), 2);
        }
    });
}

#[test]
fn who_waits_for_a_connection_gets_it_in_turn() {
    run(async {
        let server = Server::start(Speaks::Http1, |_| {
            Box::pin(async {
                tokio::task::yield_now().await;
                reply(200, "ok")
            })
        })
        .await;
        let mut narrow = config(&server.url());
        narrow.connections = 2;
        let client = client(narrow);
        let answers = join_all((0..20).map(|number| {
            let path = format!("/{number}");
            let client = &client;
            async move { get(client, &path).await }
        }));
        assert!(answers.await.into_iter().all(|answer| answer.is_ok()));
        assert_eq!(server.connections(), 2);
        let order: Vec<usize> =
            server.seen.requests.borrow().iter().map(|request| request.path[1..].parse().unwrap()).collect();
        // Two connections may overtake each other by one.
        assert!(order.iter().enumerate().all(|(at, number)| at.abs_diff(*number) <= 1), "{order:?}");
    });
}
