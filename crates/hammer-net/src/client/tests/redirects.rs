//! Redirects, the guard behind them, and the tokens that stay behind.

use http::StatusCode;
use tokio::io::AsyncWriteExt as _;

use super::server::{Server, Speaks, read_head, redirect, reply};
use super::*;

async fn redirects_to(location: String) -> Server {
    Server::start(Speaks::Http1, move |request| {
        let location = location.clone();
        Box::pin(async move {
            match request.uri().path() {
                "/there" => reply(200, "there"),
                _ => redirect(&location),
            }
        })
    })
    .await
}

/// The same with a status of its own.
async fn redirects_with(status: StatusCode, location: String) -> Server {
    Server::start(Speaks::Http1, move |_| {
        let mut reply = redirect(&location);
        *reply.status_mut() = status;
        Box::pin(async move { reply })
    })
    .await
}

fn following(server: &Server, redirects: u32) -> ClientConfig {
    let mut config = config(&server.url());
    config.redirects = redirects;
    config.bearer = Some(crate::Secret::new("canary").unwrap());
    config
}

#[test]
fn a_redirect_is_an_answer_like_any_other() {
    run(async {
        let server = redirects_to("/there".to_owned()).await;
        let answer = get(&client(following(&server, 0)), "/").await.unwrap();
        assert_eq!((answer.status.as_u16(), answer.redirects), (302, 0));
    });
}

#[test]
fn redirects_are_followed_as_far_as_allowed() {
    run(async {
        let server = redirects_to("/there".to_owned()).await;
        let answer = get(&client(following(&server, 1)), "/").await.unwrap();
        assert_eq!((answer.body.as_slice(), answer.redirects), (b"there".as_slice(), 1));
        assert_eq!(server.connections(), 1);
        assert_eq!(server.seen.requests.borrow()[1].headers["authorization"], "Bearer canary");

        let circle = redirects_to("/again".to_owned()).await;
        assert_eq!(kind_of_failure(&client(following(&circle, 3))).await, FailureKind::Redirect);
        assert_eq!(circle.requests(), 4);
    });
}

#[test]
fn what_fails_behind_a_redirect_did_not_end_with_the_answer_that_led_there() {
    run(async {
        let server = Server::raw(|_, _, mut tcp| {
            Box::pin(async move {
                read_head(&mut tcp).await;
                let redirect = b"HTTP/1.1 302 Found\r\nlocation: /there\r\ncontent-length: 0\r\n\r\n";
                tcp.write_all(redirect).await.unwrap();
                read_head(&mut tcp).await;
            })
        })
        .await;
        let client = client(following(&server, 1));
        let mut answer = Answer::new();
        let sent = client.send(&Request::get(client.path("/").unwrap()), &mut answer).await;
        assert_eq!(sent.unwrap_err().kind, FailureKind::Closed);
        assert!(answer.wire.sent.is_some());
        assert_eq!((answer.wire.done, answer.wire.read), (None, None));
    });
}

#[test]
fn a_token_does_not_follow_to_another_origin() {
    run(async {
        let other = Server::ok(Speaks::Http1).await;
        let server = redirects_to(other.url()).await;
        let client = client(following(&server, 1));
        let mut request = Request::get(client.path("/").unwrap());
        for name in ["cookie", "x-api-key"] {
            request.headers.insert(name, HeaderValue::from_static("canary"));
        }
        let mut answer = Answer::new();
        client.send(&request, &mut answer).await.unwrap();
        assert_eq!((answer.status.as_u16(), answer.endpoint), (200, None));
        let seen = other.seen.requests.borrow();
        assert_eq!(seen[0].headers.keys().collect::<Vec<_>>(), ["host"]);
        assert_eq!(client.endpoints().len(), 1);
    });
}

#[test]
fn a_body_does_not_follow_to_another_origin_but_where_it_is_left_behind() {
    run(async {
        for (status, is_followed) in [(307, false), (308, false), (303, true)] {
            let other = Server::ok(Speaks::Http1).await;
            let status = StatusCode::from_u16(status).unwrap();
            let server = redirects_with(status, other.url()).await;
            let client = client(following(&server, 1));
            let request = Request::post(client.path("/").unwrap(), r#"{"oidcIdentityToken":"canary"}"#);
            let sent = client.send(&request, &mut Answer::new()).await;
            assert_eq!(sent.is_ok(), is_followed, "{status}");
            assert_eq!(other.seen.requests.borrow().len(), usize::from(is_followed), "{status}");
            if let Err(failure) = sent {
                assert!(failure.to_string().contains("a body is not for another origin"), "{failure}");
            }
        }
    });
}

#[test]
fn a_redirect_to_a_url_with_a_user_is_not_followed() {
    run(async {
        let other = Server::ok(Speaks::Http1).await;
        let server = redirects_to(format!("http://me:canary@{}/", other.addr)).await;
        assert_eq!(kind_of_failure(&client(following(&server, 1))).await, FailureKind::Redirect);
        assert_eq!((server.requests(), other.connections()), (1, 0));
    });
}

#[test]
fn the_guard_stands_before_the_listener_of_a_redirect() {
    run(async {
        let other = Server::ok(Speaks::Http1).await;
        let server = redirects_to(format!("http://0.0.0.0:{}/", other.addr.port())).await;
        assert_eq!(kind_of_failure(&client(following(&server, 5))).await, FailureKind::Unauthorized);
        assert_eq!((server.requests(), other.connections()), (1, 0));
    });
}

#[test]
fn a_redirect_to_a_public_address_is_refused_before_it_is_dialled() {
    run(async {
        let server = redirects_to("http://8.8.8.8/".to_owned()).await;
        let client = client(following(&server, 5));
        let mut answer = Answer::new();
        let failure = client.send(&Request::get(client.path("/").unwrap()), &mut answer).await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::Unauthorized);
        assert!(failure.to_string().starts_with("dial 8.8.8.8 at 8.8.8.8:80: "), "{failure}");
        assert_eq!(answer.wire.connected, None);
    });
}
