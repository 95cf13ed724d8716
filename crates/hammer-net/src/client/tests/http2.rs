//! HTTP/2: streams on shared connections, and what a server may do to them.

mod faults;
mod frames;
mod settings;

use bytes::Bytes;
use futures::future::join_all;

use super::server::{Server, Speaks, reply};
use super::*;

async fn slow(streams: u32) -> Server {
    Server::start(Speaks::Http2 { streams }, |_| {
        Box::pin(async {
            for _ in 0..20 {
                tokio::task::yield_now().await;
            }
            reply(200, "ok")
        })
    })
    .await
}

fn prior_knowledge(server: &Server) -> ClientConfig {
    let mut config = config(&server.url());
    config.version = HttpVersion::Http2PriorKnowledge;
    config
}

async fn get_at_once(client: &Client, count: usize) -> Vec<Answer> {
    let sends = (0..count).map(|_| get(client, "/"));
    join_all(sends)
        .await
        .into_iter()
        .map(|answer| answer.map_err(|failure| failure.to_string()).unwrap())
        .collect()
}

#[test]
fn many_requests_share_a_connection() {
    run(async {
        let server = slow(100).await;
        let mut one = prior_knowledge(&server);
        one.connections = 1;
        let answers = get_at_once(&client(one), 30).await;
        assert_eq!((server.connections(), server.requests()), (1, 30));
        assert!(server.seen.most_at_work.get() > 10, "{}", server.seen.most_at_work.get());
        for answer in &answers {
            assert_eq!((answer.version, answer.body.as_slice()), (http::Version::HTTP_2, b"ok".as_slice()));
            let wire = [answer.wire.sent, answer.wire.first_byte, answer.wire.done];
            assert!(wire.is_sorted() && wire[0].is_some(), "{wire:?}");
        }
        assert!(answers.iter().map(|answer| answer.bytes_in).sum::<u64>() > 60);
    });
}

#[test]
fn headers_of_http1_alone_are_left_out() {
    run(async {
        let server = slow(100).await;
        let client = client(prior_knowledge(&server));
        let mut request = Request::get(client.path("/").unwrap());
        for name in
            ["connection", "keep-alive", "proxy-connection", "te", "transfer-encoding", "upgrade", "x"]
        {
            request.headers.insert(name, HeaderValue::from_static("gzip"));
        }
        let mut answer = Answer::new();
        for te in ["gzip", "trailers"] {
            request.headers.insert("te", HeaderValue::from_static(te));
            client.send(&request, &mut answer).await.unwrap();
            let requests = server.seen.requests.borrow();
            let headers = &requests.last().unwrap().headers;
            let mut names: Vec<_> = headers.keys().map(http::HeaderName::as_str).collect();
            names.sort_unstable();
            let expected: &[_] = if te == "trailers" { &["te", "x"] } else { &["x"] };
            assert_eq!(names, expected);
        }
        assert_eq!(server.connections(), 1);
    });
}

#[test]
fn the_plan_bounds_streams_and_connections() {
    run(async {
        let server = slow(100).await;
        let mut narrow = prior_knowledge(&server);
        (narrow.streams, narrow.connections) = (2, 3);
        get_at_once(&client(narrow), 40).await;
        assert_eq!((server.connections(), server.requests()), (3, 40));
        assert!((2..=6).contains(&server.seen.most_at_work.get()), "{}", server.seen.most_at_work.get());
    });
}

#[test]
fn the_server_bounds_streams_by_its_settings() {
    run(async {
        let server = slow(2).await;
        let mut one = prior_knowledge(&server);
        one.connections = 1;
        let answers = get_at_once(&client(one), 30).await;
        assert!(server.seen.most_at_work.get() <= 2, "{}", server.seen.most_at_work.get());
        assert!(answers.iter().all(|answer| !answer.resent));
        assert_eq!(server.connections(), 1);
    });
}

#[test]
fn a_cancelled_stream_leaves_the_others_and_its_place() {
    run(async {
        let server = Server::start(Speaks::Http2 { streams: 100 }, |request| {
            Box::pin(async move {
                if request.uri().path() == "/never" {
                    std::future::pending::<()>().await;
                }
                reply(200, "ok")
            })
        })
        .await;
        let mut one = prior_knowledge(&server);
        (one.connections, one.streams) = (1, 1);
        let client = client(one);
        for _ in 0..3 {
            tokio::select! {
                _ = get(&client, "/never") => panic!("it is never answered"),
                () = server.until(|seen| seen.at_work.get() == 1) => {}
            }
            get(&client, "/").await.unwrap();
            server.until(|seen| seen.at_work.get() == 0).await;
        }
        assert_eq!(server.connections(), 1);
    });
}

/// A server whose connections answer `streams` requests each and then say farewell.
async fn leaves_after(streams: usize) -> Server {
    Server::raw(move |seen, _, tcp| {
        Box::pin(async move {
            let mut connection = h2::server::handshake(tcp).await.unwrap();
            let mut served = 0;
            while let Some(Ok((request, mut respond))) = connection.accept().await {
                served += 1;
                seen.requests.borrow_mut().push(server::Recorded {
                    path: request.uri().path().to_owned(),
                    headers: request.headers().clone(),
                    body: Bytes::new(),
                });
                let _ = respond.send_response(http::Response::new(()), true);
                if served == streams {
                    connection.graceful_shutdown();
                }
            }
        })
    })
    .await
}

#[test]
fn after_a_goaway_another_connection_is_dialled() {
    run(async {
        let server = leaves_after(2).await;
        let mut one = prior_knowledge(&server);
        one.connections = 1;
        let client = client(one);
        for _ in 0..6 {
            get(&client, "/").await.unwrap();
        }
        assert_eq!(server.requests(), 6);
        assert!(server.connections() >= 3);
    });
}

#[test]
fn waiting_requests_outlive_the_connection_they_waited_for() {
    run(async {
        let server = leaves_after(3).await;
        let mut narrow = prior_knowledge(&server);
        (narrow.connections, narrow.streams) = (1, 1);
        get_at_once(&client(narrow), 12).await;
        assert_eq!(server.requests(), 12);
    });
}

#[test]
fn a_server_that_speaks_http1_is_a_failure_and_not_a_hang() {
    run(async {
        let server = Server::ok(Speaks::Http1).await;
        let mut one = prior_knowledge(&server);
        one.connections = 1;
        let client = client(one);
        let sends = (0..5).map(|_| get(&client, "/"));
        assert!(join_all(sends).await.into_iter().all(|answer| answer.is_err()));
    });
}

#[test]
fn a_large_body_passes_the_windows_both_ways() {
    run(async {
        let server = Server::start(Speaks::Http2 { streams: 100 }, |_| {
            let body = http_body_util::Full::new(Bytes::from(vec![7; 6 << 20]));
            Box::pin(async { http::Response::new(body) })
        })
        .await;
        let client = client(prior_knowledge(&server));
        let request = Request::post(client.path("/").unwrap(), vec![9; 3 << 20]);
        let mut answer = Answer::new();
        for _ in 0..4 {
            client.send(&request, &mut answer).await.unwrap();
            assert_eq!(answer.body.len(), 6 << 20);
        }
        assert_eq!(server.seen.requests.borrow()[3].body.len(), 3 << 20);
        assert_eq!(server.connections(), 1);
    });
}

#[test]
fn an_answer_that_comes_before_the_body_is_read_is_an_answer() {
    run(async {
        let server = Server::raw(|_, _, tcp| {
            Box::pin(async move {
                let mut connection = h2::server::handshake(tcp).await.unwrap();
                let mut unread = Vec::new();
                while let Some(Ok((request, mut respond))) = connection.accept().await {
                    let _ = respond.send_response(http::Response::new(()), true);
                    unread.push(request);
                }
            })
        })
        .await;
        let client = client(prior_knowledge(&server));
        let request = Request::post(client.path("/").unwrap(), vec![7; 1 << 20]);
        client.send(&request, &mut Answer::new()).await.unwrap();
        assert_eq!(server.connections(), 1);
    });
}

#[test]
fn an_answer_over_the_limit_resets_its_stream_only() {
    run(async {
        let server = slow(100).await;
        let mut limited = prior_knowledge(&server);
        limited.response_limit = 1;
        let client = client(limited);
        assert_eq!(kind_of_failure(&client).await, FailureKind::TooLarge);
        assert_eq!(kind_of_failure(&client).await, FailureKind::TooLarge);
        assert_eq!(server.connections(), 1);
    });
}

#[test]
fn a_host_header_becomes_the_authority_and_forbidden_headers_stay_behind() {
    run(async {
        let server = Server::start(Speaks::Http2 { streams: 100 }, |request| {
            Box::pin(async move {
                assert_eq!(request.uri().authority().unwrap().as_str(), "log.example");
                reply(200, "ok")
            })
        })
        .await;
        let client = client(prior_knowledge(&server));
        let mut request = Request::post(client.path("/").unwrap(), "four");
        for (name, value) in [("host", "log.example"), ("connection", "close"), ("x-kept", "yes")] {
            request.headers.insert(name, HeaderValue::from_static(value));
        }
        client.send(&request, &mut Answer::new()).await.unwrap();
        let seen = server.seen.requests.borrow();
        assert_eq!(seen[0].headers["content-length"], "4");
        assert_eq!(seen[0].headers["x-kept"], "yes");
        assert_eq!(seen[0].headers.len(), 2);
    });
}

#[test]
fn an_answer_has_headers_and_trailers_where_any_were_asked_for() {
    run(async {
        let server = Server::raw(|_, _, tcp| {
            Box::pin(async move {
                let mut connection = h2::server::handshake(tcp).await.unwrap();
                while let Some(Ok((_, mut respond))) = connection.accept().await {
                    let head = http::Response::builder().header("x-a", "1").header("x-b", "2");
                    let mut stream = respond.send_response(head.body(()).unwrap(), false).unwrap();
                    stream.send_data(Bytes::from_static(b"ok"), false).unwrap();
                    let trailers = ["x-a", "x-c"].map(|name| (name.parse().unwrap(), "3".parse().unwrap()));
                    stream.send_trailers(trailers.into_iter().collect()).unwrap();
                }
            })
        })
        .await;
        let client = client(prior_knowledge(&server));
        let plain = get(&client, "/").await.unwrap();
        assert_eq!((plain.headers.len(), plain.trailers.len(), plain.body.len()), (0, 0, 2));
        let request = Request::get(client.path("/").unwrap());
        let request = ["x-a", "x-c"]
            .into_iter()
            .fold(request, |request, name| request.keep_header(name.parse().unwrap()));
        let mut answer = Answer::new();
        for _ in 0..2 {
            client.send(&request, &mut answer).await.unwrap();
            assert_eq!((answer.headers.len(), answer.trailers.len()), (2, 2));
            assert_eq!(
                [&answer.headers["x-a"], &answer.trailers["x-a"], &answer.trailers["x-c"]],
                ["1", "3", "3"]
            );
        }
    });
}
