//! What was not served as before, in sentences.

use hammer_measure::Nanos;

use crate::report::{Disruption, DisruptionKind, Fates, Pace};

use super::number::{grouped, per_second};
use super::page::Page;

pub(super) fn render(page: &mut Page, disruption: &Disruption) {
    let Disruption { path, kind, from_ns, to_ns, .. } = disruption;
    let (label, is_over) = match kind {
        DisruptionKind::Outage => ("outage", "accepted again"),
        DisruptionKind::Slowdown => ("slowdown", "over"),
    };
    let until = match to_ns {
        Some(to) => format!("{is_over} from {} on ({})", Nanos(*to), Nanos(to.saturating_sub(*from_ns))),
        None => format!("not {is_over} by the end of measurement"),
    };
    let ended = ended(&disruption.fates);
    page.paragraph(label, &format!("{path} from {}: {ended}; {until}", Nanos(*from_ns)));
    page.paragraph("  before", &before(disruption));
    for event in &disruption.beside {
        if let Some((_, words)) = event.beside_words() {
            page.paragraph("  beside", &format!("at {}: {words}", Nanos(event.at_ns())));
        }
    }
}

/// What ended, without what did not.
fn ended(fates: &Fates) -> String {
    let ends = fates.entries().filter(|(name, count)| {
        *name == "accepted" || (*count > 0 && !matches!(*name, "backlog" | "in_flight"))
    });
    let terms: Vec<String> = ends
        .map(|(name, count)| format!("{} {}", grouped(count.unsigned_abs()), name.replace('_', " ")))
        .collect();
    terms.join(", ")
}

fn before(disruption: &Disruption) -> String {
    let Some(before) = &disruption.before else {
        return format!("not measured; {} meanwhile", pace(&disruption.within));
    };
    let figures = format!("{}; meanwhile {}", pace(before), pace(&disruption.within));
    match disruption.recovered_ns {
        Some(recovered) => {
            let after = Nanos(recovered.saturating_sub(disruption.from_ns));
            format!("{figures}; as before from {} on, {after} after it began", Nanos(recovered))
        }
        None => format!("{figures}; not as before by the end of measurement"),
    }
}

fn pace(pace: &Pace) -> String {
    let p99 = pace.p99_ns.map_or_else(String::new, |p99| format!(", p99 {p99} at most"));
    format!("{} accepted{p99}", per_second(pace.accepted_per_s))
}
