//! A proxy before a log, which alters answers on their way.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use hammer_ct::LogTarget;
use hammer_mutate::Mutator;
use hammer_tlog::ct::sct::Sct;

/// What a proxy has passed on.
#[derive(Debug, Default)]
pub(crate) struct Passed {
    /// Answers as they came.
    pub(crate) whole: AtomicU64,
    /// Answers whose body was altered.
    pub(crate) altered: AtomicU64,
    /// Answers of which any byte was altered, heads too.
    pub(crate) raw: AtomicU64,
    /// Answers to submissions that were altered, and yet say the same SCT.
    pub(crate) same_sct: AtomicU64,
}

/// What is altered.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rule {
    pub(crate) seed: u64,
    /// One answer of so many is altered.
    pub(crate) one_in: usize,
    /// Whether that is so of answers to submissions, too.
    pub(crate) submissions: bool,
}

/// `log` behind a proxy, and what that passes on.
pub(crate) fn before(log: &LogTarget, rule: Rule) -> (LogTarget, Arc<Passed>) {
    let url = log.submission[0].clone();
    let upstream: SocketAddr = url.authority().unwrap().as_str().parse().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let here =
        format!("http://{}{}", listener.local_addr().unwrap(), url.path()).parse::<http::Uri>().unwrap();
    let passed = Arc::new(Passed::default());
    let counted = passed.clone();
    thread::spawn(move || {
        for (number, stream) in (0..).zip(listener.incoming().flatten()) {
            let (counted, mutator) = (counted.clone(), Mutator::new(rule.seed << 32 | number));
            thread::spawn(move || connection(&stream, upstream, rule, mutator, &counted));
        }
    });
    (LogTarget { submission: vec![here.clone()], monitoring: vec![here], ..log.clone() }, passed)
}

/// Passes requests and answers on until either side is at its end, or an answer could not be passed on as one.
fn connection(
    stream: &TcpStream,
    upstream: SocketAddr,
    rule: Rule,
    mut mutator: Mutator,
    passed: &Passed,
) -> Option<()> {
    let log = TcpStream::connect(upstream).ok()?;
    stream.set_nodelay(true).ok()?;
    log.set_nodelay(true).ok()?;
    let (mut requests, mut answers) = (BufReader::new(stream), BufReader::new(&log));
    loop {
        let (head, body) = message(&mut requests)?;
        (&log).write_all(&[head.as_bytes(), &body].concat()).ok()?;
        let is_submission = head.starts_with("POST");
        let (head, body) = message(&mut answers)?;
        let is_altered = mutator.rng().one_in(rule.one_in) && (rule.submissions || !is_submission);
        if !is_altered {
            passed.whole.fetch_add(1, Ordering::Relaxed);
            (&*stream).write_all(&[head.as_bytes(), &body].concat()).ok()?;
            continue;
        }
        if mutator.rng().one_in(8) {
            passed.raw.fetch_add(1, Ordering::Relaxed);
            let bytes = mutator.bytes(&[head.as_bytes(), &body].concat(), &body);
            let _ = (&*stream).write_all(&bytes);
            return None;
        }
        let other = mutator.any(&body, head.as_bytes());
        if is_submission && is_same_sct(&body, &other) {
            passed.same_sct.fetch_add(1, Ordering::Relaxed);
        }
        passed.altered.fetch_add(1, Ordering::Relaxed);
        let status = head.lines().next()?;
        let head = format!("{status}\r\ncontent-length: {}\r\n\r\n", other.len());
        (&*stream).write_all(&[head.as_bytes(), &other].concat()).ok()?;
    }
}

fn is_same_sct(answer: &[u8], other: &[u8]) -> bool {
    match (Sct::from_json(answer), Sct::from_json(other)) {
        (Ok(sct), Ok(other)) => sct == other,
        _ => false,
    }
}

/// Head and body of the next request or answer; none at the end.
fn message(reader: &mut impl BufRead) -> Option<(String, Vec<u8>)> {
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let begin = head.len();
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
        let line = head[begin..].to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        if line == "\r\n" {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some((head, body))
}
