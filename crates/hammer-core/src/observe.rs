//! Observers look at the target beside the load (a log's tree size, say). What they see joins the snapshots and may
//! stop a run; it never reaches a schedule.

use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};

use hammer_measure::Nanos;
use hammer_measure::event::Beside;
use hammer_measure::promise::Breach;
use hammer_measure::snapshot::Observation;

use crate::message::Message;
use crate::runtime::{Clock, LocalFuture};

/// Looks at the target until the run ends; it is dropped then.
pub trait Observer: Send {
    /// Observes on the control thread, where local tasks can be spawned. A target that does not
    /// answer is told as a note, and asked again. Once `ending` is ready, when drain is over, it may look a last time and
    /// return; it is dropped when that takes longer than two seconds.
    fn observe(
        self: Box<Self>,
        sink: ObservationSink,
        clock: Rc<dyn Clock>,
        ending: LocalFuture<()>,
    ) -> LocalFuture<()>;
}

/// Where an observer puts what it saw.
#[derive(Clone)]
pub struct ObservationSink {
    messages: mpsc::Sender<Message>,
    /// What stands before the name of each number.
    prefix: String,
    /// Whether every operation has ended.
    is_judging: Arc<AtomicBool>,
    /// How much observers have seen that they cannot judge yet.
    undecided: Arc<AtomicU64>,
    /// How long a fill waits for a target that cannot be reached.
    patience: Option<Nanos>,
}

/// An observer of one of several targets: its numbers stand under the target's name, as `<name>/tree_size`.
pub struct Named {
    name: String,
    observer: Box<dyn Observer>,
}

impl Named {
    /// `observer`, under `name`.
    pub fn new(name: impl Into<String>, observer: Box<dyn Observer>) -> Self {
        Self { name: name.into(), observer }
    }
}

impl Observer for Named {
    fn observe(
        self: Box<Self>,
        sink: ObservationSink,
        clock: Rc<dyn Clock>,
        ending: LocalFuture<()>,
    ) -> LocalFuture<()> {
        let prefix = format!("{}{}/", sink.prefix, self.name);
        self.observer.observe(ObservationSink { prefix, ..sink }, clock, ending)
    }
}

impl ObservationSink {
    pub(crate) fn new(
        messages: mpsc::Sender<Message>,
        (is_judging, undecided): (Arc<AtomicBool>, Arc<AtomicU64>),
        patience: Option<Nanos>,
    ) -> Self {
        Self { messages, prefix: String::new(), is_judging, undecided, patience }
    }

    /// Whether every operation has ended, so that promises alone are awaited: what an observer asks of the target from then on is in
    /// no operation's way.
    pub fn is_judging(&self) -> bool {
        // Nothing is read by it that was written before: an observer that sees it late looks again.
        self.is_judging.load(Ordering::Relaxed)
    }

    /// Says that of what this observer saw it cannot judge so much yet, and said `before` of it last: drain waits for that as it does for promises
    /// that are pending.
    pub fn undecided(&self, before: u64, now: u64) {
        self.undecided.fetch_add(now.wrapping_sub(before), Ordering::Relaxed);
    }

    /// How long the target may be out of reach, once every operation has ended, until an observer that judges promises gives those up that
    /// are left; none where the run, which is no fill, waits for as long as drain may take.
    pub const fn patience(&self) -> Option<Nanos> {
        self.patience
    }

    /// A number, by name.
    pub fn observed(&self, name: &str, at: Nanos, value: f64) {
        let name = format!("{}{name}", self.prefix);
        self.tell(Message::Observed(Observation::new(name, at, value)));
    }

    /// Something that the reader of the figures should know, at most 2 KiB of it: what a server wrote may stand in it.
    pub fn note(&self, at: Nanos, text: String) {
        self.tell(Message::note(at, text));
    }

    /// Something of the operator's own: a command of theirs, or a mark.
    pub fn beside(&self, at: Nanos, what: Beside) {
        self.tell(Message::Beside(at, what));
    }

    /// A promise to everyone, not to one operation, that was found broken (a log that shrank); it is counted as made and
    /// broken.
    pub fn breach(&self, at: Nanos, breach: Breach) {
        self.tell(Message::ObservedBreach(at, breach.shortened()));
    }

    /// The run may have ended; then nobody listens, and nothing is lost that a report could still hold.
    fn tell(&self, message: Message) {
        let _ = self.messages.send(message);
    }
}
