//! Whether what the client told of a case agrees with what its server saw.

use hammer_measure::Nanos;
use hammer_net::{Answer, Failure, FailureKind};

use crate::case::{Bytes, Case, Speaks};
use crate::client::{Story, Told, Waking, ask};
use crate::ledger::{Books, Entry, Ledger};
use crate::reply::Ends;
use crate::server::{Identity, Server};

mod connections;

/// What is wrong when `case` is played, in a line each.
pub(crate) fn of(case: &'static Case) -> Vec<String> {
    let faults = [Waking::AtOnce, Waking::ByTurns].map(|waking| of_waking(case, waking));
    faults.concat()
}

fn of_waking(case: &'static Case, waking: Waking) -> Vec<String> {
    let ledger = Ledger::default();
    let over_tls = matches!(case.speaks, Speaks::Http1OverTls);
    let server = Server::start(case, &ledger, over_tls.then(Identity::new));
    let scheme = if over_tls { "https" } else { "http" };
    let story = ask(case, waking, &[format!("{scheme}://{}", server.addr)], &ledger);
    server.finish();
    on(case, &story, &ledger).into_iter().map(|fault| format!("{fault} ({waking:?})")).collect()
}

/// What is wrong in what was told of `case`, by its ledger.
pub(crate) fn on(case: &Case, story: &Story, ledger: &Ledger) -> Vec<String> {
    let books = ledger.read(Clone::clone);
    let mut faults = connections::faults(case, story, &books);
    for one in &story.told {
        let entry = books.entries.get(&one.seq).cloned().unwrap_or_default();
        let found = [fate(case, one, &entry), readings(case, one, &entry), instants(one)];
        faults.extend(found.into_iter().flatten().map(|fault| format!("request {}: {fault}", one.seq)));
    }
    faults.extend(bytes(case, &story.told, &books));
    let more = faults.len().saturating_sub(MOST_TOLD);
    faults.truncate(MOST_TOLD);
    faults.extend((more > 0).then(|| format!("and {more} more")));
    faults.into_iter().map(|fault| format!("{}: {fault}", case.name)).collect()
}

/// Answered is what the server answered whole, with its own body; all else failed as the case says.
fn fate(case: &Case, told: &Told, entry: &Entry) -> Option<String> {
    let answer = &told.answer;
    let due = entry.ends.as_ref().filter(|_| entry.reads > 0);
    match (&told.ended, due) {
        (Some(Ok(())), Some(Ends::Answered(status, body))) => {
            let is_its_own = answer.status.as_u16() == *status && answer.body == *body;
            (!is_its_own).then(|| format!("is answered {} {:?}", answer.status, text(&answer.body)))
        }
        (Some(Err(failure)), Some(Ends::Failed(kind))) => {
            let is_so = failure.kind == *kind && answer.wire.sent.is_some();
            let wire = answer.wire;
            (!is_so).then(|| format!("fails by {:?} instead of {kind:?}: {failure}; {wire:?}", failure.kind))
        }
        (None, Some(Ends::CutOff)) if answer.wire.sent.is_some() => None,
        (Some(Err(failure)), None) => unread(case, failure, told, entry),
        (Some(Err(failure)), Some(Ends::Answered(..))) if !entry.is_written => {
            unread(case, failure, told, entry)
        }
        (ended, due) => Some(format!("ends with {}, and is due {}", end(ended.as_ref()), expected(due))),
    }
}

/// A request that the server did not answer may have failed by a race, or have never left.
fn unread(case: &Case, failure: &Failure, told: &Told, entry: &Entry) -> Option<String> {
    let kind = failure.kind;
    if !case.unread.contains(&kind) {
        return Some(format!("was never answered, and fails by {kind:?}: {failure}"));
    }
    let was_dialled =
        !matches!(kind, FailureKind::Dial | FailureKind::DialRefused | FailureKind::DialTimeout);
    let has_left = told.answer.wire.sent.is_some();
    (has_left != was_dialled)
        .then(|| format!("fails by {kind:?}, was read in part {} times: {:?}", entry.parts, told.answer.wire))
}

/// What came in twice was told to be sent again, and what never left never came in.
fn readings(case: &Case, told: &Told, entry: &Entry) -> Option<String> {
    let (came_in, is_resent) = (entry.reads + entry.refused, told.answer.resent);
    if entry.refused > 0 && !case.may_refuse {
        return Some("was refused, which it gave no reason for".to_owned());
    }
    if came_in > 1 && !is_resent || is_resent && !case.may_resend {
        return Some(format!("came in {came_in} times, and resent is {is_resent}"));
    }
    let never_left = told.answer.wire.sent.is_none() && came_in + entry.parts > 0;
    never_left.then(|| "is said never to have left, and came in".to_owned())
}

/// What there is of the instants is in the order of the exchange, and within it.
fn instants(told: &Told) -> Option<String> {
    let (wire, (before, after)) = (told.answer.wire, told.span);
    let dial = [wire.dial_started, wire.connected, wire.tls_done];
    let exchange = [wire.sent, wire.first_byte, wire.done, wire.read];
    let is_sorted = |parts: &[&[Option<Nanos>]]| {
        let inner = parts.concat();
        [Some(before)].into_iter().chain(inner).chain([Some(after)]).flatten().is_sorted()
    };
    // What is sent again was sent before it was dialled again.
    let is_so = match told.answer.resent {
        true => is_sorted(&[&dial]) && is_sorted(&[&exchange]),
        false => is_sorted(&[&dial, &exchange]),
    };
    (!is_so).then(|| format!("has instants out of order: {wire:?} within {:?}", told.span))
}

/// Bytes that left the client reached the server, and the other way round, unless a connection was given up.
fn bytes(case: &Case, told: &[Told], books: &Books) -> Option<String> {
    let sum = |bytes: fn(&Answer) -> u64| told.iter().map(|one| bytes(&one.answer)).sum::<u64>();
    let (out, in_) = (sum(|answer| answer.bytes_out), sum(|answer| answer.bytes_in));
    let is_so = match (case.bytes, case.speaks) {
        (Bytes::Equal, _) => out == books.received && in_ == books.sent,
        // What the protocol itself says after the last answer is nobody's.
        (Bytes::SomeLost, Speaks::Http2 { .. }) => in_ <= books.sent,
        (Bytes::SomeLost, Speaks::Http1OverTls) => true,
        (Bytes::SomeLost, Speaks::Http1) => out >= books.received && in_ <= books.sent,
    };
    let (received, sent) = (books.received, books.sent);
    (!is_so).then(|| format!("{out} bytes left and {received} arrived, {sent} came and {in_} were read"))
}

fn end(ended: Option<&Result<(), Failure>>) -> String {
    match ended {
        None => "a cut".to_owned(),
        Some(Ok(())) => "an answer".to_owned(),
        Some(Err(failure)) => format!("{:?} ({failure})", failure.kind),
    }
}

fn expected(due: Option<&Ends>) -> String {
    match due {
        Some(Ends::Answered(status, _)) => format!("an answer of status {status}"),
        other => format!("{other:?}"),
    }
}

fn text(body: &[u8]) -> String {
    String::from_utf8_lossy(&body[..body.len().min(100)]).into_owned()
}

/// Faults of one case that are told one by one.
const MOST_TOLD: usize = 4;
