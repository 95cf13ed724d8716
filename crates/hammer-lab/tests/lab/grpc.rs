//! A target of another crate that answers calls of gRPC.

use std::sync::Arc;

use bytes::Bytes;
use hammer_lab::{
    Clock, FaultScript, LabError, LabHandle,
    handle::{LabConfig, LabTarget},
    serve::{
        ServePlan, Target,
        answer::{self, AnswerBody},
        grpc::{self, GrpcCode},
    },
};
use http::{HeaderMap, Method, Response, request::Parts};
use http_body_util::BodyExt as _;
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};

use crate::client::{dial, post, request};

/// Sends back the messages that have no more than five bytes, and the body of what is no call.
#[derive(Debug)]
struct EchoTarget;

#[derive(Debug, Default)]
struct EchoConfig(ServePlan, FaultScript);

impl LabConfig for EchoConfig {
    type Target = EchoTarget;

    const THREAD: &'static str = "lab-echo";

    fn serve(&self) -> &ServePlan {
        &self.0
    }

    fn faults(&self) -> &FaultScript {
        &self.1
    }

    fn path(&self) -> String {
        String::new()
    }

    fn target(self, _: &Arc<dyn Clock>, _: &str) -> Result<EchoTarget, LabError> {
        Ok(EchoTarget)
    }
}

impl LabTarget for EchoTarget {}

impl Target for EchoTarget {
    const ENDPOINTS: &'static [&'static str] = &["echo"];

    fn endpoint(&self, _: &Method, _: &str) -> &'static str {
        "echo"
    }

    async fn answer(self: Arc<Self>, _: &'static str, parts: Parts, body: Bytes) -> Response<AnswerBody> {
        if !grpc::is_call(&parts) {
            return answer::ok("text/plain", body);
        }
        match grpc::message(&body) {
            Ok(message) if message.len() <= 5 => grpc::ok(&message),
            Ok(_) => grpc::error(GrpcCode::InvalidArgument, "too long: 100%"),
            Err(refusal) => refusal.into(),
        }
    }
}

#[tokio::test]
async fn a_message_is_answered_with_a_message_and_its_status_behind_it() {
    let lab = LabHandle::start(EchoConfig::default()).await.unwrap();
    let (head, body, trailers) = call(&lab, b"\0\0\0\0\x03abc").await;
    assert_eq!(&body[..], b"\0\0\0\0\x03abc");
    assert_eq!(head["content-type"], "application/grpc");
    assert!(!head.contains_key("grpc-status") && !head.contains_key("content-length"), "{head:?}");
    assert_eq!(trailers.unwrap()["grpc-status"], "0");
    assert_eq!(lab.stop().requests["echo"][&200], 1);
}

#[tokio::test]
async fn an_empty_message_has_its_trailers_too() {
    let lab = LabHandle::start(EchoConfig::default()).await.unwrap();
    let (_, body, trailers) = call(&lab, b"\0\0\0\0\0").await;
    assert_eq!((&body[..], status(&trailers.unwrap())), (&b"\0\0\0\0\0"[..], "0"));
    lab.shutdown().await;
}

#[tokio::test]
async fn a_call_that_fails_is_answered_in_its_head_alone() {
    let lab = LabHandle::start(EchoConfig::default()).await.unwrap();
    let (head, body, trailers) = call(&lab, b"\0\0\0\0\x06abcdef").await;
    assert_eq!((status(&head), text(&head)), ("3", "too long: 100%25"));
    assert!(body.is_empty() && trailers.is_none(), "{trailers:?}");
    let (head, ..) = call(&lab, b"\0\0\0\0\x06abc").await;
    assert_eq!((status(&head), text(&head)), ("13", "the request's message is cut off"));
    lab.shutdown().await;
}

#[tokio::test]
async fn what_is_no_call_is_answered_as_ever() {
    let lab = LabHandle::start(EchoConfig::default()).await.unwrap();
    let answer = post(&lab.url, "a body").await;
    assert_eq!((answer.text().as_str(), answer.header("content-length")), ("a body", Some("6")));
    lab.shutdown().await;
}

/// Head, body and trailers of the answer to a call with this body.
async fn call(lab: &LabHandle<EchoTarget>, body: &'static [u8]) -> (HeaderMap, Bytes, Option<HeaderMap>) {
    let io = TokioIo::new(dial(&lab.url).await);
    let (mut sender, connection) = http2::handshake(TokioExecutor::new(), io).await.unwrap();
    tokio::spawn(connection);
    let mut request = request("POST", &format!("{}/echo.Echo/Echo", lab.url), body);
    request.headers_mut().insert("content-type", "application/grpc+proto".parse().unwrap());
    let answer = sender.send_request(request).await.unwrap();
    let head = answer.headers().clone();
    let whole = answer.into_body().collect().await.unwrap();
    let trailers = whole.trailers().cloned();
    (head, whole.to_bytes(), trailers)
}

fn status(headers: &HeaderMap) -> &str {
    headers["grpc-status"].to_str().unwrap()
}

fn text(headers: &HeaderMap) -> &str {
    headers["grpc-message"].to_str().unwrap()
}
