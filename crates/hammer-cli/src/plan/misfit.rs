//! What a reader of values says against one of them, in the words of who writes plans.

use super::error::PlanFault;
use super::value_kind::{between, misplaced};

/// The fault that a reader of values tells as `message`, and the key below its path at which it is told; empty where it is told there.
pub(super) fn misfit(message: &str) -> (&str, PlanFault) {
    if let Some(key) = between(message, "missing field `", "`") {
        return (key, PlanFault::Missing);
    }
    if let Some(fault) =
        unknown(message, "unknown field `", |key, known| PlanFault::Unknown { key, known, place: None })
    {
        return ("", fault);
    }
    if let Some(fault) =
        unknown(message, "unknown variant `", |value, known| PlanFault::NoChoice { value, known })
    {
        return ("", fault);
    }
    ("", PlanFault::Misfit(misplaced(message).unwrap_or_else(|| message.to_owned())))
}

/// A word that is none of those that are listed behind it.
fn unknown(
    message: &str,
    start: &str,
    fault: impl FnOnce(String, Vec<String>) -> PlanFault,
) -> Option<PlanFault> {
    let (word, rest) = message.strip_prefix(start)?.split_once("`, ")?;
    // Every second part of what is split by its quotes stood between two of them.
    let known = rest.split('`').skip(1).step_by(2).map(str::to_owned);
    Some(fault(word.to_owned(), known.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_reader_says_is_told_in_plain_words() {
        for (message, key, said) in [
            ("missing field `name`", "name", "it is not given"),
            (
                "unknown field `rat`, expected one of `rate`, `ramp`",
                "",
                "unknown key `rat`; did you mean `rate`? The keys here are rate, ramp",
            ),
            (
                "unknown field `zzz`, expected `rate` or `ramp`",
                "",
                "unknown key `zzz`; the keys here are rate, ramp",
            ),
            ("unknown field `zzz`, there are no fields", "", "unknown key `zzz`; no key can stand here"),
            (
                "unknown variant `k6`, expected `rhtas-benchmark` or `rest-pki`",
                "",
                "`k6` cannot stand here; give one of rhtas-benchmark, rest-pki",
            ),
            (
                "unknown variant `poison`, expected `even` or `poisson`",
                "",
                "`poison` cannot stand here; did you mean `poisson`? Give one of even, poisson",
            ),
            (
                "invalid type: integer `5`, expected a string",
                "",
                "expected a text, and found the number 5; put it in quotes",
            ),
            (
                "invalid type: string \"5\", expected u64",
                "",
                "expected a whole number, 0 or more, and found the text \"5\"",
            ),
            (
                "invalid value: integer `-5`, expected u64",
                "",
                "expected a whole number, 0 or more, and found the number -5",
            ),
            (
                "invalid type: boolean `true`, expected a word: a name without space, dot and slash",
                "",
                "expected a word: a name without space, dot and slash, and found true; put it in quotes, since YAML reads yes, no, on and off so",
            ),
            (
                "invalid type: sequence, expected struct LoadPlan",
                "",
                "expected keys with values, and found a list",
            ),
            ("`10qps` is no rate", "", "`10qps` is no rate"),
        ] {
            let (below, fault) = misfit(message);
            assert_eq!((below, fault.to_string().as_str()), (key, said), "{message}");
        }
    }
}
