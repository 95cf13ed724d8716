//! When servers were not ready, as text.

use hammer_measure::Nanos;

use crate::report::{NotReady, Readiness};

use super::page::Page;

pub(super) fn render(page: &mut Page, readiness: &Readiness) {
    let Readiness { endpoint, not_ready } = readiness;
    let shown: Vec<String> = not_ready.iter().take(MOST_TIMES).map(time).collect();
    let more = match not_ready.len().saturating_sub(MOST_TIMES) {
        0 => String::new(),
        more => format!(", and {more} times more"),
    };
    let when = match shown.is_empty() {
        true => "all the time".to_owned(),
        false => format!("not {}{more}", shown.join(", nor ")),
    };
    page.paragraph("ready", &format!("{endpoint}: {when}"));
}

fn time(NotReady { from_ns, to_ns, said }: &NotReady) -> String {
    let to = to_ns.map_or_else(|| "the end".to_owned(), |to| Nanos(to).to_string());
    format!("from {} to {to} ({said})", Nanos(*from_ns))
}

const MOST_TIMES: usize = 5;
