//! Logs that write more than any log has to, and what a terminal would obey: neither memory, nor a report, nor a terminal is theirs.

#[path = "support/hammer.rs"]
mod hammer;
#[path = "support/log.rs"]
#[expect(dead_code, reason = "other tests ask logs of both kinds")]
mod log;
#[path = "support/server.rs"]
#[expect(dead_code, reason = "other tests serve texts")]
mod server;

use std::io::{BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

use hammer_lab::ct::Flavour;
use hammer_report::Report;

use hammer::{Ended, Started, command, hammer};
use log::Log;
use server::request;

/// What is written in answer to the request of a path; the connection ends then.
type Answers = Arc<dyn Fn(&str, &mut TcpStream) + Send + Sync>;

/// Serves each request on a connection of its own until the test's process ends; its authority.
fn serve(answers: impl Fn(&str, &mut TcpStream) + Send + Sync + 'static) -> String {
    let answers: Answers = Arc::new(answers);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let authority = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let answers = Arc::clone(&answers);
            thread::spawn(move || {
                let read = stream.try_clone().unwrap();
                let Some(request) = request(&mut BufReader::new(&read)) else { return };
                let path = request.line.split(' ').nth(1).unwrap_or_default().to_owned();
                answers(&path, &mut stream);
            });
        }
    });
    authority
}

/// A body of unknown length, as far as whoever asked reads it.
fn pour(stream: &mut TcpStream, bytes: usize) {
    let chunk = [b"10000\r\n".as_slice(), &[b' '; 1 << 16], b"\r\n"].concat();
    let head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    let mut written = stream.write_all(head).is_ok();
    for _ in 0..bytes >> 16 {
        written = written && stream.write_all(&chunk).is_ok();
    }
    if written {
        let _ = stream.write_all(b"0\r\n\r\n");
    }
}

/// What the log has at a path, its checkpoint as `forge` makes it.
fn front(log: &Log, forge: impl Fn(String) -> String + Send + Sync + 'static) -> String {
    let url: http::Uri = log.lab.url.parse().unwrap();
    let (authority, path) = (url.authority().unwrap().to_string(), url.path().to_owned());
    let front = serve(move |path, stream| {
        let mut answer = Vec::new();
        let mut log = TcpStream::connect(&authority).unwrap();
        let asked = format!("GET {path} HTTP/1.1\r\nhost: {authority}\r\nconnection: close\r\n\r\n");
        log.write_all(asked.as_bytes()).unwrap();
        log.read_to_end(&mut answer).unwrap();
        if path.ends_with("/checkpoint") {
            let text = String::from_utf8(answer).unwrap();
            let (head, body) = text.split_once("\r\n\r\n").unwrap();
            let body = if head.contains(" 200 ") { forge(body.to_owned()) } else { body.to_owned() };
            let status = head.lines().next().unwrap();
            let head = format!("{status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
            answer = (head + &body).into_bytes();
        }
        let _ = stream.write_all(&answer);
    });
    format!("http://{front}{path}")
}

/// What of a text a terminal would obey.
fn obeyed(text: &str) -> Vec<char> {
    let is_obeyed = |letter: &char| {
        (letter.is_control() && !matches!(letter, '\n' | '\t'))
            || matches!(letter, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
    };
    text.chars().filter(is_obeyed).collect()
}

fn assert_harmless(ended: &Ended) {
    for text in [&ended.stdout, &ended.stderr] {
        assert_eq!(obeyed(text), [], "{text}");
        assert!(text.len() < 10 << 20, "{}", text.len());
    }
}

/// A run of a second that submits to a log and reads its checkpoint at that URL.
fn run(log: &Log, monitoring: &str) -> (Ended, Report) {
    let target = format!(
        "{{ log: {{ submission_url: \"{}\", monitoring_url: \"{monitoring}\", public_key: \"{}\", origin: \"{}\" }} }}",
        log.lab.url,
        log.key,
        log.lab.origin()
    );
    let plan = log.folder.path().join("plan.yaml");
    let text = format!(
        "target: {target}\nworkloads:\n  - name: submit\n    ct_submit: {{}}\n    load: {{ rate: 50/s }}\nphases: {{ measurement: 1s, drain: 5s }}\n"
    );
    std::fs::write(&plan, text).unwrap();
    let mut run = command(&["run", plan.to_str().unwrap(), "--seed", "0", "--out", "-"]);
    run.current_dir(log.folder.path());
    let ended = Started::of(run).ended();
    let report = ended.report();
    (ended, report)
}

const ESCAPES: &str = "\u{9b}2J\u{9b}31m\u{202e}\u{200b}\u{feff}";

#[test]
fn what_a_terminal_obeys_in_a_checkpoint_reaches_none() {
    let log = Log::of(Flavour::StaticCt, Vec::new());
    log.submit("200ms");
    let name = format!("witness{ESCAPES}{}", "w".repeat(1 << 10));
    let url = front(&log, move |checkpoint| {
        let line = |number| format!("— {name}{number} AAAAAAA=\n");
        checkpoint + &(0..20).map(line).collect::<String>()
    });
    let (key, origin) = (log.key.as_str(), log.lab.origin());
    let args = [url.as_str(), "--key", key, "--origin", origin];
    for more in
        [["ct", "follow", "--duration", "1s"].as_slice(), &["ct", "follow", "--json", "--duration", "1s"]]
    {
        let ended = hammer(&[more, &args].concat());
        assert_eq!(ended.code, 0, "{ended:?}");
        assert!(
            ended.stdout.contains("witness\u{fffd}2J\u{fffd}31m\u{fffd}\u{fffd}\u{fffd}www"),
            "{}",
            ended.stdout
        );
        assert!(ended.stdout.contains("www..."), "{}", ended.stdout);
        assert_harmless(&ended);
    }
    let (ended, report) = run(&log, &url);
    assert_harmless(&ended);
    assert!(report.breaches.is_empty(), "{:?}", report.breaches);
    let kept = report.promises.all.kept;
    assert!(kept > 0 && kept == report.promises.all.made, "{:?}", report.promises.all);
}

#[test]
fn the_origin_of_another_log_is_told_in_a_few_words_whatever_it_is() {
    for length in [30 << 10, 1 << 20] {
        let log = Log::of(Flavour::StaticCt, Vec::new());
        log.submit("200ms");
        let origin = format!("evil{ESCAPES}{}", "x".repeat(length));
        let url = front(&log, move |checkpoint| {
            let (_, rest) = checkpoint.split_once('\n').unwrap();
            format!("{origin}\n{rest}")
        });
        let (key, origin) = (log.key.as_str(), log.lab.origin());
        let args = [url.as_str(), "--key", key, "--origin", origin];
        for command in [["ct", "follow", "--duration", "1s"].as_slice(), &["ct", "audit"]] {
            let ended = hammer(&[command, &args].concat());
            assert_harmless(&ended);
            let longest = ended.stdout.lines().map(str::len).max().unwrap();
            assert!(longest < 1 << 10, "{longest}");
            let is_read = length < 64 << 10;
            assert_eq!(ended.stdout.contains("checkpoint-origin"), is_read, "{}", ended.stdout);
            assert_eq!(ended.stdout.contains("larger than the limit"), !is_read, "{}", ended.stdout);
        }
    }
}

#[test]
fn an_answer_to_a_submission_is_read_no_further_than_an_sct_can_reach() {
    let log = Log::of(Flavour::StaticCt, Vec::new());
    let hostile = serve(|_, stream| pour(stream, 16 << 20));
    let target = format!(
        "{{ log: {{ submission_url: \"http://{hostile}/log\", monitoring_url: \"{}\", public_key: \"{}\", origin: \"{}\" }} }}",
        log.lab.url,
        log.key,
        log.lab.origin()
    );
    let plan = log.folder.path().join("plan.yaml");
    let text = format!(
        "target: {target}\nworkloads:\n  - name: submit\n    ct_submit: {{}}\n    load: {{ users: 50 }}\nphases: {{ measurement: 1s }}\n"
    );
    std::fs::write(&plan, text).unwrap();
    let mut run = command(&["run", plan.to_str().unwrap(), "--out", "-"]);
    run.current_dir(log.folder.path());
    let report = Started::of(run).ended().report();
    let fates = report.totals.all.fates;
    assert!(fates.malformed >= 50 && fates.malformed == fates.ended(), "{fates:?}");
    for of in report.operations().filter(|of| of.measurement.counts.completed > 0) {
        let causes = &of.measurement.causes;
        assert!(causes.iter().all(|cause| cause.cause == "answer too large"), "{causes:?}");
        let (read, answers) = (of.measurement.counts.bytes_in, of.measurement.counts.completed);
        // What was read at once when the bound was met comes on top.
        assert!(read <= answers * (320 << 10), "{read} bytes of {answers} answers");
    }
}
