//! What servers said with failures: of each cause the first answer.

use serde::{Deserialize, Serialize};

use crate::outcome::{Detail, Fate};
use crate::timing::Nanos;

/// What a server said with the first end of a cause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FirstAnswer {
    /// The fate of the end.
    pub fate: Fate,
    /// Its cause.
    pub detail: Detail,
    /// When it ended.
    pub at: Nanos,
    /// The text, at most [`MOST_ANSWER_BYTES`] long.
    pub text: String,
}

impl FirstAnswer {
    fn key(&self) -> (Fate, Detail) {
        (self.fate, self.detail)
    }
}

/// Keeps the text with the end of that cause, where no earlier one is known. Answers stand in the order of their causes, so that the
/// order in which they come leaves no trace.
pub(super) fn keep_first(answers: &mut Vec<FirstAnswer>, fate: Fate, detail: Detail, at: Nanos, text: &str) {
    match answers.binary_search_by_key(&(fate, detail), FirstAnswer::key) {
        Ok(known) if (at, text) < (answers[known].at, answers[known].text.as_str()) => {
            answers[known].at = at;
            answers[known].text = bounded(text);
        }
        Ok(_) => {}
        Err(MOST_ANSWERS..) => {}
        Err(place) => {
            answers.truncate(MOST_ANSWERS - 1);
            answers.insert(place, FirstAnswer { fate, detail, at, text: bounded(text) });
        }
    }
}

/// Whether one of that cause is kept, or none ever will be, since there are as many of causes before it.
pub(super) fn is_known(answers: &[FirstAnswer], fate: Fate, detail: Detail) -> bool {
    let found = answers.binary_search_by_key(&(fate, detail), FirstAnswer::key);
    !matches!(found, Err(0..MOST_ANSWERS))
}

fn bounded(text: &str) -> String {
    start_of(text, MOST_ANSWER_BYTES).to_owned()
}

/// The start of `text` in so many bytes at most.
pub fn start_of(text: &str, most: usize) -> &str {
    let fits = |end: &usize| text.is_char_boundary(*end);
    &text[..(0..=most.min(text.len())).rev().find(fits).unwrap_or(0)]
}

/// Whether they stand in their order, each once, and are as few and as short as any recorder keeps.
pub(super) fn are_bounded(answers: &[FirstAnswer]) -> bool {
    answers.len() <= MOST_ANSWERS
        && answers.iter().all(|answer| answer.text.len() <= MOST_ANSWER_BYTES)
        && answers.is_sorted_by(|one, next| one.key() < next.key())
}

/// Bytes of a text that are kept.
pub const MOST_ANSWER_BYTES: usize = 300;
/// Causes of a series and phase of which an answer is kept.
pub const MOST_ANSWERS: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(told: &[(u16, u64, &str)]) -> Vec<(Detail, String)> {
        let mut answers = Vec::new();
        for (status, at, text) in told {
            keep_first(&mut answers, Fate::Refused, Detail::Status(*status), Nanos(*at), text);
        }
        assert!(are_bounded(&answers));
        assert!(answers.iter().all(|answer| is_known(&answers, answer.fate, answer.detail)));
        let is_full = answers.len() == MOST_ANSWERS;
        let [before, behind] =
            [399, 500].map(|status| is_known(&answers, Fate::Refused, Detail::Status(status)));
        assert!(!before && behind == is_full, "beyond the most causes nothing is kept");
        answers.into_iter().map(|answer| (answer.detail, answer.text)).collect()
    }

    #[test]
    fn of_each_cause_the_earliest_is_kept_whatever_came_first() {
        let expected = vec![
            (Detail::Status(400), "no token".to_owned()),
            (Detail::Status(409), "there already".to_owned()),
        ];
        let mut told =
            [(409, 9, "there already"), (400, 5, "expired"), (400, 3, "no token"), (409, 9, "we have it")];
        told[3].2 = "there already, too";
        assert_eq!(kept(&told), expected);
        told.reverse();
        assert_eq!(kept(&told), expected);
    }

    #[test]
    fn texts_and_causes_are_bounded_and_those_of_the_first_causes_stay() {
        let long = "ä".repeat(400);
        let told: Vec<(u16, u64, &str)> = (400..440).map(|status| (status, 1, long.as_str())).collect();
        let found = kept(&told);
        let mut backwards = told.clone();
        backwards.reverse();
        assert_eq!(found, kept(&backwards));
        assert_eq!(found.len(), MOST_ANSWERS);
        assert_eq!(found.last().unwrap().0, Detail::Status(415));
        assert_eq!(found[0].1.len(), MOST_ANSWER_BYTES);
    }
}
