//! The page that texts are written on.

use hammer_measure::shown_lines;

/// Lines of at most [`WIDTH`] columns.
#[derive(Default)]
pub(crate) struct Page(String);

impl Page {
    /// A line as it is, but for what a terminal would obey.
    pub(crate) fn line(&mut self, text: &str) {
        self.0.push_str(&shown_lines(text.trim_end()));
        self.0.push('\n');
    }

    pub(crate) fn blank(&mut self) {
        self.0.push('\n');
    }

    /// Text after a label, wrapped under its own start.
    pub(crate) fn paragraph(&mut self, label: &str, text: &str) {
        // A label that fills its column is parted from the text all the same.
        let first = if label.is_empty() { String::new() } else { format!("{label:<0$} ", INDENT - 1) };
        let rest = " ".repeat(if label.is_empty() { 2 } else { INDENT });
        self.line(&wrapped(text, &first, &rest));
    }

    pub(crate) fn into_string(self) -> String {
        self.0
    }
}

/// A paragraph of at most 80 columns, but for longer words, which starts with `first`, and each further line of it with `rest`.
pub fn wrapped(text: &str, first: &str, rest: &str) -> String {
    let options = textwrap::Options::new(WIDTH)
        .initial_indent(first)
        .subsequent_indent(rest)
        .break_words(false)
        .word_separator(textwrap::WordSeparator::AsciiSpace)
        .word_splitter(textwrap::WordSplitter::NoHyphenation)
        .wrap_algorithm(textwrap::WrapAlgorithm::FirstFit);
    textwrap::fill(text, options)
}

pub(crate) const WIDTH: usize = 80;
pub(crate) const INDENT: usize = 11;
