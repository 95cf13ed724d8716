//! The same altered answers through hyper's client and hammer's: both make the same of them, but for the differences that are listed.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use hammer_mutate::{Mutator, cases};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

#[path = "../../src/client/tests/mutated/answers.rs"]
mod answers;
mod clients;
mod differences;

use clients::{Asking, of_hammer, of_hyper};
use differences::{DIFFERENCES, Difference};

/// What a client makes of an altered answer.
#[derive(Clone, PartialEq, Eq)]
enum Made {
    /// An answer, and whether the next request goes on the same connection.
    Answer { status: u16, body: Vec<u8>, is_reused: bool },
    /// A failure.
    Failure,
    /// Nothing, for as long as nothing more comes.
    Nothing,
}

/// An answer that is altered, and how it is said.
struct Altered {
    bytes: Vec<u8>,
    closes: bool,
}

/// Follows from its number alone: the first are the examples of what differs.
fn altered(number: u64) -> Altered {
    if let Some(class) = DIFFERENCES.get(usize::try_from(number).unwrap()) {
        return Altered { bytes: (class.example)().into_bytes(), closes: false };
    }
    let mut mutator = Mutator::new(number);
    let mut bytes = answers::by_rule(mutator.rng(), &format!("the answer to request {number}")).into_bytes();
    if mutator.rng().one_in(2) {
        bytes = mutator.bytes(&bytes, HONEST);
    }
    if mutator.rng().one_in(8) {
        bytes.extend_from_slice(HONEST);
    }
    let closes = mutator.rng().one_in(2);
    Altered { bytes, closes }
}

/// A server of altered answers, in the clients' thread.
#[derive(Clone)]
struct Server {
    addr: SocketAddr,
    /// The connection on which the last honest request came in.
    honest_on: Rc<Cell<usize>>,
    /// The connections whose altered answer is said whole.
    said: Rc<RefCell<Vec<usize>>>,
}

impl Server {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        let server = Self { addr, honest_on: Rc::default(), said: Rc::default() };
        let own = server.clone();
        tokio::task::spawn_local(async move {
            for number in 0.. {
                let (tcp, _) = listener.accept().await.unwrap();
                tokio::task::spawn_local(own.clone().serve(tcp, number));
            }
        });
        server
    }

    async fn serve(self, mut tcp: TcpStream, connection: usize) {
        tcp.set_nodelay(true).unwrap();
        while let Some(number) = asked(&mut tcp).await {
            let Some(number) = number else {
                self.honest_on.set(connection);
                if tcp.write_all(HONEST).await.is_err() {
                    return;
                }
                continue;
            };
            let altered = altered(number);
            let is_said = tcp.write_all(&altered.bytes).await.is_ok();
            if is_said && altered.closes {
                let _ = tcp.shutdown().await;
            }
            self.said.borrow_mut().push(connection);
            if !is_said {
                return;
            }
        }
    }
}

/// The number of the altered answer that is asked for, none for an honest one; no more where the connection ends.
async fn asked(tcp: &mut TcpStream) -> Option<Option<u64>> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(tcp.read_u8().await.ok()?);
    }
    let text = String::from_utf8_lossy(&head);
    let path = text.split(' ').nth(1).unwrap_or_default();
    Some(path.strip_prefix("/altered/").map(|number| number.parse().unwrap()))
}

/// What both make of answer `number`. Where they do not agree, or do though it is the example of a difference, they have more time.
async fn both(server: &Server, number: u64) -> (Made, Made) {
    let mut made = (Made::Nothing, Made::Nothing);
    let is_example = number < DIFFERENCES.len() as u64;
    for patience in &PATIENCE[usize::from(is_example)..] {
        let asking = Asking { server, number, patience: *patience };
        made = (of_hyper(&asking).await, of_hammer(&asking).await);
        if (made.0 == made.1) != is_example {
            break;
        }
    }
    made
}

#[test]
fn hammer_makes_of_altered_answers_what_hyper_makes_of_them_but_for_what_is_listed() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    tokio::task::LocalSet::new().block_on(&runtime, async {
        let server = Server::start().await;
        let (mut answered, mut differing, mut met) = (0, Vec::new(), vec![0; DIFFERENCES.len()]);
        let cases = cases(800);
        for number in 0..cases {
            let (hyper, hammer) = both(&server, number).await;
            answered += u64::from(matches!(hammer, Made::Answer { .. }));
            let altered = altered(number);
            let is_it = |one: &Difference| (one.is_it)(&altered, &hyper, &hammer);
            let class = DIFFERENCES.iter().position(is_it).filter(|_| hyper != hammer);
            let is_example = number < DIFFERENCES.len() as u64;
            match class {
                Some(class) if !is_example || class as u64 == number => met[class] += 1,
                None if !is_example && hyper == hammer => {}
                _ => differing.push(told(number, &altered, &hyper, &hammer)),
            }
        }
        for (class, met) in DIFFERENCES.iter().zip(&met) {
            println!("{met} times: {}", class.reason);
        }
        assert!(differing.is_empty(), "{} differences:\n{}", differing.len(), differing.join("\n"));
        // Some are answered, some not, so that the cases say something.
        assert!(cases < 500 || (answered > cases / 5 && answered < cases * 4 / 5), "{answered} of {cases}");
    });
}

fn told(number: u64, altered: &Altered, hyper: &Made, hammer: &Made) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let start = text(&altered.bytes[..altered.bytes.len().min(300)]);
    let end = text(&altered.bytes[altered.bytes.len().saturating_sub(200)..]);
    let (length, closes) = (altered.bytes.len(), altered.closes);
    format!(
        "{number}: {start:?} ... {end:?} ({length} bytes, closes {closes})\n  hyper: {hyper}\n  hammer: {hammer}"
    )
}

impl fmt::Display for Made {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Answer { status, body, is_reused } => {
                write!(f, "{status} {:?}, reused {is_reused}", String::from_utf8_lossy(body))
            }
            Self::Failure => f.write_str("a failure"),
            Self::Nothing => f.write_str("nothing"),
        }
    }
}

/// What an honest request is answered.
const HONEST: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nhonest";

/// How long a client has, at first and where both do not agree; a slow machine costs time, and no verdict.
const PATIENCE: [Duration; 3] =
    [Duration::from_millis(15), Duration::from_millis(300), Duration::from_secs(3)];
