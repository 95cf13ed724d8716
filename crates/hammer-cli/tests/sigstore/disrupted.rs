//! What goes wrong with servers goes wrong on the embedded ones as well, by plans: the report names the gap, what became of flows meanwhile,
//! when all was as before and what happened beside it; and each entry that was accepted is still provable after.

use std::collections::BTreeSet;
use std::fs;

use hammer_report::Report;
use hammer_report::report::{Disruption, DisruptionKind, Fates, Series};

use crate::hammer::{Ended, Started, command, hammer};
use crate::on_time::exit_if_on_time;

/// What failures end as, and why; none where all only took longer.
type Failed = Option<(fn(&Fates) -> u64, &'static str)>;

/// What is expected of a plan.
struct Expected {
    kind: DisruptionKind,
    failed: Failed,
    /// What stands beside the disruption.
    beside: &'static str,
    /// Whether it ended before measurement did.
    ends: bool,
}

struct Came {
    ended: Ended,
    report: Report,
}

fn path(name: &str) -> String {
    format!("{FOLDER}/{name}.yaml")
}

fn run(name: &str) -> Came {
    let folder = tempfile::tempdir().unwrap();
    let mut run = command(&["run", &path(name), "--out", "-", "--detail"]);
    run.current_dir(folder.path());
    let ended = Started::of(run).ended();
    Came { report: ended.report(), ended }
}

impl Came {
    /// Whether the text has these words, however it is broken into lines.
    fn says(&self, words: &str) -> bool {
        self.ended.stderr.split_whitespace().collect::<Vec<_>>().join(" ").contains(words)
    }

    fn series(&self, path: &str) -> &Series {
        let mut series = self.report.series.iter();
        series.find(|series| series.path == path).unwrap_or_else(|| panic!("no series {path}"))
    }

    /// The disruption of a series of flows by the fault of the plan, as `expected`: warm-up is a second, and the fault comes at six. What a
    /// machine that stood still did to the run before that is another one.
    #[track_caller]
    fn disrupted(&self, path: &str, expected: &Expected) -> &Disruption {
        let Expected { kind, failed, beside, ends } = expected;
        let all = &self.report.disruptions;
        let of_fault =
            |one: &&Disruption| (&*one.path, one.kind) == (path, *kind) && one.from_ns >= 4_500_000_000;
        let first = all.iter().find(of_fault).unwrap_or_else(|| panic!("{all:?} {}", self.ended.stderr));
        assert_eq!((first.to_ns.is_some(), first.recovered_ns.is_some()), (*ends, *ends), "{first:?}");
        assert!(first.before.is_some_and(|before| before.accepted_per_s > 10.0), "{first:?}");
        if !beside.is_empty() {
            let told = serde_json::to_string(&first.beside).unwrap();
            assert!(told.contains(beside), "{told}");
            assert!(self.says(beside), "{}", self.ended.stderr);
        }
        let figures = &self.series(path).measurement;
        match failed {
            Some((fate, cause)) => {
                assert!(fate(&first.fates) > 0, "{first:?}");
                let causes: BTreeSet<&str> = figures.causes.iter().map(|one| one.cause.as_str()).collect();
                assert!(causes.contains(cause), "{causes:?}");
                let fates = &self.series(path).measurement.counts.fates;
                assert_eq!(fates.failed(), fate(fates), "they end in one way: {fates:?}");
            }
            None => {
                let counts = &figures.counts;
                assert_eq!(counts.fates.accepted, counts.offered, "nothing fails: {counts:?}");
            }
        }
        first
    }

    /// No promise is broken, none is left open, and each entry of Rekor v1 that was accepted is found again.
    #[track_caller]
    fn still_provable(&self) {
        let promises = &self.report.promises.all;
        assert_eq!(
            promises.made, promises.kept,
            "{promises:?} {:?} {}",
            self.report.breaches, self.ended.stderr
        );
        assert_eq!(exit_if_on_time(&self.report.verdict), 0, "{:?}", self.report.verdict);
        let Some(entries) = self.report.series.iter().find(|series| series.path == "sign/rekor") else {
            return;
        };
        let accepted = entries.warm_up.counts.fates.accepted + entries.measurement.counts.fates.accepted;
        let seen = self.report.observations.iter().find(|seen| seen.name.ends_with("entries_read_back"));
        assert_eq!(seen.map(|seen| seen.last.value), Some(accepted as f64), "{}", self.ended.stderr);
    }
}

const SERVER_ERROR: Failed = Some((|fates| fates.server_error, "HTTP 500"));

fn outage(failed: Failed, beside: &'static str) -> Expected {
    Expected { kind: DisruptionKind::Outage, failed, beside, ends: true }
}

fn slowdown(beside: &'static str) -> Expected {
    Expected { kind: DisruptionKind::Slowdown, failed: None, beside, ends: true }
}

#[test]
fn rekor_without_its_log_server_says_500_until_that_is_back() {
    let came = run("log-server-killed");
    let gap = came.disrupted("sign/sign", &outage(SERVER_ERROR, "rekor: create-entry refused with 500"));
    let lasted = gap.to_ns.unwrap() - gap.from_ns;
    // Three seconds, the interval in which it began and the one in which it ended, and what a busy machine makes of them.
    assert!((2_000_000_000..=7_000_000_000).contains(&lasted), "{gap:?}");
    came.still_provable();
}

#[test]
fn rekor_without_its_database_says_500_to_readers_too() {
    let came = run("database-killed");
    came.disrupted("sign/sign", &outage(SERVER_ERROR, "rekor: all refused with 500"));
    came.still_provable();
}

#[test]
fn a_rekor_that_is_killed_is_unreachable_until_it_is_back_with_all_that_it_had() {
    let came = run("rekor-killed");
    let gap = came.report.disruptions.iter().find(|one| one.kind == DisruptionKind::Outage).unwrap();
    assert!(gap.fates.unreachable > 0 && gap.to_ns.is_some() && gap.recovered_ns.is_some(), "{gap:?}");
    let told = serde_json::to_string(&gap.beside).unwrap();
    assert!(told.contains("rekor: killed") && told.contains("rekor: up again"), "{told}");
    let fates = &came.series("sign/sign").measurement.counts.fates;
    assert_eq!(fates.failed(), fates.unreachable, "{fates:?}");
    came.still_provable();
}

#[test]
fn a_rekor_that_comes_back_empty_has_broken_its_word_and_is_told_so() {
    let came = run("rekor-killed-without-its-data");
    assert_eq!(came.report.verdict.exit_code, 4, "{}", came.ended.stderr);
    let kinds: BTreeSet<&str> = came.report.breaches.iter().map(|breach| breach.kind.as_str()).collect();
    let of_loss = ["shrinking-tree", "forked-checkpoint", "lost-entry"];
    assert!(!kinds.is_empty() && kinds.iter().all(|kind| of_loss.contains(kind)), "{kinds:?}");
    assert!(came.says("rekor: up again, without its data"), "{}", came.ended.stderr);
}

/// A slowdown in which nothing fails.
fn is_slow(name: &str, beside: &'static str) {
    let came = run(name);
    let gap = came.disrupted("sign/sign", &slowdown(beside));
    let [before, within] = [gap.before.unwrap(), gap.within].map(|pace| pace.p99_ns.unwrap().least());
    assert!(within > before * 2, "{name}: {gap:?}");
    came.still_provable();
}

#[test]
fn a_throttled_rekor_is_slow_and_nothing_fails() {
    is_slow("throttled", "rekor: create-entry working 5 % of the time");
}

#[test]
fn a_slow_trillian_is_slow_and_nothing_fails() {
    is_slow("slow-trillian", "rekor: create-entry slow");
}

#[test]
fn a_rekor_that_was_started_again_is_cold() {
    let came = run("cold");
    let fates = &came.series("sign/sign").measurement.counts.fates;
    assert_eq!(fates.failed(), fates.unreachable, "{fates:?}");
    let told = serde_json::to_string(&came.report.disruptions).unwrap();
    assert!(told.contains("rekor: up again"), "{told}");
    let disrupted = came.report.disruptions.iter().find(|one| one.path == "sign/sign").unwrap();
    let [before, within] =
        [disrupted.before.unwrap(), disrupted.within].map(|pace| pace.p99_ns.unwrap().least());
    assert!(within >= 600_000_000 && before < 600_000_000, "{disrupted:?}");
    assert!(disrupted.recovered_ns.is_some(), "{disrupted:?}");
    came.still_provable();
}

#[test]
fn above_their_rate_a_gateway_says_504_and_a_call_exceeds_its_deadline() {
    let came = run("above-a-rate");
    let gateway: Failed = Some((|fates| fates.server_error, "HTTP 504"));
    let call: Failed = Some((|fates| fates.timed_out, "DEADLINE_EXCEEDED"));
    came.disrupted("sign/sign", &outage(gateway, "rekor: create-entry refused with 504 above 5/s"));
    came.disrupted("tiles/sign", &outage(call, "rekor-tiles: create-entry refused with 504 above 5/s"));
    came.still_provable();
}

#[test]
fn a_quota_that_is_used_up_is_500_for_what_is_above_it() {
    let came = run("quota");
    came.disrupted("sign/sign", &outage(SERVER_ERROR, "rekor: create-entry refused with 500 above 5/s"));
    came.still_provable();
}

#[test]
fn a_full_storage_is_an_outage_without_an_end_and_what_it_holds_is_still_there() {
    let came = run("storage-full");
    let expected = Expected { kind: DisruptionKind::Outage, failed: SERVER_ERROR, beside: "", ends: false };
    came.disrupted("sign/sign", &expected);
    let entries = came.series("sign/rekor");
    let accepted = entries.warm_up.counts.fates.accepted + entries.measurement.counts.fates.accepted;
    assert_eq!(accepted, 120);
    came.still_provable();
}

#[test]
fn a_signer_that_stands_still_is_waited_for_until_flows_give_up() {
    let came = run("hanging");
    let hung: Failed = Some((|fates| fates.timed_out, "deadline of the operation"));
    came.disrupted("sign/sign", &outage(hung, "rekor: create-entry hanging"));
    came.still_provable();
}

#[test]
fn a_timestamp_authority_that_stalls_is_late_and_one_that_is_killed_unreachable() {
    let came = run("timestamps-stalled");
    came.disrupted("stamp/timestamp", &outage(None, "tsa: timestamp stalled"));
    came.still_provable();

    let came = run("timestamps-killed");
    let fates = &came.series("stamp/timestamp").measurement.counts.fates;
    assert!(fates.unreachable > 0 && fates.failed() == fates.unreachable, "{fates:?}");
    let gap = came.report.disruptions.iter().find(|one| one.kind == DisruptionKind::Outage).unwrap();
    assert!(gap.to_ns.is_some(), "{gap:?}");
    came.still_provable();
}

#[test]
fn every_plan_of_a_fault_is_valid_and_run_here() {
    let own =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/sigstore/disrupted.rs")).unwrap();
    for file in fs::read_dir(FOLDER).unwrap() {
        let path = file.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        assert!(own.contains(&format!("\"{name}\"")), "{name} is run by no test");
        let ended = hammer(&["plan", path.to_str().unwrap()]);
        assert_eq!(ended.code, 0, "{}", ended.stderr);
    }
}

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../configs/faults/sigstore");
