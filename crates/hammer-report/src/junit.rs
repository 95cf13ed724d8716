//! A report as JUnit's XML, which CI shows: what was asked of the run and what it promised are its test cases.

use hammer_measure::shown_lines;
use quick_junit::{NonSuccessKind, Report as Document, SerializeError, TestCase, TestCaseStatus, TestSuite};

use crate::report::{Breach, KindPromises, Report, Threshold};
use crate::verdict::ReasonKind;

/// The document: a suite of all that can be said against a run, one of the thresholds, and one of the kinds of promises.
///
/// # Errors
/// When it cannot be written.
pub fn document(report: &Report) -> Result<String, SerializeError> {
    let mut document = Document::new("hammer");
    document.add_test_suites([verdict(report), thresholds(report), promises(report)]);
    document.to_string()
}

fn verdict(report: &Report) -> TestSuite {
    let mut suite = TestSuite::new("verdict");
    for kind in ReasonKind::ALL {
        // What got no answer was not accepted either.
        let says = |reason: ReasonKind| {
            reason == kind || kind == ReasonKind::NothingAccepted && reason == ReasonKind::NoAnswer
        };
        let said = report.verdict.reasons.iter().filter(|reason| says(reason.reason));
        let said: Vec<&str> = said.map(|reason| reason.text.as_str()).collect();
        suite.add_test_case(case(name(kind), "verdict", said.first().copied(), &said.join("\n")));
    }
    suite
}

fn thresholds(report: &Report) -> TestSuite {
    let mut suite = TestSuite::new("thresholds");
    for Threshold { series, threshold, found, holds, .. } in &report.thresholds {
        let found = format!("found {found}");
        suite.add_test_case(case(threshold, series, (!holds).then_some(&*found), &found));
    }
    suite
}

fn promises(report: &Report) -> TestSuite {
    let mut suite = TestSuite::new("promises");
    for KindPromises { workload, kind, promises } in &report.promises.by_kind {
        let broken = format!("{} of {} broken", promises.broken, promises.made);
        let of_workload = report.breaches.iter().filter(|breach| breach.workload == *workload);
        let named: Vec<String> =
            of_workload.map(|Breach { kind, detail, .. }| format!("{kind}: {detail}")).collect();
        suite.add_test_case(case(
            kind,
            workload,
            (promises.broken > 0).then_some(&*broken),
            // Breaches are named by what was found, and not by what was promised.
            &format!("the first broken promises of {workload}, of any kind:\n{}", named.join("\n")),
        ));
    }
    suite
}

/// A case that failed where a message says so; details stand below it.
fn case(name: &str, class: &str, message: Option<&str>, details: &str) -> TestCase {
    let status = match message {
        None => TestCaseStatus::success(),
        Some(message) => {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            status.set_message(shown(message)).set_description(shown(details));
            status
        }
    };
    let mut case = TestCase::new(shown(name), status);
    case.set_classname(shown(class));
    case
}

/// Text as a terminal may have it, and XML, which has no character for these (XML 1.0 section 2.2).
fn shown(text: &str) -> String {
    shown_lines(text).replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
}

/// What holds where nothing of the kind is said.
const fn name(kind: ReasonKind) -> &'static str {
    match kind {
        ReasonKind::Usage => "the plan can be run",
        ReasonKind::NoAnswer => "the service answers",
        ReasonKind::PromiseBroken => "no promise is broken",
        ReasonKind::NotBelievable => "the figures can be believed",
        ReasonKind::ThresholdFailed => "no threshold failed",
        ReasonKind::NothingAccepted => "operations are accepted",
        ReasonKind::ReportUnwritten => "the report is written",
        ReasonKind::Interrupted => "the run came to its end",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_xml_has_no_character_for_is_replaced() {
        let mut suite = TestSuite::new("promises");
        suite.add_test_case(case("a\u{ffff}", "b\u{1}", Some("c\u{fffe}"), "d]]>\u{ffff}"));
        let mut document = Document::new("hammer");
        document.add_test_suite(suite);
        let text = document.to_string().unwrap();
        assert!(
            !text.contains(['\u{1}', '\u{fffe}', '\u{ffff}']) && text.matches('\u{fffd}').count() == 4,
            "{text}"
        );
    }
}
