//! Signals: the first drains and reports, the second leaves at once.

use std::io;
use std::thread;

use hammer_core::run::Control;
use tokio::signal::unix::{SignalKind, signal};

use crate::tui;

/// Watches for SIGINT and SIGTERM on a thread of its own, for as long as the process lives.
pub(crate) fn watch(control: Control) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let _guard = runtime.enter();
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    drop(_guard);
    thread::Builder::new().name("signals".to_owned()).spawn(move || {
        runtime.block_on(async move {
            let mut asked = false;
            loop {
                tokio::select! {
                    _ = interrupt.recv() => {}
                    _ = terminate.recv() => {}
                }
                if asked {
                    tui::terminal::restore();
                    std::process::exit(INTERRUPTED);
                }
                asked = true;
                control.interrupt();
            }
        });
    })?;
    Ok(())
}

/// 128 and the number of SIGINT, as shells say it.
pub(crate) const INTERRUPTED: i32 = 130;
