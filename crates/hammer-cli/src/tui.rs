//! The dashboard of `--tui`: connection, state, view, input, terminal, each in its own file.

use std::io::{self, IsTerminal as _};
use std::time::Duration;

use hammer_core::run::Control;
use ratatui::crossterm::event::{self, Event};

mod connection;
#[cfg(test)]
mod fixture;
mod input;
pub(crate) mod spec;
mod state;
pub(crate) mod terminal;
mod view;

use crate::args::OutputArgs;
use crate::error::{StartError, UsageError};
use crate::screen;
pub(crate) use connection::Connection;
use connection::Incoming;
use input::Effect;
use spec::DashboardSpec;
use state::DashboardState;
pub(crate) use state::workload::{FACTORS, SteeredWorkload, steered};
use view::palette::Palette;

/// Whether a dashboard that was asked for can be shown.
///
/// # Errors
/// When standard output is no terminal.
pub(crate) fn check(output: &OutputArgs) -> Result<(), UsageError> {
    if output.tui && !io::stdout().is_terminal() {
        return Err(UsageError::NoTerminal);
    }
    Ok(())
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
            let mut wait = LOOK_EVERY;
            while event::poll(wait)? {
                self.input(&event::read()?);
                stale = true;
                wait = Duration::ZERO;
            }
        }
    }

    fn input(&mut self, event: &Event) {
        let Event::Key(key) = event else { return };
        let Some(action) = input::action(key) else { return };
        self.state.screen.lines = view::lines_of_page(&self.state, &self.palette);
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
