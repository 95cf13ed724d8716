//! Markdown as it is written: headings, lists and tables, in which no text means anything but itself.

use hammer_measure::shown_lines;

use crate::text::columns::Side;
use crate::text::page::{Page, PageBlock};

/// A document so far (CommonMark 0.31, and the tables of GitHub Flavored Markdown 0.29).
#[derive(Default)]
pub(super) struct Written {
    text: String,
    /// The last block is an item of a list, which the next one may continue.
    in_list: bool,
}

impl Written {
    pub(super) fn heading(&mut self, level: usize, text: &str) {
        self.block(&format!("{} {}", "#".repeat(level), escaped(text)));
    }

    pub(super) fn paragraph(&mut self, text: &str) {
        self.block(&escaped(text));
    }

    /// The rows, of which the first names the columns; a row of as many cells as there are sides.
    pub(super) fn table(&mut self, rows: &[Vec<String>], sides: &[Side]) {
        let Some((header, rows)) = rows.split_first() else { return };
        let line = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
        let cells = |row: &Vec<String>| line(row.iter().map(|cell| escaped(cell)).collect());
        let rules = sides.iter().map(|side| match side {
            Side::Left => "---".to_owned(),
            Side::Right => "---:".to_owned(),
        });
        let lines = [cells(header), line(rules.collect())];
        self.block(&lines.into_iter().chain(rows.iter().map(cells)).collect::<Vec<_>>().join("\n"));
    }

    /// What is told on a page: labelled paragraphs as the items of a list, those without a label as they are.
    pub(super) fn page(&mut self, page: &Page) {
        for block in page.blocks() {
            match block {
                PageBlock::Heading(text) => self.heading(1, text),
                PageBlock::Line(text) => self.paragraph(text),
                PageBlock::Blank => {}
                PageBlock::Paragraph { label, text } if label.trim().is_empty() => self.paragraph(text),
                PageBlock::Paragraph { label, text } => self.item(label, text),
                PageBlock::Rows { rows, sides } => self.table(rows, sides),
            }
        }
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }

    fn item(&mut self, label: &str, text: &str) {
        let separator = if self.in_list || self.text.is_empty() { "" } else { "\n" };
        // A label that begins with spaces tells more of the item before it.
        let indent = if label.starts_with(' ') && self.in_list { "  " } else { "" };
        let label = escaped(label.trim());
        self.text.push_str(&format!("{separator}{indent}- **{label}:** {}\n", escaped(text)));
        self.in_list = true;
    }

    fn block(&mut self, block: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(block);
        self.text.push('\n');
        self.in_list = false;
    }
}

/// Text on one line of which nothing is taken for markup: what servers said is in it. Nobody is mentioned by it, and no address in it becomes a
/// link, where a site makes these of plain text.
fn escaped(text: &str) -> String {
    let line = shown_lines(text).split_whitespace().collect::<Vec<_>>().join(" ");
    let mut escaped = String::with_capacity(line.len());
    let number = line.len() - line.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
    for (place, letter) in line.char_indices() {
        let starts_block = match letter {
            '+' | '-' | '=' | ':' | '>' => place == 0,
            '.' | ')' => place == number && number > 0 && !line[place + 1..].starts_with(|next| next != ' '),
            _ => false,
        };
        if starts_block || MARKUP.contains(letter) {
            escaped.push('\\');
        }
        escaped.push(letter);
        let is_before_slashes = letter == ':' && line[place + 1..].starts_with("//");
        let is_before_host =
            letter == 'w' && line[..place].ends_with("ww") && line[place + 1..].starts_with('.');
        if letter == '@' || is_before_slashes || is_before_host {
            escaped.push(JOINER);
        }
    }
    escaped
}

/// Joins words without a width (U+2060).
const JOINER: char = '\u{2060}';

/// What may mean something else anywhere in a line, GitHub's formulas among it.
const MARKUP: &str = "\\`*_[]<|~#&$";
