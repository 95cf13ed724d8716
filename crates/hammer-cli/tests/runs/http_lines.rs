//! `hammer http` in one line: what it says is what is sent.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::{Arc, Mutex};
use std::thread;

use hammer_lab::HttpLabHandle;
use hammer_lab::http::HttpLabPlan;
use hammer_report::Report;
use serde_json::json;

use crate::folder::Folder;
use crate::hammer::hammer;
use crate::server::Server;

/// The report of one line.
pub(crate) fn http(args: &[&str]) -> Report {
    hammer(&[&["http"], args, &["--out", "-"]].concat()).report()
}

#[test]
fn a_line_sends_what_it_says() {
    let server = Server::ok();
    let url = format!("{}path?query=1", server.url());
    let body = Folder::new();
    let file = body.write("body", "from a file");
    let args = ["-n", "4", "-c", "2", "-H", "X-One: 1", "-H", "accept:text/plain", "-H", "X-One: 2", "-d"];
    let report = http(&[&["post", &url], args.as_slice(), &["the body"]].concat());
    assert_eq!(report.totals.all.fates.accepted, 4);
    let from_file = format!("@{file}");
    http(&[&["post", &url], args.as_slice(), &[&from_file]].concat());
    let requests = server.requests();
    assert_eq!(requests.len(), 8);
    for (place, request) in requests.iter().enumerate() {
        assert_eq!(request.line, "POST /path?query=1 HTTP/1.1");
        assert_eq!(request.header("host"), Some(server.address.to_string().as_str()));
        assert_eq!((request.header("x-one"), request.header("accept")), (Some("1"), Some("text/plain")));
        assert_eq!(request.values("x-one"), ["1", "2"]);
        let body: &[u8] = if place < 4 { b"the body" } else { b"from a file" };
        assert_eq!(request.body, body);
    }
    assert_eq!(report.totals.all.bytes_in, 4 * "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok".len() as u64);
}

#[test]
fn a_line_without_numbers_sends_two_hundred_over_fifty_connections() {
    let server = Server::ok();
    let report = http(&["get", &server.url()]);
    assert_eq!((report.totals.all.fates.accepted, server.requests().len()), (200, 200));
    assert!((1..=50).contains(&server.connections()), "{}", server.connections());
    assert_eq!(server.requests()[0].line, "GET / HTTP/1.1");
}

#[test]
fn connections_are_kept_unless_the_line_says_otherwise() {
    let server = Server::ok();
    http(&["get", &server.url(), "-n", "20", "-c", "4"]);
    assert_eq!((server.requests().len(), server.connections()), (20, 4));
    let server = Server::ok();
    http(&["get", &server.url(), "-n", "20", "-c", "4", "--disable-keepalive"]);
    assert_eq!((server.requests().len(), server.connections()), (20, 20));
}

#[test]
fn a_line_with_a_rate_is_an_open_loop() {
    let server = Server::ok();
    let report = http(&["get", &server.url(), "-q", "100", "-z", "1s", "-c", "10"]);
    assert!(!report.series[0].closed_loop);
    assert_eq!((report.totals.all.offered, server.requests().len()), (100, 100));
    let report = http(&["get", &server.url(), "--rate", "6000/m", "-n", "30", "--poisson"]);
    assert_eq!((report.totals.all.offered, server.requests().len()), (30, 130));
}

#[test]
fn a_line_with_a_time_ends_by_it() {
    let lab = slow_lab();
    let report = http(&["get", &lab.url, "-z", "500ms", "-c", "2"]);
    assert!(report.series[0].closed_loop);
    let measured = report.run.measured_seconds;
    assert!((0.4..5.0).contains(&measured), "{measured}");
    assert!((2..=50).contains(&report.totals.all.offered), "{}", report.totals.all.offered);
}

fn slow_lab() -> HttpLabHandle {
    let plan = json!({ "faults": { "rules": [{ "latency": { "constant": "20ms" } }] } });
    HttpLabHandle::spawn(serde_json::from_value::<HttpLabPlan>(plan).unwrap()).unwrap()
}

#[test]
fn an_expected_status_is_accepted_and_every_other_refused() {
    let server = Server::answering("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n");
    let url = server.url();
    assert_eq!(http(&["get", &url, "-n", "3", "-c", "1"]).totals.all.fates.refused, 3);
    assert_eq!(
        http(&["get", &url, "-n", "3", "-c", "1", "--expect", "200,404"]).totals.all.fates.accepted,
        3
    );
    let ok = Server::ok();
    assert_eq!(
        http(&["get", &ok.url(), "-n", "3", "-c", "1", "--expect", "204"]).totals.all.fates.refused,
        3
    );
}

#[test]
fn an_operation_that_takes_too_long_is_timed_out_at_its_elapsed_time() {
    let silent = Server::answering("");
    let report = http(&["get", &silent.url(), "-n", "2", "-c", "1", "-t", "200ms"]);
    assert_eq!(report.totals.all.fates.timed_out, 2);
    let response = report.series[0].measurement.durations.response_time.as_ref().unwrap();
    assert!(response.min_ns.least() >= 199_000_000, "{response:?}");
}

#[test]
fn a_line_speaks_http_2_by_prior_knowledge() {
    let lab = slow_lab();
    let report = http(&["get", &lab.url, "-n", "40", "-c", "10", "--http2"]);
    assert_eq!(report.totals.all.fates.accepted, 40);
    let stats = lab.stats();
    assert_eq!(stats.requests["get"][&200], 40);
    assert!(stats.connections <= 10, "{} connections", stats.connections);
    let server = Server::ok();
    http(&["get", &server.url(), "-n", "1", "-c", "1", "--http2"]);
    assert_eq!(server.requests()[0].line, "PRI * HTTP/2.0");
}

#[test]
fn each_method_has_a_line_and_an_answer_to_head_has_no_body() {
    let server = Server::ok();
    let methods = ["get", "post", "put", "patch", "delete", "options"];
    for method in methods {
        let report = http(&[method, &server.url(), "-n", "1", "-c", "1"]);
        assert_eq!(report.totals.all.fates.accepted, 1, "{method}");
        assert_eq!(report.series[0].path, format!("http/{method}"));
    }
    let lines: Vec<String> = server.requests().into_iter().map(|request| request.line).collect();
    let expected = methods.map(|method| format!("{} / HTTP/1.1", method.to_uppercase()));
    assert_eq!(lines, expected);
    let bodiless = Server::answering("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n");
    let report = http(&["head", &bodiless.url(), "-n", "3", "-c", "1"]);
    assert_eq!(report.totals.all.fates.accepted, 3);
    assert_eq!(bodiless.requests()[2].line, "HEAD / HTTP/1.1");
}

#[test]
fn urls_and_bodies_of_files_are_sent_in_their_order() {
    let (server, folder) = (Server::ok(), Folder::new());
    let base = server.url();
    let bodies = folder.write("bodies.jsonl", "{\"a\": 1}\n{\"b\": \"${seq}\"}\n");
    let urls = folder.write("urls", &format!("{base}one\n{base}two?x=y\n{base}three\n"));
    let report = http(&["post", "--urls", &urls, "--bodies", &bodies, "-n", "4", "-c", "1"]);
    assert_eq!(report.totals.all.fates.accepted, 4);
    let paths = folder.write("paths", "/four\n/five\n");
    http(&["get", &base, "--urls", &paths, "-n", "3", "-c", "1"]);
    let sent: Vec<String> = server.requests().into_iter().map(|request| request.line).collect();
    let expected = ["one", "two?x=y", "three", "one"].map(|path| format!("POST /{path} HTTP/1.1"));
    assert_eq!(sent[..4], expected);
    assert_eq!(sent[4..], ["four", "five", "four"].map(|path| format!("GET /{path} HTTP/1.1")));
    let bodies: Vec<Vec<u8>> = server.requests().into_iter().take(3).map(|request| request.body).collect();
    assert_eq!(bodies, [&b"{\"a\": 1}"[..], b"{\"b\": \"${seq}\"}", b"{\"a\": 1}"]);
}

#[test]
fn a_url_of_another_server_is_named_by_its_line() {
    let folder = Folder::new();
    let urls = folder.write("urls", "http://127.0.0.1:1/a\n\nhttp://127.0.0.1:2/b\n");
    let refused = hammer(&["http", "get", "--urls", &urls]);
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("urls:3: it is of another server"), "{}", refused.stderr);
    let paths = hammer(&["http", "get", "--urls", &folder.write("paths", "/a\n")]);
    assert_eq!(paths.code, 2, "{}", paths.stderr);
}

#[test]
fn a_file_of_urls_has_comments_and_each_line_that_is_of_no_use_is_named() {
    let (server, folder) = (Server::ok(), Folder::new());
    let url = server.url();
    let noted = folder.write("noted", "# of the shop\n/a\n# and\n/b%23\n");
    http(&["get", &url, "--urls", &noted, "-n", "3", "-c", "1"]);
    let sent: Vec<String> = server.requests().into_iter().map(|request| request.line).collect();
    assert_eq!(sent, ["/a", "/b%23", "/a"].map(|path| format!("GET {path} HTTP/1.1")));
    for (lines, told) in [
        ("/a\nhttp://127.0.0.1:1/b\n", "urls:2: it is a URL, and line 1 a path"),
        ("# note\nhttp://127.0.0.1:1/b\n/a\n", "urls:3: it is a path, and line 2 a URL"),
        ("/a\n/b#c\n", "urls:2: it has a fragment"),
        ("http://127.0.0.1:1/b#c\n", "urls:1: it has a fragment"),
        ("/a b\n", "urls:1: it has a character that stands in no URL; it is written %20"),
        ("http://127.0.0.1:1/a b\n", "urls:1: it has a character that stands in no URL; it is written %20"),
    ] {
        let refused = hammer(&["http", "get", "http://127.0.0.1:1", "--urls", &folder.write("urls", lines)]);
        assert_eq!(refused.code, 2, "{lines:?}");
        assert!(refused.stderr.contains(told), "{lines:?}: {}", refused.stderr);
    }
}

#[test]
fn operations_that_are_counted_have_no_warm_up_to_be_sent_in() {
    let server = Server::ok();
    let url = server.url();
    for counted in [&["-n", "10"][..], &["-n", "10", "-z", "1s"], &["-n", "10", "-q", "20"], &[]] {
        let line = [&["http", "get", &url, "--warm-up", "200ms"][..], counted].concat();
        let refused = hammer(&line);
        assert_eq!(refused.code, 2, "{counted:?}");
        assert!(refused.stderr.contains("use --warm-up: "), "{}", refused.stderr);
    }
    let report = http(&["get", &url, "--warm-up", "100ms", "-z", "200ms", "-c", "1"]);
    assert!(report.series[0].measurement.counts.offered > 0);
}

#[test]
fn no_more_connections_are_dialled_than_there_are_operations() {
    let server = Server::ok();
    let report = http(&["get", &server.url(), "-n", "2"]);
    assert_eq!(report.totals.all.fates.accepted, 2);
    assert!(server.connections() <= 2, "{}", server.connections());
}

#[test]
fn a_user_may_have_an_empty_password() {
    let (server, folder) = (Server::ok(), Folder::new());
    let basic = ["--basic-user", "ann", "--basic-password-file", &folder.write("empty", "")];
    let report = http(&[&["get", &server.url(), "-n", "1"][..], &basic].concat());
    assert_eq!(report.totals.all.fates.accepted, 1);
    assert_eq!(server.requests()[0].header("authorization"), Some("Basic YW5uOg=="));
}

#[test]
fn a_user_is_sent_with_a_password_that_no_report_shows() {
    let (server, folder) = (Server::ok(), Folder::new());
    let password = folder.write("password", "canary\n");
    let basic = ["--basic-user", "ann", "--basic-password-file", &password];
    let ended =
        hammer(&[&["http", "get", &server.url(), "-n", "1", "-c", "1", "--out", "-"][..], &basic].concat());
    assert_eq!(ended.report().totals.all.fates.accepted, 1);
    assert_eq!(server.requests()[0].header("authorization"), Some("Basic YW5uOmNhbmFyeQ=="));
    let said = format!("{}{}", ended.stdout, ended.stderr);
    assert!(!said.contains("canary") && !said.contains("YW5uOmNhbmFyeQ"), "{said}");
    let without = hammer(&["http", "get", &server.url(), "--basic-user", "ann"]);
    assert_eq!(without.code, 2, "{}", without.stderr);
}

#[test]
fn a_server_is_dialled_at_another_address_under_its_own_name() {
    let server = Server::ok();
    let address = server.address.to_string();
    let report = http(&["get", "http://shop.example/cart", "-n", "2", "-c", "1", "--connect-to", &address]);
    assert_eq!(report.totals.all.fates.accepted, 2);
    let requests = server.requests();
    assert_eq!((requests.len(), requests[0].header("host")), (2, Some("shop.example")));
    let refused = hammer(&["http", "get", "http://shop.example/", "--connect-to", "10.0.0.5"]);
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("--connect-to"), "{}", refused.stderr);
    // Whoever is dialled has to be near, and not whoever is named.
    let far = hammer(&["http", "get", &server.url(), "--connect-to", "192.0.2.1:80"]);
    assert_eq!(far.code, 2, "{}", far.stderr);
}

#[test]
fn a_server_behind_a_unix_socket_is_asked_under_the_name_of_its_url() {
    let folder = Folder::new();
    let path = folder.path("socket");
    let server = UnixServer::at(&path);
    let report = http(&["get", "http://shop.example/cart", "-n", "20", "-c", "4", "--unix-socket", &path]);
    assert_eq!(report.totals.all.fates.accepted, 20, "{}", report.verdict);
    let heads = server.heads();
    assert!(heads.iter().all(|head| head.starts_with("GET /cart HTTP/1.1\r\n")), "{heads:?}");
    assert!(heads[0].contains("host: shop.example\r\n"), "{heads:?}");
    let nowhere =
        hammer(&["http", "get", "http://shop.example/", "-n", "1", "--unix-socket", "/nonexistent/socket"]);
    assert_eq!(nowhere.code, 3, "{}", nowhere.stderr);
    assert!(!nowhere.stdout.contains("0.0.0.0"), "a socket has no address: {}", nowhere.stdout);
    let both = ["--unix-socket", &path, "--connect-to", "127.0.0.1:1"];
    assert_eq!(hammer(&[&["http", "get", "http://a/"][..], &both].concat()).code, 2);
}

/// Answers each request on a Unix socket with 200, until the test's process ends.
struct UnixServer(Arc<Mutex<Vec<String>>>);

impl UnixServer {
    fn at(path: &str) -> Self {
        let (listener, heads) = (UnixListener::bind(path).unwrap(), Arc::new(Mutex::new(Vec::new())));
        let shared = Arc::clone(&heads);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let heads = Arc::clone(&shared);
                thread::spawn(move || Self::serve(&stream, &heads));
            }
        });
        Self(heads)
    }

    fn serve(mut stream: &UnixStream, heads: &Mutex<Vec<String>>) {
        let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
        loop {
            let head: Vec<String> = lines.by_ref().take_while(|line| !line.is_empty()).collect();
            if head.is_empty() {
                return;
            }
            heads.lock().unwrap().push(head.iter().map(|line| format!("{line}\r\n")).collect());
            if stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").is_err() {
                return;
            }
        }
    }

    fn heads(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}
