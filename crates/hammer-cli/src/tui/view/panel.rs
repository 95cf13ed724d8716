//! The panel, in the words of its specification and in the form of TesseraCT's hammer.

use hammer_measure::Nanos;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::{Block, Paragraph};

use super::cut::cut_lines;
use crate::tui::spec::{PanelSize, PanelSpec, PanelTimes};
use crate::tui::state::panel::{PanelFigures, Throttle};

/// Lines of it, in a frame or without.
pub(super) fn height(spec: &PanelSpec, framed: bool) -> u16 {
    ALWAYS + 2 * u16::from(framed) + u16::from(spec.size.is_some()) + u16::from(spec.times.is_some())
}

/// Draws it, in a frame or without.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, panel: &PanelFigures, framed: bool) {
    let spec = &panel.spec;
    let service_time = panel.service_time.map(|spread| [spread.min, spread.mean(), spread.max]);
    let mut lines = vec![
        throttle(spec.reads.label, panel.read.as_ref()),
        throttle(spec.writes.label, panel.write.as_ref()),
    ];
    lines.extend(spec.size.map(|words| size(&words, panel)));
    lines.push(times(spec.service_time.label, service_time));
    lines.extend(spec.times.map(|words| observed(&words, panel)));
    let block = if framed { Block::bordered() } else { Block::new() };
    let lines = cut_lines(lines, block.inner(area).width);
    frame.render_widget(Paragraph::new(lines).block(block), area);
}

fn throttle(side: &str, throttle: Option<&Throttle>) -> Line<'static> {
    let Some(throttle) = throttle else { return Line::from(format!("{side}: -")) };
    let Throttle { workers, current_max, oversupply } = throttle;
    Line::from(match current_max {
        Some(most) => format!(
            "{side} ({workers} workers): Current max: {}/s. Oversupply in last second: {oversupply}",
            rate(*most)
        ),
        None => format!("{side} ({workers} workers): nothing is offered in drain"),
    })
}

/// Whole, as there, but for the low rates that only a fraction tells apart.
fn rate(rate: f64) -> String {
    if rate < 10.0 && rate.fract() != 0.0 { format!("{rate:.1}") } else { format!("{rate:.0}") }
}

fn size(words: &PanelSize, panel: &PanelFigures) -> Line<'static> {
    let PanelSize { label, growth_unit, .. } = words;
    let Some(size) = panel.size else { return Line::from(format!("{label}: -")) };
    let growth = panel.growth.map_or_else(String::new, |(rate, over)| {
        format!(" (Δ {rate:.0}{growth_unit} over {:.0}s)", over.as_secs_f64())
    });
    Line::from(format!("{label}: {size:.0}{growth}"))
}

/// As observers tell it; from intended beside it.
fn observed(words: &PanelTimes, panel: &PanelFigures) -> Line<'static> {
    let mut line = times(words.name.label, panel.times);
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

/// Lines of any panel: both sides, the service time.
const ALWAYS: u16 = 3;
