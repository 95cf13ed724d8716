//! The dashboard as README shows it: `docs/dashboard.svg` is what is drawn, cell by cell.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};

use super::{Palette, busy, drawn};

#[test]
fn the_picture_of_the_readme_is_what_is_drawn() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/dashboard.svg");
    let picture = svg(drawn(&busy().state, 120, 36, Palette::COLOUR).buffer());
    if std::env::var_os("UPDATE_PICTURE").is_some() {
        fs::write(&path, &picture).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == picture, "UPDATE_PICTURE=1 draws {} again", path.display());
}

/// A screen as SVG: a text for each stretch of cells that look alike, as wide as its cells.
fn svg(screen: &Buffer) -> String {
    let (width, height) = (screen.area.width, screen.area.height);
    let (wide, high) = (u32::from(width) * CELL.0, u32::from(height) * CELL.1);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {wide} {high}\" font-family=\"ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace\" \
         font-size=\"14\">\n<title>hammer's dashboard</title>\n<rect width=\"{wide}\" height=\"{high}\" fill=\"#16181d\"/>\n"
    );
    for row in 0..height {
        let cells: Vec<&Cell> = (0..width).map(|column| &screen[(column, row)]).collect();
        let mut start = 0;
        while start < cells.len() {
            let alike = cells[start..].iter().take_while(|cell| look(cell) == look(cells[start])).count();
            stretch(&mut svg, row, start, &cells[start..start + alike]);
            start += alike;
        }
    }
    svg + "</svg>\n"
}

fn stretch(svg: &mut String, row: u16, start: usize, cells: &[&Cell]) {
    let text: String = cells.iter().map(|cell| cell.symbol()).collect();
    let (x, y) = (start as u32 * CELL.0, u32::from(row) * CELL.1);
    let wide = cells.len() as u32 * CELL.0;
    let (text_colour, ground, is_bold) = look(cells[0]);
    if let Some(ground) = ground {
        writeln!(svg, "<rect x=\"{x}\" y=\"{y}\" width=\"{wide}\" height=\"{}\" fill=\"{ground}\"/>", CELL.1)
            .unwrap();
    }
    if !text.trim().is_empty() {
        let weight = if is_bold { " font-weight=\"bold\"" } else { "" };
        let text = text.replace('&', "&amp;").replace('<', "&lt;");
        writeln!(
            svg,
            "<text x=\"{x}\" y=\"{}\" textLength=\"{wide}\" fill=\"{text_colour}\"{weight} xml:space=\"preserve\">{text}</text>",
            y + 14
        )
        .unwrap();
    }
}

/// The colour of a cell's text, that behind it where there is one, and whether it is bold.
fn look(cell: &Cell) -> (&'static str, Option<&'static str>, bool) {
    let (text, ground) = (colour(cell.fg).unwrap_or("#d7dae0"), colour(cell.bg));
    let (text, ground) = if cell.modifier.contains(Modifier::REVERSED) {
        (ground.unwrap_or("#16181d"), Some(text))
    } else {
        (text, ground)
    };
    let text = if cell.modifier.contains(Modifier::DIM) { "#8a90a0" } else { text };
    (text, ground, cell.modifier.contains(Modifier::BOLD))
}

fn colour(of: Color) -> Option<&'static str> {
    match of {
        Color::Reset => None,
        Color::Black => Some("#16181d"),
        Color::Red | Color::LightRed => Some("#e06c75"),
        Color::Green | Color::LightGreen => Some("#98c379"),
        Color::Yellow | Color::LightYellow => Some("#e5c07b"),
        Color::Blue | Color::LightBlue => Some("#61afef"),
        Color::Magenta | Color::LightMagenta => Some("#c678dd"),
        Color::Cyan | Color::LightCyan => Some("#56b6c2"),
        Color::Gray | Color::White => Some("#d7dae0"),
        Color::DarkGray => Some("#8a90a0"),
        other => panic!("a colour that the picture does not know: {other}"),
    }
}

/// How wide and high a cell is, in pixels.
const CELL: (u32, u32) = (9, 18);
