//! Progress on a terminal: a bar with a line a second; nothing where standard error is none.

use std::io::IsTerminal as _;
use std::sync::Arc;

use hammer_measure::snapshot::RunInfo;
use hammer_measure::{Command, Nanos, Reporter, RunEvent, shown};
use hammer_report::progress::{accepted, judging, line};
use hammer_report::report::Event;
use indicatif::{ProgressBar, ProgressStyle};

use crate::output::standard::print;

/// The reporter behind it.
pub(crate) struct Progress {
    bar: Option<ProgressBar>,
    info: Option<Arc<RunInfo>>,
    start: Option<Nanos>,
}

impl Progress {
    /// Shown when standard error is a terminal and nobody asked for quiet.
    pub(crate) fn new(quiet: bool) -> Self {
        let shown = !quiet && std::io::stderr().is_terminal();
        Self { bar: shown.then(ProgressBar::no_length), info: None, start: None }
    }
}

impl Reporter for Progress {
    fn event(&mut self, event: &RunEvent) {
        let Some(bar) = &self.bar else { return };
        match event {
            RunEvent::Started(info) => {
                if let Some(goal) = info.goal {
                    bar.set_length(goal);
                    bar.set_style(style("{bar:20} {wide_msg}"));
                } else if let Some(measurement) = info.measurement {
                    bar.set_length(millis(info.warm_up + measurement));
                    bar.set_style(style("{bar:20} {wide_msg}"));
                } else {
                    bar.set_style(style("{spinner} {wide_msg}"));
                }
                bar.set_message("connecting");
                self.info = Some(info.clone());
            }
            RunEvent::Phase { at, .. } => {
                self.start.get_or_insert(*at);
            }
            RunEvent::Interval(snapshot) => {
                if let Some(info) = &self.info {
                    bar.set_position(match info.goal {
                        Some(_) => accepted(snapshot, info),
                        None => millis(snapshot.at.since(self.start.unwrap_or_default())),
                    });
                    say(bar, line(snapshot, info));
                }
            }
            RunEvent::Note { text, .. } => println(bar, &format!("note: {text}")),
            RunEvent::Breach { breach, .. } => {
                println(bar, &format!("BROKEN: {}: {} ({})", breach.subject(), breach.kind, breach.detail));
            }
            RunEvent::Beside { .. } | RunEvent::Command { command: Command::Mark { .. }, .. } => {
                if let Some((label, words)) = Event::of(event).and_then(|event| event.beside_words()) {
                    println(bar, &format!("{label}: {words}"));
                }
            }
            RunEvent::Judging { at, awaited, until } => say(bar, judging(*at, *awaited, *until)),
            RunEvent::Command { .. } => {}
            RunEvent::Finished(_) => bar.finish_and_clear(),
        }
    }
}

/// How far it is, behind the bar; a line of its own on a terminal that only prints, where no bar can be drawn.
fn say(bar: &ProgressBar, line: String) {
    match bar.is_hidden() {
        true => println(bar, &line),
        false => bar.set_message(line),
    }
}

/// A line above the bar, without what the terminal would obey.
fn println(bar: &ProgressBar, line: &str) {
    let line = shown(line, usize::MAX);
    match bar.is_hidden() {
        // Nobody is left to tell when standard error is gone as well.
        true => drop(print(std::io::stderr(), |out| writeln!(out, "{line}"))),
        false => bar.println(line),
    }
}

fn millis(nanos: Nanos) -> u64 {
    nanos.0 / 1_000_000
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("a constant template is valid")
}
