//! What a stream shows: its width, and whether it has colour.

use std::env;
use std::io::IsTerminal;
use std::os::fd::AsFd;

use hammer_report::text::Screen;
use rustix::termios::tcgetwinsize;

/// The screen behind a stream: that of the terminal, or for a file or a pipe 80 columns without colour.
pub(crate) fn behind(stream: &(impl AsFd + IsTerminal)) -> Screen {
    if !stream.is_terminal() {
        return Screen::default();
    }
    let columns = tcgetwinsize(stream).map_or(0, |size| usize::from(size.ws_col));
    Screen::new(columns, has_colour())
}

/// Whether a terminal may be sent colour: neither `NO_COLOR` (<https://no-color.org>) nor a dumb terminal says that it may not.
pub(crate) fn has_colour() -> bool {
    let refused = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let is_dumb = env::var_os("TERM").is_none_or(|value| value == "dumb");
    !refused && !is_dumb
}
