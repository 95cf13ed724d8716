use ratatui::crossterm::event::KeyEventState;

use super::*;
use crate::tui::fixture::{PANEL_OF_NOTARY, Run, SECOND};

fn press(state: &mut DashboardState, code: KeyCode) -> Effect {
    let action = action(&KeyEvent::new(code, KeyModifiers::NONE)).expect("the key has a meaning");
    act(state, action)
}

fn rate(workload: &str, factor: f64) -> Effect {
    Effect::Command(vec![Command::Rate { workload: Some(workload.to_owned()), factor }])
}

fn limit(workload: &str, limit: usize) -> Effect {
    Effect::Command(vec![Command::InFlight { workload: Some(workload.to_owned()), limit }])
}

#[test]
fn the_keys_of_the_other_hammer_do_what_they_do_there() {
    let mut state = Run::of_log().state;
    assert_eq!(press(&mut state, KeyCode::Char('+')), rate("read", 1.1));
    assert_eq!(
        press(&mut state, KeyCode::Char('+')),
        rate("read", 1.21),
        "of the plan's rate, not of the last"
    );
    assert_eq!(press(&mut state, KeyCode::Char('-')), rate("read", 1.1));
    assert_eq!(press(&mut state, KeyCode::Char('>')), rate("submit", 1.1));
    assert_eq!(press(&mut state, KeyCode::Char('<')), rate("submit", 1.0));
    assert_eq!(press(&mut state, KeyCode::Char('w')), limit("submit", 140));
    assert_eq!(press(&mut state, KeyCode::Char('W')), limit("submit", 128), "back again");
    assert_eq!(press(&mut state, KeyCode::Char('W')), limit("submit", 116));
    assert_eq!(press(&mut state, KeyCode::Char('w')), limit("submit", 128), "likewise from below");
}

#[test]
fn without_a_log_the_keys_of_writes_are_those_of_the_workload() {
    let mut state = Run::of_web().state;
    assert_eq!(press(&mut state, KeyCode::Char('>')), rate("web", 1.1));
    assert_eq!(press(&mut state, KeyCode::Char('w')), limit("web", 110));
    assert_eq!(press(&mut state, KeyCode::Char('+')), Effect::Command(Vec::new()));
    let said = state.log.entries().next_back().unwrap();
    assert_eq!(said.text, "the plan has no reads");
}

#[test]
fn what_there_is_none_of_has_the_name_that_the_panel_gives_it() {
    let mut state = Run::of_notary(PANEL_OF_NOTARY).state;
    assert_eq!(press(&mut state, KeyCode::Char('+')), Effect::Command(Vec::new()));
    assert_eq!(state.log.entries().next_back().unwrap().text, "the plan has no copies");
    assert_eq!(press(&mut state, KeyCode::Char('>')), rate("seal", 1.1));
}

#[test]
fn a_closed_loop_says_why_its_rate_stays() {
    let mut state = Run::of_web().state;
    state.workloads[0].closed_loop = true;
    assert_eq!(press(&mut state, KeyCode::Char('>')), Effect::Command(Vec::new()));
    assert!(state.log.entries().next_back().unwrap().text.starts_with("web: a closed loop has no rate"));
    // A command leaves users out, and brings no more than there are.
    assert_eq!(press(&mut state, KeyCode::Char('w')), Effect::Command(Vec::new()));
    assert_eq!(press(&mut state, KeyCode::Char('W')), limit("web", 90));
    assert_eq!(press(&mut state, KeyCode::Char('w')), limit("web", 100));
}

#[test]
fn space_suspends_and_takes_up_again() {
    let mut state = Run::of_log().state;
    assert_eq!(press(&mut state, KeyCode::Char(' ')), Effect::Command(vec![Command::Pause]));
    assert!(state.paused);
    assert_eq!(press(&mut state, KeyCode::Char(' ')), Effect::Command(vec![Command::Resume]));
}

fn ended() -> Effect {
    Effect::End(Command::Stop { reason: "a key of the dashboard".to_owned() })
}

#[test]
fn escape_leaves_the_page_of_keys_and_no_other() {
    let mut state = Run::of_log().state;
    press(&mut state, KeyCode::Char('?'));
    assert_eq!(state.screen.tab, Tab::Help);
    press(&mut state, KeyCode::Esc);
    let first = state.tabs().next();
    assert_eq!(Some(state.screen.tab), first);
    press(&mut state, KeyCode::Tab);
    press(&mut state, KeyCode::Esc);
    assert_ne!(Some(state.screen.tab), first);
}

#[test]
fn q_asks_once_and_a_second_one_ends_the_arrivals() {
    let mut state = Run::of_log().state;
    assert_eq!(press(&mut state, KeyCode::Char('q')), Effect::Command(Vec::new()));
    assert_eq!(press(&mut state, KeyCode::Esc), Effect::Command(Vec::new()));
    assert_eq!(press(&mut state, KeyCode::Char('q')), Effect::Command(Vec::new()), "asked anew");
    assert_eq!(press(&mut state, KeyCode::Char('>')), rate("submit", 1.1), "any other key goes on too");
    press(&mut state, KeyCode::Char('q'));
    assert_eq!(press(&mut state, KeyCode::Char('q')), ended());
    assert_eq!(
        press(&mut state, KeyCode::Char('>')),
        Effect::Command(Vec::new()),
        "nothing is left to steer"
    );
}

#[test]
fn no_q_costs_the_report() {
    let mut state = Run::of_log().state;
    let effects: Vec<Effect> = (0..9).map(|_| press(&mut state, KeyCode::Char('q'))).collect();
    assert_eq!(effects[1..3], [ended(), Effect::EndDrain]);
    assert!(effects[3..].iter().all(|effect| *effect == Effect::Command(Vec::new())), "{effects:?}");
}

#[test]
fn ctrl_c_does_what_signals_do() {
    let mut state = Run::of_log().state;
    let interrupt = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
    assert_eq!(action(&interrupt), Some(Action::Interrupt));
    assert_eq!(act(&mut state, Action::Interrupt), ended());
    assert_eq!(act(&mut state, Action::Interrupt), Effect::EndDrain);
    assert_eq!(act(&mut state, Action::Interrupt), Effect::Leave);
}

#[test]
fn in_drain_nothing_is_steered() {
    let mut run = Run::of_log();
    run.state.take(&hammer_measure::RunEvent::Phase { phase: Phase::Drain, at: SECOND });
    assert_eq!(press(&mut run.state, KeyCode::Char('>')), Effect::Command(Vec::new()));
    assert_eq!(press(&mut run.state, KeyCode::Char(' ')), Effect::Command(Vec::new()));
    assert!(!run.state.paused);
}

#[test]
fn pages_turn_in_both_directions_and_by_number() {
    let mut state = Run::of_log().state;
    press(&mut state, KeyCode::BackTab);
    assert_eq!(state.screen.tab, Tab::Help);
    press(&mut state, KeyCode::Tab);
    assert_eq!(state.screen.tab, Tab::Overview);
    press(&mut state, KeyCode::Char('3'));
    assert_eq!(state.screen.tab, Tab::Log);
    press(&mut state, KeyCode::Char('?'));
    assert_eq!(state.screen.tab, Tab::Help);
}

#[test]
fn scrolling_stays_within_what_there_is() {
    let mut state = Run::of_log().state;
    state.screen.tab = Tab::Series;
    (0..9).for_each(|_| drop(press(&mut state, KeyCode::Down)));
    assert_eq!(state.screen.series, 2, "the last of three");
    press(&mut state, KeyCode::PageUp);
    assert_eq!(state.screen.series, 0);
    press(&mut state, KeyCode::End);
    assert_eq!(state.screen.series, 2);
    press(&mut state, KeyCode::Home);
    assert_eq!(state.screen.series, 0);
    state.screen.tab = Tab::Log;
    // As far as the drawing says, whatever the log holds.
    state.screen.furthest = 12;
    (0..9).for_each(|_| drop(press(&mut state, KeyCode::PageUp)));
    assert_eq!(state.screen.below, 12);
    press(&mut state, KeyCode::Down);
    assert_eq!(state.screen.below, 11, "no key is lost on what is above the top");
    (0..9).for_each(|_| drop(press(&mut state, KeyCode::PageDown)));
    assert_eq!(state.screen.below, 0);
}

#[test]
fn a_released_key_and_a_key_without_a_meaning_do_nothing() {
    let mut key = KeyEvent::new(KeyCode::Char('q'), KeyModifiers::NONE);
    key.kind = KeyEventKind::Release;
    key.state = KeyEventState::NONE;
    assert_eq!(action(&key), None);
    assert_eq!(action(&KeyEvent::new(KeyCode::F(5), KeyModifiers::NONE)), None);
    assert_eq!(action(&KeyEvent::new(KeyCode::Char('w'), KeyModifiers::CONTROL)), None);
}
