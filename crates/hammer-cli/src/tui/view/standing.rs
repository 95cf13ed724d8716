//! What stands below every page: the promises, whether the figures can be believed, what the process uses.

use hammer_measure::health::Health;
use hammer_report::report::Finding;
use hammer_report::text::number::grouped;
use ratatui::text::{Line, Span};

use super::fates::short;
use super::palette::Palette;
use crate::tui::spec::PanelSide;
use crate::tui::state::DashboardState;

/// What became of the promises; where some can be overdue and nobody watched yet, a dash.
pub(super) fn promises(state: &DashboardState, palette: &Palette) -> Line<'static> {
    let ledger = state.last.as_ref().map(|last| last.promises).unwrap_or_default();
    if ledger.made == 0 && !state.has(PanelSide::Writes) {
        return Line::styled("no promise was made", palette.faint());
    }
    let mut spans = vec![Span::raw(format!(
        "promises {} = kept {} + pending {}",
        short(ledger.made),
        short(ledger.kept),
        short(ledger.pending)
    ))];
    spans.extend([Span::raw(" + "), counted("broken", ledger.broken, palette)]);
    if ledger.unchecked > 0 {
        spans.extend([Span::raw(" + "), counted("unchecked", ledger.unchecked, palette)]);
    }
    if let Some(overdue) = state.panel.and_then(|panel| panel.overdue) {
        spans.push(Span::raw("; "));
        spans.push(match state.observed(overdue) {
            Some(count) => counted("overdue", count as u64, palette),
            None => Span::raw("overdue -"),
        });
    }
    Line::from(spans)
}

/// Health and resources; first what the dashboard itself missed. Where `room` columns are too few, the findings are
/// named only: the log has them in full.
pub(super) fn health(state: &DashboardState, palette: &Palette, room: usize) -> Line<'static> {
    let full = standing(state, palette, ToString::to_string);
    if full.width() <= room { full } else { standing(state, palette, named) }
}

fn named(health: &Health) -> String {
    let mut names: Vec<_> =
        health.findings.iter().map(|finding| Finding::from(finding).kind.words()).collect();
    names.dedup();
    names.join(", ")
}

fn standing(
    state: &DashboardState,
    palette: &Palette,
    findings: impl Fn(&Health) -> String,
) -> Line<'static> {
    let Some(last) = &state.last else { return Line::styled("no interval yet", palette.faint()) };
    let used = &last.resources;
    let mut spans = Vec::new();
    if state.dropped > 0 {
        let text = format!("{} EVENTS DROPPED", grouped(state.dropped));
        spans.extend([Span::styled(text, palette.bad()), Span::raw(" | ")]);
    }
    if last.health.is_healthy() {
        spans.push(Span::raw("health ok"));
    } else {
        spans.push(Span::styled(format!("UNHEALTHY: {}", findings(&last.health)), palette.bad()));
    }
    let cpu_share = state.rated.as_ref().and_then(|rated| rated.cpu_share);
    let cpu = cpu_share.map_or_else(|| "-".to_owned(), |share| format!("{:.0} %", share * 100.0));
    spans.push(Span::raw(format!(
        " | cpu {cpu} of {} cores | memory {} MB, most {} | {} descriptors",
        used.cores,
        used.rss_bytes / 1_000_000,
        used.max_rss_bytes / 1_000_000,
        grouped(used.descriptors),
    )));
    Line::from(spans)
}

/// In capitals when there is any, for those who see no colour.
fn counted(name: &str, count: u64, palette: &Palette) -> Span<'static> {
    let name = if count > 0 { name.to_uppercase() } else { name.to_owned() };
    Span::styled(format!("{name} {}", short(count)), palette.bad_if(count > 0))
}
