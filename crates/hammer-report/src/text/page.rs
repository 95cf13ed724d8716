//! The page that texts are written on.

use hammer_measure::shown_lines;

use super::columns::{Side, aligned};

/// What a reader is told, block by block.
#[derive(Default)]
pub(crate) struct Page(Vec<PageBlock>);

/// A block of a page.
pub(crate) enum PageBlock {
    /// What the page says first.
    Heading(String),
    /// A line that is not wrapped.
    Line(String),
    /// What keeps blocks apart.
    Blank,
    /// Text after a label, which may be empty.
    Paragraph {
        /// The label.
        label: String,
        /// The text.
        text: String,
    },
    /// Rows, of which the first names the columns.
    Rows {
        /// The rows.
        rows: Vec<Vec<String>>,
        /// The sides of their columns.
        sides: &'static [Side],
    },
}

impl Page {
    /// A line that stands for the whole page.
    pub(crate) fn heading(&mut self, text: &str) {
        self.0.push(PageBlock::Heading(text.to_owned()));
    }

    /// A line as it is, but for what a terminal would obey.
    pub(crate) fn line(&mut self, text: &str) {
        self.0.push(PageBlock::Line(text.to_owned()));
    }

    pub(crate) fn blank(&mut self) {
        self.0.push(PageBlock::Blank);
    }

    /// Text after a label, wrapped under its own start.
    pub(crate) fn paragraph(&mut self, label: &str, text: &str) {
        self.0.push(PageBlock::Paragraph { label: label.to_owned(), text: text.to_owned() });
    }

    /// Rows in columns, each as wide as its widest cell.
    pub(crate) fn rows<R: Into<Vec<String>>>(
        &mut self,
        rows: impl IntoIterator<Item = R>,
        sides: &'static [Side],
    ) {
        self.0.push(PageBlock::Rows { rows: rows.into_iter().map(Into::into).collect(), sides });
    }

    /// The blocks, from the first one on.
    pub(crate) fn blocks(&self) -> &[PageBlock] {
        &self.0
    }

    /// The page as lines of at most [`WIDTH`] columns, but for longer words and rows.
    pub(crate) fn into_string(self) -> String {
        self.into_lines_of(WIDTH)
    }

    /// The page as lines of at most `width` columns, but for longer words and rows.
    pub(crate) fn into_lines_of(self, width: usize) -> String {
        let mut text = String::new();
        for block in self.0 {
            match block {
                PageBlock::Heading(line) | PageBlock::Line(line) => add_line(&mut text, &line),
                PageBlock::Blank => text.push('\n'),
                PageBlock::Paragraph { label, text: told } => {
                    add_line(&mut text, &labelled(&label, &told, width));
                }
                PageBlock::Rows { rows, sides } => {
                    aligned(&rows, sides).iter().for_each(|row| add_line(&mut text, row));
                }
            }
        }
        text
    }
}

/// A text after its label, wrapped under its own start.
fn labelled(label: &str, text: &str, width: usize) -> String {
    // A label that fills its column is parted from the text all the same.
    let first = if label.is_empty() { String::new() } else { format!("{label:<0$} ", INDENT - 1) };
    let rest = " ".repeat(if label.is_empty() { 2 } else { INDENT });
    wrapped_to(width, text, &first, &rest)
}

fn add_line(text: &mut String, line: &str) {
    text.push_str(&shown_lines(line.trim_end()));
    text.push('\n');
}

/// A paragraph of at most 80 columns, but for longer words, which starts with `first`, and each further line of it with `rest`.
pub fn wrapped(text: &str, first: &str, rest: &str) -> String {
    wrapped_to(WIDTH, text, first, rest)
}

fn wrapped_to(width: usize, text: &str, first: &str, rest: &str) -> String {
    let options = textwrap::Options::new(width)
        .initial_indent(first)
        .subsequent_indent(rest)
        .break_words(false)
        .word_separator(textwrap::WordSeparator::AsciiSpace)
        .word_splitter(textwrap::WordSplitter::NoHyphenation)
        .wrap_algorithm(textwrap::WrapAlgorithm::FirstFit);
    textwrap::fill(text, options)
}

/// The start of a text that is longer than so many letters.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}...", text[..end].trim_end()),
        None => text.to_owned(),
    }
}

pub(crate) const WIDTH: usize = 80;
pub(crate) const INDENT: usize = 11;
