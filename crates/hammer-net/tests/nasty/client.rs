//! hammer's client, asked for every request of a case, and what it told of each.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use futures::future::join_all;
use hammer_measure::recorder::Interval;
use hammer_measure::{ConnectionCounts, Nanos, Now, Recorder};
use hammer_net::{Answer, Client, ClientConfig, Failure, HttpVersion};

use crate::case::{Case, Pace, Speaks};
use crate::ledger::{Books, Ledger, PATIENCE};
use crate::reply::Ends;

/// What the client told of one request.
#[derive(Debug)]
pub(crate) struct Told {
    /// The request's number.
    pub(crate) seq: u64,
    /// How it ended; `None` where the caller cut it off.
    pub(crate) ended: Option<Result<(), Failure>>,
    /// The instants of the client's own clock before and after.
    pub(crate) span: (Nanos, Nanos),
    /// The answer as far as it came.
    pub(crate) answer: Answer,
}

/// What the client told of a case.
#[derive(Debug)]
pub(crate) struct Story {
    /// Of each request, in the order of their ends.
    pub(crate) told: Vec<Told>,
    /// Of its connections.
    pub(crate) counts: ConnectionCounts,
}

/// When the client's thread learns of what has come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waking {
    /// As it comes.
    AtOnce,
    /// Of most of it by turns of the reactor only, and the mode changes in the middle of exchanges.
    ByTurns,
}

/// A client at work on a case.
struct Asker<'a> {
    case: &'a Case,
    client: Client,
    clock: Rc<dyn Now>,
    waking: Waking,
    ledger: &'a Ledger,
    next: Cell<u64>,
    told: RefCell<Vec<Told>>,
}

/// Asks the servers at `urls` for every request of `case`.
pub(crate) fn ask(case: &Case, waking: Waking, urls: &[String], ledger: &Ledger) -> Story {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    tokio::task::LocalSet::new().block_on(&runtime, async {
        let clock = case.clock.start();
        let mut recorder = Recorder::new(1);
        let log = recorder.connections("server");
        let client = Client::new(config(case, urls), Rc::clone(&clock), log).unwrap();
        let (next, told) = (Cell::new(0), RefCell::default());
        let reactor = Rc::clone(client.reactor());
        let turning = tokio::task::spawn_local(async move {
            let mut turns = tokio::time::interval(BETWEEN_TURNS);
            loop {
                turns.tick().await;
                reactor.turn();
            }
        });
        let asker = Asker { case, client, clock, waking, ledger, next, told };
        let at_once = match case.pace {
            Pace::AtOnce(count) => count,
            Pace::Settled => 1,
        };
        join_all((0..at_once).map(|_| asker.work())).await;
        turning.abort();
        let counted = recorder.swap(Nanos(1), Interval::with_series(1));
        Story { told: asker.told.take(), counts: counted.connections[0].record.counts }
    })
}

fn config(case: &Case, urls: &[String]) -> ClientConfig {
    let mut config = ClientConfig::new(urls[0].parse().unwrap());
    config.endpoints = urls.iter().map(|url| url.parse().unwrap()).collect();
    config.connections = 4;
    match case.speaks {
        Speaks::Http1 => {}
        Speaks::Http1OverTls => config.tls.insecure = true,
        Speaks::Http2 { .. } => config.version = HttpVersion::Http2PriorKnowledge,
    }
    (case.config)(&mut config);
    config
}

impl Asker<'_> {
    async fn work(&self) {
        while self.next.get() < self.case.count {
            let seq = self.next.replace(self.next.get() + 1);
            if self.waking == Waking::ByTurns {
                self.client.reactor().set_lazy(seq % 16 > 4);
            }
            let one = self.ask_for(seq).await;
            self.told.borrow_mut().push(one);
            self.ledger.note(|books| books.told += 1);
            if self.case.pace == Pace::Settled {
                settle(self.ledger).await;
                self.client.reactor().turn();
            }
        }
    }

    async fn ask_for(&self, seq: u64) -> Told {
        let (request, mut answer) = (self.case.request(seq), Answer::new());
        let before = self.clock.now();
        let ended = tokio::select! {
            ended = tokio::time::timeout(PATIENCE, self.client.send(&request, &mut answer)) => {
                Some(ended.unwrap_or_else(|_| panic!("{}: request {seq} has no end", self.case.name)))
            }
            () = is_silent(self.ledger, seq) => None,
        };
        Told { seq, ended, span: (before, self.clock.now()), answer }
    }
}

/// Waits until the server has said to request `seq` all that it ever will, and it is no answer.
async fn is_silent(ledger: &Ledger, seq: u64) {
    let mut books = ledger.watch();
    let silent = books.wait_for(|books| {
        let entry = books.entries.get(&seq);
        entry.is_some_and(|entry| entry.is_written && entry.ends == Some(Ends::CutOff))
    });
    silent.await.map(drop).expect("the books are never closed");
    turns().await;
}

/// Waits until the server is done with what it was asked, and the client's sockets have been looked at since.
async fn settle(ledger: &Ledger) {
    ledger.until(Books::are_settled).await;
    turns().await;
}

/// Lets the runtime look at its sockets; each yield does.
pub(crate) async fn turns() {
    for _ in 0..8 {
        tokio::task::yield_now().await;
    }
}

/// How often a lazy reactor turns.
const BETWEEN_TURNS: Duration = Duration::from_millis(1);
