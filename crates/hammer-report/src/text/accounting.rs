//! The requests of a run as another tool counts them, as text.

use hammer_measure::Nanos;

use crate::report::{JobRequests, OperationCounters, RequestAccounting};

use super::number::{grouped, per_second};
use super::page::Page;

pub(super) fn render(page: &mut Page, accounting: &RequestAccounting) {
    let whose = &accounting.compat;
    if !accounting.jobs.is_empty() {
        page.paragraph(
            "compat",
            &format!("as {whose} counts, running means since the start, ramps included"),
        );
    }
    for job in &accounting.jobs {
        page.paragraph("", &format!("  {}", words(job)));
    }
    if !accounting.operations.is_empty() {
        page.paragraph(
            "compat",
            &format!(
                "as {whose} counts: operations that ended in measurement, durations with what ended in drain"
            ),
        );
    }
    for counters in &accounting.operations {
        page.paragraph("", &format!("  {}", counted(counters)));
        hidden(counters).iter().for_each(|text| page.paragraph("", &format!("  {text}")));
    }
}

fn counted(counters: &OperationCounters) -> String {
    let OperationCounters { job, operations, successes, errors, .. } = counters;
    let per_minute = counters.successes_per_minute.map(|rate| format!("; {} a minute", grouped(rate as u64)));
    let durations = counters.mean_ns.zip(counters.max_ns);
    let durations = durations.map(|(mean, max)| format!("; Avg duration {mean}, Max duration {max}"));
    let [operations, successes, errors] = [operations, successes, errors].map(|count| grouped(*count));
    format!(
        "{job}: Operations {operations}, Successes {successes}, Errors {errors}{}{}",
        per_minute.unwrap_or_default(),
        durations.unwrap_or_default()
    )
}

/// What such counters do not say of themselves.
fn hidden(counters: &OperationCounters) -> Vec<String> {
    let OperationCounters { job, .. } = counters;
    let alone = counters.successes_mean_ns.filter(|_| counters.errors > 0);
    let alone = alone.map(|mean| format!(", {mean} on average of the successes alone"));
    let times = counters.p50_ns.zip(counters.p99_ns);
    let times = times.map(|(p50, p99)| {
        format!("{job}, behind the average: p50 {p50}, p99 {p99}{}", alone.unwrap_or_default())
    });
    let users = counters.users_over_rate.map(|users| {
        format!(
            "{job}, where the average comes from: {} users divided by {} a minute are {}, whatever set that rate, as the average of a long run is",
            (users.users * 10.0).round() / 10.0,
            (users.completed_per_s * 600.0).round() / 10.0,
            Nanos(users.mean_cycle_ns)
        )
    });
    times.into_iter().chain(users).collect()
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
    use crate::report::series::UsersOverRate;

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
        render(
            &mut page,
            &RequestAccounting { compat: "rhtas-benchmark".to_owned(), jobs, operations: Vec::new() },
        );
        let text = page.into_string();
        assert!(text.lines().all(|line| line.len() <= 80), "{text}");
        insta::assert_snapshot!(text);
    }
    #[test]
    fn counters_of_whole_operations_stand_with_what_they_hide() {
        let users = UsersOverRate::new(10.0, 230.0 / 300.0);
        let cades = OperationCounters {
            job: "CAdES".to_owned(),
            operations: 230,
            successes: 229,
            errors: 1,
            successes_per_minute: Some(45.8),
            mean_ns: Some(Nanoseconds::At(12_930_000_000)),
            successes_mean_ns: Some(Nanoseconds::At(12_900_000_000)),
            max_ns: Some(Nanoseconds::At(42_260_000_000)),
            p50_ns: Some(Nanoseconds::At(11_000_000_000)),
            p99_ns: Some(Nanoseconds::At(40_000_000_000)),
            users_over_rate: users,
        };
        let none = OperationCounters {
            job: "Timestamp".to_owned(),
            operations: 0,
            successes: 0,
            errors: 0,
            successes_per_minute: Some(0.0),
            mean_ns: None,
            successes_mean_ns: None,
            max_ns: None,
            p50_ns: None,
            p99_ns: None,
            users_over_rate: None,
        };
        let mut page = Page::default();
        let operations = vec![cades, none];
        render(&mut page, &RequestAccounting { compat: "rest-pki".to_owned(), jobs: Vec::new(), operations });
        let text = page.into_string();
        assert!(text.lines().all(|line| line.len() <= 80), "{text}");
        insta::assert_snapshot!(text);
    }
}
