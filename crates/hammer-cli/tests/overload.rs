//! More load than the target can take: what it did take is what the rates say. Judged are identities and wide bounds, not how long
//! anything took: the machine may be slow. (The engine's own tests hold the capacity to 2 %, on a simulated clock.)

#[path = "support/folder.rs"]
mod folder;
#[path = "support/hammer.rs"]
mod hammer;

use folder::Folder;
use hammer::{Ended, hammer};

/// A target of 500 answers a second, and twice as much load.
const PLAN: &str = "\
target:
  lab:
    http:
      faults:
        rules: [{ workers: { count: 5, latency: { constant: 10ms } } }]
workloads:
  - name: web
    http: {}
    load: { rate: 1000/s }
    in_flight: 100
    timeout: 60s
phases:
  measurement: 1s
  drain: 60s
thresholds: [{ expect: \"rate(completed) > 900/s\" }]
";

fn run(changes: &[&str]) -> Ended {
    let folder = Folder::new();
    let plan = folder.write("plan.yaml", PLAN);
    let mut args = vec!["run", &plan, "--out", "-"];
    changes.iter().for_each(|change| args.extend(["--set", change]));
    hammer(&args)
}

/// What ends in drain is in no rate, and no threshold holds by it.
#[test]
fn drain_adds_nothing_to_the_rate_of_a_target_that_falls_behind() {
    for warm_up in [None, Some("phases.warm_up=500ms")] {
        let ended = run(warm_up.as_slice());
        let report = ended.report();
        let series = &report.series[0];
        let (rates, ended) = (series.measurement.rates.unwrap(), series.measurement.ended);
        assert!(rates.completed_per_s < 0.75 * rates.offered_per_s, "{rates:?}");
        let counted = rates.completed_per_s * report.run.measured_seconds;
        assert!((counted - ended.completed as f64).abs() < 0.001, "{counted} of {ended:?}");
        let (completed, late) = (report.totals.all.completed, series.in_drain.completed);
        assert!(late > completed / 5, "{late} of {completed}");
        let note = &series.notes[0];
        assert!(note.ends_with("ended in drain, after the measured time; they are in no rate"), "{note}");
        assert!(report.thresholds.iter().all(|threshold| !threshold.holds), "{:?}", report.thresholds);
    }
}

#[test]
fn a_backlog_that_grew_all_through_is_a_sentence() {
    // Half a second without growth would take a generator that stands still for as long.
    let report = run(&["phases.measurement=4s", "interval=500ms"]).report();
    let series = &report.series[0];
    let grew =
        series.notes.iter().find(|note| note.starts_with("waiting and under way grew all through, by "));
    let grew = grew.unwrap_or_else(|| panic!("{:?}", series.notes));
    assert!(grew.ends_with("/s of the 1,000/s offered"), "{grew}");
    let text = hammer_report::text::render(&report);
    assert!(text.contains("  note     waiting and under way grew all"), "{text}");
}

/// The last answers come eight seconds later: none of that time is the load's.
#[test]
fn a_number_of_arrivals_is_measured_until_the_last_of_them_and_not_until_its_answer() {
    let slow = "target.lab.http.faults.rules=[{ latency: { constant: 8s } }]";
    let few = "workloads.web.load={ rate: 100/s, operations: 20 }";
    let report = run(&[slow, few, "phases={ drain: 60s }", "thresholds=[]"]).report();
    assert_eq!((report.totals.all.fates.accepted, report.totals.all.offered), (20, 20));
    let series = &report.series[0];
    assert_eq!((series.measurement.ended.completed, series.in_drain.completed), (0, 20));
    assert_eq!(report.run.stopped, "as planned");
}
