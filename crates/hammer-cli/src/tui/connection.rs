//! From the run to the dashboard's thread: a bounded channel that drops rather than blocks, and counts.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender, TryRecvError, TrySendError};
use std::thread::{self, JoinHandle};

use hammer_measure::{Reporter, RunEvent};

/// The run's end: a reporter. When it goes, the dashboard's thread ends and the terminal is as it was.
pub(crate) struct Connection {
    events: Option<SyncSender<RunEvent>>,
    dropped: Arc<AtomicU64>,
    thread: Option<JoinHandle<()>>,
}

/// The dashboard's end.
#[derive(Debug)]
pub(super) struct Incoming {
    events: Receiver<RunEvent>,
    dropped: Arc<AtomicU64>,
}

/// The run has let go of its end.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Closed;

impl Connection {
    /// Starts the dashboard on a thread of its own, with room for `room` events on their way to it.
    pub(super) fn start(room: usize, dashboard: impl FnOnce(&Incoming) + Send + 'static) -> io::Result<Self> {
        let (sender, events) = mpsc::sync_channel(room);
        let dropped = Arc::new(AtomicU64::new(0));
        let incoming = Incoming { events, dropped: dropped.clone() };
        let thread = thread::Builder::new().name("tui".to_owned()).spawn(move || dashboard(&incoming))?;
        Ok(Self { events: Some(sender), dropped, thread: Some(thread) })
    }
}

impl Incoming {
    /// The next event, when one is there.
    pub(super) fn next(&self) -> Result<Option<RunEvent>, Closed> {
        match self.events.try_recv() {
            Ok(event) => Ok(Some(event)),
            Err(TryRecvError::Empty) => Ok(None),
            Err(TryRecvError::Disconnected) => Err(Closed),
        }
    }

    /// Events that found the channel full.
    pub(super) fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }
}

impl Reporter for Connection {
    fn event(&mut self, event: &RunEvent) {
        let Some(events) = &self.events else { return };
        // A dashboard that is gone misses nothing.
        if let Err(TrySendError::Full(_)) = events.try_send(event.clone()) {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.events = None;
        if let Some(thread) = self.thread.take() {
            // Its panic was told when it happened, on a restored terminal.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use hammer_measure::Nanos;

    use super::*;

    fn note(text: &str) -> RunEvent {
        RunEvent::Note { at: Nanos::ZERO, text: text.to_owned() }
    }

    #[test]
    fn a_full_channel_drops_and_counts_and_never_blocks() {
        let (go, wait) = channel::<()>();
        let (tell, told) = channel();
        let mut connection = Connection::start(2, move |incoming| {
            wait.recv().unwrap();
            let mut seen = Vec::new();
            while let Ok(event) = incoming.next() {
                seen.extend(event.map(|event| match event {
                    RunEvent::Note { text, .. } => text,
                    other => panic!("{other:?}"),
                }));
            }
            tell.send((seen, incoming.dropped())).unwrap();
        })
        .unwrap();
        ["one", "two", "three", "four"].into_iter().for_each(|text| connection.event(&note(text)));
        go.send(()).unwrap();
        drop(connection);
        assert_eq!(told.recv().unwrap(), (vec!["one".to_owned(), "two".to_owned()], 2));
    }

    #[test]
    fn a_dashboard_that_panicked_ends_nothing_else() {
        let mut connection = Connection::start(1, |_| panic!("on purpose")).unwrap();
        (0..10).for_each(|_| connection.event(&note("still running")));
        drop(connection);
    }
}
