//! Whether the client's counts of its connections agree with its own answers, and with what the server accepted.

use crate::case::Case;
use crate::client::{Story, Told};
use crate::ledger::Books;

/// What is wrong in the counts of `story`.
pub(super) fn faults(case: &Case, story: &Story, books: &Books) -> Vec<String> {
    let counts = &story.counts;
    let told = |is_so: fn(&Told) -> bool| story.told.iter().filter(|one| is_so(one)).count() as u64;
    let (resent, redialled) = (told(|one| one.answer.resent), told(|one| one.answer.redialled));
    let answered = told(|one| matches!(one.ended, Some(Ok(()))));
    let dialled = told(|one| one.answer.wire.dial_started.is_some());
    let checks = [
        (told(|_| true) == case.count, "not every request was told of"),
        (counts.resent >= resent && (counts.resent == 0) == (resent == 0), "resent differs"),
        (counts.redialled >= redialled && (counts.redialled == 0) == (redialled == 0), "redialled differs"),
        (counts.connected() >= books.connections as u64, "more connections came in than were dialled"),
        (
            counts.resets + counts.closed + counts.closed_idle <= counts.connected(),
            "more connections ended than there were",
        ),
        (
            answered < case.count || resent > 0 || counts.closed == 0,
            "a connection took an answer along, and all are there",
        ),
        (counts.dials >= dialled, "more requests dialled than there were dials"),
        (!case.resends_all || (resent > 0 && answered == case.count), "not each was sent again and answered"),
        (case.redials.is_none_or(|each| (redialled + 1 == case.count) == each), "not each was redialled"),
    ];
    let wrong = checks.into_iter().filter(|(is_so, _)| !is_so);
    wrong.map(|(_, what)| format!("{what}: {resent} resent, {redialled} redialled, {counts:?}")).collect()
}
