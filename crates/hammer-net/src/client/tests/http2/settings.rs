//! How many streams a server takes, and when it says so.

use std::cell::Cell;
use std::rc::Rc;

use super::frames::FramePeer;
use super::*;

/// A server of one connection that reads `groups` of requests one after another: before each it sends SETTINGS with so many streams,
/// and it answers them when that many have come. One that opens more fails the test.
async fn in_groups(groups: &'static [(Option<u32>, usize)]) -> Server {
    Server::raw(move |_, _, tcp| {
        Box::pin(async move {
            let mut peer = FramePeer::accept(tcp).await;
            for (streams, count) in groups {
                peer.settings(*streams).await;
                let mut open = Vec::new();
                for _ in 0..*count {
                    open.extend(peer.next_request().await);
                }
                for stream in open {
                    peer.answer(stream).await;
                }
            }
            while peer.next_request().await.is_some() {}
        })
    })
    .await
}

fn on_one_connection(server: &Server) -> Client {
    let mut one = prior_knowledge(server);
    one.connections = 1;
    client(one)
}

#[test]
fn a_server_that_allows_one_stream_refuses_none() {
    run(async {
        let server = slow(1).await;
        let answers = get_at_once(&on_one_connection(&server), 60).await;
        assert_eq!((server.requests(), server.connections(), server.seen.most_at_work.get()), (60, 1, 1));
        assert!(answers.iter().all(|answer| !answer.resent && !answer.redialled));
    });
}

#[test]
fn settings_that_say_nothing_of_streams_allow_as_many_as_the_plan() {
    run(async {
        let server = in_groups(&[(None, 1), (None, 20)]).await;
        let client = on_one_connection(&server);
        get(&client, "/").await.unwrap();
        get_at_once(&client, 20).await;
        assert_eq!(server.connections(), 1);
    });
}

#[test]
fn until_late_settings_come_there_is_one_stream() {
    run(async {
        let read = Rc::new(Cell::new(0));
        let seen = Rc::clone(&read);
        let server = Server::raw(move |_, _, tcp| {
            let seen = Rc::clone(&seen);
            Box::pin(async move {
                let mut peer = FramePeer::accept(tcp).await;
                for _ in 0..3 {
                    let stream = peer.next_request().await.unwrap();
                    seen.set(seen.get() + 1);
                    // The client has every chance to send another.
                    for _ in 0..50 {
                        tokio::task::yield_now().await;
                    }
                    peer.0.try_read(&mut [0]).expect_err("there is one stream at a time");
                    peer.answer(stream).await;
                }
                peer.settings(Some(7)).await;
                let mut open = Vec::new();
                for _ in 0..7 {
                    open.extend(peer.next_request().await);
                }
                for stream in open {
                    peer.answer(stream).await;
                }
                while peer.next_request().await.is_some() {}
            })
        })
        .await;
        get_at_once(&on_one_connection(&server), 10).await;
        assert_eq!((read.get(), server.connections()), (3, 1));
    });
}

#[test]
fn settings_that_change_change_how_many_streams_there_are() {
    run(async {
        let server = in_groups(&[(Some(2), 1), (Some(4), 4), (Some(1), 1), (Some(0), 0), (Some(3), 3)]).await;
        let client = on_one_connection(&server);
        get(&client, "/").await.unwrap();
        get_at_once(&client, 4).await;
        get(&client, "/").await.unwrap();
        get_at_once(&client, 3).await;
        assert_eq!(server.connections(), 1);
    });
}

#[test]
fn warm_up_waits_for_settings_so_that_the_first_requests_find_all_streams() {
    run(async {
        let server = in_groups(&[(Some(8), 8)]).await;
        let mut several = prior_knowledge(&server);
        (several.connections, several.streams) = (4, 8);
        let client = client(several);
        client.warm_up(8).await.unwrap();
        get_at_once(&client, 8).await;
        assert_eq!(server.connections(), 1);
    });
}
