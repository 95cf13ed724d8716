//! The terminal: raw, on its alternate screen, and as it was afterwards, whatever happened.

use std::io::{self, IsTerminal as _, Stdout, Write as _};
use std::panic;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hammer_report::{ExitCode, ReasonKind};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

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

/// Waits for a key, so long at most, or for something else that the terminal has to say.
///
/// # Errors
/// When the terminal is gone. It is asked before each time that keys are read: the reader of keys would look for the next one for ever.
pub(super) fn wait(most: Duration) -> io::Result<()> {
    let (stdin, stdout) = (io::stdin(), io::stdout());
    let mut watched = vec![PollFd::new(&stdout, PollFlags::empty())];
    if stdin.is_terminal() {
        watched.push(PollFd::new(&stdin, PollFlags::IN));
    }
    let most = Timespec { tv_sec: most.as_secs().cast_signed(), tv_nsec: most.subsec_nanos().into() };
    match poll(&mut watched, Some(&most)) {
        // It was another size.
        Err(Errno::INTR) => return Ok(()),
        polled => polled?,
    };
    let gone = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
    match watched.iter().any(|polled| polled.revents().intersects(gone)) {
        true => Err(io::ErrorKind::BrokenPipe.into()),
        false => Ok(()),
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
