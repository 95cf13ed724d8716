//! A gateway that is honest in another way than most.

use serde_json::json;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use crate::client::Gateway;

/// The bytes of an answer over HTTP/1.1.
async fn raw(gateway: &Gateway, path: &str) -> String {
    let host = gateway.lab.url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(host).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::test]
async fn bodies_come_in_chunks_and_header_names_in_capitals() {
    let odd = Gateway::of(json!({ "odd": true })).await;
    let answer = raw(&odd, "/hops/backend/anything").await;
    assert!(answer.contains("\r\nContent-Type: text/plain; charset=utf-8\r\n"), "{answer}");
    assert!(answer.contains("\r\nTransfer-Encoding: chunked\r\n"), "{answer}");
    assert!(answer.ends_with("\r\n\r\n7\r\nhello-w\r\n5\r\norld\n\r\n0\r\n\r\n"), "{answer}");
    let usual = Gateway::of(json!({})).await;
    let answer = raw(&usual, "/hops/backend/anything").await;
    for header in ["content-type: text/plain; charset=utf-8", "content-length: 12"] {
        assert!(answer.contains(&format!("\r\n{header}\r\n")), "{answer}");
    }
}

#[tokio::test]
async fn json_is_the_same_value_in_another_order() {
    let odd = Gateway::with_token(json!({ "odd": true })).await;
    let answer = odd.get("/echo/a?b").await;
    let text = answer.text();
    assert!(text.find("\"user\"") < text.find("\"body\"") && text.contains("\\/echo\\/a"), "{text}");
    assert_eq!((&answer.json()["path"], &answer.json()["user"]), (&json!("/echo/a"), &json!("hammer")));
    let refused = odd.send("GET", "/sessions/a", &[], "").await;
    assert_eq!((refused.status, &refused.json()["error"]), (404, &json!("not_found")));
}

#[tokio::test]
async fn the_place_of_a_session_is_absolute_and_relative_by_turns() {
    let odd = Gateway::with_token(json!({ "odd": true })).await;
    let mut places = Vec::new();
    for _ in 0..2 {
        let answer = odd.send("POST", "/hops/backend/sessions", &[], "").await;
        let (json, cookie) =
            (answer.json(), answer.header("set-cookie").split(';').next().unwrap().to_owned());
        let id = json["id"].as_str().unwrap().to_owned();
        assert_eq!(json["links"]["self"], format!("/hops/backend/sessions/{id}"));
        let read = odd.send("GET", &format!("/hops/backend/sessions/{id}"), &[("cookie", &cookie)], "").await;
        assert_eq!(read.status, 200);
        places.push(answer.header("location").replace(&id, "ID"));
    }
    assert_eq!(places, [format!("{}/hops/backend/sessions/ID", odd.lab.url), "sessions/ID".to_owned()]);
}
