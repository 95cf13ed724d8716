//! Logs that are odd and honest: nothing of what they do is told as broken, and all that they promise is found.

#[expect(dead_code, reason = "other tests run commands that no log is given to")]
#[path = "support/hammer.rs"]
mod hammer;
#[expect(dead_code, reason = "other tests have logs that live by the machine's clock")]
#[path = "support/log.rs"]
mod log;
#[path = "support/on_time.rs"]
mod on_time;
#[path = "support/shifted_clock.rs"]
mod shifted_clock;

use hammer_lab::{CtLabPlan, FaultScript};
use hammer_report::Report;
use hammer_values::TimeSpan;

use log::{FLAVOURS, Log};
use on_time::exit_if_on_time;
use shifted_clock::ShiftedClock;

/// All that was promised was found, and nothing else was told.
fn is_believed(report: &Report) {
    let promises = &report.promises.all;
    assert!(promises.made >= 100 && promises.kept == promises.made, "{promises:?} {:?}", report.breaches);
    assert!(report.breaches.is_empty(), "{:?}", report.breaches);
    assert_eq!(exit_if_on_time(&report.verdict), 0, "{:?}", report.verdict);
}

#[test]
fn a_log_whose_clock_is_behind_by_more_than_its_merge_delay_is_not_late() {
    for flavour in FLAVOURS {
        // Answers come before publication, so that heads are fetched that do not cover what was promised.
        let delay = Some(TimeSpan::from_millis(700));
        let faults = FaultScript { publication_delay: delay, ..FaultScript::default() };
        let plan = CtLabPlan { flavour, enable_publication_awaiter: false, faults, ..CtLabPlan::default() };
        let log = Log::by_clock(plan, ShiftedClock::ahead_by(-30_000));
        let load = ["-q", "100/s", "-z", "2s", "--mmd", "20s", "--out", "-"];
        is_believed(&log.hammer("submit", &load).report());
    }
}
