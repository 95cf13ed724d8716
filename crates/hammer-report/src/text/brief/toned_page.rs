//! A page with tones, for one screen.

use super::super::page::Page;
use super::super::screen::{Screen, Tone};

/// Text in the making, block by block.
pub(super) struct TonedPage {
    screen: Screen,
    text: String,
}

/// A cell of a table.
pub(super) struct TonedCell {
    /// Its text.
    pub(super) text: String,
    /// Its tone.
    pub(super) tone: Tone,
}

impl TonedPage {
    pub(super) fn new(screen: Screen) -> Self {
        Self { screen, text: String::new() }
    }

    /// Columns of its lines.
    pub(super) fn width(&self) -> usize {
        self.screen.width()
    }

    /// What a page without tones says.
    pub(super) fn plain(&mut self, tell: impl FnOnce(&mut Page)) {
        self.of_tone(Tone::Plain, tell);
    }

    /// What a page without tones says, in one.
    pub(super) fn of_tone(&mut self, tone: Tone, tell: impl FnOnce(&mut Page)) {
        let mut page = Page::default();
        tell(&mut page);
        let text = page.into_lines_of(self.screen.width());
        if let Some(text) = text.strip_suffix('\n') {
            self.text.push_str(&self.screen.toned(text, tone));
            self.text.push('\n');
        }
    }

    /// Text after a label, wrapped under its own start.
    pub(super) fn paragraph(&mut self, label: &str, text: &str, tone: Tone) {
        self.of_tone(tone, |page| page.paragraph(label, text));
    }

    /// An empty line, of which two do not follow each other.
    pub(super) fn blank(&mut self) {
        if !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    /// A line of cells, each of which is as wide as its column already.
    pub(super) fn cells(&mut self, cells: &[TonedCell]) {
        let mut line = String::new();
        for (place, TonedCell { text, tone }) in cells.iter().enumerate() {
            let shown = hammer_measure::shown_lines(text);
            // The last has nothing behind it.
            let shown: &str = if place + 1 == cells.len() { shown.trim_end() } else { &shown };
            line.push_str(&self.screen.toned(shown, *tone));
        }
        self.text.push_str(&line);
        self.text.push('\n');
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }
}
