//! Signals: the first drains and reports, the second leaves at once.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use hammer_core::run::Control;
use hammer_report::{ExitCode, ReasonKind};
use tokio::signal::unix::{SignalKind, signal};

use crate::tui;

/// The watch over SIGINT and SIGTERM, on a thread of its own for as long as the process lives.
#[derive(Clone, Default)]
pub(crate) struct Signals {
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    asked: bool,
    run: Option<Control>,
}

impl Signals {
    /// Begins to watch; once for a process.
    pub(crate) fn watch() -> io::Result<Self> {
        let signals = Self::default();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let guard = runtime.enter();
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut terminate = signal(SignalKind::terminate())?;
        drop(guard);
        let watched = signals.clone();
        thread::Builder::new().name("signals".to_owned()).spawn(move || {
            runtime.block_on(async move {
                loop {
                    tokio::select! {
                        _ = interrupt.recv() => {}
                        _ = terminate.recv() => {}
                    }
                    watched.arrived();
                }
            });
        })?;
        Ok(signals)
    }

    /// The run that a signal ends from now on; one that arrived before ends it at once.
    pub(crate) fn attach(&self, control: &Control) {
        let mut state = self.state();
        if state.asked {
            control.interrupt();
        }
        state.run = Some(control.clone());
    }

    /// Whether a signal arrived.
    pub(crate) fn asked(&self) -> bool {
        self.state().asked
    }

    fn arrived(&self) {
        let mut state = self.state();
        if state.asked {
            leave();
        }
        state.asked = true;
        if let Some(control) = &state.run {
            control.interrupt();
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends the process without waiting for its run.
pub(crate) fn leave() -> ! {
    tui::terminal::restore();
    std::process::exit(ExitCode::Because(ReasonKind::Interrupted).number().into())
}
