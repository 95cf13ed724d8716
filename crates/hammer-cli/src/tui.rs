//! The dashboard of `--tui`: connection, state, view, input, terminal, each in its own file.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::io::{self, IsTerminal as _};
use std::time::Duration;

use hammer_core::run::Control;
use ratatui::crossterm::event::{self, Event};
use ratatui::crossterm::terminal::size;

mod connection;
#[cfg(test)]
mod fixture;
mod input;
pub(crate) mod spec;
mod state;
pub(crate) mod terminal;
mod view;

use crate::args::OutputArgs;
use crate::error::{CliError, StartError, UsageError};
use crate::output::standard::print;
use crate::screen;
pub(crate) use connection::Connection;
use connection::Incoming;
use input::Effect;
use spec::DashboardSpec;
use state::DashboardState;
pub(crate) use state::workload::{FACTORS, SteeredWorkload, steered};
use view::palette::Palette;

/// The same outputs, without a dashboard that was asked for and that the terminal is not made for: what keeps it away is said, and progress takes its
/// place.
///
/// # Errors
/// When standard output is no terminal.
pub(crate) fn fitted(output: &OutputArgs) -> Result<Cow<'_, OutputArgs>, CliError> {
    if !output.tui {
        return Ok(Cow::Borrowed(output));
    }
    if !io::stdout().is_terminal() {
        return Err(UsageError::NoTerminal.into());
    }
    let Some(why) = unfit(std::env::var_os("TERM").as_deref(), size().unwrap_or_default()) else {
        return Ok(Cow::Borrowed(output));
    };
    let note = format!("no dashboard (--tui): {why}; progress is shown in its place");
    print(io::stderr(), |out| writeln!(out, "hammer: note: {note}"))?;
    Ok(Cow::Owned(OutputArgs { tui: false, ..output.clone() }))
}

/// Why nothing can be drawn on a terminal of that name, and of so many columns and rows; of one that does not say how large it is, none are known.
fn unfit(name: Option<&OsStr>, (columns, _): (u16, u16)) -> Option<String> {
    if name.is_some_and(|name| name == "dumb") {
        return Some("TERM is dumb, a terminal that only prints".to_owned());
    }
    let is_narrow = (1..LEAST_COLUMNS).contains(&columns);
    is_narrow.then(|| format!("the terminal has {columns} columns, and it needs {LEAST_COLUMNS}"))
}

/// Shows the dashboard until the connection is dropped; `None` when nobody asked for it.
pub(crate) fn open(
    spec: DashboardSpec,
    output: &OutputArgs,
    control: &Control,
) -> Result<Option<Connection>, StartError> {
    if !output.tui {
        return Ok(None);
    }
    let taken = terminal::take().map_err(StartError::Dashboard)?;
    let dashboard = Dashboard {
        state: DashboardState::new(spec),
        palette: palette(output.no_color),
        control: control.clone(),
        taken,
    };
    let show = move |incoming: &Incoming| {
        // A terminal that is gone takes the dashboard with it, not the run.
        let _ = dashboard.show(incoming);
    };
    Connection::start(ROOM, show).map(Some).map_err(StartError::Dashboard)
}

struct Dashboard {
    state: DashboardState,
    palette: Palette,
    control: Control,
    taken: terminal::Taken,
}

impl Dashboard {
    fn show(mut self, incoming: &Incoming) -> io::Result<()> {
        let mut stale = true;
        loop {
            while let Some(event) = match incoming.next() {
                Ok(event) => event,
                Err(connection::Closed) => return Ok(()),
            } {
                self.state.take(&event);
                stale = true;
            }
            self.state.dropped = incoming.dropped();
            if std::mem::take(&mut stale) {
                self.taken.terminal.draw(|frame| view::draw(frame, &self.state, &self.palette))?;
            }
            terminal::wait(LOOK_EVERY)?;
            while event::poll(Duration::ZERO)? {
                self.input(&event::read()?);
                stale = true;
                terminal::wait(Duration::ZERO)?;
            }
        }
    }

    fn input(&mut self, event: &Event) {
        let Event::Key(key) = event else { return };
        let Some(action) = input::action(key) else { return };
        let size = self.taken.terminal.size().unwrap_or_default();
        self.state.screen.furthest = view::furthest(&self.state, &self.palette, size);
        match input::act(&mut self.state, action) {
            Effect::Command(commands) => {
                for command in commands {
                    self.state.asked_last = Some(self.control.command(command));
                }
            }
            Effect::End(stop) => {
                // The stop gives the reason; the interrupt ends what would come after this run as well.
                self.control.command(stop);
                self.control.interrupt();
            }
            Effect::EndDrain => self.control.interrupt(),
            Effect::Leave => terminal::leave(),
        }
    }
}

/// Without colour where the operator asks for it, or the terminal has none.
fn palette(no_color: bool) -> Palette {
    if no_color || !screen::has_colour() { Palette::MONOCHROME } else { Palette::COLOUR }
}

/// Events on their way; several seconds of the shortest intervals.
const ROOM: usize = 256;
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// Below it the columns of its tables are cut off.
const LEAST_COLUMNS: u16 = 60;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_that_only_prints_or_is_narrow_gets_no_dashboard() {
        let xterm = Some(OsStr::new("xterm"));
        for (name, columns, why) in [
            (Some(OsStr::new("dumb")), 120, Some("TERM is dumb")),
            (xterm, 59, Some("has 59 columns, and it needs 60")),
            (xterm, 60, None),
            (xterm, 0, None),
            (None, 80, None),
        ] {
            let said = unfit(name, (columns, 24));
            assert_eq!(said.is_some(), why.is_some(), "{said:?}");
            assert!(said.unwrap_or_default().contains(why.unwrap_or_default()));
        }
    }
}
