//! The requests of a run as another tool counts them, as text.

use crate::report::{JobRequests, RequestAccounting};

use super::number::{grouped, per_second};
use super::page::Page;

pub(super) fn render(page: &mut Page, accounting: &RequestAccounting) {
    let whose = &accounting.compat;
    page.paragraph("compat", &format!("as {whose} counts, running means since the start, ramps included"));
    for job in &accounting.jobs {
        page.paragraph("", &format!("  {}", words(job)));
    }
}

fn words(job: &JobRequests) -> String {
    let flows = job.operations_per_s;
    let flows =
        flows.map_or_else(|| "no flow measured".to_owned(), |rate| format!("{} flows", per_second(rate)));
    let mean =
        job.mean_requests_per_s.map(|mean| format!(" ({} on average over measurement)", per_second(mean)));
    let p95 = job.p95_ns.map(|p95| format!(", p95 {p95}"));
    let not_sent = match job.not_sent {
        0 => String::new(),
        count => format!(
            "; {} of {} requests are its helper's, counted and not sent",
            grouped(count),
            grouped(job.requests)
        ),
    };
    format!(
        "{}: http_reqs {}{}{}{not_sent}; hammer's own: {flows}",
        job.job,
        per_second(job.requests_per_s),
        mean.unwrap_or_default(),
        p95.unwrap_or_default(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Nanoseconds;

    #[test]
    fn both_accountings_stand_side_by_side_and_say_whose_they_are() {
        let signing = JobRequests {
            job: "signing".to_owned(),
            operations_per_s: Some(42.4),
            requests: 76_320,
            not_sent: 15_264,
            requests_per_s: 212.0,
            mean_requests_per_s: Some(203.4),
            p95_ns: Some(Nanoseconds::At(250_000_000)),
        };
        let verifying = JobRequests {
            job: "verifying".to_owned(),
            operations_per_s: None,
            requests: 0,
            not_sent: 0,
            requests_per_s: 0.0,
            mean_requests_per_s: None,
            p95_ns: None,
        };
        let mut page = Page::default();
        let jobs = vec![signing, verifying];
        render(&mut page, &RequestAccounting { compat: "rhtas-benchmark".to_owned(), jobs });
        let text = page.into_string();
        assert!(text.lines().all(|line| line.len() <= 80), "{text}");
        insta::assert_snapshot!(text);
    }
}
