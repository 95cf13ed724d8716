//! Unary calls of gRPC against a server that is written by hand on h2.

use bytes::{Bytes, BytesMut};
use futures::future::join_all;

use super::server::Server;
use super::*;
use crate::grpc::{GrpcStatus, encode, frame, tell_timeout, unary_reply, unary_request};

/// A server that reads one message and answers it with itself, or as the method says: `/test.Echo/Fails`, `/test.Echo/Refuses`
/// (with nothing but headers), `/test.Echo/Never`.
async fn echo() -> Server {
    Server::raw(|seen, _, tcp| {
        Box::pin(async move {
            let mut connection = h2::server::handshake(tcp).await.unwrap();
            while let Some(Ok((request, respond))) = connection.accept().await {
                let seen = Rc::clone(&seen);
                tokio::task::spawn_local(async move { call(request, respond, &seen).await });
            }
        })
    })
    .await
}

async fn call(
    request: http::Request<h2::RecvStream>,
    mut respond: h2::server::SendResponse<Bytes>,
    seen: &server::Seen,
) {
    let (head, mut stream) = request.into_parts();
    let mut body = Vec::new();
    while let Some(Ok(chunk)) = stream.data().await {
        stream.flow_control().release_capacity(chunk.len()).unwrap();
        body.extend_from_slice(&chunk);
    }
    let path = head.uri.path().to_owned();
    let body = Bytes::from(body);
    let recorded = server::Recorded { path: path.clone(), headers: head.headers, body: body.clone() };
    seen.requests.borrow_mut().push(recorded);
    let head = || http::Response::builder().header("content-type", "application/grpc");
    let status =
        |code: &str| http::HeaderMap::from_iter([("grpc-status".parse().unwrap(), code.parse().unwrap())]);
    match path.as_str() {
        "/test.Echo/Refuses" => {
            let head = head().header("grpc-status", "14").header("grpc-message", "too%20much");
            respond.send_response(head.body(()).unwrap(), true).unwrap();
        }
        "/test.Echo/Never" => std::future::pending().await,
        path => {
            let mut answer = respond.send_response(head().body(()).unwrap(), false).unwrap();
            answer.send_data(body, false).unwrap();
            answer.send_trailers(status(if path.ends_with("Fails") { "13" } else { "0" })).unwrap();
        }
    }
}

fn caller(server: &Server) -> Client {
    let mut grpc = config(&server.url());
    (grpc.version, grpc.connections) = (HttpVersion::Http2PriorKnowledge, 1);
    client(grpc)
}

fn request(client: &Client, method: &str, message: &[u8]) -> Request {
    let path = client.path(&format!("/test.Echo/{method}")).unwrap();
    let mut request = unary_request(path, frame(message, &mut BytesMut::new()).unwrap());
    tell_timeout(&mut request, Duration::from_secs(5));
    request
}

#[test]
fn a_message_comes_back_and_the_server_saw_what_the_protocol_wants() {
    run(async {
        let server = echo().await;
        let client = caller(&server);
        for message in [&b""[..], b"message", &[7; 300_000]] {
            let mut answer = Answer::new();
            client.send(&request(&client, "Echo", message), &mut answer).await.unwrap();
            let reply = unary_reply(&answer).unwrap();
            assert_eq!((reply.status, reply.message), (GrpcStatus::Ok, message));
        }
        let seen = server.seen.requests.borrow();
        for (name, value) in
            [("te", "trailers"), ("content-type", "application/grpc"), ("grpc-timeout", "5000000u")]
        {
            assert_eq!(seen[0].headers[name], value);
        }
        assert_eq!((server.connections(), &seen[1].body[..5]), (1, &b"\0\0\0\0\x07"[..]));
    });
}

#[test]
fn a_message_of_prost_is_read_by_prost() {
    use prost::Message as _;
    run(async {
        let server = echo().await;
        let client = caller(&server);
        let said = "a string value".to_owned();
        let path = client.path("/test.Echo/Echo").unwrap();
        let request = unary_request(path, encode(&said, &mut BytesMut::new()).unwrap());
        let mut answer = Answer::new();
        client.send(&request, &mut answer).await.unwrap();
        assert_eq!(String::decode(unary_reply(&answer).unwrap().message).unwrap(), said);
        assert!(!server.seen.requests.borrow()[0].headers.contains_key("grpc-timeout"));
    });
}

#[test]
fn what_the_server_says_is_its_status() {
    run(async {
        let server = echo().await;
        let client = caller(&server);
        for (method, status, text) in
            [("Fails", GrpcStatus::Internal, ""), ("Refuses", GrpcStatus::Unavailable, "too much")]
        {
            let mut answer = Answer::new();
            client.send(&request(&client, method, b"x"), &mut answer).await.unwrap();
            let reply = unary_reply(&answer).unwrap();
            assert_eq!((reply.status, &*reply.text(), reply.message), (status, text, &[][..]));
        }
    });
}

#[test]
fn calls_share_a_connection_and_one_that_is_cut_off_leaves_the_others() {
    run(async {
        let server = echo().await;
        let client = caller(&server);
        client.warm_up(1).await.unwrap();
        let never = request(&client, "Never", b"x");
        let mut cut_off = Answer::new();
        tokio::select! {
            _ = client.send(&never, &mut cut_off) => panic!("it is never answered"),
            () = server.until(|seen| !seen.requests.borrow().is_empty()) => {}
        }
        assert!(cut_off.bytes_out > 0 && cut_off.wire.sent.is_some());
        let calls = (0..20_u8).map(|number| {
            let (client, request) = (&client, request(&client, "Echo", &[number]));
            async move {
                let mut answer = Answer::new();
                client.send(&request, &mut answer).await.unwrap();
                assert_eq!(unary_reply(&answer).unwrap().message, [number]);
            }
        });
        join_all(calls).await;
        assert_eq!((server.requests(), server.connections()), (21, 1));
    });
}
