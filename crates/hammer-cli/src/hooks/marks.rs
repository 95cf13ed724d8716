//! Marks on a run's time axis: lines of hooks, and of a file that somebody appends to.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read as _, Seek as _, SeekFrom};
use std::path::PathBuf;

use hammer_core::observe::ObservationSink;
use hammer_measure::event::Beside;
use hammer_measure::{Nanos, shown};

use super::lines::Lines;

/// The marks of a run so far: bounded in number, and those beyond are counted.
#[derive(Debug, Default)]
pub(super) struct MarkBook {
    kept: usize,
    left_out: u64,
}

impl MarkBook {
    /// Takes a mark; one without a text marks nothing.
    pub(super) fn mark(&mut self, at: Nanos, source: &str, text: &str, sink: &ObservationSink) {
        let text = one_line(text);
        if text.is_empty() {
            return;
        }
        if self.kept == MOST_MARKS {
            self.left_out += 1;
            return;
        }
        self.kept += 1;
        sink.beside(at, Beside::Mark { source: source.to_owned(), text });
    }

    /// Says how many marks were left out, if any were.
    pub(super) fn close(&self, at: Nanos, sink: &ObservationSink) {
        if self.left_out > 0 {
            sink.beside(at, Beside::MarksLeftOut { count: self.left_out });
        }
    }
}

/// A text as one line of at most [`MOST_CHARACTERS`], without what a terminal would obey.
pub(crate) fn one_line(text: &str) -> String {
    let printable = text.trim().chars().map(|c| if c.is_control() { ' ' } else { c });
    // What changes the direction or the lines of a text is none of it either.
    shown(&printable.take(MOST_CHARACTERS).collect::<String>(), usize::MAX).into_owned()
}

/// A file that is followed from its end.
#[derive(Debug)]
pub(super) struct MarkFile {
    path: PathBuf,
    read_to: u64,
    lines: Lines,
}

impl MarkFile {
    /// The file as it is now: what stands in it marks nothing. It need not be there yet.
    pub(super) fn at_its_end(path: PathBuf) -> Self {
        let read_to = fs::metadata(&path).map_or(0, |file| file.len());
        Self { path, read_to, lines: Lines::default() }
    }

    /// The path, as the plan has it.
    pub(super) fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// Hands on the lines that were appended since, a bounded number of bytes; says whether there were any bytes. A file that is
    /// shorter than before is read from its start.
    ///
    /// # Errors
    /// When it cannot be read; that it is not there is none.
    pub(super) fn follow(&mut self, take: impl FnMut(&str)) -> io::Result<bool> {
        let length = match fs::metadata(&self.path) {
            Ok(file) => file.len(),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error),
        };
        if length < self.read_to {
            (self.read_to, self.lines) = (0, Lines::default());
        }
        if length == self.read_to {
            return Ok(false);
        }
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(self.read_to))?;
        let mut bytes = Vec::new();
        file.take(MOST_BYTES).read_to_end(&mut bytes)?;
        self.read_to += bytes.len() as u64;
        self.lines.push(&bytes, take);
        Ok(!bytes.is_empty())
    }

    /// Hands on the last line, where it has no end.
    pub(super) fn finish(&mut self, take: impl FnMut(&str)) {
        self.lines.finish(take);
    }
}

const MOST_MARKS: usize = 1_000;
const MOST_CHARACTERS: usize = 200;
/// Read at one look.
const MOST_BYTES: u64 = 64 << 10;

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn followed(file: &mut MarkFile) -> Vec<String> {
        let mut lines = Vec::new();
        while file.follow(|line| lines.push(line.to_owned())).unwrap() {}
        lines
    }

    #[test]
    fn only_what_is_appended_after_the_start_is_followed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("marks");
        fs::write(&path, "before\n").unwrap();
        let mut marks = MarkFile::at_its_end(path.clone());
        assert_eq!(followed(&mut marks), [""; 0]);
        let mut file = File::options().append(true).open(&path).unwrap();
        file.write_all(b"one\ntw").unwrap();
        assert_eq!(followed(&mut marks), ["one"]);
        file.write_all(b"o\n").unwrap();
        assert_eq!(followed(&mut marks), ["two"]);
        fs::write(&path, "anew\n").unwrap();
        assert_eq!(followed(&mut marks), ["anew"]);
    }

    #[test]
    fn a_file_that_comes_later_is_read_from_its_start() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("marks");
        let mut marks = MarkFile::at_its_end(path.clone());
        assert_eq!(followed(&mut marks), [""; 0]);
        fs::write(&path, "first\nno end").unwrap();
        assert_eq!(followed(&mut marks), ["first"]);
        let mut last = Vec::new();
        marks.finish(|line| last.push(line.to_owned()));
        assert_eq!(last, ["no end"]);
    }

    #[test]
    fn a_mark_is_one_line_of_bounded_length() {
        assert_eq!(one_line(" a\tb\u{1b}[31m "), "a b [31m");
        assert_eq!(one_line(&"ä".repeat(300)).chars().count(), MOST_CHARACTERS);
    }
}
