//! What each group of a workload's users did, as text.

use hammer_measure::Nanos;

use crate::report::groups::{GroupFigures, WorkloadGroups};

use super::number::grouped;
use super::page::Page;

pub(super) fn render(page: &mut Page, workload: &WorkloadGroups) {
    let counts: Vec<String> = workload.groups.iter().map(|group| grouped(group.operations)).collect();
    let (all, sum) = (grouped(workload.all.operations), counts.join(" + "));
    let text = format!("{} by group of users: {all} operations ({sum}), drain included", workload.workload);
    page.paragraph("groups", &text);
    page.line(&row("group", &["operations", "accepted", "failed", "mean", "max"].map(str::to_owned)));
    for (number, group) in (1..).zip(&workload.groups) {
        page.line(&row(&format!("{number}"), &cells(group)));
    }
    page.line(&row("all", &cells(&workload.all)));
}

fn cells(of: &GroupFigures) -> [String; 5] {
    let time = |nanos: Option<u64>| nanos.map_or_else(|| "-".to_owned(), |nanos| Nanos(nanos).to_string());
    [grouped(of.operations), grouped(of.accepted), grouped(of.failed), time(of.mean_ns), time(of.max_ns)]
}

fn row(name: &str, cells: &[String; 5]) -> String {
    let mut line = format!("  {name:<8}");
    cells.iter().for_each(|cell| line.push_str(&format!("{cell:>12}")));
    line
}

#[cfg(test)]
mod tests {
    use hammer_measure::recorder::UserGroup;
    use hammer_measure::{Outcome, Phase, SeriesInfo, Timing};

    use super::*;
    use crate::fixture::{Story, operation, report_of};

    #[test]
    fn groups_have_their_counters_and_their_sum_which_is_that_of_the_series() {
        let closed = |name: &str| SeriesInfo { closed_loop: true, ..operation("sign", name) };
        let mut story = Story::new(vec![closed("cades"), closed("pades")]);
        for (series, count) in [(0, 3), (1, 2)] {
            story.accept(series, Phase::Measurement, count, Nanos::from_millis(20));
        }
        let ends = [(0, 20, Outcome::Accepted), (0, 60, Outcome::TimedOut), (2, 20, Outcome::Accepted)];
        for (place, took, outcome) in ends.into_iter().chain([(2, 40, Outcome::Accepted); 2]) {
            let due = Nanos::from_millis(100);
            let done = due + Nanos::from_millis(took);
            let timing = Timing::new(due, due).started(due).finished(due, done);
            story.ended_in_group(0, Phase::Measurement, UserGroup { place, of: 3 }, &timing, outcome);
        }
        story.interval(Phase::Measurement);
        let mut report = report_of(&story.finish(|_| {}));
        assert_eq!(report.check(), Vec::<String>::new());
        let mut page = Page::default();
        render(&mut page, &report.groups[0]);
        let expected = "\
groups     sign by group of users: 5 operations (2 + 0 + 3), drain included
  group     operations    accepted      failed        mean         max
  1                  2           1           1      40.0ms      60.0ms
  2                  0           0           0           -           -
  3                  3           3           0      33.3ms      40.0ms
  all                5           4           1      36.0ms      60.0ms
";
        let text = page.into_string();
        assert_eq!(text, expected, "{text}");
        assert_eq!(report.groups[0].all.max_at_ns, Some(160_000_000));
        report.groups[0].groups[1].operations = 1;
        assert_eq!(report.check(), ["sign: 5 completed, but 6 of its groups"]);
    }
}
