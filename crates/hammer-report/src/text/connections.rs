//! Connections as text: of each service, where anything is amiss with them.

use crate::report::{Connections, Durations, Nanoseconds, PeerFigures};

use super::number::{grouped, plural};
use super::page::Page;

/// Of a service whose connections were dialled once and used until the end nothing is said.
pub(super) fn render(page: &mut Page, connections: &Connections) {
    if !connections.are_amiss() {
        return;
    }
    let what = [dialled(connections), lost(connections), repeated(connections), tls(connections)];
    let what = what.into_iter().flatten().chain(unstamped(connections)).chain(took(connections));
    let text = format!("{}: {}", connections.service, what.collect::<Vec<_>>().join("; "));
    page.paragraph("connections", &text);
}

/// How the requests of a service were spread; of a single peer nothing is said.
pub(super) fn peers(page: &mut Page, connections: &Connections) {
    if connections.peers.len() < 2 {
        return;
    }
    page.paragraph("peers", &format!("of {}", connections.service));
    page.line(&peer_row(
        "  address",
        ["requests", "share", "failed", "errors", "open", "p50", "p99"].map(str::to_owned),
    ));
    let all: u64 = connections.peers.iter().map(|peer| peer.requests).sum();
    for peer in &connections.peers {
        let name = peer.peer.as_deref().unwrap_or("others");
        page.line(&peer_row(&format!("  {name}"), cells(peer, all)));
        if peer.failed_dials > 0 {
            let text = format!("{name}: {} of {} failed", peer.failed_dials, plural(peer.dials, "dial"));
            page.paragraph("  dials", &text);
        }
    }
}

fn cells(peer: &PeerFigures, all: u64) -> [String; 7] {
    let share = 100.0 * peer.requests as f64 / all.max(1) as f64;
    let figure = |figure: fn(&Durations) -> Nanoseconds| {
        peer.service_time.as_ref().map_or_else(|| "-".to_owned(), |took| figure(took).to_string())
    };
    [
        grouped(peer.requests),
        format!("{share:.1} %"),
        grouped(peer.failures),
        grouped(peer.error_answers),
        grouped(peer.most_open),
        figure(|took| took.p50_ns),
        figure(|took| took.p99_ns),
    ]
}

/// In 80 columns where the address has up to 21, as those of IPv4 do.
fn peer_row(name: &str, [requests, share, failed, errors, open, p50, p99]: [String; 7]) -> String {
    format!("{name:<23} {requests:>10} {share:>7} {failed:>7} {errors:>6} {open:>5} {p50:>7} {p99:>7}")
}

fn dialled(connections: &Connections) -> Option<String> {
    let failed = match connections.failed_dials {
        0 => String::new(),
        count => format!(" ({} failed)", grouped(count)),
    };
    Some(format!(
        "{}{failed} for {} begun, at most {} open at once",
        plural(connections.dials, "dial"),
        plural(connections.answers(), "answer"),
        grouped(connections.most_open),
    ))
}

fn lost(connections: &Connections) -> Option<String> {
    listed([
        (connections.resets, "reset", ""),
        (connections.closed, "close", " before an answer was whole"),
        (connections.closed_idle, "close", " while idle"),
        (connections.refused_streams, "refused stream", ""),
        (connections.failed_handshakes, "failed TLS handshake", ""),
        (connections.failed_look_ups, "failed look-up", ""),
    ])
}

fn repeated(connections: &Connections) -> Option<String> {
    listed([
        (connections.resent, "exchange", " sent twice"),
        (connections.redialled, "exchange", " moved to another connection unsent"),
    ])
}

/// Handshakes are told where they were more than one for each connection that was needed.
fn tls(connections: &Connections) -> Option<String> {
    let is_repeated = connections.tls_handshakes > connections.most_open;
    is_repeated.then(|| {
        let (all, resumed) = (connections.tls_handshakes, connections.tls_resumed);
        format!("{}, {} resumed", plural(all, "TLS handshake"), grouped(resumed))
    })
}

fn unstamped(connections: &Connections) -> Option<String> {
    let counted = |count| format!("{} not stamped by the kernel on arrival", plural(count, "answer"));
    (connections.unstamped > 0).then(|| counted(connections.unstamped))
}

/// What connecting took, where more was dialled than was needed.
fn took(connections: &Connections) -> Option<String> {
    if connections.connected() <= connections.most_open {
        return None;
    }
    let took = connections.durations().filter(|(name, _)| *name != "first_byte").map(|(name, durations)| {
        let name = if name == "tls" { "TLS" } else { name };
        format!("{} p50 {}, p99 {}", name.replace('_', "-"), durations.p50_ns, durations.p99_ns)
    });
    let took: Vec<String> = took.collect();
    (!took.is_empty()).then(|| took.join(", "))
}

/// What occurred, each as a count, a noun and what follows it.
fn listed<const N: usize>(counts: [(u64, &str, &str); N]) -> Option<String> {
    let counted = counts.into_iter().filter(|(count, ..)| *count > 0);
    let counted: Vec<String> =
        counted.map(|(count, noun, rest)| format!("{}{rest}", plural(count, noun))).collect();
    (!counted.is_empty()).then(|| counted.join(", "))
}
