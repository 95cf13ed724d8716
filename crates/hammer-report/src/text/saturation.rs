//! What a server does once its CPU is used up, in sentences.

use hammer_measure::Nanos;

use crate::report::saturation::{SaturatedSpan, Saturation};

use super::number::{grouped, plural};
use super::page::Page;

pub(super) fn render(page: &mut Page, of: &Saturation) {
    page.paragraph("saturated", &reached(of));
    if let Some(sized) = sized(of) {
        page.paragraph("  size", &sized);
    }
    if of.shares_cores == Some(true) {
        let text = format!(
            "hammer may run on the same cores, and used {:.2} cores itself: alone on them the server may do more",
            of.hammer_cores
        );
        page.paragraph("  beside", &text);
    }
}

/// Whether, and from when on, it was saturated, and what it did then.
fn reached(of: &Saturation) -> String {
    let Saturation { component, above, for_ns, .. } = of;
    let bound = format!("{} of its {}", percent(*above), cores(of.cores));
    let Some(span) = of.reached else {
        let most = of.most_share.map_or_else(
            || format!("no {} of measurement were looked at", Nanos(*for_ns)),
            |most| format!("at most {} on average over {}", percent(most), Nanos(*for_ns)),
        );
        return format!(
            "no: the CPU of {component} was not above {bound} at every look of {}: {most}. What it can do is not known from this run: more users, or a higher rate, would show it",
            Nanos(*for_ns)
        );
    };
    let SaturatedSpan { from_ns, users, operations, seconds, mean_cores, .. } = span;
    let whom = users.map_or_else(String::new, |users| format!(", from {} on", plural(users, "user")));
    let mut text = format!("the CPU of {component} was above {bound} from {}{whom}", Nanos(from_ns));
    if let (Some(rate), Some(of_core)) = (span.per_minute, span.per_minute_core) {
        let done = grouped(operations);
        text += &format!(
            ": {} operations a minute, {} a minute and core ({done} accepted in {seconds:.1} s, with {mean_cores:.2} cores in use)",
            rounded(rate),
            rounded(of_core)
        );
    }
    text
}

/// How many cores so many operations a minute take.
fn sized(of: &Saturation) -> Option<String> {
    let (wanted, needed) = (of.per_minute_wanted?, of.cores_needed?);
    let how = match of.reached.and_then(|span| span.per_minute_core) {
        Some(of_core) => format!("{} divided by {} a minute and core", grouped(wanted), rounded(of_core)),
        None => "by the CPU time of an operation over measurement, at less than full use: nobody saw it serve as many".to_owned(),
    };
    Some(format!("{needed:.1} cores for {} a minute ({how})", grouped(wanted)))
}

fn percent(share: f64) -> String {
    let hundredths = share * 100.0;
    if (hundredths - hundredths.round()).abs() < 0.05 {
        format!("{hundredths:.0} %")
    } else {
        format!("{hundredths:.1} %")
    }
}

fn cores(cores: f64) -> String {
    if cores.fract() == 0.0 { plural(cores as u64, "core") } else { format!("{cores:.2} cores") }
}

/// To a whole number, or a decimal where it is small.
fn rounded(rate: f64) -> String {
    if rate < 99.95 { format!("{rate:.1}") } else { grouped(rate.round() as u64) }
}

#[cfg(test)]
mod tests {
    use hammer_measure::Phase;

    use super::*;
    use crate::fixture::{Story, operation, report_of, step};

    fn of(reached: Option<SaturatedSpan>) -> Saturation {
        Saturation {
            component: "pki".to_owned(),
            cores: 2.0,
            above: 0.95,
            for_ns: 2_000_000_000,
            most_share: Some(0.621),
            shares_cores: Some(reached.is_none()),
            hammer_cores: 0.7,
            reached,
            per_minute_wanted: Some(10_000),
            cores_needed: None,
        }
    }

    fn told(of: &Saturation) -> Vec<String> {
        let mut page = Page::default();
        render(&mut page, of);
        let text = page.into_string();
        assert!(text.lines().all(|line| line.len() <= 80), "{text}");
        let mut paragraphs: Vec<String> = Vec::new();
        for line in text.lines() {
            match paragraphs.last_mut().filter(|_| line.starts_with("           ")) {
                Some(last) => *last += &format!(" {}", line.trim()),
                None => paragraphs.push(line.to_owned()),
            }
        }
        paragraphs
    }

    #[test]
    fn a_server_that_was_saturated_is_told_with_what_it_did_and_how_that_was_computed() {
        let mut story = Story::new(vec![operation("sign", "cades"), step("sign", "start")]);
        for (operations, steps) in [(90, 400), (100, 500), (110, 600), (10, 10)] {
            story.accept(0, Phase::Measurement, operations, Nanos(20));
            story.accept(1, Phase::Measurement, steps, Nanos(20));
            story.interval(Phase::Measurement);
        }
        let report = report_of(&story.finish(|_| {}));
        let ends: Vec<u64> = report.intervals.iter().map(|interval| interval.at_ns).collect();
        // From a little behind the end of the first interval to a little behind that of the third.
        let span = (ends[0] + 200_000_000, ends[2] + 200_000_000);
        let reached = SaturatedSpan::new(span, 3.92, Some(12), (&report.intervals, &report.series));
        assert_eq!((reached.operations, reached.seconds, reached.mean_cores), (210, 2.0, 1.96));
        let saturation = of(Some(reached)).sized(Some(1));
        assert_eq!(
            told(&saturation),
            [
                "saturated  the CPU of pki was above 95 % of its 2 cores from 1.20s, from 12 users on: 6,300 operations a minute, 3,214 a minute and core (210 accepted in 2.0 s, with 1.96 cores in use)",
                "  size     3.1 cores for 10,000 a minute (10,000 divided by 3,214 a minute and core)",
            ]
        );
    }

    #[test]
    fn a_server_that_was_not_is_told_with_how_far_it_came_and_what_stood_beside_it() {
        // 12 ms of CPU an operation: 5,000 a minute and core.
        assert_eq!(
            told(&of(None).sized(Some(12_000_000))),
            [
                "saturated  no: the CPU of pki was not above 95 % of its 2 cores at every look of 2.00s: at most 62.1 % on average over 2.00s. What it can do is not known from this run: more users, or a higher rate, would show it",
                "  size     2.0 cores for 10,000 a minute (by the CPU time of an operation over measurement, at less than full use: nobody saw it serve as many)",
                "  beside   hammer may run on the same cores, and used 0.70 cores itself: alone on them the server may do more",
            ]
        );
        let unseen = Saturation { most_share: None, shares_cores: None, ..of(None) }.sized(None);
        let [told] = told(&unseen).try_into().unwrap();
        let told: String = told;
        assert!(told.contains("at every look of 2.00s: no 2.00s of measurement were looked at."), "{told}");
    }
}
