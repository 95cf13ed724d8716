//! The terminal: raw, on its alternate screen, and as it was afterwards, whatever happened.

use std::io::{self, Stdout, Write as _};
use std::panic;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use hammer_report::{ExitCode, ReasonKind};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};

/// A terminal that is taken; dropping it gives it back.
pub(super) struct Taken {
    /// What is drawn on.
    pub(super) terminal: Terminal<CrosstermBackend<Stdout>>,
}

/// Takes the terminal of standard output, and sees to it that a panic of any thread gives it back first.
pub(super) fn take() -> io::Result<Taken> {
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |panicked| {
            restore();
            before(panicked);
        }));
    });
    TAKEN.store(true, Ordering::SeqCst);
    let taken = enable_raw_mode()
        .and_then(|()| execute!(io::stdout(), EnterAlternateScreen))
        .and_then(|()| Terminal::new(CrosstermBackend::new(io::stdout())));
    match taken {
        Ok(terminal) => Ok(Taken { terminal }),
        Err(error) => {
            restore();
            Err(error)
        }
    }
}

/// Gives the terminal back, when it is taken. What fails is left: there is no other terminal to say it on.
fn restore() {
    if TAKEN.swap(false, Ordering::SeqCst) {
        let _ = execute!(io::stdout(), LeaveAlternateScreen, Show);
        let _ = disable_raw_mode();
        let _ = io::stdout().flush();
    }
}

/// Ends the process as one that was interrupted, without waiting for its run.
pub(crate) fn leave() -> ! {
    restore();
    std::process::exit(ExitCode::Because(ReasonKind::Interrupted).number().into())
}

impl Drop for Taken {
    fn drop(&mut self) {
        restore();
    }
}

static TAKEN: AtomicBool = AtomicBool::new(false);
static HOOK: Once = Once::new();
