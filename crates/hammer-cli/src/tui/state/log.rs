//! What was said: the last lines of it.

use std::collections::VecDeque;

use hammer_measure::event::CommandRefusal;
use hammer_measure::{Command, Nanos};

/// The last lines.
#[derive(Debug, Default)]
pub(in crate::tui) struct Log {
    entries: VecDeque<Entry>,
    forgotten: u64,
}

/// One line.
#[derive(Debug)]
pub(in crate::tui) struct Entry {
    /// When.
    pub(in crate::tui) at: Nanos,
    /// What it is about.
    pub(in crate::tui) kind: EntryKind,
    /// Its text, one line.
    pub(in crate::tui) text: String,
}

/// What a line is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tui) enum EntryKind {
    Note,
    Phase,
    Command,
    Hook,
    Mark,
    Server,
    Broken,
}

impl Log {
    /// Adds a line; the oldest goes when there are too many.
    pub(in crate::tui) fn push(&mut self, at: Nanos, kind: EntryKind, text: String) {
        if self.entries.len() == MOST_LINES {
            self.entries.pop_front();
            self.forgotten += 1;
        }
        self.entries.push_back(Entry { at, kind, text });
    }

    /// The lines, oldest first.
    pub(in crate::tui) fn entries(&self) -> impl DoubleEndedIterator<Item = &Entry> + ExactSizeIterator {
        self.entries.iter()
    }

    /// How many there are.
    pub(in crate::tui) fn len(&self) -> usize {
        self.entries.len()
    }

    /// How many are gone.
    pub(in crate::tui) fn forgotten(&self) -> u64 {
        self.forgotten
    }
}

impl EntryKind {
    /// Its mark before the line.
    pub(in crate::tui) const fn mark(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Phase => "phase",
            Self::Command => "by hand",
            Self::Hook => "hook",
            Self::Mark => "mark",
            Self::Server => "server",
            Self::Broken => "BROKEN",
        }
    }
}

/// A command and what became of it, as a sentence.
pub(in crate::tui) fn answered(command: &Command, refused: &[CommandRefusal]) -> String {
    let mut text = applied(command);
    for CommandRefusal { workload, why } in refused {
        text.push_str(&format!("; refused by {workload}: {why}"));
    }
    text
}

fn applied(command: &Command) -> String {
    let whose = |workload: &Option<String>| workload.as_deref().unwrap_or("all workloads").to_owned();
    match command {
        Command::Pause => "arrivals are suspended".to_owned(),
        Command::Resume => "arrivals are taken up again".to_owned(),
        Command::Rate { workload, factor } => {
            format!("{}: {:.1} % of the planned rate", whose(workload), factor * 100.0)
        }
        Command::InFlight { workload, limit } => format!("{}: {limit} in flight at most", whose(workload)),
        Command::Stop { reason } => format!("the end of arrivals: {reason}"),
        Command::Mark { text } => format!("mark: {text}"),
    }
}

pub(in crate::tui) const MOST_LINES: usize = 1_000;
