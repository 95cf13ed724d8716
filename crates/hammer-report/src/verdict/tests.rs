use proptest::prelude::*;

use super::*;

/// As `ARCHITECTURE.md` and the manual have them: the first that holds takes the exit code.
const DOCUMENTED: [(ReasonKind, u8); 8] = [
    (ReasonKind::Usage, 2),
    (ReasonKind::NoAnswer, 3),
    (ReasonKind::PromiseBroken, 4),
    (ReasonKind::NotBelievable, 5),
    (ReasonKind::ThresholdFailed, 1),
    (ReasonKind::NothingAccepted, 1),
    (ReasonKind::ReportUnwritten, 6),
    (ReasonKind::Interrupted, 130),
];

fn reasons(kinds: &[ReasonKind]) -> Vec<Reason> {
    kinds.iter().map(|kind| Reason::new(*kind, format!("{kind:?}"))).collect()
}

#[test]
fn the_codes_stand_in_the_documented_order() {
    assert_eq!(ReasonKind::ALL, DOCUMENTED.map(|(kind, _)| kind));
    assert_eq!(
        ReasonKind::ALL.map(|kind| ExitCode::Because(kind).number()),
        DOCUMENTED.map(|(_, code)| code)
    );
    assert!(ReasonKind::ALL.is_sorted());
}

#[test]
fn of_every_combination_the_first_in_the_documented_order_takes_the_exit_code() {
    for combination in 0..1_u32 << DOCUMENTED.len() {
        let holding = DOCUMENTED.iter().enumerate().filter(|(place, _)| combination & (1 << place) != 0);
        let holding: Vec<(ReasonKind, u8)> = holding.map(|(_, documented)| *documented).collect();
        let expected = holding.first().map_or(0, |(_, code)| *code);
        let kinds: Vec<ReasonKind> = holding.iter().map(|(kind, _)| *kind).collect();
        let backwards: Vec<ReasonKind> = kinds.iter().rev().copied().collect();
        for told in [&kinds, &backwards] {
            assert_eq!(ExitCode::of(told.iter().copied()).number(), expected, "{told:?}");
            let verdict = Verdict::of(reasons(told));
            assert_eq!(verdict.exit_code, expected, "{told:?}");
            assert_eq!(verdict.reasons, reasons(&kinds), "all are listed, in the documented order");
        }
    }
}

#[test]
fn the_first_line_says_pass_fail_or_interrupted_with_the_code_and_whether_anything_was_expected() {
    let unexpecting = "no expectation, exit 0: the plan has no threshold, and no answer was verified";
    assert_eq!(Verdict::of(Vec::new()).to_string(), unexpecting);
    assert_eq!(Verdict::default().to_string(), unexpecting);
    let mut expecting = Verdict::default();
    expecting.expect();
    assert_eq!(expecting.to_string(), "PASS, exit 0");
    for (kind, code) in DOCUMENTED {
        let word = if kind == ReasonKind::Interrupted { "INTERRUPTED" } else { "FAIL" };
        let verdict = Verdict::of(vec![Reason::new(kind, "it happened")]);
        assert_eq!(verdict.to_string(), format!("{word}, exit {code}: it happened"));
        let mut expecting = verdict.clone();
        expecting.expect();
        assert_eq!(expecting, verdict, "an expectation takes nothing back");
        assert_eq!(verdict.reasons[0].exit_code, code);
    }
}

#[test]
fn the_first_reason_in_order_takes_the_exit_code_and_all_are_listed() {
    let mut verdict = Verdict::of(vec![
        Reason::new(ReasonKind::Interrupted, "a signal ended the run"),
        Reason::new(ReasonKind::ThresholdFailed, "1 of 2 thresholds failed"),
    ]);
    assert_eq!(verdict.exit_code, 1);
    verdict.add(Reason::new(ReasonKind::PromiseBroken, "3 promises were broken"));
    assert_eq!(verdict.exit_code, 4);
    assert_eq!(
        verdict.to_string(),
        "FAIL, exit 4: 3 promises were broken; 1 of 2 thresholds failed; a signal ended the run"
    );
}

#[test]
fn a_verdict_is_written_with_the_names_of_its_reasons() {
    let verdict = Verdict::of(reasons(&ReasonKind::ALL));
    let json = serde_json::to_value(&verdict).unwrap();
    assert_eq!(json["standing"], "failed");
    let names: Vec<&str> =
        json["reasons"].as_array().unwrap().iter().map(|r| r["reason"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        [
            "usage",
            "no_answer",
            "promise_broken",
            "not_believable",
            "threshold_failed",
            "nothing_accepted",
            "report_unwritten",
            "interrupted"
        ]
    );
    assert_eq!(serde_json::from_value::<Verdict>(json).unwrap(), verdict);
}

proptest! {
    #[test]
    fn a_reason_that_comes_later_stands_where_it_belongs(
        kinds in prop::collection::vec(prop::sample::select(ReasonKind::ALL.to_vec()), 0..10),
    ) {
        let mut grown = Verdict::default();
        reasons(&kinds).into_iter().for_each(|reason| grown.add(reason));
        prop_assert_eq!(&grown, &Verdict::of(reasons(&kinds)));
        prop_assert!(grown.reasons.is_sorted_by_key(|reason| reason.reason));
        prop_assert_eq!(grown.reasons.len(), kinds.len(), "none replaces another of its kind");
    }
}
