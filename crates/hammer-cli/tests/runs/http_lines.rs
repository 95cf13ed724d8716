//! `hammer http` in one line: what it says is what is sent.

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
