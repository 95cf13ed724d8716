//! A verifier that changes the key of its results while a run lasts: believed where its document shows that, however late a cache does.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering};

use hammer_lab_attest::{AttestLabHandle, AttestLabPlan};
use hammer_report::Report;
use serde_json::json;

use crate::server::{Request, Server};
use crate::verifier::planned;

/// After so many sessions the key is another one.
const SESSIONS_BEFORE: usize = 40;
/// A document that is made for each request.
const MADE_ANEW: Document = Document { stale: 0, headers: "", is_cached: false };

/// What the answer to a request for the document is like behind the change.
#[derive(Clone, Copy)]
struct Document {
    /// So many times the old one is served.
    stale: usize,
    /// Headers that it is served with.
    headers: &'static str,
    /// A cache before it goes on to serve what it was once asked for, and says nothing of that.
    is_cached: bool,
}

/// Two verifiers that know the same devices and have keys of their own, behind one URL: first the one, then the other opens sessions.
struct Rotating {
    before: AttestLabHandle,
    behind: AttestLabHandle,
    document: Document,
    sessions: AtomicUsize,
    read: AtomicUsize,
}

impl Rotating {
    fn serve(document: Document) -> Server {
        let lab = |key_seed| {
            AttestLabHandle::spawn(AttestLabPlan { key_seed, ..AttestLabPlan::default() }).unwrap()
        };
        let (sessions, read) = Default::default();
        let rotating = Self { before: lab(1), behind: lab(2), document, sessions, read };
        Server::answering_to(move |_, request| rotating.answer(request))
    }

    fn answer(&self, request: &Request) -> String {
        let line = &request.line;
        let is_changed = || self.sessions.load(Ordering::SeqCst) > SESSIONS_BEFORE;
        if line.contains("/.well-known/veraison/verification") {
            let is_kept = self.document.is_cached && !line.contains('?');
            let is_new =
                is_changed() && !is_kept && self.read.fetch_add(1, Ordering::SeqCst) >= self.document.stale;
            let answer = sent_on(if is_new { &self.behind } else { &self.before }, request);
            return answer.replacen("\r\n", &format!("\r\n{}", self.document.headers), 1);
        }
        if line.contains("/submit ") {
            sent_on(&self.before, request);
            return sent_on(&self.behind, request);
        }
        if line.contains("/newSession") {
            let opened = self.sessions.fetch_add(1, Ordering::SeqCst);
            return sent_on(if opened < SESSIONS_BEFORE { &self.before } else { &self.behind }, request);
        }
        let answer = sent_on(&self.before, request);
        match answer.contains(" 404 ") || line.starts_with("DELETE") {
            true => sent_on(&self.behind, request),
            false => answer,
        }
    }
}

/// A frontend that shows its document once, and answers nothing else.
struct OutOfOrder {
    verifier: AttestLabHandle,
    asked: AtomicUsize,
}

impl OutOfOrder {
    fn serve() -> Server {
        let settings = AttestLabPlan { key_seed: 1, ..AttestLabPlan::default() };
        let frontend =
            Self { verifier: AttestLabHandle::spawn(settings).unwrap(), asked: AtomicUsize::new(0) };
        Server::answering_to(move |_, request| match frontend.asked.fetch_add(1, Ordering::SeqCst) {
            0 => sent_on(&frontend.verifier, request),
            _ => "HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n".to_owned(),
        })
    }
}

/// What a verifier answers to a request, on a connection for it alone.
fn sent_on(lab: &AttestLabHandle, request: &Request) -> String {
    let mut stream = TcpStream::connect(lab.url.trim_start_matches("http://")).unwrap();
    let mut head = format!("{}\r\nconnection: close\r\n", request.line);
    for line in request.headers.iter().filter(|line| !line.to_ascii_lowercase().starts_with("connection")) {
        head += &format!("{line}\r\n");
    }
    stream.write_all(&[head.as_bytes(), b"\r\n", &request.body].concat()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// A hundred flows of two users, of whom each provisions a device.
fn run_on(document: Document) -> Report {
    let server = Rotating::serve(document);
    let url = server.url();
    run_at(&url, std::slice::from_ref(&url))
}

/// The same on several frontends of verification.
fn run_at(url: &str, frontends: &[String]) -> Report {
    let plan = json!({
        "target": { "attest": { "provisioning_url": url, "verification_url": frontends } },
        "workloads": [{
            "name": "verify", "attest_verify": { "provision_at_start": true, "bad": { "share": "20%" } },
            "load": { "users": 2, "operations": 100 },
        }],
        "phases": { "measurement": "30s", "drain": "60s" },
    });
    planned(&plan).report()
}

#[track_caller]
fn is_believed(document: Document) {
    is_believed_and_told(document, "its discovery document shows another one than before");
}

#[track_caller]
fn is_believed_and_told(document: Document, said: &str) {
    let report = run_on(document);
    assert!(report.breaches.is_empty(), "{:?}", report.breaches);
    let promises = &report.promises.all;
    assert_eq!((promises.made, promises.kept), (100, 100), "{promises:?}");
    let events = serde_json::to_string(&report.events).unwrap();
    assert!(events.contains("verification changed the key of its results"), "{events}");
    assert!(events.contains(said), "{events}");
}

#[track_caller]
fn is_accused(document: Document) {
    let report = run_on(document);
    let kinds: Vec<&str> = report.breaches.iter().map(|breach| breach.kind.as_str()).collect();
    assert!(!kinds.is_empty() && kinds.iter().all(|kind| *kind == "bad-result-signature"), "{kinds:?}");
    let promises = &report.promises.all;
    assert_eq!((promises.kept, promises.broken), (40, 60), "{promises:?}");
    assert_eq!(report.verdict.exit_code, 4);
}

#[test]
fn a_key_that_changes_with_its_document_is_believed_and_told_of() {
    is_believed(MADE_ANEW);
    // The plain form of an answer that is made anew each time.
    is_believed(Document { stale: 0, headers: "cache-control: no-store\r\n", ..MADE_ANEW });
}

#[test]
fn a_key_that_changes_while_another_frontend_is_out_of_order_is_believed() {
    for is_first in [true, false] {
        let server = Rotating::serve(MADE_ANEW);
        let (url, other) = (server.url(), OutOfOrder::serve());
        let frontends = if is_first { [other.url(), url.clone()] } else { [url.clone(), other.url()] };
        let report = run_at(&url, &frontends);
        assert!(report.breaches.is_empty(), "{:?}", report.breaches);
        let promises = &report.promises.all;
        assert!(promises.made > SESSIONS_BEFORE as u64 && promises.kept == promises.made, "{promises:?}");
    }
}

#[test]
fn a_key_that_changes_without_its_document_is_not() {
    is_accused(Document { stale: usize::MAX, ..MADE_ANEW });
    is_accused(Document { stale: usize::MAX, headers: "cache-control: max-age=2\r\n", ..MADE_ANEW });
}

#[test]
fn a_document_that_a_cache_goes_on_to_serve_for_a_while_accuses_nobody() {
    is_believed(Document { stale: 2, headers: "cache-control: public, max-age=3\r\n", ..MADE_ANEW });
    is_believed(Document { stale: 2, headers: "cache-control: max-age=86400\r\nage: 3\r\n", ..MADE_ANEW });
}

#[test]
fn a_cache_that_says_nothing_of_what_it_keeps_accuses_nobody_either() {
    let said = "shows the new one only to a request that no cache knows";
    is_believed_and_told(Document { is_cached: true, ..MADE_ANEW }, said);
}
