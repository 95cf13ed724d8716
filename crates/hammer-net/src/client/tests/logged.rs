//! What a client notes of its connections.

use hammer_measure::recorder::Interval;
use hammer_measure::{ConnectionRecord, PeerCounts, Recorder};

use tokio::io::AsyncWriteExt as _;

use super::server::{Server, Speaks, read_head, redirect, reply};
use super::*;

/// What the log of a client of `config` has after `gets` requests.
async fn noted(config: ClientConfig, gets: usize) -> ConnectionRecord {
    let mut recorder = Recorder::new(0);
    let client = Client::new(config, HandClock::new(), recorder.connections("shop")).unwrap();
    for _ in 0..gets {
        let _ = get(&client, "/").await;
    }
    recorder.swap(Nanos(1), Interval::with_series(0)).connections.remove(0).record
}

#[test]
fn a_connection_that_is_kept_is_dialled_once_and_used_again() {
    run(async {
        let server = Server::ok(Speaks::Http1).await;
        let record = noted(config(&server.url()), 3).await;
        let counts = record.counts;
        assert_eq!((counts.dials, counts.most_open, counts.reused, counts.look_ups), (1, 1, 2, 0));
        assert_eq!((record.dial.count(), record.first_byte.count()), (1, 3));
    });
}

#[test]
fn connections_for_one_operation_each_are_dialled_anew() {
    run(async {
        let server = Server::ok(Speaks::Http1).await;
        let record = noted(ClientConfig { keepalive: false, ..config(&server.url()) }, 3).await;
        let counts = record.counts;
        assert_eq!((counts.dials, counts.most_open, counts.reused), (3, 1, 0));
    });
}

#[test]
fn names_are_looked_up_and_addresses_are_not() {
    run(async {
        let server = Server::ok(Speaks::Http1).await;
        let record = noted(config(&format!("http://localhost:{}", server.addr.port())), 2).await;
        assert_eq!((record.counts.look_ups, record.look_up.count()), (1, 1));
        // Longer than a label can be (RFC 1035 section 2.3.4): nobody is asked.
        let record = noted(config(&format!("http://{}.test", "a".repeat(64))), 1).await;
        assert_eq!((record.counts.look_ups, record.counts.failed_look_ups), (1, 1));
    });
}

#[test]
fn a_connection_is_counted_as_it_ended_whatever_of_an_answer_had_come() {
    run(async {
        for (part, is_reset) in
            [("", false), ("", true), ("HTTP/1.1 200 OK", false), ("HTTP/1.1 200 OK", true)]
        {
            let server = Server::raw(move |_, _, mut tcp| {
                Box::pin(async move {
                    read_head(&mut tcp).await;
                    tcp.write_all(part.as_bytes()).await.unwrap();
                    if is_reset {
                        tcp.set_zero_linger().unwrap();
                    }
                })
            })
            .await;
            let counts = noted(config(&server.url()), 1).await.counts;
            let ended = (u64::from(is_reset), u64::from(!is_reset));
            assert_eq!((counts.resets, counts.closed), ended, "{part:?}, reset: {is_reset}");
        }
    });
}

#[test]
fn each_answer_on_the_way_of_a_redirect_has_its_first_byte_since_its_own_request() {
    run(async {
        for (speaks, version) in
            [(Speaks::Http1, HttpVersion::Http1), (Speaks::Http2 { streams: 9 }, HttpVersion::Http2)]
        {
            let clock = HandClock::new();
            let server = Server::start(speaks, {
                let clock = Rc::clone(&clock);
                move |request| {
                    let is_there = request.uri().path() == "/there";
                    clock.advance(Duration::from_secs(if is_there { 0 } else { 9 }));
                    Box::pin(async move { if is_there { reply(200, "") } else { redirect("/there") } })
                }
            })
            .await;
            let mut recorder = Recorder::new(0);
            let config = ClientConfig { redirects: 1, version, ..config(&server.url()) };
            let client = Client::new(config, clock, recorder.connections("shop")).unwrap();
            assert_eq!(get(&client, "/").await.unwrap().redirects, 1);
            let first_byte =
                recorder.swap(Nanos(1), Interval::with_series(0)).connections.remove(0).record.first_byte;
            let slow = first_byte.count_above(Nanos::from_secs(1));
            assert_eq!((first_byte.count(), slow), (2, 1), "{version:?}");
        }
    });
}

/// Of each peer what was counted, in the order of their addresses.
fn of_peers(record: &ConnectionRecord) -> Vec<PeerCounts> {
    record.peers.iter().map(|of_peer| of_peer.record.counts).collect()
}

#[test]
fn what_goes_to_a_peer_stands_at_its_address_over_either_version() {
    run(async {
        for (speaks, version) in
            [(Speaks::Http1, HttpVersion::Http1), (Speaks::Http2 { streams: 9 }, HttpVersion::Http2)]
        {
            let answering = |status| {
                move |_| -> std::pin::Pin<Box<dyn Future<Output = _>>> {
                    Box::pin(async move { reply(status, "") })
                }
            };
            let (good, busy) = (
                Server::start(speaks.clone(), answering(200)).await,
                Server::start(speaks, answering(503)).await,
            );
            let mut config = ClientConfig { version, ..config(&good.url()) };
            config.endpoints.push(busy.url().parse().unwrap());
            let record = noted(config, 7).await;
            let counts = of_peers(&record);
            let at = |server: &Server| record.peers.iter().position(|of| of.peer == server.addr).unwrap();
            let kept = PeerCounts { requests: 4, dials: 1, most_open: 1, ..PeerCounts::default() };
            assert_eq!(counts[at(&good)], kept, "{version:?}");
            assert_eq!(counts[at(&busy)], PeerCounts { requests: 3, error_answers: 3, ..kept });
            assert_eq!(record.peers[at(&good)].record.service_time.count(), 4);
            assert_eq!((good.requests(), busy.requests()), (4, 3));
        }
    });
}

#[test]
fn an_exchange_that_is_cut_off_or_lost_is_a_failure_of_its_peer() {
    run(async {
        for (speaks, version) in
            [(Speaks::Http1, HttpVersion::Http1), (Speaks::Http2 { streams: 9 }, HttpVersion::Http2)]
        {
            let server = Server::start(speaks, |_| Box::pin(std::future::pending())).await;
            let mut recorder = Recorder::new(0);
            let config = ClientConfig { version, ..config(&server.url()) };
            let client = Client::new(config, HandClock::new(), recorder.connections("shop")).unwrap();
            tokio::select! {
                _ = get(&client, "/") => panic!("nobody answers"),
                () = server.until(|seen| seen.at_work.get() == 1) => {}
            }
            let record = recorder.swap(Nanos(1), Interval::with_series(0)).connections.remove(0).record;
            let counts = of_peers(&record)[0];
            assert_eq!((counts.requests, counts.failures), (1, 1), "{version:?}");
        }
        let closing =
            Server::raw(|_, _, mut tcp| Box::pin(async move { drop(read_head(&mut tcp).await) })).await;
        let record = noted(config(&closing.url()), 1).await;
        assert_eq!((of_peers(&record)[0].requests, of_peers(&record)[0].failures), (1, 1));
    });
}

#[test]
fn a_peer_that_refuses_a_dial_was_asked_nothing() {
    run(async {
        let closed = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let nobody = closed.local_addr().unwrap();
        drop(closed);
        let record = noted(config(&format!("http://{nobody}")), 2).await;
        let refused = PeerCounts { dials: 2, failed_dials: 2, ..PeerCounts::default() };
        assert_eq!((record.peers[0].peer, of_peers(&record)), (nobody, vec![refused]));
    });
}
