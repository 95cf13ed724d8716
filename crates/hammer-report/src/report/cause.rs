//! What lies behind the fates of operations and steps: each cause once, with how often it was met.

use hammer_measure::recorder::SeriesRecord;
use hammer_measure::{Detail, Fate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Ends with one cause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cause {
    /// The fate that they had.
    pub fate: String,
    /// What lies behind it: `HTTP 400`, `connection refused`.
    pub cause: String,
    /// How many.
    pub count: u64,
    /// What the server said with the first of them that said anything, or where there was no answer, where and why: the address with the error of the system, the name
    /// that was not found, what is wrong with TLS, what was waited for. On one line, in 300 bytes at most, without secrets; absent where nothing is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
}

impl Cause {
    /// So many ends of that fate and cause, without what a server said.
    pub(crate) fn of((fate, detail, count): &(Fate, Detail, u64)) -> Self {
        Self { fate: fate.name().to_owned(), cause: detail.to_string(), count: *count, answer: None }
    }

    /// Adds such ends, each to its own cause.
    pub(crate) fn add(all: &mut Vec<Self>, more: &[Self]) {
        for cause in more {
            match all.iter_mut().find(|known| known.fate == cause.fate && known.cause == cause.cause) {
                Some(known) => known.count += cause.count,
                None => all.push(cause.clone()),
            }
        }
    }

    /// The most frequent first.
    pub(crate) fn sort(all: &mut [Self]) {
        all.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| (&a.fate, &a.cause).cmp(&(&b.fate, &b.cause))));
    }
}

/// The causes of a record, the most frequent first.
pub(crate) fn causes(record: &SeriesRecord) -> Vec<Cause> {
    let answer = |fate: Fate, detail| {
        let first = record.answers.iter().find(|answer| (answer.fate, answer.detail) == (fate, detail));
        first.map(|answer| answer.text.clone())
    };
    let mut causes: Vec<Cause> = record
        .causes
        .iter()
        .map(|cause| Cause { answer: answer(cause.0, cause.1), ..Cause::of(cause) })
        .collect();
    Cause::sort(&mut causes);
    causes
}

#[cfg(test)]
mod tests {
    use hammer_measure::recorder::SeriesRecord;
    use hammer_measure::{Detail, Fate};

    #[test]
    fn the_most_frequent_cause_comes_first_and_equals_by_name() {
        let causes = vec![
            (Fate::Unreachable, Detail::Failure("timed out"), 2),
            (Fate::Refused, Detail::Status(404), 5),
            (Fate::Unreachable, Detail::Failure("connection reset"), 2),
            (Fate::Refused, Detail::Status(400), 2),
        ];
        let found = super::causes(&SeriesRecord { causes, ..SeriesRecord::default() });
        let found: Vec<(&str, &str, u64)> =
            found.iter().map(|cause| (cause.fate.as_str(), cause.cause.as_str(), cause.count)).collect();
        assert_eq!(
            found,
            [
                ("refused", "HTTP 404", 5),
                ("refused", "HTTP 400", 2),
                ("unreachable", "connection reset", 2),
                ("unreachable", "timed out", 2),
            ]
        );
    }
}
