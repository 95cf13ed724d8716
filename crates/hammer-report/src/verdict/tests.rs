use super::*;

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
fn nothing_said_against_a_run_is_exit_zero() {
    assert_eq!(Verdict::of(Vec::new()).exit_code, 0);
    assert_eq!(Verdict::default().to_string(), "PASS, exit 0");
}

#[test]
fn the_codes_stand_in_the_documented_order() {
    assert_eq!(ReasonKind::ALL.map(ReasonKind::exit_code), [2, 3, 4, 5, 1, 6, 130]);
    assert!(ReasonKind::ALL.is_sorted());
}
