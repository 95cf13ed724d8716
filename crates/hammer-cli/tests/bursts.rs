//! Failures that come and go, as reports tell them.

#[path = "support/folder.rs"]
mod folder;
#[path = "support/hammer.rs"]
mod hammer;

use hammer_report::report::BurstKind;

use folder::Folder;
use hammer::hammer;

/// Half of all requests fail in two windows of half a second, and one in fifty all the time.
#[test]
fn two_windows_of_failures_are_two_bursts_and_what_fails_evenly_is_none() {
    let folder = Folder::new();
    let plan = folder.write(
        "plan.yaml",
        "\
target:
  lab:
    http:
      faults:
        rules:
          - refuse: { share: 0.02, status: 404 }
          - { at: 1500ms, duration: 500ms, refuse: { share: 0.5, status: 500 } }
          - { at: 3s, duration: 500ms, refuse: { share: 0.5, status: 502 } }
workloads:
  - name: web
    http: {}
    load: { rate: 400/s }
phases: { measurement: 4s }
interval: 100ms
",
    );
    let ended = hammer(&["run", &plan, "--out", "-"]);
    let report = ended.report();
    let failing: Vec<_> = report.bursts.iter().filter(|burst| burst.kind == BurstKind::Failures).collect();
    let [first, second] = &failing[..] else { panic!("{:?}", report.bursts) };
    for (burst, at, cause) in [(first, 1_500, "HTTP 500"), (second, 3_000, "HTTP 502")] {
        let (from, to) = (burst.from_ns / 1_000_000, burst.to_ns.unwrap() / 1_000_000);
        // The target counts from before the run's start, and an interval may end later than it should.
        assert!(from.abs_diff(at) <= 300 && to.abs_diff(at + 500) <= 300, "{from} to {to}");
        assert_eq!((burst.path.as_str(), burst.causes[0].cause.as_str()), ("web/get", cause));
        assert!(burst.failed > 50 && burst.failed_per_s > 5.0 * burst.usual_failed_per_s, "{burst:?}");
        assert!(burst.usual_failed_per_s > 0.0, "{burst:?}");
    }
    let told = ended.stderr.lines().filter(|line| line.starts_with("burst ")).count();
    assert_eq!(told, 2, "{}", ended.stderr);
}
