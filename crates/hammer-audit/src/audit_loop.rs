//! An audit that goes on: round after round, the log's head is read, what follows from it is read and proved, and verdicts are
//! handed out.

use std::path::PathBuf;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use futures::future::{Either, select};
use hammer_core::observe::ObservationSink;
use hammer_core::runtime::{Clock, LocalFuture};
use hammer_measure::Nanos;
use hammer_tlog::hash::sha256;
use hammer_tlog::logs::audit::{AuditBounds, Finding, Receipt};
use hammer_tlog::logs::follow::{Event, Follower, Head};

use crate::link::Lane;
use crate::messages::{event_words, finding_words};
use crate::place::LogPlace;
use crate::prove::prove;
use crate::reader::AuditReader;
use crate::receipt_file::ReceiptFile;
use crate::retry::RetryPolicy;
use crate::source::LogSource;
use crate::tree_reading::TreeReading;
use crate::trouble::Trouble;

mod head_watch;
mod receipt_desk;
mod trouble_watch;
mod voice;

use head_watch::HeadWatch;
use receipt_desk::ReceiptDesk;
use trouble_watch::TroubleWatch;
use voice::AuditVoice;

/// What an audit is told before it starts.
pub(crate) struct AuditSetup {
    pub(crate) name: String,
    pub(crate) epoch_unix_ms: u64,
    pub(crate) every: Duration,
    pub(crate) folder: PathBuf,
    pub(crate) in_memory: usize,
    pub(crate) file: Arc<ReceiptFile>,
    pub(crate) receipts: Receiver<Receipt>,
    pub(crate) lanes: Vec<Lane>,
}

/// Audits `log` until the run ends, and a last time then.
pub(crate) async fn run<L: LogSource, T: TreeReading<L>>(
    log: L,
    place: LogPlace,
    setup: AuditSetup,
    sink: ObservationSink,
    clock: Rc<dyn Clock>,
    mut ending: LocalFuture<()>,
) {
    let every = setup.every;
    let reader = match AuditReader::new(log, place, clock.clone()) {
        Ok(reader) => reader.retrying(RetryPolicy::new(every)),
        Err(why) => {
            setup.lanes.iter().for_each(|lane| lane.unchecked_but(0));
            return sink.note(clock.now(), format!("{}: nothing is audited: failed to {why}", setup.name));
        }
    };
    let mut audit = AuditLoop::<L, T>::new(setup, reader, sink, clock.clone());
    loop {
        let started = clock.now();
        if let Either::Left(_) = select(&mut ending, pin!(audit.round())).await {
            break;
        }
        let next = clock.sleep_until(started.saturating_add(every.into()).max(clock.now()));
        if let Either::Left(_) = select(&mut ending, pin!(next)).await {
            break;
        }
    }
    // Once more, since drain is over; a log that does not answer must not keep what is known from being told.
    let deadline = clock.now().saturating_add(LAST_ROUND);
    audit.reader.ends(clock.now().saturating_add(LAST_TRIES));
    let in_time = {
        let last = pin!(audit.round());
        matches!(select(last, clock.sleep_until(deadline)).await, Either::Left(_))
    };
    audit.end(in_time);
}

/// The audit of one log: what is read of it, by the way that `T` stands for, and what is known of it so far.
struct AuditLoop<L, T> {
    reader: AuditReader<L>,
    follower: Follower,
    tree: T,
    heads: HeadWatch,
    desk: ReceiptDesk,
    troubles: TroubleWatch,
    voice: AuditVoice,
}

impl<L: LogSource, T: TreeReading<L>> AuditLoop<L, T> {
    fn new(setup: AuditSetup, reader: AuditReader<L>, sink: ObservationSink, clock: Rc<dyn Clock>) -> Self {
        let AuditSetup { name, epoch_unix_ms, every, folder, in_memory, file, receipts, lanes } = setup;
        let bounds = AuditBounds { receipts: in_memory, ..AuditBounds::default() };
        // Logs of one run, which have names of their own, and runs of one machine have a folder each.
        let log = sha256(format!("{name}\n{}", reader.log().url()).as_bytes());
        let process = std::process::id();
        let spilled = std::env::temp_dir().join(format!("hammer-{epoch_unix_ms}-receipts-{process}-{log}"));
        Self {
            reader,
            follower: T::follower(),
            tree: T::new(bounds, spilled),
            heads: HeadWatch::new(folder, epoch_unix_ms),
            desk: ReceiptDesk::new(receipts, lanes, file, epoch_unix_ms),
            troubles: TroubleWatch::new(every.into()),
            voice: AuditVoice::new(name, sink, clock),
        }
    }

    /// Reads the head and whatever follows from it, and tells what that showed.
    async fn round(&mut self) {
        let started = self.voice.now();
        let went = self.read().await;
        self.troubles.ended(started, &went, &mut self.voice);
        self.troubles.pass_over(went.is_ok(), &self.reader, &self.voice);
        self.tell();
        self.heads.over(went.is_ok(), &self.voice);
        self.desk.over(self.heads.is_over());
        self.heads.cosigned(self.reader.cosigners(), &self.voice);
        self.desk.observe(&self.reader, &self.voice);
    }

    async fn read(&mut self) -> Result<(), Trouble> {
        // A head that does not come holds up no receipt of a leaf that an earlier one covers.
        let head = self.reader.head().await;
        let fetched_ns = head.as_ref().ok().map(|head| head.fetched_ns);
        let stale = self.heads.stale();
        let head = head.inspect(|head| self.fetched(head));
        let proved = prove(&self.reader, &mut self.follower).await;
        if let Ok(head) = &head {
            self.heads.continued(self.follower.trusted().is_some_and(|trusted| trusted.same_tree(head)));
        }
        self.events();
        let (desk, now) = (&self.desk, self.voice.now());
        let read = self.tree.read(&self.reader, now, || desk.accepted()).await;
        head.and(proved).and(read)?;
        if let Some(fetched_ns) = fetched_ns
            && self.follower.behind() == 0
            // A head of long ago does not say what the tree lacks now.
            && self.heads.stale() == stale
        {
            self.tree.overdue(self.desk.unix_ms(fetched_ns));
        }
        Ok(())
    }

    fn fetched(&mut self, head: &Head) {
        if !self.follower.trusted().is_some_and(|trusted| head.precedes(trusted)) {
            self.voice.observed("tree_size", head.size as f64);
        }
        self.follower.head(head.clone());
    }

    /// Takes what the follower has found out.
    fn events(&mut self) {
        for event in self.follower.events() {
            self.tree.follow(&event);
            if let Event::Stale { head, newest } = &event {
                self.heads.was_stale(head, newest, &self.voice);
            }
            let Some((kind, index, detail)) = event_words(&event) else { continue };
            match &event {
                Event::Forked { older, newer, .. } | Event::Shrank { older, newer } => {
                    let heads = [older.clone(), newer.clone()];
                    self.heads.contradicted(kind, index, &detail, &heads, &self.voice);
                }
                _ => self.voice.wrong(kind, index, detail),
            }
        }
    }

    /// Hands out the verdicts, and tells what was found.
    fn tell(&mut self) {
        let (verdicts, findings) = (self.tree.verdicts(), self.tree.findings());
        for finding in &findings {
            if let Finding::Unspilled { receipts, error } = finding {
                self.voice.note(&format!("{receipts} receipts are lost, failed to spill them: {error}"));
            } else if let Some((kind, index, detail)) = finding_words(finding) {
                self.voice.wrong(kind, index, detail);
            }
        }
        self.desk.judged(&verdicts, self.reader.log(), &mut self.voice);
        self.voice.unnamed(UNNAMED);
        self.desk.held(self.tree.spilled(), self.tree.pending(), &self.voice);
    }

    /// Tells what was held back for a verdict, when none will come any more.
    fn end(mut self, in_time: bool) {
        if !in_time {
            self.troubles.failed("end the last look in time".to_owned());
        }
        self.desk.accepted().into_iter().for_each(|receipt| self.tree.accept(receipt));
        self.tell();
        // The last round may have been cut off.
        self.desk.observe(&self.reader, &self.voice);
        self.voice.unnamed(Nanos::ZERO);
        // Of a log that contradicted itself it is known why there is no verdict.
        let unreadable = self.troubles.readability().filter(|_| !self.heads.has_contradicted());
        let (held, pending) = (self.tree.receipts().collect(), self.tree.pending());
        self.desk.without_verdict(held, pending, unreadable, &self.reader, &self.voice);
        self.desk.ended(&self.voice);
    }
}

/// An observer has two seconds to end.
const LAST_ROUND: Nanos = Nanos::from_millis(1_200);

/// What is refused in the last round is tried again for so long.
const LAST_TRIES: Nanos = Nanos::from_millis(800);

/// How long what is wrong with an entry waits for the receipt of its submission.
const UNNAMED: Nanos = Nanos::from_secs(10);
