//! Endpoints that are dialled elsewhere than their URLs say.

use futures::future::join_all;
use tokio::net::UnixListener;

use super::server::{Script, Seen, Server, Speaks, reply, serve_http1, serve_http2};
use super::*;
use crate::config::DialPlace;

/// Serves at a Unix socket until the test ends.
fn serve_at(path: &std::path::Path, version: HttpVersion) -> Rc<Seen> {
    let (listener, seen) = (UnixListener::bind(path).unwrap(), Rc::new(Seen::default()));
    let of_all = Rc::clone(&seen);
    let script: Script = Rc::new(|_| Box::pin(async { reply(200, "ok") }));
    tokio::task::spawn_local(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            of_all.connections.set(of_all.connections.get() + 1);
            let (seen, script) = (Rc::clone(&of_all), Rc::clone(&script));
            tokio::task::spawn_local(async move {
                match version {
                    HttpVersion::Http2PriorKnowledge => serve_http2(stream, 100, seen, script).await,
                    _ => serve_http1(stream, seen, script).await,
                }
            });
        }
    });
    seen
}

#[test]
fn a_unix_socket_is_spoken_to_in_either_version_under_the_name_of_the_url() {
    for version in [HttpVersion::Http1, HttpVersion::Http2PriorKnowledge] {
        run(async {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("socket");
            let seen = serve_at(&path, version);
            let dial_at = Some(DialPlace::UnixSocket(path));
            // Far away, and yet nobody has to allow it: what is dialled is here.
            let client = client(ClientConfig { version, dial_at, ..config("http://192.0.2.1:81") });
            let answers = join_all((0..20).map(|_| get(&client, "/a"))).await;
            assert!(answers.iter().all(|answer| answer.as_ref().is_ok_and(|answer| answer.status == 200)));
            let answers: Vec<Answer> = answers.into_iter().flatten().collect();
            assert!(answers.iter().all(|answer| answer.body.as_slice() == b"ok" && answer.bytes_in > 2));
            assert_eq!(seen.requests.borrow().len(), 20);
            assert!(seen.connections.get() <= 20);
            if version == HttpVersion::Http1 {
                assert_eq!(seen.requests.borrow()[0].headers["host"], "192.0.2.1:81");
            }
        });
    }
}

#[test]
fn a_unix_socket_that_is_not_there_is_a_failed_dial_that_names_it() {
    run(async {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("nobody");
        let dial_at = Some(DialPlace::UnixSocket(path.clone()));
        let client = client(ClientConfig { dial_at, ..config("http://shop.test") });
        let failure = get(&client, "/").await.map(|answer| answer.status).unwrap_err();
        assert_eq!(failure.kind, FailureKind::Dial);
        assert!(failure.to_string().contains(path.to_str().unwrap()), "{failure}");
        drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
        assert_eq!(kind_of_failure(&client).await, FailureKind::DialRefused);
    });
}

#[test]
fn an_address_in_place_of_that_of_a_url_is_dialled_and_held_against_the_guard() {
    run(async {
        let server = Server::ok(Speaks::Http1).await;
        let there = |host: &str| Some(DialPlace::Host(host.to_owned(), server.addr.port()));
        for host in ["127.0.0.1", "localhost"] {
            let client = client(ClientConfig { dial_at: there(host), ..config("http://shop.test") });
            assert_eq!(get(&client, "/").await.map(|answer| answer.status.as_u16()).ok(), Some(200));
        }
        assert_eq!(server.seen.requests.borrow()[0].headers["host"], "shop.test");
        let far = client(ClientConfig { dial_at: there("192.0.2.1"), ..config(&server.url()) });
        assert_eq!(kind_of_failure(&far).await, FailureKind::Unauthorized);
    });
}
