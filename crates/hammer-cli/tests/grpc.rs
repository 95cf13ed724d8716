//! Unary calls of gRPC from a line and from a plan, against a server that is written by hand on h2.

#[path = "support/folder.rs"]
mod folder;
#[path = "support/hammer.rs"]
mod hammer;

use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use h2::server::SendResponse;
use http::{HeaderMap, HeaderName, HeaderValue, Response};
use tokio::net::TcpListener;

use folder::Folder;
use hammer::{Started, command, hammer};

/// The head of a call, and its body.
type Called = (http::request::Parts, Vec<u8>);

/// Serves until the test ends: `/test.Echo/Echo` answers with what it was sent, `/test.Echo/Busy` with UNAVAILABLE, and any other
/// method with UNIMPLEMENTED in the headers alone.
fn serve() -> (SocketAddr, Receiver<Called>) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let (at, (sender, called)) = (listener.local_addr().unwrap(), channel());
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = TcpListener::from_std(listener).unwrap();
            while let Ok((tcp, _)) = listener.accept().await {
                let sender = sender.clone();
                tokio::spawn(async move {
                    let Ok(mut connection) = h2::server::handshake(tcp).await else { return };
                    while let Some(Ok((request, respond))) = connection.accept().await {
                        tokio::spawn(answer(request, respond, sender.clone()));
                    }
                });
            }
        });
    });
    (at, called)
}

async fn answer(
    request: http::Request<h2::RecvStream>,
    mut respond: SendResponse<bytes::Bytes>,
    sender: Sender<Called>,
) -> Result<(), h2::Error> {
    let (head, mut stream) = request.into_parts();
    let mut body = Vec::new();
    while let Some(chunk) = stream.data().await {
        body.extend_from_slice(&chunk?);
    }
    let ok = Response::builder().header("content-type", "application/grpc");
    let status = |code| {
        HeaderMap::from_iter([(HeaderName::from_static("grpc-status"), HeaderValue::from_static(code))])
    };
    match head.uri.path() {
        "/test.Echo/Echo" | "/test.Echo/Busy" => {
            let is_busy = head.uri.path().ends_with("Busy");
            let mut answer = respond.send_response(ok.body(()).unwrap(), false)?;
            answer.send_data(body.clone().into(), false)?;
            answer.send_trailers(status(if is_busy { "14" } else { "0" }))?;
        }
        _ => drop(respond.send_response(ok.header("grpc-status", "12").body(()).unwrap(), true)?),
    }
    // A test that has ended asks no more.
    let _ = sender.send((head, body));
    Ok(())
}

#[test]
fn a_line_calls_a_method_with_the_bytes_of_a_file() {
    let (at, called) = serve();
    let folder = Folder::new();
    let file = format!("@{}", folder.write("message", "the message"));
    let line =
        ["http", "post", &at.to_string(), "--grpc", "/test.Echo/Echo", "-d", &file, "-n", "6", "-c", "2"];
    let report = hammer(&[&line[..], &["-t", "7s", "--out", "-"]].concat()).report();
    assert_eq!((report.totals.all.offered, report.totals.all.fates.accepted), (6, 6));
    assert_eq!(report.series[0].path, "http/call");
    let called: Vec<_> = called.try_iter().collect();
    assert_eq!(called.len(), 6);
    for (head, body) in &called {
        assert_eq!((head.method.as_str(), body.as_slice()), ("POST", &b"\0\0\0\0\x0bthe message"[..]));
        for (name, value) in
            [("content-type", "application/grpc"), ("te", "trailers"), ("grpc-timeout", "7000000u")]
        {
            assert_eq!(head.headers[name], value);
        }
    }
}

#[test]
fn a_call_ends_by_its_status_and_its_message() {
    let (at, _called) = serve();
    let folder = Folder::new();
    let plan = |method: &str, more: &str| {
        let text = format!(
            "target: {{ url: \"http://{at}\" }}\nworkloads:\n  - name: one\n    http: {{ grpc: {method}, body: said{more} }}\n    \
             load: {{ users: 1, operations: 3 }}\n"
        );
        let plan = folder.write("plan.yaml", &text);
        Started::of(command(&["run", &plan, "--out", "-"])).ended()
    };
    let fates = |method: &str, more: &str| plan(method, more).report().totals.all.fates;
    assert_eq!(fates("/test.Echo/Echo", ", contains: said").accepted, 3);
    assert_eq!(fates("/test.Echo/Echo", ", contains: other").malformed, 3);
    assert_eq!(fates("/test.Echo/Busy", "").pushback, 3);
    assert_eq!(fates("/test.Echo/Other", "").refused, 3);
}

#[test]
fn what_a_call_leaves_no_room_for_is_told_at_its_key() {
    let folder = Folder::new();
    let refused = |target: &str, request: &str| {
        let text = format!(
            "target: {{ url: \"http://127.0.0.1:1\"{target} }}\nworkloads:\n  - name: one\n    http: {{ grpc: /a.B/C{request} }}\n    \
             load: {{ users: 1, operations: 3 }}\n"
        );
        let ended = hammer(&["plan", &folder.write("plan.yaml", &text)]);
        assert_eq!(ended.code, 2, "{ended:?}");
        ended.stderr
    };
    for (target, request, key) in [
        ("", ", path: /x", "workloads[0].http.path"),
        ("", ", method: PUT", "workloads[0].http.method"),
        ("", ", expect: [200]", "workloads[0].http.expect"),
        (", connection: { http: 1.1 }", "", "workloads[0].http.grpc"),
    ] {
        let told = refused(target, request);
        assert!(told.contains(key), "{key}: {told}");
    }
}
