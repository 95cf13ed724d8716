//! Rates that something limits, in sentences.

use crate::report::RateLimit;

use super::number::{grouped, per_second};
use super::page::Page;

pub(super) fn render(page: &mut Page, limit: &RateLimit) {
    let RateLimit { path, rate, least_open, most_open, mean_ns, beside } = limit;
    let mean = mean_ns.map_or_else(String::new, |mean| format!(" (mean response time {mean})"));
    let quick = beside.as_ref().map_or_else(String::new, |quick| {
        format!(
            "; {}, beside it, took {} on average: it does not pass what is limited",
            quick.path, quick.mean_ns
        )
    });
    let text = format!(
        "{path} {}{mean}, {} to {} in each of {} intervals, whether {} waited or {}: a rate limit has such figures, or a fixed number of workers that take as long each{quick}",
        per_second(rate.per_s),
        per_second(rate.least_per_s),
        per_second(rate.most_per_s),
        grouped(rate.intervals),
        grouped(*least_open),
        grouped(*most_open),
    );
    page.paragraph("limited", &text);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Nanoseconds, QuickSeries, SteadyRate};

    #[test]
    fn a_limit_is_told_with_its_figures() {
        let limit = RateLimit {
            path: "gate/cold".to_owned(),
            rate: SteadyRate { per_s: 29.2, least_per_s: 29.0, most_per_s: 30.0, intervals: 26 },
            least_open: 60,
            most_open: 812,
            mean_ns: Some(Nanoseconds::At(13_000_000_000)),
            beside: Some(QuickSeries { path: "gate/hot".to_owned(), mean_ns: Nanoseconds::At(2_100_000) }),
        };
        let mut page = Page::default();
        render(&mut page, &limit);
        let text = page.into_string();
        assert!(text.lines().all(|line| line.len() <= 80), "{text}");
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(
            words,
            "limited gate/cold 29.2/s (mean response time 13.0s), 29/s to 30/s in each of 26 intervals, whether 60 waited or 812: a rate limit has such figures, or a fixed number of workers that take as long each; gate/hot, beside it, took 2.10ms on average: it does not pass what is limited"
        );
    }
}
