//! Bodies of which parts are made as they are sent.

use std::future::pending;
use std::ops::Range;
use std::sync::Arc;

use tokio::io::AsyncWriteExt as _;

use super::server::{Server, Speaks, read_head};
use super::*;
use crate::{Body, BodyPart, BodySource, Request};

/// Bytes that tell where each stands.
#[derive(Debug)]
struct Numbers(usize);

impl BodySource for Numbers {
    fn length(&self) -> usize {
        self.0
    }

    fn append(&self, range: Range<usize>, out: &mut Vec<u8>) {
        out.extend(range.map(number));
    }
}

fn number(at: usize) -> u8 {
    (at % 251) as u8
}

/// Twice made, and what is there before, between and behind.
fn body(length: usize) -> Body {
    let made = || BodyPart::Made(Arc::new(Numbers(length)));
    Body::rope(["{".into(), made(), "|".into(), made(), "}".into()])
}

#[test]
fn what_is_made_as_it_is_sent_goes_up_whole_over_either_version() {
    run(async {
        for speaks in [Speaks::Http1, Speaks::Http2 { streams: 100 }] {
            let server = Server::ok(speaks.clone()).await;
            let mut config = config(&server.url());
            config.version = match speaks {
                Speaks::Http2 { .. } => HttpVersion::Http2PriorKnowledge,
                _ => HttpVersion::Http1,
            };
            let client = client(config);
            for length in [10, 60 << 10, 3 << 20] {
                let request = Request::post(client.path("/").unwrap(), body(length));
                client.send(&request, &mut Answer::new()).await.unwrap();
                let part: Vec<u8> = (0..length).map(number).collect();
                let whole = [b"{".as_slice(), &part, b"|", &part, b"}"].concat();
                let received = server.seen.requests.borrow_mut().pop().unwrap().body;
                assert!(received == whole, "{length}: {} bytes", received.len());
            }
            assert_eq!(server.connections(), 1);
        }
    });
}

#[test]
fn an_answer_before_all_was_made_is_an_answer() {
    run(async {
        let first = Server::raw(|_, _, mut tcp| {
            Box::pin(async move {
                read_head(&mut tcp).await;
                tcp.write_all(b"HTTP/1.1 413 Too Large\r\ncontent-length: 2\r\n\r\nno").await.unwrap();
                pending::<()>().await;
            })
        })
        .await;
        let second = Server::raw(|_, _, tcp| {
            Box::pin(async move {
                let mut connection = h2::server::handshake(tcp).await.unwrap();
                let mut unread = Vec::new();
                while let Some(Ok((request, mut respond))) = connection.accept().await {
                    let answer = http::Response::builder().status(413).body(()).unwrap();
                    let _ = respond.send_response(answer, true);
                    unread.push(request);
                }
            })
        })
        .await;
        for (server, version) in [(first, HttpVersion::Http1), (second, HttpVersion::Http2PriorKnowledge)] {
            let mut config = config(&server.url());
            config.version = version;
            let client = client(config);
            let mut answer = Answer::new();
            let request = Request::post(client.path("/").unwrap(), body(8 << 20));
            client.send(&request, &mut answer).await.unwrap();
            assert_eq!(answer.status.as_u16(), 413);
        }
    });
}
