//! Text that has to fit: what is cut off says so.

use ratatui::text::{Line, Span};

/// The text, or its start with `…` behind it where it takes more columns than there are.
pub(super) fn cut(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut start = String::new();
    for character in text.chars() {
        start.push(character);
        if width(&start) + width(CUT) > columns {
            start.pop();
            break;
        }
    }
    if columns > 0 { start + CUT } else { String::new() }
}

/// The same of a line, whose spans keep their styles.
pub(super) fn cut_line<'a>(line: Line<'a>, columns: usize) -> Line<'a> {
    if line.width() <= columns {
        return line;
    }
    let (style, mut left) = (line.style, columns);
    let mut spans = Vec::new();
    let mut rest = line.spans.into_iter().peekable();
    while let Some(span) = rest.next() {
        // A span that fits exactly leaves no column to say that others do not.
        if span.width() < left || (span.width() == left && rest.peek().is_none()) {
            left -= span.width();
            spans.push(span);
            continue;
        }
        spans.push(Span::styled(cut(&format!("{} ", span.content), left), span.style));
        break;
    }
    Line::from(spans).style(style)
}

/// The same of all lines.
pub(super) fn cut_lines<'a>(lines: impl IntoIterator<Item = Line<'a>>, columns: u16) -> Vec<Line<'a>> {
    lines.into_iter().map(|line| cut_line(line, columns.into())).collect()
}

fn width(text: &str) -> usize {
    Span::raw(text).width()
}

const CUT: &str = "…";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cut_off_says_so_and_what_fits_does_not() {
        for (text, columns, shown) in [
            ("verify", 6, "verify"),
            ("verify", 5, "veri…"),
            ("verify", 1, "…"),
            ("verify", 0, ""),
            ("", 0, ""),
            ("日本語", 5, "日本…"),
            ("日本語", 4, "日…"),
        ] {
            assert_eq!(cut(text, columns), shown);
        }
    }

    #[test]
    fn a_line_is_cut_off_in_the_span_that_does_not_fit() {
        let line = || Line::from(vec![Span::raw("so far: "), Span::raw("PASS"), Span::raw(", it holds")]);
        for (columns, shown) in [
            (22, "so far: PASS, it holds"),
            (21, "so far: PASS, it hol…"),
            (12, "so far: PAS…"),
            (13, "so far: PASS…"),
            (8, "so far:…"),
            (1, "…"),
            (0, ""),
        ] {
            assert_eq!(cut_line(line(), columns).to_string(), shown, "{columns}");
        }
    }
}
