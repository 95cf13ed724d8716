//! Signals: the first ends the arrivals, the second their drain, both with a report; the third leaves at once.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use hammer_core::run::Control;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::tui::terminal;

/// The watch over the signals that end a run, on a thread of its own for as long as the process lives.
#[derive(Clone, Default)]
pub(crate) struct Signals {
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    /// How many came.
    asked: u32,
    run: Option<Control>,
}

impl Signals {
    /// Starts to watch; once for a process.
    pub(crate) fn watch() -> io::Result<Self> {
        let signals = Self::default();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let guard = runtime.enter();
        let mut ends = EndSignals::listen()?;
        drop(guard);
        let watched = signals.clone();
        thread::Builder::new().name("signals".to_owned()).spawn(move || {
            runtime.block_on(async move {
                loop {
                    ends.arrived().await;
                    watched.arrived();
                }
            });
        })?;
        Ok(signals)
    }

    /// The run that a signal ends from now on; one that arrived before ends it at once.
    pub(crate) fn attach(&self, control: &Control) {
        let mut state = self.state();
        if state.asked > 0 {
            control.interrupt();
        }
        state.run = Some(control.clone());
    }

    /// Whether a signal arrived.
    pub(crate) fn asked(&self) -> bool {
        self.state().asked > 0
    }

    /// How many arrived.
    pub(crate) fn count(&self) -> u32 {
        self.state().asked
    }

    fn arrived(&self) {
        let mut state = self.state();
        state.asked += 1;
        if state.asked > REPORTED {
            terminal::leave();
        }
        if let Some(control) = &state.run {
            control.interrupt();
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Signals that a run still answers with a report.
const REPORTED: u32 = 2;

/// SIGINT, SIGTERM and SIGHUP (a terminal that is closed), which no longer end the process by themselves.
pub(crate) struct EndSignals {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Signal,
}

impl EndSignals {
    /// Listens from now on, within a runtime.
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    /// Waits for the next of any.
    pub(crate) async fn arrived(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            _ = self.hang_up.recv() => {}
        }
    }
}
