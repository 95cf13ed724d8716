//! From a key to what it means, and from that to commands; the keys of TesseraCT's hammer come first.

use hammer_measure::{Command, Phase};
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::spec::PanelSide;
use super::state::log::EntryKind;
use super::state::workload::{KeyDirection, SteeredWorkload};
use super::state::{DashboardState, Tab};

/// What a key means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// The rate of reads.
    ReadRate(KeyDirection),
    /// The rate of writes.
    WriteRate(KeyDirection),
    /// The limit of writes in flight.
    InFlight(KeyDirection),
    /// Suspend arrivals, or take them up again.
    Pause,
    /// Another page, so many further.
    Turn(usize),
    /// That page.
    Show(Tab),
    /// Along the series or the log.
    Scroll(KeyDirection, usize),
    /// Figures of the last interval, or of the measurement.
    Whole,
    /// The end: drain and report; the second time report without drain, the third leave at once.
    Quit,
}

/// What the dashboard is to do after a key.
#[derive(Debug, PartialEq)]
pub(super) enum Effect {
    /// Give these commands to the run.
    Command(Vec<Command>),
    /// End the run as a signal does, for that reason.
    End(Command),
    /// End its drain as a second signal does.
    EndDrain,
    /// Leave at once, without a report.
    Leave,
}

/// The meaning of a key; `None` when it has none.
pub(super) fn action(key: &KeyEvent) -> Option<Action> {
    if key.kind == KeyEventKind::Release {
        return None;
    }
    if key.modifiers.contains(KeyModifiers::CONTROL) {
        // A raw terminal makes no signal of it.
        return (key.code == KeyCode::Char('c')).then_some(Action::Quit);
    }
    Some(match key.code {
        KeyCode::Char('+') => Action::ReadRate(KeyDirection::Up),
        KeyCode::Char('-') => Action::ReadRate(KeyDirection::Down),
        KeyCode::Char('>') => Action::WriteRate(KeyDirection::Up),
        KeyCode::Char('<') => Action::WriteRate(KeyDirection::Down),
        KeyCode::Char('w') => Action::InFlight(KeyDirection::Up),
        KeyCode::Char('W') => Action::InFlight(KeyDirection::Down),
        KeyCode::Char(' ') => Action::Pause,
        KeyCode::Tab | KeyCode::Right => Action::Turn(1),
        KeyCode::BackTab | KeyCode::Left => Action::Turn(Tab::ALL.len() - 1),
        KeyCode::Char(digit @ '1'..='4') => Action::Show(Tab::ALL[digit as usize - '1' as usize]),
        KeyCode::Char('?' | 'h') => Action::Show(Tab::Help),
        KeyCode::Up | KeyCode::Char('k') => Action::Scroll(KeyDirection::Up, 1),
        KeyCode::Down | KeyCode::Char('j') => Action::Scroll(KeyDirection::Down, 1),
        KeyCode::PageUp => Action::Scroll(KeyDirection::Up, PAGE),
        KeyCode::PageDown => Action::Scroll(KeyDirection::Down, PAGE),
        KeyCode::Char('m') => Action::Whole,
        KeyCode::Char('q') => Action::Quit,
        _ => return None,
    })
}

/// Changes the state by an action.
pub(super) fn act(state: &mut DashboardState, action: Action) -> Effect {
    match action {
        Action::ReadRate(direction) => {
            steer(state, PanelSide::Reads, "rate", |workload| workload.change_rate(direction))
        }
        Action::WriteRate(direction) => {
            let side = written(state);
            steer(state, side, "rate", |workload| workload.change_rate(direction))
        }
        Action::InFlight(direction) => {
            let side = written(state);
            steer(state, side, "limit in flight", |workload| workload.change_in_flight(direction))
        }
        Action::Pause => pause(state),
        Action::Quit => quit(state),
        shown => {
            show(state, shown);
            Effect::Command(Vec::new())
        }
    }
}

/// What the keys of writes apply to: where nothing writes, whatever else the plan sends.
fn written(state: &DashboardState) -> PanelSide {
    if state.has(PanelSide::Writes) || !state.has(PanelSide::Neither) {
        PanelSide::Writes
    } else {
        PanelSide::Neither
    }
}

fn steer(
    state: &mut DashboardState,
    side: PanelSide,
    what: &str,
    change: impl Fn(&mut SteeredWorkload) -> Option<Command>,
) -> Effect {
    if ended(state) {
        return Effect::Command(Vec::new());
    }
    let (mut commands, mut refusals) = (Vec::new(), Vec::new());
    for workload in state.workloads.iter_mut().filter(|workload| workload.side == side) {
        match change(workload) {
            Some(command) => commands.push(command),
            None if workload.closed_loop && what == "rate" => {
                refusals.push(format!("{}: a closed loop has no rate; its users wait", workload.name));
            }
            None => refusals.push(format!("{}: its {what} goes no further", workload.name)),
        }
    }
    if commands.is_empty() && refusals.is_empty() {
        refusals.push(format!("the plan has no {}", state.plural(side)));
    }
    let now = state.now();
    refusals.into_iter().for_each(|text| state.say(now, EntryKind::Note, text));
    Effect::Command(commands)
}

fn pause(state: &mut DashboardState) -> Effect {
    if ended(state) {
        return Effect::Command(Vec::new());
    }
    state.paused = !state.paused;
    Effect::Command(vec![if state.paused { Command::Pause } else { Command::Resume }])
}

fn quit(state: &mut DashboardState) -> Effect {
    state.quits += 1;
    match state.quits {
        1 => Effect::End(Command::Stop { reason: "ended from the keyboard".to_owned() }),
        2 => Effect::EndDrain,
        _ => Effect::Leave,
    }
}

fn show(state: &mut DashboardState, action: Action) {
    let series = state.run.as_ref().map_or(0, |run| run.series.len());
    let lines = state.log.len();
    let screen = &mut state.screen;
    match action {
        Action::Turn(steps) => screen.tab = screen.tab.step(steps),
        Action::Show(tab) => screen.tab = tab,
        Action::Whole => screen.whole = !screen.whole,
        Action::Scroll(direction, by) if screen.tab == Tab::Log => {
            screen.below = moved(screen.below, direction == KeyDirection::Up, by, lines);
        }
        Action::Scroll(direction, by) if screen.tab == Tab::Series => {
            screen.series = moved(screen.series, direction == KeyDirection::Down, by, series);
        }
        _ => {}
    }
}

fn moved(place: usize, further: bool, by: usize, of: usize) -> usize {
    let place = if further { place.saturating_add(by) } else { place.saturating_sub(by) };
    place.min(of.saturating_sub(1))
}

/// Whether no arrival is left to steer.
fn ended(state: &DashboardState) -> bool {
    state.quits > 0 || state.phase() == Some(Phase::Drain)
}

const PAGE: usize = 10;

#[cfg(test)]
mod tests;
