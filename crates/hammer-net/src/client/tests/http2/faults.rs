//! Streams and connections that end before their answers: what was read is not sent again.

use std::cell::Cell;
use std::rc::Rc;

use futures::future::LocalBoxFuture;
use hammer_measure::recorder::{Interval, Recorder};

use super::frames::{
    DATA, END_HEADERS, END_STREAM, FramePeer, GOAWAY, HEADERS, INTERNAL_ERROR, REFUSED_STREAM,
};
use super::*;

/// A server that counts the requests that it reads, and does with each what `script` says, told the connection's number, the
/// request's number and its stream; after `false` it closes the connection.
async fn scripted(
    settings: Option<u32>,
    script: impl for<'a> Fn(&'a mut FramePeer, usize, usize, u32) -> LocalBoxFuture<'a, bool> + 'static,
) -> (Server, Rc<Cell<usize>>) {
    let read = Rc::new(Cell::new(0));
    let (counted, script) = (Rc::clone(&read), Rc::new(script));
    let server = Server::raw(move |_, number, tcp| {
        let (counted, script) = (Rc::clone(&counted), Rc::clone(&script));
        Box::pin(async move {
            let mut peer = FramePeer::accept(tcp).await;
            if settings.is_some() {
                peer.settings(settings).await;
            }
            while let Some(stream) = peer.next_request().await {
                counted.set(counted.get() + 1);
                if !script(&mut peer, number, counted.get(), stream).await {
                    return;
                }
            }
        })
    })
    .await;
    (server, read)
}

/// What becomes of one request.
async fn send_one(client: &Client) -> (Result<(), FailureKind>, Answer) {
    let mut answer = Answer::new();
    let sent = client.send(&Request::get(client.path("/").unwrap()), &mut answer).await;
    (sent.map_err(|failure| failure.kind), answer)
}

#[test]
fn a_stream_refused_within_the_allowed_number_is_pushback_and_its_connection_goes_on() {
    run(async {
        let (server, read) = scripted(Some(100), |peer, _, number, stream| {
            Box::pin(async move {
                if number % 2 == 0 {
                    peer.reset(stream, REFUSED_STREAM).await;
                } else {
                    peer.answer(stream).await;
                }
                true
            })
        })
        .await;
        let client = client(prior_knowledge(&server));
        client.warm_up(1).await.unwrap();
        for number in 1..=6 {
            let (sent, answer) = send_one(&client).await;
            let expected = if number % 2 == 0 { Err(FailureKind::RefusedStream) } else { Ok(()) };
            assert_eq!(sent, expected);
            assert!(answer.wire.sent.is_some() && !answer.resent && !answer.redialled);
        }
        assert_eq!(FailureKind::RefusedStream.outcome(), Outcome::Pushback);
        assert_eq!((read.get(), server.connections()), (6, 1));
    });
}

#[test]
fn a_stream_refused_before_the_first_settings_is_sent_again_on_the_same_connection() {
    run(async {
        let (server, read) = scripted(None, |peer, _, number, stream| {
            Box::pin(async move {
                if number == 1 {
                    peer.reset(stream, REFUSED_STREAM).await;
                } else {
                    peer.settings(Some(1)).await;
                    peer.answer(stream).await;
                }
                true
            })
        })
        .await;
        let (sent, answer) = send_one(&client(prior_knowledge(&server))).await;
        assert_eq!((sent, answer.resent, answer.redialled), (Ok(()), true, false));
        assert_eq!((read.get(), server.connections()), (2, 1));
    });
}

#[test]
fn a_stream_above_the_last_of_a_goaway_is_sent_again_and_those_below_go_on() {
    run(async {
        // On the first connection three streams are open when it says that it has read the first two.
        let (server, read) = scripted(Some(3), |peer, connection, number, stream| {
            Box::pin(async move {
                if connection > 0 || number == 1 {
                    peer.answer(stream).await;
                } else if number == 4 {
                    peer.goaway(stream - 2).await;
                    peer.answer(stream - 4).await;
                    peer.answer(stream - 2).await;
                }
                true
            })
        })
        .await;
        let mut one = prior_knowledge(&server);
        one.connections = 1;
        let client = client(one);
        get(&client, "/").await.unwrap();
        let answers = get_at_once(&client, 3).await;
        assert_eq!(answers.iter().filter(|answer| answer.resent).count(), 1);
        assert!(answers.iter().all(|answer| !answer.redialled));
        assert_eq!((read.get(), server.connections()), (5, 2));
    });
}

#[test]
fn after_a_goaway_its_connection_takes_no_stream_though_those_under_way_go_on() {
    run(async {
        let (server, read) = scripted(Some(100), |peer, connection, number, stream| {
            Box::pin(async move {
                match (connection, number) {
                    (0, 1) => peer.goaway(u32::MAX >> 1).await,
                    _ => peer.answer(stream).await,
                }
                true
            })
        })
        .await;
        let client = client(prior_knowledge(&server));
        let after = async {
            server.until(|_| read.get() > 0).await;
            // Until the farewell has come the first connection is as good as any.
            while server.connections() == 1 {
                get(&client, "/").await.unwrap();
            }
            for _ in 0..3 {
                let answer = get(&client, "/").await.unwrap();
                assert!(!answer.resent && !answer.redialled);
            }
        };
        tokio::select! {
            _ = get(&client, "/") => panic!("it is never answered"),
            () = after => {}
        }
        assert_eq!((server.connections(), server.seen.closed.get()), (2, 0));
    });
}

#[test]
fn a_request_that_was_read_is_not_sent_again_when_its_stream_is_reset_or_its_connection_closed() {
    for closes in [false, true] {
        run(async {
            let (server, read) = scripted(Some(100), move |peer, _, number, stream| {
                Box::pin(async move {
                    match number {
                        3 if closes => return false,
                        3 => peer.reset(stream, INTERNAL_ERROR).await,
                        _ => peer.answer(stream).await,
                    }
                    true
                })
            })
            .await;
            let client = client(prior_knowledge(&server));
            for number in 1..=4 {
                let (sent, answer) = send_one(&client).await;
                let kind = if closes { FailureKind::Closed } else { FailureKind::StreamReset };
                assert_eq!(sent, if number == 3 { Err(kind) } else { Ok(()) });
                assert!(answer.wire.sent.is_some() && !answer.resent && !answer.redialled);
            }
            assert_eq!((read.get(), server.connections()), (4, 1 + usize::from(closes)));
        });
    }
}

#[test]
fn an_answer_that_ends_early_is_truncated() {
    for closes in [false, true] {
        run(async {
            let (server, _) = scripted(Some(100), move |peer, _, _, stream| {
                Box::pin(async move {
                    peer.send(HEADERS, END_HEADERS, stream, &[0x88]).await;
                    peer.send(DATA, 0, stream, b"half").await;
                    if !closes {
                        peer.reset(stream, INTERNAL_ERROR).await;
                    }
                    !closes
                })
            })
            .await;
            let (sent, answer) = send_one(&client(prior_knowledge(&server))).await;
            assert_eq!((sent, answer.body.as_slice()), (Err(FailureKind::Truncated), b"half".as_slice()));
            assert!(!answer.resent && !answer.redialled && answer.wire.first_byte.is_some());
        });
    }
    assert_eq!(FailureKind::Truncated.outcome(), Outcome::Malformed);
}

#[test]
fn a_server_that_refuses_or_leaves_each_time_keeps_nobody_for_ever() {
    for leaves in [false, true] {
        run(async {
            let (server, read) = scripted(None, move |peer, _, _, stream| {
                Box::pin(async move {
                    if leaves {
                        peer.goaway(stream - 1).await;
                    } else {
                        peer.reset(stream, REFUSED_STREAM).await;
                    }
                    true
                })
            })
            .await;
            let (sent, answer) = send_one(&client(prior_knowledge(&server))).await;
            let kind = if leaves { FailureKind::Closed } else { FailureKind::RefusedStream };
            assert_eq!((sent, answer.resent), (Err(kind), true));
            assert!(read.get() > 1 && read.get() < 20);
        });
    }
}

#[test]
fn what_was_cut_off_has_the_bytes_that_it_had_sent() {
    run(async {
        let (server, read) = scripted(Some(100), |_, _, _, _| Box::pin(async { true })).await;
        let client = client(prior_knowledge(&server));
        let mut answer = Answer::new();
        let request = Request::post(client.path("/").unwrap(), vec![7; 1_000]);
        tokio::select! {
            _ = client.send(&request, &mut answer) => panic!("it is never answered"),
            () = server.until(|_| read.get() > 0) => {}
        }
        assert!(answer.bytes_out > 1_000, "{}", answer.bytes_out);
        assert!(answer.wire.sent.is_some());
    });
}

#[test]
fn what_is_closed_at_once_on_a_used_connection_is_sent_again_where_the_plan_says_so() {
    for (method, is_sent_again) in [(http::Method::GET, true), (http::Method::POST, false)] {
        run(async {
            let (server, read) = scripted(Some(100), |peer, _, number, stream| {
                Box::pin(async move {
                    if number != 2 {
                        peer.answer(stream).await;
                    }
                    number != 2
                })
            })
            .await;
            let mut idle = prior_knowledge(&server);
            idle.resend = Resend::Idle;
            let client = client(idle);
            let request = Request { method, ..Request::get(client.path("/").unwrap()) };
            let mut answer = Answer::new();
            client.send(&request, &mut answer).await.unwrap();
            let sent = client.send(&request, &mut answer).await.map_err(|failure| failure.kind);
            assert_eq!(sent, if is_sent_again { Ok(()) } else { Err(FailureKind::Closed) });
            assert_eq!((answer.resent, read.get()), (is_sent_again, 2 + usize::from(is_sent_again)));
        });
    }
}

#[test]
fn never_means_that_not_even_what_was_not_read_is_sent_again() {
    run(async {
        let (server, read) = scripted(None, |peer, _, _, stream| {
            Box::pin(async move {
                peer.reset(stream, REFUSED_STREAM).await;
                true
            })
        })
        .await;
        let mut never = prior_knowledge(&server);
        never.resend = Resend::Never;
        let (sent, answer) = send_one(&client(never)).await;
        assert_eq!((sent, answer.resent, read.get()), (Err(FailureKind::RefusedStream), false, 1));
    });
}

#[test]
fn a_connection_counts_once_however_many_streams_it_takes_along() {
    run(async {
        // It closes when the third request has come, of which one is answered.
        let (server, _) = scripted(Some(100), |peer, _, number, stream| {
            Box::pin(async move {
                if number == 1 {
                    peer.answer(stream).await;
                }
                number % 3 != 0
            })
        })
        .await;
        let mut recorder = Recorder::new(1);
        let log = recorder.connections("one");
        let client = Client::new(prior_knowledge(&server), HandClock::new(), log).unwrap();
        get(&client, "/").await.unwrap();
        let lost = join_all([get(&client, "/"), get(&client, "/")]).await;
        assert!(lost.into_iter().all(|answer| answer.is_err()));
        let counts = recorder.swap(Nanos(1), Interval::with_series(1)).connections[0].record.counts;
        assert_eq!((counts.dials, counts.reused, counts.closed, counts.resets), (1, 2, 1, 0));
    });
}

#[test]
fn a_farewell_behind_the_last_answer_takes_none_along() {
    run(async {
        let (server, _) = scripted(Some(100), |peer, _, _, stream| {
            Box::pin(async move {
                peer.answer(stream).await;
                peer.goaway(stream).await;
                false
            })
        })
        .await;
        let mut recorder = Recorder::new(1);
        let log = recorder.connections("one");
        let client = Client::new(prior_knowledge(&server), HandClock::new(), log).unwrap();
        for _ in 0..10 {
            get(&client, "/").await.unwrap();
        }
        let counts = recorder.swap(Nanos(1), Interval::with_series(1)).connections[0].record.counts;
        assert_eq!((counts.closed, counts.resets), (0, 0), "{counts:?}");
    });
}

#[test]
fn the_code_of_a_reset_or_of_a_farewell_is_told_by_its_name() {
    run(async {
        for (resets, told) in [
            (true, "the server sent RST_STREAM with INTERNAL_ERROR (2)"),
            (false, "the server sent GOAWAY with ENHANCE_YOUR_CALM (11)"),
        ] {
            let (server, _) = scripted(Some(100), move |peer, _, _, stream| {
                Box::pin(async move {
                    match resets {
                        true => peer.reset(stream, INTERNAL_ERROR).await,
                        // It has taken up no stream.
                        false => peer.send(GOAWAY, 0, 0, &[0, 0, 0, 0, 0, 0, 0, 11]).await,
                    }
                    resets
                })
            })
            .await;
            let client = client(prior_knowledge(&server));
            let failure = get(&client, "/").await.map(|answer| answer.status).unwrap_err();
            let told = format!("get an answer from {}: {told}", server.addr);
            assert!(failure.to_string().starts_with(&told), "{failure}");
        }
    });
}

#[test]
fn frames_without_content_beyond_what_is_taken_are_no_fault_of_the_server() {
    run(async {
        for (frames, is_taken) in [(90, true), (200, false)] {
            let (server, _) = scripted(Some(100), move |peer, _, _, stream| {
                Box::pin(async move {
                    peer.send(HEADERS, END_HEADERS, stream, &[0x88]).await;
                    for _ in 0..frames {
                        peer.send(DATA, 0, stream, b"").await;
                    }
                    peer.send(DATA, END_STREAM, stream, b"whole").await;
                    true
                })
            })
            .await;
            match get(&client(prior_knowledge(&server)), "/").await {
                Ok(answer) => assert!(is_taken && answer.body == b"whole"),
                Err(failure) => {
                    assert!(!is_taken && failure.kind == FailureKind::TooLarge, "{failure}");
                    let told =
                        "hammer takes no more of that, and ended the connection with ENHANCE_YOUR_CALM (11)";
                    assert!(failure.to_string().contains(told), "{failure}");
                }
            }
        }
    });
}
