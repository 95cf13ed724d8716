//! HTTP/1.1: answers, instants, bytes, and each way to fail.

use std::future::pending;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::server::{Server, Speaks, read_head, reply};
use super::*;

const OK: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

/// A server that answers each connection's only request with `bytes` and closes.
async fn says(bytes: &'static [u8]) -> Server {
    Server::raw(move |_, _, mut tcp| {
        Box::pin(async move {
            read_head(&mut tcp).await;
            tcp.write_all(bytes).await.unwrap();
        })
    })
    .await
}

#[test]
fn an_answer_holds_what_the_server_said_and_when() {
    run(async {
        let server = Server::start(Speaks::Http1, |_| Box::pin(async { reply(404, "nothing here") })).await;
        let client = client(config(&server.url()));
        let request = Request::get(client.path("/a?b").unwrap()).keep_header(http::header::CONTENT_LENGTH);
        let mut answer = Answer::new();
        client.send(&request, &mut answer).await.unwrap();
        assert_eq!((answer.status.as_u16(), answer.version), (404, http::Version::HTTP_11));
        assert_eq!(
            (answer.headers.len(), &answer.headers["content-length"]),
            (1, &HeaderValue::from_static("12"))
        );
        assert_eq!(answer.body, b"nothing here");
        assert_eq!(answer.endpoint, Some(0));
        let wire = answer.wire;
        let instants = [wire.dial_started, wire.connected, wire.sent, wire.first_byte, wire.done];
        assert!(instants.iter().all(Option::is_some) && instants.is_sorted(), "{wire:?}");
        assert_eq!(wire.tls_done, None);
        assert_eq!(server.seen.requests.borrow()[0].path, "/a");
        assert_eq!(server.seen.requests.borrow()[0].headers["host"], server.addr.to_string().as_str());
    });
}

#[test]
fn a_body_that_a_server_encodes_unasked_is_decoded_over_either_version() {
    run(async {
        for (speaks, version) in [
            (Speaks::Http1, HttpVersion::Http1),
            (Speaks::Http2 { streams: 10 }, HttpVersion::Http2PriorKnowledge),
        ] {
            let server = Server::start(speaks, |_| {
                Box::pin(async {
                    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
                    std::io::Write::write_all(&mut encoder, b"an answer").unwrap();
                    let mut reply = reply(201, encoder.finish().unwrap());
                    reply.headers_mut().insert("content-encoding", HeaderValue::from_static("gzip"));
                    reply
                })
            })
            .await;
            let client = client(ClientConfig { version, ..config(&server.url()) });
            let mut answer = Answer::new();
            client.send(&Request::get(client.path("/").unwrap()), &mut answer).await.unwrap();
            assert_eq!(answer.body, b"an answer", "{version:?}");
            assert!(answer.body_length > 20, "that of what was transferred: {}", answer.body_length);
        }
    });
}

#[test]
fn requests_name_the_user_agent_unless_they_have_their_own() {
    run(async {
        for (speaks, version) in [
            (Speaks::Http1, HttpVersion::Http1),
            (Speaks::Http2 { streams: 10 }, HttpVersion::Http2PriorKnowledge),
        ] {
            let server = Server::ok(speaks).await;
            let user_agent = Some(HeaderValue::from_static("hammer (a@b.test)"));
            let client = client(ClientConfig { user_agent, version, ..config(&server.url()) });
            let mut request = Request::get(client.path("/").unwrap());
            client.send(&request, &mut Answer::new()).await.unwrap();
            request.headers.insert("user-agent", HeaderValue::from_static("mine"));
            client.send(&request, &mut Answer::new()).await.unwrap();
            let requests = server.seen.requests.borrow();
            let named: Vec<_> = requests.iter().map(|request| &request.headers["user-agent"]).collect();
            assert_eq!(named, ["hammer (a@b.test)", "mine"]);
        }
    });
}

#[test]
fn a_second_request_dials_nothing_and_inherits_nothing() {
    run(async {
        let server = Server::ok(Speaks::Http1).await;
        let client = client(config(&server.url()));
        let request = Request::post(client.path("/").unwrap(), "four");
        let mut answer = Answer::new();
        for _ in 0..3 {
            client.send(&request, &mut answer).await.unwrap();
            assert_eq!(answer.body, b"ok");
        }
        assert_eq!(server.connections(), 1);
        assert_eq!(answer.wire.dial_started, None);
        assert!(server.seen.requests.borrow().iter().all(|request| request.body == "four"));
        assert_eq!(server.seen.requests.borrow()[2].headers.len(), 2, "host and content-length");
    });
}

#[test]
fn bytes_are_counted_as_they_pass_each_way() {
    run(async {
        let received = Rc::new(Cell::new(0));
        let count = Rc::clone(&received);
        let server = Server::raw(move |_, _, mut tcp| {
            let count = Rc::clone(&count);
            Box::pin(async move {
                while let Some(head) = read_head(&mut tcp).await {
                    count.set(count.get() + head.len() as u64);
                    tcp.write_all(OK).await.unwrap();
                }
            })
        })
        .await;
        let client = client(config(&server.url()));
        let first = get(&client, "/").await.unwrap();
        assert_eq!((first.bytes_out, first.bytes_in), (received.get(), OK.len() as u64));
        let second = get(&client, "/longer").await.unwrap();
        assert_eq!(first.bytes_out + second.bytes_out, received.get());
        assert_eq!(second.bytes_in, OK.len() as u64);
    });
}

#[test]
fn a_connection_closed_while_idle_is_replaced_without_a_failure() {
    run(async {
        let farewell = Rc::new(tokio::sync::Notify::new());
        let told = Rc::clone(&farewell);
        let server = Server::raw(move |_, _, mut tcp| {
            let told = Rc::clone(&told);
            Box::pin(async move {
                read_head(&mut tcp).await;
                tcp.write_all(OK).await.unwrap();
                told.notified().await;
            })
        })
        .await;
        let clock = HandClock::new();
        let client = Client::new(config(&server.url()), clock.clone(), ConnectionLog::default()).unwrap();
        assert!(!get(&client, "/").await.unwrap().redialled);
        farewell.notify_one();
        server.until(|seen| seen.closed.get() == 1).await;
        clock.advance(Duration::from_millis(1));
        let answer = get(&client, "/").await.unwrap();
        assert!(answer.redialled);
        assert_eq!(server.connections(), 2);
    });
}

#[test]
fn a_request_that_was_read_and_not_answered_is_sent_once() {
    run(async {
        let (server, requests) = answers_first_and_third().await;
        for resend in [Resend::Unsent, Resend::Never] {
            requests.set(0);
            let client = client(ClientConfig { resend, ..config(&server.url()) });
            get(&client, "/").await.unwrap();
            let mut answer = Answer::new();
            let sent = client.send(&Request::get(client.path("/").unwrap()), &mut answer).await;
            assert_eq!(sent.unwrap_err().kind, FailureKind::Closed);
            assert!(answer.wire.sent.is_some() && !answer.resent && !answer.redialled);
            assert_eq!(requests.get(), 2);
        }
    });
}

/// A server that reads every request, answers its first and its third, and closes at each other; and how many it read.
async fn answers_first_and_third() -> (Server, Rc<Cell<u32>>) {
    let requests = Rc::new(Cell::new(0));
    let count = Rc::clone(&requests);
    let server = Server::raw(move |_, _, mut tcp| {
        let count = Rc::clone(&count);
        Box::pin(async move {
            while read_head(&mut tcp).await.is_some() {
                count.set(count.get() + 1);
                if count.get() != 1 && count.get() != 3 {
                    return;
                }
                tcp.write_all(OK).await.unwrap();
            }
        })
    })
    .await;
    (server, requests)
}

#[test]
fn a_get_that_an_idle_connection_swallowed_is_sent_once_more_and_only_once_where_that_is_allowed() {
    run(async {
        let (server, requests) = answers_first_and_third().await;
        let client = client(ClientConfig { resend: Resend::Idle, ..config(&server.url()) });
        get(&client, "/").await.unwrap();
        assert!(get(&client, "/").await.unwrap().resent, "request 2 is lost, 3 is answered");
        let failure = get(&client, "/").await.map(|answer| answer.status).unwrap_err();
        assert_eq!(failure.kind, FailureKind::Closed, "{failure}");
        assert_eq!((requests.get(), server.connections()), (5, 3), "requests 4 and 5 are both lost");
    });
}

#[test]
fn a_close_that_may_be_of_an_idle_connection_is_noticed_at_once_where_that_matters() {
    run(async {
        let (server, _) = answers_first_and_third().await;
        let client = client(ClientConfig { resend: Resend::Idle, ..config(&server.url()) });
        get(&client, "/").await.unwrap();
        client.reactor().set_lazy(true);
        // Nobody turns before: what lies in its socket stays there.
        let turns = async {
            server.until(|seen| seen.connections.get() == 2).await;
            loop {
                client.reactor().turn();
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            answer = get(&client, "/") => assert!(answer.unwrap().resent),
            () = turns => unreachable!(),
        }
    });
}

#[test]
fn answers_that_nobody_stamps_are_not_left_to_lie() {
    run(async {
        let server = Server::ok(Speaks::Http1).await;
        // By a clock without a wall clock beside it, they arrive when they are read.
        let client = client(config(&server.url()));
        assert_eq!(get(&client, "/").await.unwrap().wire.read, None);
        // Nobody turns.
        client.reactor().set_lazy(true);
        get(&client, "/").await.unwrap();
    });
}

#[test]
fn a_new_connection_that_is_closed_is_a_failure_at_once() {
    run(async {
        let server = says(b"").await;
        assert_eq!(kind_of_failure(&client(config(&server.url()))).await, FailureKind::Closed);
        assert_eq!(server.connections(), 1);
    });
}

#[test]
fn an_answer_cut_short_is_truncated_and_is_not_asked_for_again() {
    run(async {
        let server = says(b"HTTP/1.1 200 OK\r\ncontent-length: 20\r\n\r\nhalf").await;
        let client = client(config(&server.url()));
        let mut answer = Answer::new();
        let sent = client.send(&Request::get(client.path("/").unwrap()), &mut answer).await;
        assert_eq!(sent.unwrap_err().kind, FailureKind::Truncated);
        assert_eq!((answer.body.as_slice(), answer.wire.done), (b"half".as_slice(), None));
        assert!(answer.wire.first_byte.is_some());
        assert_eq!(server.connections(), 1);
    });
}

#[test]
fn what_is_no_http_is_a_protocol_error() {
    run(async {
        let server = says(b"SSH-2.0-OpenSSH_9.7\r\n\r\n").await;
        assert_eq!(kind_of_failure(&client(config(&server.url()))).await, FailureKind::Protocol);
    });
}

#[test]
fn a_reset_is_told_from_a_close() {
    run(async {
        let server = Server::raw(|_, _, mut tcp| {
            Box::pin(async move {
                read_head(&mut tcp).await;
                tcp.set_zero_linger().unwrap();
            })
        })
        .await;
        assert_eq!(kind_of_failure(&client(config(&server.url()))).await, FailureKind::Reset);
    });
}

#[test]
fn an_answer_over_the_limit_is_a_failure_that_names_it() {
    run(async {
        for bytes in [
            b"HTTP/1.1 200 OK\r\ncontent-length: 11\r\n\r\nelevenbytes".as_slice(),
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n6\r\neleven\r\n5\r\nbytes\r\n0\r\n\r\n",
        ] {
            let server = says(bytes).await;
            let mut limited = config(&server.url());
            limited.response_limit = 10;
            let failure = get(&client(limited.clone()), "/").await.map(|answer| answer.status).unwrap_err();
            assert_eq!(failure.kind, FailureKind::TooLarge);
            assert!(failure.to_string().ends_with("larger than the limit of 10 bytes"), "{failure}");
            limited.response_limit = 11;
            assert_eq!(get(&client(limited), "/").await.unwrap().body, b"elevenbytes");
        }
    });
}

#[test]
fn a_cancelled_send_takes_its_connection_with_it() {
    run(async {
        let server = Server::raw(|seen, number, mut tcp| {
            Box::pin(async move {
                while read_head(&mut tcp).await.is_some() {
                    seen.at_work.set(1);
                    if number > 0 {
                        tcp.write_all(OK).await.unwrap();
                    }
                }
            })
        })
        .await;
        let client = client(config(&server.url()));
        let request = Request::get(client.path("/").unwrap());
        let mut answer = Answer::new();
        tokio::select! {
            ended = client.send(&request, &mut answer) => panic!("nothing was answered: {ended:?}"),
            () = server.until(|seen| seen.at_work.get() == 1) => {}
        }
        assert!(answer.wire.sent.is_some() && answer.wire.first_byte.is_none(), "{:?}", answer.wire);
        assert!(answer.bytes_out > 0);
        server.until(|seen| seen.closed.get() == 1).await;
        client.send(&request, &mut answer).await.unwrap();
        assert_eq!(server.connections(), 2);
    });
}

#[test]
fn without_keepalive_every_request_has_its_own_connection() {
    run(async {
        let server = Server::ok(Speaks::Http1).await;
        let mut once = config(&server.url());
        once.keepalive = false;
        let client = client(once);
        for _ in 0..3 {
            get(&client, "/").await.unwrap();
        }
        assert_eq!(server.connections(), 3);
        assert_eq!(server.seen.requests.borrow()[0].headers["connection"], "close");
        server.until(|seen| seen.closed.get() == 3).await;
    });
}

#[test]
fn a_port_where_nobody_listens_is_a_failed_dial() {
    run(async {
        let server = Server::ok(Speaks::Http1).await;
        let url = server.url();
        drop(server);
        tokio::task::yield_now().await;
        assert_eq!(kind_of_failure(&client(config(&url))).await, FailureKind::DialRefused);
    });
}

#[test]
fn a_failure_leaves_nothing_of_the_answer_before() {
    run(async {
        let server = Server::ok(Speaks::Http1).await;
        let mut once = config(&server.url());
        once.keepalive = false;
        let client = client(once);
        let request = Request::get(client.path("/").unwrap());
        let mut answer = Answer::new();
        client.send(&request, &mut answer).await.unwrap();
        drop(server);
        tokio::task::yield_now().await;
        assert_eq!(client.send(&request, &mut answer).await.unwrap_err().kind, FailureKind::DialRefused);
        assert!(answer.headers.is_empty() && answer.body.is_empty());
        assert_eq!((answer.wire.sent, answer.wire.done, answer.bytes_in), (None, None, 0));
    });
}

#[test]
fn a_name_that_does_not_exist_is_named() {
    run(async {
        let failure = get(&client(config("http://log.invalid")), "/").await.map(|a| a.status).unwrap_err();
        assert_eq!(failure.kind, FailureKind::Dns);
        let why = failure.to_string();
        assert!(why.starts_with("look up log.invalid: ") && !why.contains("lookup"), "{failure}");
    });
}

#[test]
fn every_address_that_refused_is_named_with_what_the_system_said() {
    run(async {
        let port = closed_port().await;
        let failure = |host: &str| {
            let client = client(config(&format!("http://{host}:{port}")));
            async move { get(&client, "/").await.map(|answer| answer.status).unwrap_err() }
        };
        let literal = failure("127.0.0.1").await;
        assert_eq!(literal.kind, FailureKind::DialRefused);
        let refused = "Connection refused (os error 111)";
        assert_eq!(literal.to_string(), format!("connect to 127.0.0.1:{port}: {refused}"));
        let by_name = failure("localhost").await.to_string();
        assert!(
            by_name.contains(&format!("connect to localhost at 127.0.0.1:{port}: {refused}")),
            "{by_name}"
        );
        let addresses = tokio::net::lookup_host(("localhost", port)).await.unwrap().count();
        assert_eq!(by_name.matches("connect to localhost at ").count(), addresses, "{by_name}");
    });
}

/// One at which nobody listens.
async fn closed_port() -> u16 {
    tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port()
}

#[test]
fn what_came_in_place_of_an_answer_is_kept_and_in_no_text() {
    run(async {
        let server = Server::raw(|_, _, mut tcp| {
            Box::pin(async move {
                let _ = tokio::io::AsyncReadExt::read(&mut tcp, &mut [0; 4096]).await;
                let _ = tokio::io::AsyncWriteExt::write_all(&mut tcp, b"SSH-2.0-canary\r\n").await;
            })
        })
        .await;
        let failure = get(&client(config(&server.url())), "/").await.map(|answer| answer.status).unwrap_err();
        assert_eq!(failure.kind, FailureKind::Protocol);
        assert_eq!(failure.seen.as_deref(), Some(&b"SSH-2.0-canary\r\n"[..]));
        assert!(!failure.to_string().contains("canary"), "{failure}");
        assert!(
            failure.to_string().starts_with(&format!("get an answer from {}: ", server.addr)),
            "{failure}"
        );
    });
}

#[test]
fn a_public_peer_is_refused_before_anything_is_dialled() {
    run(async {
        let client = client(config("http://8.8.8.8"));
        let mut answer = Answer::new();
        let sent = client.send(&Request::get(client.path("/").unwrap()), &mut answer).await;
        assert_eq!(sent.unwrap_err().kind, FailureKind::Unauthorized);
        assert_eq!(answer.wire.connected, None);
    });
}

#[test]
fn the_guard_stands_before_a_listener_that_would_have_answered() {
    run(async {
        let server = Server::ok(Speaks::Http1).await;
        // Neither loopback nor private, and yet Linux connects it to this machine.
        let mut unspecified = config(&format!("http://0.0.0.0:{}", server.addr.port()));
        for nobody in [None, Some(String::new())] {
            unspecified.authorized = nobody;
            assert_eq!(kind_of_failure(&client(unspecified.clone())).await, FailureKind::Unauthorized);
        }
        assert_eq!(server.connections(), 0);
        unspecified.authorized = Some("the owner of this machine".to_owned());
        get(&client(unspecified), "/").await.unwrap();
        assert_eq!(server.connections(), 1);
    });
}

#[test]
fn an_answer_that_comes_before_the_body_is_read_is_an_answer() {
    run(async {
        let server = Server::raw(|_, _, mut tcp| {
            Box::pin(async move {
                read_head(&mut tcp).await;
                tcp.write_all(b"HTTP/1.1 413 Too Large\r\ncontent-length: 2\r\n\r\nno").await.unwrap();
                pending::<()>().await;
            })
        })
        .await;
        let client = client(config(&server.url()));
        let request = Request::post(client.path("/").unwrap(), vec![7; 8 << 20]);
        let mut answer = Answer::new();
        for dialled in [1, 2] {
            client.send(&request, &mut answer).await.unwrap();
            assert_eq!((answer.status.as_u16(), answer.body.as_slice()), (413, b"no".as_slice()));
            assert_eq!(server.connections(), dialled);
        }
    });
}

#[test]
fn a_token_is_sent_and_not_shown() {
    run(async {
        let server = Server::ok(Speaks::Http1).await;
        let mut with_token = config(&server.url());
        with_token.bearer = Some(crate::Secret::new("canary").unwrap());
        assert!(!format!("{with_token:?}").contains("canary"));
        get(&client(with_token), "/").await.unwrap();
        assert_eq!(server.seen.requests.borrow()[0].headers["authorization"], "Bearer canary");
    });
}

#[test]
fn a_large_body_goes_up_whole_while_the_server_reads() {
    run(async {
        let server = Server::ok(Speaks::Http1).await;
        let client = client(config(&server.url()));
        let mut request = Request::post(client.path("/").unwrap(), vec![7; 3 << 20]);
        request.headers.insert("x-kept", HeaderValue::from_static("yes"));
        client.send(&request, &mut Answer::new()).await.unwrap();
        assert_eq!(server.seen.requests.borrow()[0].body.len(), 3 << 20);
        assert_eq!(server.seen.requests.borrow()[0].headers["x-kept"], "yes");
    });
}

#[test]
fn a_silent_tls_server_runs_into_the_dial_timeout() {
    run(async {
        let server = Server::raw(|_, _, tcp| {
            Box::pin(async move {
                pending::<()>().await;
                drop(tcp);
            })
        })
        .await;
        let mut hasty = config(&format!("https://{}", server.addr));
        hasty.tls.insecure = true;
        hasty.dial_timeout = Duration::from_millis(30);
        let failure = get(&client(hasty), "/").await.map(|answer| answer.status).unwrap_err();
        assert_eq!(failure.kind, FailureKind::DialTimeout);
        assert!(failure.to_string().contains("within 30.0ms"), "{failure}");
    });
}

#[test]
fn an_upload_that_is_answered_with_success_before_it_has_left_goes_on_to_its_end() {
    const BODY: usize = 20 << 20;
    run(async {
        let received = Rc::new(Cell::new(0));
        let count = Rc::clone(&received);
        let server = Server::raw(move |_, _, mut tcp| {
            let count = Rc::clone(&count);
            Box::pin(async move {
                read_head(&mut tcp).await;
                tcp.write_all(OK).await.unwrap();
                let mut buffer = vec![0; 1 << 16];
                while let Ok(read @ 1..) = tcp.read(&mut buffer).await {
                    count.set(count.get() + read);
                }
            })
        })
        .await;
        let client = client(config(&server.url()));
        let request = Request::post(client.path("/").unwrap(), vec![b'x'; BODY]);
        let mut answer = Answer::new();
        client.send(&request, &mut answer).await.unwrap();
        assert_eq!(answer.status.as_u16(), 200);
        server.until(|_| received.get() == BODY).await;
    });
}
