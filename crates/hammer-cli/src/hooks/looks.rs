//! Commands that print a number, run again and again beside the load.

use std::os::fd::BorrowedFd;

use hammer_core::observe::ObservationSink;
use hammer_measure::Nanos;

use super::lines::Lines;
use super::shell_command::{ShellCommand, Written};
use crate::observed_number::ObservedNumber;

/// A number that a command prints.
#[derive(Clone, Debug)]
pub(super) struct CommandNumber {
    /// Its name in the plan.
    pub(super) name: String,
    /// The command.
    pub(super) run: String,
    /// How often it is run, and how long it may take.
    pub(super) every: Nanos,
}

/// All of a run's.
pub(super) struct Looks(Vec<CommandLook>);

/// One of them, as far as it has come.
struct CommandLook {
    planned: CommandNumber,
    number: ObservedNumber,
    next: Nanos,
    running: Option<RunningLook>,
}

struct RunningLook {
    deadline: Nanos,
    command: ShellCommand,
    stdout: Lines,
    /// The first number that it printed.
    printed: Option<f64>,
}

impl Looks {
    /// All are due at once.
    pub(super) fn new(planned: Vec<CommandNumber>) -> Self {
        let look = |planned: CommandNumber| {
            let number = ObservedNumber::new(&planned.name);
            CommandLook { planned, number, next: Nanos::ZERO, running: None }
        };
        Self(planned.into_iter().map(look).collect())
    }

    /// When something is to be done, if nothing happens before.
    pub(super) fn next(&self) -> Nanos {
        let next =
            self.0.iter().map(|look| look.running.as_ref().map_or(look.next, |running| running.deadline));
        next.min().unwrap_or(Nanos::MAX)
    }

    /// What is readable when something happens to a command.
    pub(super) fn descriptors(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.0
            .iter()
            .filter_map(|look| look.running.as_ref())
            .flat_map(|running| running.command.descriptors())
    }

    /// Starts what is due, takes what was printed, and ends what takes too long.
    pub(super) fn step(&mut self, now: Nanos, sink: &ObservationSink) {
        self.0.iter_mut().for_each(|look| look.step(now, sink));
    }
}

impl CommandLook {
    fn step(&mut self, now: Nanos, sink: &ObservationSink) {
        if let Some(running) = &mut self.running {
            let ended = running.command.just_ended();
            running.read();
            let found = match ended {
                Some(status) if !status.success() => Err(format!("the command ended with {status}")),
                Some(_) => running.printed().ok_or_else(|| "the command printed no number".to_owned()),
                None if now >= running.deadline => {
                    Err(format!("the command took longer than {}", self.planned.every))
                }
                None => return,
            };
            // Dropped, it is killed if it still runs.
            self.running = None;
            self.number.take(now, found, sink);
        }
        if now >= self.next {
            self.start(now, sink);
        }
    }

    fn start(&mut self, now: Nanos, sink: &ObservationSink) {
        self.next = now.saturating_add(self.planned.every);
        match ShellCommand::start(&self.planned.run) {
            Ok(command) => {
                let (stdout, printed) = (Lines::default(), None);
                self.running = Some(RunningLook { deadline: self.next, command, stdout, printed });
            }
            Err(error) => self.number.take(now, Err(format!("failed to start the command: {error}")), sink),
        }
    }
}

impl RunningLook {
    fn read(&mut self) {
        let Self { command, stdout, printed, .. } = self;
        command.read(|written| match written {
            Written::Stdout(bytes) => stdout.push(bytes, |line| *printed = printed.or_else(|| number(line))),
            Written::Stderr(_) => {}
        });
    }

    /// The first number of all that was printed.
    fn printed(&mut self) -> Option<f64> {
        let Self { stdout, printed, .. } = self;
        stdout.finish(|line| *printed = printed.or_else(|| number(line)));
        *printed
    }
}

/// The first number of a line; what belongs to a word or has a unit is none.
fn number(line: &str) -> Option<f64> {
    let words = line.split(|c: char| !(c.is_alphanumeric() || matches!(c, '.' | '+' | '-' | '_')));
    words.filter_map(|word| word.parse::<f64>().ok()).find(|number| number.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_number_of_a_line_is_no_part_of_a_word() {
        for (line, expected) in [
            ("42", Some(42.0)),
            ("rows: 1204 of 9", Some(1_204.0)),
            ("|  count=-1.5e3 |", Some(-1_500.0)),
            ("v2 x3 12ms nan inf", None),
            ("", None),
        ] {
            assert_eq!(number(line), expected, "{line}");
        }
    }
}
