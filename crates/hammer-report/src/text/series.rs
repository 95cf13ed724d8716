//! One series as text: its rates, fates and durations.

use hammer_measure::Nanos;

use crate::report::{
    Cause, Counts, DurationTable, Durations, Nanoseconds, PhaseFigures, Rates, Series, SeriesKind,
};

use super::number::{bytes, bytes_per_second, grouped, per_second, plural, short, signed};
use super::page::Page;

/// Adds `series` to the page; where its workload `has_steps`, what servers said is told of these.
pub(super) fn render(page: &mut Page, series: &Series, has_steps: bool) {
    page.blank();
    let step = if series.kind == SeriesKind::Step { " (a step)" } else { "" };
    page.line(&format!("{}{step}", series.path));
    let figures = &series.measurement;
    page.paragraph(
        "  rates",
        &figures.rates.as_ref().map_or_else(|| "none, no time measured".to_owned(), rates),
    );
    page.paragraph("  fates", &fates(&figures.counts));
    if let Some(causes) = causes(figures) {
        page.paragraph("  causes", &causes);
    }
    // A flow fails as one of its steps does, which tells the answer in its own place.
    if series.kind == SeriesKind::Step || !has_steps {
        answers(figures).iter().for_each(|said| page.paragraph("  answer", said));
    }
    page.paragraph("  bytes", &traffic(figures));
    warm_up(page, &series.warm_up, figures);
    durations(page, figures);
    series.notes.iter().for_each(|note| page.paragraph("  note", note));
    users(series).iter().for_each(|text| page.paragraph("  users", text));
}

/// Of a closed loop: its users divided by its rate, beside the mean response time.
pub(super) fn users(series: &Series) -> Option<String> {
    let users = series.users_over_rate.as_ref()?;
    let mean = series.measurement.durations.response_time.as_ref();
    let mean = mean.map_or_else(|| "none".to_owned(), |durations| durations.mean_ns.to_string());
    Some(format!(
        "{} divided by {} is {}, the mean response time {mean}",
        present(users.users),
        per_second(users.completed_per_s),
        Nanos(users.mean_cycle_ns),
    ))
}

/// Users who were there, to a tenth where they came and went.
fn present(users: f64) -> String {
    if (users - users.round()).abs() < 0.05 {
        return plural(users.round() as u64, "user");
    }
    format!("{users:.1} users")
}

fn rates(rates: &Rates) -> String {
    format!(
        "offered {}, dispatched {}, completed {}, accepted {}",
        per_second(rates.offered_per_s),
        per_second(rates.dispatched_per_s),
        per_second(rates.completed_per_s),
        per_second(rates.accepted_per_s),
    )
}

/// The identity, without its zeros: `15,000 offered = 14,990 accepted + 10 refused`.
pub(super) fn fates(counts: &Counts) -> String {
    let terms: Vec<String> = counts
        .fates
        .entries()
        .filter(|(name, count)| *count != 0 || *name == "accepted")
        .map(|(name, count)| format!("{} {}", signed(count), name.replace('_', " ")))
        .collect();
    format!("{} offered = {}", grouped(counts.offered), terms.join(" + "))
}

/// What lies behind the fates; that all which was accepted was so by one status goes without saying, and by anything else does not.
pub(super) fn told_causes(figures: &PhaseFigures) -> impl Iterator<Item = &Cause> {
    let accepted = figures.causes.iter().filter(|cause| cause.fate == "accepted").count();
    let is_usual =
        move |cause: &&Cause| cause.fate == "accepted" && accepted == 1 && cause.cause.starts_with(STATUS);
    figures.causes.iter().filter(move |cause| !is_usual(cause))
}

/// The most frequent of them.
fn causes(figures: &PhaseFigures) -> Option<String> {
    let mut terms: Vec<String> = told_causes(figures)
        .map(|cause| format!("{} {} ({})", grouped(cause.count), cause.cause, cause.fate.replace('_', " ")))
        .collect();
    if terms.len() > MOST_CAUSES {
        let more = terms.split_off(MOST_CAUSES).len();
        terms.push(format!("and {more} more"));
    }
    (!terms.is_empty()).then(|| terms.join(", "))
}

/// What the server said first with each cause, of the most frequent ones.
fn answers(figures: &PhaseFigures) -> Vec<String> {
    let said = figures.causes.iter().filter_map(|cause| Some((&cause.cause, cause.answer.as_ref()?)));
    said.take(MOST_SAID).map(|(cause, answer)| format!("{cause}, said: {answer}")).collect()
}

fn traffic(figures: &PhaseFigures) -> String {
    let counts = &figures.counts;
    let rate = |of: fn(&Rates) -> f64| {
        figures.rates.as_ref().map_or_else(String::new, |rates| format!(" ({})", bytes_per_second(of(rates))))
    };
    let (out_rate, in_rate) = (rate(|rates| rates.bytes_out_per_s), rate(|rates| rates.bytes_in_per_s));
    let again = |count: u64, how: &str| match count {
        0 => String::new(),
        count => format!("; {} {how}", grouped(count)),
    };
    let resent = again(counts.resent, "sent twice");
    let redialled = again(counts.redialled, "moved to another connection unsent");
    let (out, back) = (bytes(counts.bytes_out), bytes(counts.bytes_in));
    format!("{out} out{out_rate}, {back} in{in_rate}{resent}{redialled}")
}

/// Warm-up is worth a line only when something went wrong in it, or took far longer than later: cold starts are a finding.
fn warm_up(page: &mut Page, figures: &PhaseFigures, measured: &PhaseFigures) {
    let cold = cold_start(figures, measured);
    if figures.counts.offered == figures.counts.fates.accepted && cold.is_none() {
        return;
    }
    let causes = causes(figures).map_or_else(String::new, |causes| format!("; {causes}"));
    page.paragraph("  warm-up", &format!("{}{causes}{}", fates(&figures.counts), cold.unwrap_or_default()));
}

/// How long the first operations took, where that is on average twice as long as the later ones, or longer.
fn cold_start(first: &PhaseFigures, later: &PhaseFigures) -> Option<String> {
    let (first, later) = (first.durations.response_time.as_ref()?, later.durations.response_time.as_ref()?);
    let (cold, warm) = (first.mean_ns, later.mean_ns);
    let is_cold = cold.least() >= warm.least().saturating_mul(2);
    is_cold.then(|| format!("; response time {cold} on average, {} at most, and {warm} later", first.max_ns))
}

fn durations(page: &mut Page, figures: &PhaseFigures) {
    let table = &figures.durations;
    let accepted = table.response_time_by_fate.get("accepted");
    let all = table.response_time.as_ref();
    let mixed = accepted.filter(|accepted| all.is_some_and(|all| all.count != accepted.count));
    let rows = [
        ("response time", all),
        (" accepted alone", mixed),
        ("dispatch lag", table.dispatch_lag.as_ref()),
        ("backlog wait", table.backlog_wait.as_ref()),
        ("connection wait", table.connection_wait.as_ref()),
        ("service time", table.service_time.as_ref()),
        ("client time", table.client_time.as_ref()),
        ("read lag", read_lag(table)),
    ];
    if rows.iter().all(|(_, durations)| durations.is_none()) {
        return;
    }
    let names = ["count", "mean", "p50", "p90", "p99", "p99.9", "max"];
    page.line(&row("", &names.map(str::to_owned)));
    for (name, durations) in rows {
        if let Some(durations) = durations {
            page.line(&row(name, &cells(durations)));
        }
    }
}

/// How late answers were read is worth a line where it could be taken for anything of the server's.
fn read_lag(table: &DurationTable) -> Option<&Durations> {
    let lag = table.read_lag.as_ref()?;
    let service = table.service_time.as_ref().map_or(0, |service| service.p50_ns.least());
    (lag.p99_ns.least() > service / 20).then_some(lag)
}

fn cells(durations: &Durations) -> [String; 7] {
    [
        short(durations.count),
        cell(durations.mean_ns),
        cell(durations.p50_ns),
        cell(durations.p90_ns),
        cell(durations.p99_ns),
        cell(durations.p99_9_ns),
        cell(durations.max_ns),
    ]
}

/// Eight columns at most: `> 119m59s` is a column too long for a gap before it.
fn cell(figure: Nanoseconds) -> String {
    let text = figure.to_string();
    if text.len() > 8 { text.replacen("> ", ">", 1) } else { text }
}

fn row(name: &str, cells: &[String; 7]) -> String {
    let mut line = format!("  {name:<15}");
    cells.iter().for_each(|cell| line.push_str(&format!("{cell:>9}")));
    line
}

/// How a cause begins that is a status.
const STATUS: &str = "HTTP ";
const MOST_CAUSES: usize = 6;
const MOST_SAID: usize = 3;
