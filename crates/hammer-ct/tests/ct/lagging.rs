//! Fronts of a log: one that lags behind, so that every other tree head is one of before, one that forges a tree head, and ones that refuse.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use hammer_ct::LogTarget;

use crate::canned;

/// `log`, read behind a front that gives its heads as they are and as they were by turns; all else as the log has it.
pub(crate) fn front(log: &LogTarget) -> LogTarget {
    let url = log.submission[0].clone();
    let heads: Mutex<Vec<Vec<u8>>> = Mutex::default();
    let front = canned::serve(move |path| {
        let path = path.trim_start_matches("/log");
        let (status, body) = get(url.authority().unwrap().as_str(), &format!("{}{path}", url.path()));
        if status == 200 && (path == "/checkpoint" || path == "/ct/v1/get-sth") {
            let mut heads = heads.lock().unwrap();
            heads.push(body.clone());
            if heads.len().is_multiple_of(2) {
                return (200, heads[heads.len() / 2].clone());
            }
        }
        (status, body)
    });
    LogTarget { monitoring: vec![front.parse().unwrap()], ..log.clone() }
}

/// `log`, read first at a front that serves the first tree head with leaves for ever, and then at one that passes on all.
pub(crate) fn frozen_and_live(log: &LogTarget) -> LogTarget {
    let url = log.submission[0].clone();
    let frozen: Mutex<Option<Vec<u8>>> = Mutex::default();
    let front = canned::serve(move |path| {
        let path = path.trim_start_matches("/log");
        if path != "/checkpoint" && path != "/ct/v1/get-sth" {
            return get(url.authority().unwrap().as_str(), &format!("{}{path}", url.path()));
        }
        let mut frozen = frozen.lock().unwrap();
        if let Some(head) = &*frozen {
            return (200, head.clone());
        }
        let (status, body) = get(url.authority().unwrap().as_str(), &format!("{}{path}", url.path()));
        let text = String::from_utf8_lossy(&body);
        let is_empty = text.contains("\"tree_size\":0,") || text.lines().nth(1) == Some("0");
        *frozen = (!is_empty).then(|| body.clone());
        (status, body)
    });
    let live = refusing(log, |_, _| None);
    LogTarget { monitoring: [vec![front.parse().unwrap()], live.monitoring].concat(), ..log.clone() }
}

/// `log`, read at a front that passes on so many answers and fails from then on.
pub(crate) fn failing_after(log: &LogTarget, answers: usize) -> LogTarget {
    refusing(log, move |nth, _| (nth >= answers).then_some(503))
}

/// `log`, read at a front that answers the n-th request, from 0 on, to a path with that status and nothing else, where there
/// is one.
pub(crate) fn refusing(
    log: &LogTarget,
    refuse: impl Fn(usize, &str) -> Option<u16> + Send + Sync + 'static,
) -> LogTarget {
    let url = log.submission[0].clone();
    let answered = AtomicUsize::new(0);
    let front = canned::serve(move |path| {
        let path = path.trim_start_matches("/log");
        match refuse(answered.fetch_add(1, Ordering::Relaxed), path) {
            Some(status) => (status, Vec::new()),
            None => get(url.authority().unwrap().as_str(), &format!("{}{path}", url.path())),
        }
    });
    LogTarget { monitoring: vec![front.parse().unwrap()], ..log.clone() }
}

/// `log`, read at a front that passes the first tree head on as `forge` makes it, and all else as the log has it.
pub(crate) fn forging(
    log: &LogTarget,
    forge: impl Fn(String) -> String + Send + Sync + 'static,
) -> LogTarget {
    let url = log.submission[0].clone();
    let heads = AtomicUsize::new(0);
    let front = canned::serve(move |path| {
        let path = path.trim_start_matches("/log");
        let (status, body) = get(url.authority().unwrap().as_str(), &format!("{}{path}", url.path()));
        let is_head = path == "/checkpoint" || path == "/ct/v1/get-sth";
        match is_head && heads.fetch_add(1, Ordering::Relaxed) == 0 {
            true => (status, forge(String::from_utf8(body).unwrap()).into_bytes()),
            false => (status, body),
        }
    });
    LogTarget { monitoring: vec![front.parse().unwrap()], ..log.clone() }
}

/// Status and body of what `authority` has at a path.
pub(crate) fn get(authority: &str, path: &str) -> (u16, Vec<u8>) {
    let mut stream = TcpStream::connect(authority).unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let end = answer.windows(4).position(|window| window == b"\r\n\r\n").unwrap();
    let head = String::from_utf8_lossy(&answer[..end]);
    (head.split(' ').nth(1).unwrap().parse().unwrap(), answer[end + 4..].to_vec())
}
