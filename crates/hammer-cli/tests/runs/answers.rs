//! Of each cause by which operations fail, the first is told: what the server said, or where and why there was no answer.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::thread;

use hammer_lab::HttpLabHandle;
use hammer_lab::http::HttpLabPlan;
use hammer_report::report::Cause;
use rcgen::{CertificateParams, KeyPair};
use serde_json::json;

use crate::folder::Folder;
use crate::hammer::{Ended, hammer};
use crate::http_lines::http;
use crate::server::Server;

/// Two requests to `url`, one after the other.
fn two(url: &str, args: &[&str]) -> Ended {
    hammer(&[&["http", "get", url, "-n", "2", "-c", "1", "--out", "-"], args].concat())
}

/// The causes of two requests, which all failed.
fn causes(ended: &Ended) -> Vec<Cause> {
    let report = ended.report();
    assert_eq!(report.totals.all.fates.accepted, 0);
    report.series[0].measurement.causes.clone()
}

/// The only cause of two requests, and what is told of its first; that is in the text as well.
fn only(url: &str, args: &[&str]) -> (String, String) {
    let ended = two(url, args);
    let [Cause { cause, count: 2, answer: Some(answer), .. }] = &causes(&ended)[..] else {
        panic!("{ended:?}");
    };
    let told = hammer(&[&["http", "get", url, "-n", "2", "-c", "1", "--detail"], args].concat()).stdout;
    let one_line = told.split_whitespace().collect::<Vec<_>>().join(" ");
    let place = answer.split(' ').take(4).collect::<Vec<_>>().join(" ");
    assert!(one_line.contains(cause.as_str()) && one_line.contains(&format!("said: {place}")), "{told}");
    (cause.clone(), answer.clone())
}

/// What a server does with a connection, until the test's process ends; its address.
fn raw(serve: impl Fn(TcpStream) + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    thread::spawn(move || listener.incoming().map_while(Result::ok).for_each(&serve));
    address
}

/// A server of TLS whose certificate is `params` say, signed by itself.
fn of_tls(folder: &Folder, params: &CertificateParams) -> HttpLabHandle {
    let key = KeyPair::generate().unwrap();
    let certificate = params.self_signed(&key).unwrap();
    let (certificate, key) =
        (folder.write("own.pem", &certificate.pem()), folder.write("own.key", &key.serialize_pem()));
    let plan = json!({ "serve": { "tls": { "certificate": certificate, "key": key } } });
    HttpLabHandle::spawn(serde_json::from_value::<HttpLabPlan>(plan).unwrap()).unwrap()
}

#[test]
fn a_port_at_which_nobody_listens_is_told_with_what_the_system_said() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let url = format!("http://{address}/");
    let why = format!("failed to connect to {address}: Connection refused (os error 111)");
    assert_eq!(only(&url, &[]), ("connection refused".to_owned(), why.clone()));
    let ended = two(&url, &[]);
    assert_eq!(ended.code, 3);
    let reason = &ended.report().verdict.reasons[0].text;
    assert!(reason.ends_with(&format!("2 unreachable (connection refused, {why})")), "{reason}");
}

#[test]
fn a_name_that_nobody_knows_is_told_with_what_the_resolver_said() {
    let (cause, answer) = only("http://log.invalid/", &[]);
    assert_eq!(cause, "name not found");
    let said = answer.strip_prefix("failed to look up log.invalid: ").unwrap_or_else(|| panic!("{answer}"));
    assert!(!said.is_empty());
}

#[test]
fn why_tls_was_not_agreed_on_is_told() {
    let folder = Folder::new();
    let address = raw(|mut stream| {
        let _ = stream.read(&mut [0; 8192]);
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n");
    });
    let (cause, answer) = only(&format!("https://{address}/"), &[]);
    let why = format!("failed to agree on TLS with {address}: the server does not speak TLS there");
    assert_eq!((cause.as_str(), answer), ("server does not speak tls", why));
    let loopback = CertificateParams::new(["127.0.0.1".to_owned()]).unwrap();
    let mut expired = loopback.clone();
    expired.not_after = rcgen::date_time_ymd(2001, 2, 3);
    let elsewhere = CertificateParams::new(["log.example".to_owned()]).unwrap();
    for (params, is_trusted, cause, why) in [
        (
            &loopback,
            false,
            "server certificate not trusted",
            "its certificate was issued by nobody who is trusted",
        ),
        (
            &expired,
            true,
            "server certificate expired or not yet valid",
            "its certificate expired at 2001-02-03T00:00:00Z",
        ),
        (
            &elsewhere,
            true,
            "server certificate of another name",
            "its certificate is for log.example, and not for 127.0.0.1",
        ),
    ] {
        let lab = of_tls(&folder, params);
        let own = folder.path("own.pem");
        let trust = ["--cacert", own.as_str()];
        let (found, answer) = only(&lab.url, if is_trusted { &trust } else { &[] });
        let address = lab.url.trim_start_matches("https://").trim_end_matches('/');
        assert_eq!(found, cause);
        let told = format!("failed to agree on TLS with {address}: {why}");
        assert!(answer.starts_with(&told), "{answer}");
    }
    let lab = of_tls(&folder, &loopback);
    let plainly = lab.url.replace("https://", "http://");
    let (cause, answer) = only(&plainly, &[]);
    assert_eq!(cause, "server speaks tls");
    assert!(answer.ends_with("its bytes are of TLS: the server speaks it there"), "{answer}");
}

#[test]
fn what_comes_in_place_of_http_is_told_without_the_secrets_of_the_request() {
    let address = raw(|mut stream| {
        let mut asked = [0; 4096];
        let length = stream.read(&mut asked).unwrap_or(0);
        let asked = String::from_utf8_lossy(&asked[..length]).into_owned();
        let token = asked.lines().find_map(|line| line.split_once("earer ")).map_or("", |(_, token)| token);
        let _ = stream.write_all(format!("-ERR {token}\r\n").as_bytes());
    });
    let secret = "Authorization: Bearer opaque-canary";
    let (cause, answer) = only(&format!("http://{address}/"), &["-H", secret]);
    assert_eq!(cause, "protocol error");
    assert!(answer.ends_with("; what came starts with \"-ERR ***\\r\\n\""), "{answer}");
}

#[test]
fn no_password_is_told_whatever_has_to_be_escaped_in_it() {
    for secret in [
        "it's-a-secret-of-length",
        "p\u{e4}'ss-w\u{f6}rt\"long-secret",
        r"back\slash\'ed-secret",
        "pa%41ss'-secret",
    ] {
        let (password, echo) = (secret.to_owned(), secret.to_owned());
        let plain = raw(move |mut stream| {
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(format!("HI me:{password}\r\n").as_bytes());
        });
        let away = raw(move |mut stream| goes_away(&mut stream, echo.as_bytes()));
        let folder = Folder::new();
        let file = folder.write("password", secret);
        let user = ["--basic-user", "me", "--basic-password-file", file.as_str()];
        for (address, version, told) in [
            (plain, None, r#"; what came starts with "HI ***\r\n""#),
            (away, Some("--http2"), "the server sent GOAWAY with ENHANCE_YOUR_CALM"),
        ] {
            let ended = two(&format!("http://{address}/"), &[&user[..], version.as_slice()].concat());
            let [Cause { answer: Some(answer), .. }, ..] = &causes(&ended)[..] else { panic!("{ended:?}") };
            assert!(answer.contains(told) && answer.contains("***"), "{answer}");
            for part in ["secret", "it's", "slash", "w\u{f6}rt", r"\xc3", "pa%41"] {
                assert!(!answer.contains(part), "{answer}");
            }
        }
    }
}

/// What a server of HTTP/2 does that has read the start of a connection: it sends GOAWAY with `told` as its debug data (RFC 9113, section 6.8).
fn goes_away(stream: &mut TcpStream, told: &[u8]) {
    let _ = stream.read(&mut [0; 8192]);
    let frame = |kind: u8, payload: &[u8]| {
        let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
        [&length[1..], &[kind, 0, 0, 0, 0, 0], payload].concat()
    };
    let away = [&[0, 0, 0, 0, 0, 0, 0, 11][..], told].concat();
    let _ = stream.write_all(&[frame(4, &[]), frame(7, &away)].concat());
    // Until the client has read it: what is closed with bytes unread is reset.
    while stream.read(&mut [0; 8192]).is_ok_and(|length| length > 0) {}
}

#[test]
fn what_was_waited_for_when_the_deadline_came_is_told() {
    let silent = Server::answering("");
    let (cause, answer) = only(&silent.url(), &["-t", "200ms"]);
    assert_eq!(cause, "deadline of the operation");
    // On a machine that has other things to do the time may be over before the request is sent, or the connection is there.
    let address = silent.address.to_string();
    let has_waited =
        answer.contains(&address) && (answer.ends_with(" before") || answer.ends_with(" was free"));
    assert!(has_waited || answer == "no address was known yet", "{answer}");
}

#[test]
fn what_a_server_refuses_with_is_told_and_nothing_where_all_is_accepted() {
    let server = Server::answering("HTTP/1.1 403 No\r\ncontent-length: 12\r\n\r\nnot\tfor\r\nyou");
    assert_eq!(only(&server.url(), &[]), ("HTTP 403".to_owned(), "not for you".to_owned()));
    let server = Server::ok();
    let report = http(&["get", &server.url(), "-n", "5", "-c", "1"]);
    assert_eq!(report.totals.all.fates.accepted, 5);
    let causes = report.series.iter().flat_map(|series| &series.measurement.causes);
    assert!(causes.map(|cause| &cause.answer).all(Option::is_none));
}
