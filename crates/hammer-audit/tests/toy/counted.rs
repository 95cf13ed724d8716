//! The toy log behind a server that counts what it is asked for, path by path: the audit's own counts are those.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread;

use hammer_measure::Nanos;
use hammer_net::ClientConfig;

use crate::{Audited, LONG_MS, observed};

/// What becomes of a request.
#[derive(Clone, Copy, PartialEq)]
enum Answer {
    /// The file, where there is one.
    File,
    /// 404.
    Missing,
    /// Nothing, as long as the connection lasts.
    Silence,
}

/// Serves a folder until the test's process ends.
struct CountingServer {
    address: SocketAddr,
    counts: Arc<Mutex<BTreeMap<String, u64>>>,
}

impl CountingServer {
    fn start(folder: &Path, answer: fn(&str) -> Answer) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (folder, counts) = (folder.to_owned(), Arc::new(Mutex::new(BTreeMap::new())));
        let counted = counts.clone();
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (folder, counted) = (folder.clone(), counted.clone());
                thread::spawn(move || serve(&stream, &folder, answer, &counted));
            }
        });
        Self { address, counts }
    }

    /// How often paths with that in them were asked for.
    fn asked(&self, part: &str) -> u64 {
        let counts = self.counts.lock().unwrap();
        counts.iter().filter(|(path, _)| path.contains(part)).map(|(_, count)| count).sum()
    }

    /// How often the path that was asked for most was, of those with that in them.
    fn most_asked(&self, part: &str) -> (String, u64) {
        let counts = self.counts.lock().unwrap();
        let of_part = counts.iter().filter(|(path, _)| path.contains(part));
        of_part
            .max_by_key(|(_, count)| **count)
            .map(|(path, count)| (path.clone(), *count))
            .unwrap_or_default()
    }
}

fn serve(
    mut stream: &TcpStream,
    folder: &Path,
    answer: fn(&str) -> Answer,
    counts: &Mutex<BTreeMap<String, u64>>,
) -> Option<()> {
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    loop {
        let path = lines.next()?.split(' ').nth(1)?.to_owned();
        lines.by_ref().find(String::is_empty)?;
        *counts.lock().unwrap().entry(path.clone()).or_default() += 1;
        let file: PathBuf = folder.join(path.trim_start_matches('/'));
        let body = match answer(&path) {
            Answer::Silence => continue,
            Answer::Missing => None,
            Answer::File => std::fs::read(file).ok(),
        };
        let status = if body.is_some() { "200 OK" } else { "404 Not Found" };
        let body = body.unwrap_or_default();
        let head = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n", body.len());
        stream.write_all(&[head.as_bytes(), &body].concat()).ok()?;
    }
}

/// Audits an honest log behind such a server; the server, and what the run says.
fn audited(
    answer: fn(&str) -> Answer,
    drain: Nanos,
) -> (CountingServer, Arc<hammer_measure::snapshot::RunResult>) {
    let (log, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let server = CountingServer::start(log.path(), answer);
    let url = format!("http://{}/", server.address).parse().unwrap();
    let setup = Audited { lie: None, submissions: 300, delay_ms: LONG_MS, drain, patience: None };
    let result = setup.run_at(ClientConfig::new(url).into(), log.path(), folder.path());
    (server, result)
}

#[test]
fn an_audit_counts_what_its_server_does() {
    let (server, result) = audited(|_| Answer::File, Nanos::from_secs(60));
    assert_eq!((result.promises.made, result.promises.kept), (300, 300), "{:?}", result.breaches);
    assert_eq!(observed(&result, "audit_requests"), Some(server.asked("/") as f64));
    let asked = ["/checkpoint", "/entries/"].map(|part| server.asked(part));
    assert!(asked.iter().all(|count| *count > 0), "{asked:?}");
}

#[test]
fn an_audit_whose_last_round_hangs_has_counted_what_it_asked_for() {
    let hangs = |path: &str| if path.contains("/entries/") { Answer::Silence } else { Answer::File };
    let (server, result) = audited(hangs, Nanos::from_secs(1));
    assert_eq!((result.promises.made, result.promises.kept, result.promises.broken), (300, 0, 0));
    assert!(server.asked("/tile/entries/") > 0);
    assert_eq!(observed(&result, "audit_requests"), Some(server.asked("/") as f64));
}

#[test]
fn what_is_not_served_is_asked_for_twice_in_a_round_at_most() {
    let bundleless = |path: &str| if path.contains("/entries/") { Answer::Missing } else { Answer::File };
    let (server, result) = audited(bundleless, Nanos::from_secs(1));
    let (rounds, (path, most)) = (server.asked("/checkpoint"), server.most_asked("/entries/"));
    // For the growth of the tree, and for what was promised of it; and at once several times more before it is told.
    assert!(most > 0 && most <= 2 * rounds + MORE_BEFORE_TOLD, "{path} {most} times in {rounds} rounds");
    assert_eq!(observed(&result, "audit_requests"), Some(server.asked("/") as f64));
    assert!(result.breaches.iter().any(|breach| breach.kind == "missing-tile"), "{:?}", result.breaches);
}

/// A front of several that lacks a tile must not have the log accused.
const MORE_BEFORE_TOLD: u64 = 4;
