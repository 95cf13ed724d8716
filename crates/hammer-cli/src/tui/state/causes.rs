//! What operations failed by so far, and what was first said with each cause.

use hammer_measure::recorder::FirstAnswer;
use hammer_measure::snapshot::SeriesFigures;
use hammer_measure::{Detail, Fate};

use super::DashboardState;

/// A cause by which operations of a series failed.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::tui) struct MetCause {
    /// The place of the series in the run.
    pub(in crate::tui) series: usize,
    /// What became of them.
    pub(in crate::tui) fate: Fate,
    /// What lies behind it.
    pub(in crate::tui) detail: Detail,
    /// How many, in warm-up and measurement together.
    pub(in crate::tui) count: u64,
    /// What the server said with the first of them that said anything, or where and why there was no answer.
    pub(in crate::tui) answer: Option<String>,
}

impl MetCause {
    /// Those of all whole operations, but for refusals that are meant, the most frequent first.
    pub(in crate::tui) fn all(state: &DashboardState) -> Vec<Self> {
        let (Some(run), Some(last)) = (&state.run, &state.last) else { return Vec::new() };
        let mut met = Vec::new();
        for series in state.operations(None) {
            let (Some(info), Some(figures)) = (run.series.get(series), last.series.get(series)) else {
                continue;
            };
            let failures = [&figures.warm_up, &figures.measurement];
            let meant = |fate: Fate| info.refusals_meant && fate == Fate::Refused;
            for figures in failures {
                for (fate, detail, count) in figures.failures.iter().filter(|(fate, ..)| !meant(*fate)) {
                    Self::add(&mut met, (series, *fate, *detail), *count, figures);
                }
            }
        }
        met.sort_by_key(|cause: &Self| {
            (std::cmp::Reverse(cause.count), cause.series, cause.fate, cause.detail)
        });
        met
    }

    fn add(
        met: &mut Vec<Self>,
        (series, fate, detail): (usize, Fate, Detail),
        count: u64,
        figures: &SeriesFigures,
    ) {
        let answer = || figures.answer(fate, detail).map(|FirstAnswer { text, .. }| text.clone());
        let is_it = |known: &&mut Self| (known.series, known.fate, known.detail) == (series, fate, detail);
        match met.iter_mut().find(is_it) {
            Some(known) => {
                known.count += count;
                known.answer = known.answer.take().or_else(answer);
            }
            None => met.push(Self { series, fate, detail, count, answer: answer() }),
        }
    }
}
