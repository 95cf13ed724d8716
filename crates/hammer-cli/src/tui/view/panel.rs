//! The panel of TesseraCT's hammer, in its words.

use hammer_measure::Nanos;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::{Block, Paragraph};

use crate::tui::state::panel::{Panel, Throttle};

/// Lines of it, the border included.
pub(super) const HEIGHT: u16 = 7;

/// Draws it.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, panel: &Panel) {
    let queue = panel.time_in_queue.map(|spread| [spread.min, spread.mean(), spread.max]);
    let lines = vec![
        throttle("Read", panel.read.as_ref()),
        throttle("Write", panel.write.as_ref()),
        tree_size(panel),
        times("Time-in-queue", queue),
        integrate(panel),
    ];
    frame.render_widget(Paragraph::new(lines).block(Block::bordered()), area);
}

fn throttle(side: &str, throttle: Option<&Throttle>) -> Line<'static> {
    let Some(throttle) = throttle else { return Line::from(format!("{side}: -")) };
    let Throttle { workers, current_max, oversupply } = throttle;
    Line::from(format!(
        "{side} ({workers} workers): Current max: {}/s. Oversupply in last second: {oversupply}",
        rate(*current_max)
    ))
}

/// Whole, as there, but for the low rates that only a fraction tells apart.
fn rate(rate: f64) -> String {
    if rate < 10.0 && rate.fract() != 0.0 { format!("{rate:.1}") } else { format!("{rate:.0}") }
}

fn tree_size(panel: &Panel) -> Line<'static> {
    let Some(size) = panel.tree_size else { return Line::from("TreeSize: -") };
    let growth = panel.growth.map_or_else(String::new, |(rate, over)| {
        format!(" (Δ {rate:.0}qps over {:.0}s)", over.as_secs_f64())
    });
    Line::from(format!("TreeSize: {size:.0}{growth}"))
}

/// From sent, as there; from intended beside it.
fn integrate(panel: &Panel) -> Line<'static> {
    let mut line = times("Observed-time-to-integrate", panel.time_to_integrate);
    if let Some(times) = panel.from_intended {
        line.push_span(format!(", from intended {}", slashed(times)));
    }
    line
}

fn times(name: &str, times: Option<[Nanos; 3]>) -> Line<'static> {
    let text = times.map_or_else(|| "-".to_owned(), |times| format!("{} (min/avg/max)", slashed(times)));
    Line::from(format!("{name}: {text}"))
}

fn slashed(times: [Nanos; 3]) -> String {
    times.map(millis).join("/")
}

/// Whole milliseconds, as there, and finer where that would say nothing.
fn millis(nanos: Nanos) -> String {
    let millis = nanos.as_millis_f64();
    match millis {
        0.0..0.1 => nanos.to_string(),
        0.1..10.0 => format!("{millis:.1}ms"),
        _ => format!("{millis:.0}ms"),
    }
}
