//! Several endpoints, and the names behind them.

use super::server::{Server, Speaks};
use super::*;
use crate::Balancing;

async fn three() -> (Vec<Server>, ClientConfig) {
    let servers = vec![
        Server::ok(Speaks::Http1).await,
        Server::ok(Speaks::Http1).await,
        Server::ok(Speaks::Http1).await,
    ];
    let mut config = config(&servers[0].url());
    config.endpoints = servers.iter().map(|server| server.url().parse().unwrap()).collect();
    (servers, config)
}

fn shares(servers: &[Server]) -> Vec<usize> {
    servers.iter().map(Server::requests).collect()
}

#[test]
fn round_robin_and_least_in_flight_serve_idle_endpoints_alike() {
    run(async {
        for balancing in [Balancing::RoundRobin, Balancing::LeastInFlight] {
            let (servers, mut config) = three().await;
            config.balancing = balancing;
            let client = client(config);
            for turn in 0..30 {
                let answer = get(&client, "/").await.unwrap();
                assert_eq!(answer.endpoint, Some(turn % 3));
            }
            assert_eq!(shares(&servers), [10, 10, 10]);
            assert_eq!(client.endpoints()[1], servers[1].addr.to_string());
        }
    });
}

#[test]
fn least_in_flight_passes_by_a_slow_endpoint() {
    run(async {
        let (mut servers, mut config) = three().await;
        servers[0] = Server::start(Speaks::Http1, |_| Box::pin(std::future::pending())).await;
        config.endpoints[0] = servers[0].url().parse().unwrap();
        config.balancing = Balancing::LeastInFlight;
        let client = Rc::new(client(config));
        let waiting = Rc::clone(&client);
        tokio::task::spawn_local(async move { get(&waiting, "/slow").await.map(|answer| answer.status) });
        servers[0].until(|seen| seen.at_work.get() == 1).await;
        for _ in 0..20 {
            get(&client, "/").await.unwrap();
        }
        assert_eq!(shares(&servers), [1, 10, 10]);
    });
}

#[test]
fn random_is_a_function_of_the_seed() {
    run(async {
        let mut drawn = Vec::new();
        for seed in [7, 7, 8] {
            let (servers, mut config) = three().await;
            config.balancing = Balancing::Random;
            config.seed = seed;
            let client = client(config);
            let mut places = Vec::new();
            for _ in 0..30 {
                places.push(get(&client, "/").await.unwrap().endpoint);
            }
            assert_eq!(shares(&servers).iter().sum::<usize>(), 30);
            drawn.push(places);
        }
        assert_eq!(drawn[0], drawn[1]);
        assert_ne!(drawn[0], drawn[2]);
    });
}

#[test]
fn pick_first_moves_on_when_a_dial_fails() {
    run(async {
        let (mut servers, mut config) = three().await;
        config.balancing = Balancing::PickFirst;
        config.keepalive = false;
        let client = client(config);
        get(&client, "/").await.unwrap();
        get(&client, "/").await.unwrap();
        assert_eq!(shares(&servers), [2, 0, 0]);
        servers.remove(0);
        tokio::task::yield_now().await;
        assert_eq!(kind_of_failure(&client).await, FailureKind::DialRefused);
        get(&client, "/").await.unwrap();
        assert_eq!(shares(&servers), [1, 0]);
    });
}

#[test]
fn a_host_of_two_families_is_reached_by_the_one_that_listens() {
    run(async {
        let server = Server::ok(Speaks::Http1).await;
        let client = client(config(&format!("http://localhost:{}", server.addr.port())));
        for _ in 0..4 {
            get(&client, "/").await.unwrap();
        }
        assert_eq!(server.connections(), 1);
        assert_eq!(client.endpoints().len(), 1);
    });
}

#[test]
fn a_name_is_looked_up_again_and_keeps_its_connections() {
    run(async {
        let server = Server::ok(Speaks::Http1).await;
        let mut config = config(&format!("http://localhost:{}", server.addr.port()));
        config.resolve_every = Some(Duration::from_secs(30));
        let clock = HandClock::new();
        let client = Client::new(config, clock.clone(), ConnectionLog::default()).unwrap();
        get(&client, "/").await.unwrap();
        assert_eq!(client.cluster.look_ups(), 1);
        get(&client, "/").await.unwrap();
        assert_eq!(client.cluster.look_ups(), 1);
        clock.advance(Duration::from_secs(31));
        get(&client, "/").await.unwrap();
        while client.cluster.look_ups() < 2 {
            tokio::task::yield_now().await;
        }
        get(&client, "/").await.unwrap();
        assert_eq!((server.connections(), client.failed_look_ups()), (1, 0));
    });
}

#[test]
fn an_endpoint_that_dns_no_longer_names_keeps_no_connection() {
    run(async {
        let server = Server::ok(Speaks::Http1).await;
        let client = client(config(&server.url()));
        get(&client, "/").await.unwrap();
        client.cluster.active()[0].set_retired(true);
        server.until(|seen| seen.closed.get() == 1).await;
        get(&client, "/").await.unwrap();
        server.until(|seen| seen.closed.get() == 2).await;
    });
}

#[test]
fn a_dial_of_warm_up_that_fails_takes_no_other_with_it() {
    run(async {
        let servers = [Server::ok(Speaks::Http1).await, Server::ok(Speaks::Http1).await];
        let closed = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let nobody = format!("http://{}", closed.local_addr().unwrap());
        drop(closed);
        let mut config = config(&nobody);
        config.endpoints.extend(servers.iter().map(|server| server.url().parse::<Uri>().unwrap()));
        let failure = client(config).warm_up(3).await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::DialRefused, "{failure}");
        for server in &servers {
            server.until(|seen| seen.connections.get() == 3).await;
        }
    });
}

/// The kinds of `count` gets that failed.
async fn failures(client: &Client, count: usize) -> Vec<FailureKind> {
    let mut failed = Vec::new();
    for _ in 0..count {
        failed.extend(get(client, "/").await.err().map(|failure| failure.kind));
    }
    failed
}

#[test]
fn an_endpoint_that_refuses_a_dial_is_passed_over_and_tried_by_one_operation_in_a_while() {
    run(async {
        for balancing in [Balancing::RoundRobin, Balancing::LeastInFlight, Balancing::Random] {
            let (mut servers, mut config) = three().await;
            config.balancing = balancing;
            let gone = servers.remove(0).addr;
            tokio::task::yield_now().await;
            let clock = HandClock::new();
            let client = Client::new(config, clock.clone(), ConnectionLog::default()).unwrap();
            assert_eq!(failures(&client, 60).await, [FailureKind::DialRefused], "{balancing:?}");
            assert_eq!(shares(&servers).iter().sum::<usize>(), 59);
            if balancing != Balancing::Random {
                assert!(shares(&servers)[0].abs_diff(shares(&servers)[1]) <= 1, "{:?}", shares(&servers));
            }
            clock.advance(Duration::from_secs(2));
            assert_eq!(failures(&client, 60).await, [FailureKind::DialRefused], "{balancing:?}");
            // It is back: the one that tries it finds it so, and it has its share again.
            let back = Server::ok_at(gone).await;
            clock.advance(Duration::from_secs(2));
            assert_eq!(failures(&client, 60).await, []);
            assert!(back.requests() >= 10, "{balancing:?}: {}", back.requests());
        }
    });
}

#[test]
fn where_every_endpoint_refuses_they_are_tried_in_turn_and_the_one_that_is_back_is_found() {
    run(async {
        for (count, place) in [(2, 0), (2, 1), (3, 0), (3, 1), (3, 2)] {
            let (mut servers, mut config) = three().await;
            servers.truncate(count);
            config.endpoints.truncate(count);
            let addr = servers[place].addr;
            drop(servers);
            tokio::task::yield_now().await;
            let client = Client::new(config, HandClock::new(), ConnectionLog::default()).unwrap();
            assert_eq!(failures(&client, 7).await, [FailureKind::DialRefused; 7]);
            let back = Server::ok_at(addr).await;
            assert!(failures(&client, count).await.len() < count, "{place} of {count}");
            assert_eq!(failures(&client, 10).await, [], "the others rest");
            assert!(back.requests() > 10);
        }
    });
}
