//! A protocol that the shipped binary does not know is handed to the registry in one line; its plan is read, run, audited and
//! reported like any other.

mod notary;

use std::fs;
use std::path::{Path, PathBuf};

use hammer_report::report::{Durations, PhaseFigures, PromiseCounts, Series};
use hammer_report::{ExitCode, ReasonKind, Report};

use super::registry::Registry;
use crate::args::OutputArgs;
use crate::command::run::of_plan;
use crate::plan::Plan;
use crate::plan::read::{self, SourcedPlan};

use notary::Notary;
use notary::server::{NotaryLie, NotaryServer};

/// A plan of 60 acts and 20 inquiries, and of four more that get no answer. What is answered has a time that no machine needs.
fn plan(server: &NotaryServer) -> String {
    format!(
        "\
seed: 5
target:
  services:
    notary: {{ notary: {{ url: \"http://{}\", key: \"{}\" }} }}
workloads:
  - name: office
    notary: {{ notarize: 3, inquire: 1 }}
    load: {{ users: 4, operations: 80 }}
    timeout: 60s
  - name: silence
    notary: {{ notarize: 0, inquire: 1, unanswered: true }}
    load: {{ users: 2, operations: 4 }}
    timeout: 1s
    thresholds: [ count(timed_out) > 0 ]
",
        server.address, server.key
    )
}

/// Reads and carries out a plan with the notary in the registry.
fn run(plan: &str) -> Report {
    let registry = Registry::shipped().with(&Notary);
    let folder = tempfile::tempdir().unwrap();
    let (path, out) = (folder.path().join("plan.yaml"), folder.path().join("report.json"));
    fs::write(&path, plan).unwrap();
    let plan: SourcedPlan<Plan> = read::file(&path, &[], registry.grammar()).unwrap();
    of_plan(&plan, &quiet(out.clone()), &registry).unwrap();
    serde_json::from_str(&fs::read_to_string(out).unwrap()).unwrap()
}

fn quiet(out: PathBuf) -> OutputArgs {
    OutputArgs { out: Some(out), quiet: true, ..OutputArgs::default() }
}

/// The exit code but for the generator's own lateness, which depends on the machine.
fn exit_if_on_time(report: &Report) -> u8 {
    let reasons = report.verdict.reasons.iter().map(|reason| reason.reason);
    ExitCode::of(reasons.filter(|reason| *reason != ReasonKind::NotBelievable)).number()
}

fn series<'a>(report: &'a Report, path: &str) -> &'a PhaseFigures {
    let found = report.series.iter().find(|series: &&Series| series.path == path);
    &found.unwrap_or_else(|| panic!("no series {path}")).measurement
}

fn receipts(report: &Report) -> &PromiseCounts {
    &report.promises.by_kind.iter().find(|kind| kind.kind == "receipt").unwrap().promises
}

/// Milliseconds on average, and of how many.
fn mean(durations: Option<&Durations>) -> (f64, u64) {
    durations.map_or((0.0, 0), |durations| (durations.mean_ns.least() as f64 / 1e6, durations.count))
}

#[test]
fn a_protocol_that_nobody_shipped_is_run_audited_and_reported() {
    let server = NotaryServer::start(None);
    let report = run(&plan(&server));
    assert_eq!(exit_if_on_time(&report), 0, "{:?}", report.verdict);
    let [acts, tokens, nonces, unanswered] = server.counts();
    assert_eq!((acts, nonces, unanswered), (60, 60, 4));
    assert_eq!(tokens, 4 + 2, "each user fetched one as it entered");

    let ended = |path: &str| {
        let fates = &series(&report, path).counts.fates;
        (fates.accepted, fates.timed_out)
    };
    assert_eq!((ended("office/notarize/flow"), ended("office/inquire/flow")), ((60, 0), (20, 0)));
    assert_eq!((ended("office/notarize/nonce"), ended("office/notarize/submit")), ((60, 0), (60, 0)));
    assert_eq!(ended("silence/inquire/act"), (0, 4), "the step that hangs has its samples");
    let hung = mean(series(&report, "silence/inquire/act").durations.response_time.as_ref());
    assert!(hung.1 == 4 && hung.0 >= 1_000.0, "each as long as its deadline: {hung:?}");

    let kind = receipts(&report);
    assert_eq!((kind.made, kind.kept, kind.broken), (60, 60, 0));
    let headline = &report.headlines[0];
    assert_eq!((headline.label.as_str(), headline.last), ("notarized", 60.0));
}

#[test]
fn the_durations_of_its_flows_add_up() {
    let report = run(&plan(&NotaryServer::start(None)));
    for path in ["office/notarize/flow", "office/inquire/flow", "silence/inquire/flow"] {
        let durations = &series(&report, path).durations;
        let parts = [
            &durations.dispatch_lag,
            &durations.backlog_wait,
            &durations.connection_wait,
            &durations.service_time,
            &durations.client_time,
        ];
        let (whole, count) = mean(durations.response_time.as_ref());
        let sum: f64 = parts.iter().map(|part| mean(part.as_ref())).map(|(mean, of)| mean * of as f64).sum();
        // A histogram keeps three digits of each.
        assert!((sum / count as f64 - whole).abs() < whole * 0.005, "{path}: {sum} / {count}, {whole}");
    }
    let client = mean(series(&report, "office/notarize/flow").durations.client_time.as_ref());
    assert!(client.1 == 60 && client.0 > 0.0, "what is signed in mid-flow is client time: {client:?}");
}

#[test]
fn its_lies_are_told_in_its_own_kinds() {
    for (lie, kind) in [(NotaryLie::Loses, "lost-leaf"), (NotaryLie::SignsAnother, "bad-receipt")] {
        let report = run(&plan(&NotaryServer::start(Some(lie))));
        let found: Vec<&str> = report.breaches.iter().map(|breach| breach.kind.as_str()).collect();
        assert_eq!((found, exit_if_on_time(&report)), (vec![kind], 4), "{lie:?}");
        assert_eq!(receipts(&report).broken, 1, "{lie:?}");
    }
}

#[test]
fn what_ends_the_run_is_an_observation_that_the_protocol_names() {
    let server = NotaryServer::start(None);
    let plan = plan(&server).replace("operations: 80", "think: 10ms") + "stop: { notarized: 20 }\n";
    let report = run(&plan);
    assert_eq!(exit_if_on_time(&report), 0, "{:?}", report.verdict);
    assert!(report.run.stopped.contains("tree_size reached 20"), "{}", report.run.stopped);
}

#[test]
fn the_shipped_registry_does_not_know_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plan.yaml");
    fs::write(&path, plan(&NotaryServer::start(None))).unwrap();
    let refused = read::file::<Plan>(&path, &[], Registry::shipped().grammar()).unwrap_err().to_string();
    assert!(refused.contains("unknown key `notary`"), "{refused}");
}

#[test]
fn nothing_of_it_names_certificate_transparency() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/protocol/tests");
    let files = [folder.join("notary.rs")].into_iter();
    let files = files.chain(fs::read_dir(folder.join("notary")).unwrap().map(|file| file.unwrap().path()));
    let files: Vec<PathBuf> = files.collect();
    assert!(files.len() > 4, "{files:?}");
    for file in files {
        let source = fs::read_to_string(&file).unwrap();
        let names = ["hammer_ct", "::ct", "hammer_http"].map(|name| source.contains(name));
        assert_eq!(names, [false; 3], "{}", file.display());
    }
}
