use serde_json::json;

use super::*;
use crate::fixture::{disaster, quickstart, report_of};

fn run(events: &[hammer_measure::RunEvent], round: u64) -> SummaryRun {
    let labels = BTreeMap::from([("round".to_owned(), json!(round)), ("users".to_owned(), json!(2 * round))]);
    let hooks = vec![HookOutput { name: "commit".to_owned(), output: json!("a1b2c3") }];
    SummaryRun::of(&report_of(events), labels, hooks)
}

#[test]
fn runs_stand_side_by_side() {
    let summary = Summary::of(vec![run(&quickstart(), 1), run(&disaster(), 2)]);
    assert_eq!(summary.exit_code, 4);
    insta::assert_snapshot!(summary.render());
}

#[test]
fn a_summary_comes_back_from_its_json_whole() {
    let summary = Summary::of(vec![run(&quickstart(), 1), run(&disaster(), 2)]);
    let text = serde_json::to_string(&summary).unwrap();
    assert_eq!(serde_json::from_str::<Summary>(&text).unwrap(), summary);
}

#[test]
fn every_run_passed_is_exit_zero() {
    assert_eq!(Summary::of(vec![run(&quickstart(), 1)]).exit_code, 0);
}
