//! What is printed, as text for a terminal or as Markdown.

use hammer_measure::shown_lines;
use hammer_report::text::columns::{Side, aligned};
use hammer_report::text::wrapped;

/// Blocks below one another.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    /// The blocks.
    pub blocks: Vec<Block>,
}

/// A part of a page.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    /// A heading.
    Heading(String),
    /// Lines of text, each a thing of its own.
    List(Vec<String>),
    /// A table, its first column text and all others figures.
    Table {
        /// What stands above the columns.
        header: Vec<String>,
        /// Its rows, each as long as the header.
        rows: Vec<Vec<String>>,
    },
    /// Figures as bars.
    Bars(Vec<Bar>),
}

/// A figure as a bar.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// What it is of.
    pub label: String,
    /// The figure as it is printed.
    pub figure: String,
    /// Its length in parts of the longest one, above 0 and up to 1.
    pub share: f64,
}

impl Bar {
    /// Lines of text, each a label, a bar of up to 40 columns (one at least) and a figure.
    pub fn lines(all: &[Self]) -> Vec<String> {
        let width = all.iter().map(|bar| bar.label.chars().count()).max().unwrap_or(0);
        let line = |bar: &Self| {
            let columns = (bar.share * LONGEST_BAR).round().clamp(1.0, LONGEST_BAR) as usize;
            format!("{:<width$}  {} {}", bar.label, "▇".repeat(columns), bar.figure)
        };
        all.iter().map(line).collect()
    }
}

/// Columns.
const LONGEST_BAR: f64 = 40.0;

impl Page {
    /// The page for a terminal: tables in columns as wide as their widest cell.
    pub fn text(&self) -> String {
        self.written(|block| match block {
            Block::Heading(text) => vec![text.clone()],
            Block::List(lines) => lines.iter().map(|line| wrapped(line, "  ", "    ")).collect(),
            Block::Table { header, rows } => {
                let sides: Vec<Side> = (0..header.len()).map(side).collect();
                let all: Vec<&Vec<String>> = std::iter::once(header).chain(rows).collect();
                aligned(&all, &sides).iter().map(|line| format!("  {line}")).collect()
            }
            Block::Bars(bars) => Bar::lines(bars).iter().map(|line| format!("  {line}")).collect(),
        })
    }

    /// The page as Markdown (GitHub's, whose tables these are).
    pub fn markdown(&self) -> String {
        self.written(|block| match block {
            Block::Heading(text) => vec![format!("## {}", escaped(text))],
            Block::List(lines) => lines.iter().map(|line| format!("- {}", escaped(line))).collect(),
            Block::Table { header, rows } => {
                let line = |row: &Vec<String>| {
                    format!("| {} |", row.iter().map(|cell| escaped(cell)).collect::<Vec<_>>().join(" | "))
                };
                let sides =
                    (0..header.len()).map(|column| if side(column) == Side::Left { ":---" } else { "---:" });
                let sides = format!("| {} |", sides.collect::<Vec<_>>().join(" | "));
                [line(header), sides].into_iter().chain(rows.iter().map(line)).collect()
            }
            // Indented code, in which nothing is Markdown's.
            Block::Bars(bars) => Bar::lines(bars).iter().map(|line| format!("    {line}")).collect(),
        })
    }

    fn written(&self, lines: impl Fn(&Block) -> Vec<String>) -> String {
        let blocks = self.blocks.iter().map(|block| {
            lines(&block.cleaned()).iter().map(|line| format!("{}\n", line.trim_end())).collect::<String>()
        });
        blocks.collect::<Vec<_>>().join("\n")
    }
}

impl Block {
    /// The same, of which a terminal obeys nothing and each text is one line: names are the plan's, and causes the server's.
    fn cleaned(&self) -> Self {
        let all = |texts: &Vec<String>| texts.iter().map(|text| one_line(text)).collect();
        match self {
            Self::Heading(text) => Self::Heading(one_line(text)),
            Self::List(lines) => Self::List(all(lines)),
            Self::Table { header, rows } => {
                Self::Table { header: all(header), rows: rows.iter().map(all).collect() }
            }
            Self::Bars(bars) => {
                let bar = |Bar { label, figure, share }: &Bar| Bar {
                    label: one_line(label),
                    figure: one_line(figure),
                    share: *share,
                };
                Self::Bars(bars.iter().map(bar).collect())
            }
        }
    }
}

fn one_line(text: &str) -> String {
    shown_lines(text).replace(['\n', '\t'], " ")
}

/// The first column has names, and all others figures.
const fn side(column: usize) -> Side {
    if column == 0 { Side::Left } else { Side::Right }
}

/// Text in which nothing is Markdown's.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        if matches!(letter, '\\' | '|' | '*' | '_' | '`' | '<' | '[' | '#' | '~' | '&' | '$') {
            out.push('\\');
        }
        out.push(letter);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_in_columns_and_in_markdown() {
        let row = |cells: [&str; 2]| cells.map(str::to_owned).to_vec();
        let table =
            Block::Table { header: row(["", "A"]), rows: vec![row(["p50", "1.20ms"]), row(["a|b", "9\n"])] };
        let page = Page { blocks: vec![Block::Heading("_x_\u{1b}[2J".to_owned()), table] };
        assert_eq!(page.text(), "_x_\u{fffd}[2J\n\n            A\n  p50  1.20ms\n  a|b      9\n");
        let markdown = page.markdown();
        assert!(
            markdown.ends_with("|  | A |\n| :--- | ---: |\n| p50 | 1.20ms |\n| a\\|b | 9  |\n"),
            "{markdown}"
        );
        assert!(!markdown.contains('\u{1b}') && markdown.starts_with("## \\_x\\_"), "{markdown}");
    }
}
