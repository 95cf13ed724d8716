//! From a key to what it means, and from that to commands; the keys of TesseraCT's hammer come first.

use hammer_measure::snapshot::RunResult;
use hammer_measure::{Command, Phase};
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::spec::PanelSide;
use super::state::log::EntryKind;
use super::state::workload::{KeyDirection, SteeredWorkload};
use super::state::{DashboardState, RunEnding, Screen, Tab};

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
    /// Another page, so many further or back.
    Turn(isize),
    /// That page.
    Show(Tab),
    /// The page of that place.
    Number(usize),
    /// Along the series or the log.
    Scroll(KeyDirection, usize),
    /// Figures of the last interval, or of the measurement.
    Whole,
    /// The end, which is asked once: drain and report, then the report without the rest of the drain. It never costs the report.
    Quit,
    /// Not the end, after all; and back from the page of keys.
    GoOn,
    /// The end as by signals: drain and report, then the report without the rest of the drain, then leave at once.
    Interrupt,
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
        return (key.code == KeyCode::Char('c')).then_some(Action::Interrupt);
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
        KeyCode::BackTab | KeyCode::Left => Action::Turn(-1),
        KeyCode::Char(digit @ '1'..='5') => Action::Number(digit as usize - '1' as usize),
        KeyCode::Char('?' | 'h') => Action::Show(Tab::Help),
        KeyCode::Esc => Action::GoOn,
        KeyCode::Up | KeyCode::Char('k') => Action::Scroll(KeyDirection::Up, 1),
        KeyCode::Down | KeyCode::Char('j') => Action::Scroll(KeyDirection::Down, 1),
        KeyCode::PageUp => Action::Scroll(KeyDirection::Up, PAGE),
        KeyCode::PageDown => Action::Scroll(KeyDirection::Down, PAGE),
        KeyCode::Home => Action::Scroll(KeyDirection::Up, usize::MAX),
        KeyCode::End => Action::Scroll(KeyDirection::Down, usize::MAX),
        KeyCode::Char('m') => Action::Whole,
        KeyCode::Char('q') => Action::Quit,
        _ => return None,
    })
}

/// Changes the state by an action.
pub(super) fn act(state: &mut DashboardState, action: Action) -> Effect {
    if action != Action::Quit && state.ending == RunEnding::Asked {
        state.ending = RunEnding::None;
    }
    match action {
        Action::ReadRate(direction) => {
            steer(state, PanelSide::Reads, "rate", |workload| workload.change_rate(direction))
        }
        Action::WriteRate(direction) => {
            let side = state.written();
            steer(state, side, "rate", |workload| workload.change_rate(direction))
        }
        Action::InFlight(direction) => {
            let side = state.written();
            steer(state, side, "limit in flight", |workload| workload.change_in_flight(direction))
        }
        Action::Pause => pause(state),
        Action::Quit => quit(state),
        Action::Interrupt => interrupt(state),
        Action::GoOn => {
            if state.screen.tab == Tab::Help {
                show(state, Action::Number(0));
            }
            Effect::Command(Vec::new())
        }
        shown => {
            show(state, shown);
            Effect::Command(Vec::new())
        }
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
    match state.ending {
        RunEnding::None => {
            state.ending = RunEnding::Asked;
            Effect::Command(Vec::new())
        }
        RunEnding::Reporting => Effect::Command(Vec::new()),
        RunEnding::Asked | RunEnding::Draining => interrupt(state),
    }
}

fn interrupt(state: &mut DashboardState) -> Effect {
    let (next, effect) = match state.ending {
        RunEnding::None | RunEnding::Asked => {
            let reason = RunResult::BY_KEY.to_owned();
            (RunEnding::Draining, Effect::End(Command::Stop { reason }))
        }
        RunEnding::Draining => (RunEnding::Reporting, Effect::EndDrain),
        RunEnding::Reporting => (RunEnding::Reporting, Effect::Leave),
    };
    state.ending = next;
    effect
}

fn show(state: &mut DashboardState, action: Action) {
    let series = state.run.as_ref().map_or(0, |run| run.series.len());
    let tabs: Vec<Tab> = state.tabs().collect();
    let screen = &mut state.screen;
    match action {
        Action::Turn(steps) => {
            let place = tabs.iter().position(|tab| *tab == screen.tab).unwrap_or(0);
            let place = (place + tabs.len()).saturating_add_signed(steps) % tabs.len();
            turned(screen, tabs[place]);
        }
        Action::Show(tab) => turned(screen, tab),
        Action::Number(place) => tabs.get(place).iter().for_each(|tab| turned(screen, **tab)),
        Action::Whole => screen.whole = !screen.whole,
        Action::Scroll(direction, by) if screen.tab == Tab::Log => {
            screen.below = moved(screen.below, direction == KeyDirection::Up, by, screen.furthest);
        }
        Action::Scroll(direction, by) if screen.tab == Tab::Series => {
            screen.series =
                moved(screen.series, direction == KeyDirection::Down, by, series.saturating_sub(1));
        }
        Action::Scroll(direction, by) if matches!(screen.tab, Tab::Protocol | Tab::Help) => {
            screen.above = moved(screen.above, direction == KeyDirection::Down, by, screen.furthest);
        }
        _ => {}
    }
}

fn turned(screen: &mut Screen, tab: Tab) {
    screen.tab = tab;
    screen.above = 0;
}

fn moved(place: usize, further: bool, by: usize, most: usize) -> usize {
    // The screen may have been smaller before.
    let place = place.min(most);
    let place = if further { place.saturating_add(by) } else { place.saturating_sub(by) };
    place.min(most)
}

/// Whether no arrival is left to steer.
fn ended(state: &DashboardState) -> bool {
    state.ending > RunEnding::Asked || state.phase() == Some(Phase::Drain)
}

const PAGE: usize = 10;

#[cfg(test)]
mod tests;
