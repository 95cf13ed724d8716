//! Which of the words that can stand somewhere was meant by one that cannot.

/// The word of `known` that was meant by `word`, where one is so much like it that a slip of the hand makes the other, or is what other load
/// generators call `word`.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = plain(word);
    let most = (word.chars().count() / 3).clamp(1, MOST_SLIPS);
    let slips = |known: &'a str| (slips(&word, known), known);
    let found = known.into_iter().map(slips).min_by_key(|(slips, _)| *slips);
    found.filter(|(slips, _)| *slips <= most).map(|(_, known)| known)
}

fn slips(word: &str, known: &str) -> usize {
    match ELSEWHERE.contains(&(word, known)) {
        true => 0,
        false => strsim::damerau_levenshtein(word, &plain(known)),
    }
}

fn plain(word: &str) -> String {
    word.to_lowercase().replace('-', "_")
}

/// Letters by which a longer word may differ.
const MOST_SLIPS: usize = 3;

/// What k6, Locust, wrk, hey and oha call it, and what a plan does.
const ELSEWHERE: [(&str, &str); 26] = [
    ("avg", "mean"),
    ("average", "mean"),
    ("med", "p50"),
    ("median", "p50"),
    ("http_req_duration", "response"),
    ("latency", "response"),
    ("duration", "response"),
    ("http_reqs", "completed"),
    ("precerts", "precert_percent"),
    ("pre", "before"),
    ("post", "after"),
    ("command", "run"),
    ("vus", "users"),
    ("concurrency", "users"),
    ("connections", "users"),
    ("qps", "rate"),
    ("rps", "rate"),
    ("iterations", "operations"),
    ("requests", "operations"),
    ("duration", "measurement"),
    ("scenarios", "workloads"),
    ("warmup", "warm_up"),
    ("expected", "expect"),
    ("status", "expect"),
    ("data", "body"),
    ("query", "path"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_found_by_a_slip_and_by_what_others_call_it() {
        let known = ["name", "load", "in_flight", "backlog", "timeout", "users"];
        for (word, meant) in [
            ("in_flght", Some("in_flight")),
            ("In-Flight", Some("in_flight")),
            ("inflight", Some("in_flight")),
            ("laod", Some("load")),
            ("time_out", Some("timeout")),
            ("vus", Some("users")),
            ("thresholds", None),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(nearest(word, known), meant, "{word}");
        }
        assert_eq!(nearest("rate", []), None);
    }
}
