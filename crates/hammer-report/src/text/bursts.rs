//! Bursts of failures, and late starts, in sentences.

use hammer_measure::Nanos;

use crate::report::{Burst, BurstKind, Cause, Nanoseconds};

use super::number::{grouped, per_second};
use super::page::Page;

pub(super) fn render(page: &mut Page, burst: &Burst) {
    let Burst { path, from_ns, to_ns, .. } = burst;
    let to = match to_ns {
        Some(to) => format!("to {}", Nanos(*to)),
        None => "to the end of measurement".to_owned(),
    };
    let label = match burst.kind {
        BurstKind::Failures => "burst",
        BurstKind::LateStart => "late start",
    };
    let figures = match burst.kind {
        BurstKind::Failures => [Some(failures(burst)), p99(burst)],
        BurstKind::LateStart => [p99(burst), (burst.failed > 0).then(|| failures(burst))],
    };
    let figures: Vec<String> = figures.into_iter().flatten().collect();
    page.paragraph(label, &format!("{path} from {} {to}: {}", Nanos(*from_ns), figures.join("; ")));
    for event in &burst.beside {
        if let Some((_, words)) = event.beside_words() {
            page.paragraph("  beside", &format!("at {}: {words}", Nanos(event.at_ns())));
        }
    }
}

fn failures(burst: &Burst) -> String {
    let usual = match burst.usual_failed_per_s {
        usual if usual > 0.0 => format!(" beside {} otherwise", per_second(usual)),
        _ => String::new(),
    };
    let rate = per_second(burst.failed_per_s);
    format!("{} failed ({rate}{usual}: {})", grouped(burst.failed), causes(&burst.causes))
}

fn causes(causes: &[Cause]) -> String {
    let name = |cause: &Cause| match cause.cause.is_empty() {
        true => cause.fate.replace('_', " "),
        false => cause.cause.clone(),
    };
    let shown =
        causes.iter().take(MOST_CAUSES).map(|cause| format!("{} {}", grouped(cause.count), name(cause)));
    let mut shown: Vec<String> = shown.collect();
    let others: u64 = causes.iter().skip(MOST_CAUSES).map(|cause| cause.count).sum();
    if others > 0 {
        shown.push(format!("{} others", grouped(others)));
    }
    shown.join(", ")
}

fn p99(burst: &Burst) -> Option<String> {
    let usual = |usual: Nanoseconds| format!(" beside {usual} otherwise");
    burst.p99_ns.map(|p99| format!("p99 {p99}{}", burst.usual_p99_ns.map_or_else(String::new, usual)))
}

const MOST_CAUSES: usize = 4;
