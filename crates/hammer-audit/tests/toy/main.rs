//! A protocol that this crate does not know has its log audited: signed notes and tiles by the names of C2SP tlog-tiles, entries and
//! leaves of its own. What is honest is believed, and each lie is told.

mod counted;
mod fill;
mod protocol;
mod server;
mod workload;

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hammer_audit::{LOG_FORKED, LogAuditor, LogPlace};
use hammer_core::dispatch::{FillGoal, FillLimits, Load, LoadedWorkload, Open};
use hammer_core::run::{RunSpec, StopRule, control, run};
use hammer_core::schedule::{Constant, Profile, Schedule};
use hammer_core::supply::SupplyBounds;
use hammer_measure::snapshot::RunResult;
use hammer_measure::{Nanos, Phase, Reporter, RunEvent};

use protocol::{ToyLeaves, ToyLog};
use server::{ToyLie, ToyServer};
use workload::ToyWorkload;

/// Submissions of a run that nothing ends before.
const SUBMISSIONS: u64 = 300;
/// Long enough for any machine.
const LONG_MS: u64 = 600_000;

/// Submissions at 200/s, the audit of what they were promised, and its log.
struct Audited {
    lie: Option<ToyLie>,
    submissions: u64,
    delay_ms: u64,
    drain: Nanos,
    /// How long a fill waits for a log that cannot be read; none where the run is none.
    patience: Option<Nanos>,
}

/// Audits a log that lies so, in its folder; what was found goes to `folder`.
fn audited(lie: Option<ToyLie>, submissions: u64, delay_ms: u64, folder: &Path) -> Arc<RunResult> {
    let log = tempfile::tempdir().unwrap();
    let setup = Audited { lie, submissions, delay_ms, drain: Nanos::from_secs(60), patience: None };
    setup.run_at(LogPlace::Folder(log.path().to_owned()), log.path(), folder)
}

impl Audited {
    /// Runs it with a log that lies in the folder `log` and is read at `place`.
    fn run_at(&self, place: LogPlace, log: &Path, folder: &Path) -> Arc<RunResult> {
        self.run_noted(place, log, folder).0
    }

    /// The same, with what the reader of the figures is told.
    fn run_noted(&self, place: LogPlace, log: &Path, folder: &Path) -> (Arc<RunResult>, Vec<String>) {
        let Self { lie, submissions, delay_ms, drain, patience } = *self;
        let server = Arc::new(Mutex::new(ToyServer::start(log, lie)));
        let base = RunSpec::new(Vec::new());
        let source = ToyLog { verifier: server.lock().unwrap().verifier() };
        let auditor = LogAuditor::by_tiles::<ToyLeaves, _>("toy", source, place, base.epoch_unix_ms);
        let mut auditor = auditor.every(Duration::from_millis(50)).folder(folder.to_owned());
        let link = auditor.link("pledges");
        let lane = LoadedWorkload {
            name: "pledges".to_owned(),
            workload: Arc::new(ToyWorkload {
                server: server.clone(),
                link,
                epoch_unix_ms: base.epoch_unix_ms,
                delay_ms,
            }),
            load: Load::Open(Open {
                schedule: Schedule::even(Profile::Constant(Constant { rate: 200.0 })).operations(submissions),
                in_flight: 8,
                backlog: 1_000_000,
            }),
            timeout: Nanos::from_secs(60),
            supply: SupplyBounds::default(),
        };
        let spec = RunSpec {
            lanes: vec![Arc::new(lane)],
            drain,
            interval: Nanos::from_millis(100),
            observers: vec![Box::new(auditor)],
            stops: vec![StopRule::at_least(LOG_FORKED, 1.0)],
            goal: patience.map(|_| {
                Arc::new(FillGoal::new(submissions, 0, FillLimits { failed: 0, in_a_row: u64::MAX }))
            }),
            patience: patience.unwrap_or(base.patience),
            ..base
        };
        let (_control, inbox) = control();
        let mut seen = SeenTree { server, notes: Vec::new() };
        let result = run(spec, inbox, &mut [&mut seen]).unwrap();
        (result, seen.notes)
    }
}

/// Tells the log that its tree was seen, and that the load is over, and keeps what is noted.
struct SeenTree {
    server: Arc<Mutex<ToyServer>>,
    notes: Vec<String>,
}

impl Reporter for SeenTree {
    fn event(&mut self, event: &RunEvent) {
        if let RunEvent::Phase { phase: Phase::Drain, .. } = event {
            self.server.lock().unwrap().load_is_over();
        }
        if let RunEvent::Interval(snapshot) = event {
            let mut observed = snapshot.observations.iter();
            if observed.any(|seen| seen.name == "tree_size" && seen.value >= 10.0) {
                self.server.lock().unwrap().was_seen = true;
            }
        }
        if let RunEvent::Note { text, .. } = event {
            self.notes.push(text.clone());
        }
    }
}

fn observed(result: &RunResult, name: &str) -> Option<f64> {
    result.observations.iter().find(|seen| seen.name == name).map(|seen| seen.value)
}

/// Kind, sequence number and index of what was found broken.
fn broken(result: &RunResult) -> Vec<(&str, Option<u64>, Option<u64>)> {
    let breaches = result.breaches.iter();
    let mut broken: Vec<_> =
        breaches.map(|breach| (breach.kind.as_str(), breach.seq, breach.index)).collect();
    broken.sort_unstable();
    broken
}

/// The kinds of what was found broken about promises, and the indices that they are of.
fn promises(
    lie: ToyLie,
    submissions: u64,
    delay_ms: u64,
) -> (Arc<RunResult>, Vec<(String, u64)>, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let result = audited(Some(lie), submissions, delay_ms, folder.path());
    let found = broken(&result).into_iter().filter(|(_, seq, _)| seq.is_some());
    let mut found: Vec<_> = found.filter_map(|(kind, _, index)| Some((kind.to_owned(), index?))).collect();
    found.sort_unstable();
    (result, found, folder)
}

#[test]
fn every_leaf_of_an_honest_log_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let result = audited(None, SUBMISSIONS, LONG_MS, folder.path());
    assert_eq!(
        (result.promises.made, result.promises.kept),
        (SUBMISSIONS, SUBMISSIONS),
        "{:?}",
        result.breaches
    );
    assert_eq!(broken(&result), []);
    assert!(std::fs::read_dir(folder.path()).unwrap().next().is_none(), "nothing has to be shown to anyone");
    let observed = |name| observed(&result, name);
    assert_eq!((observed("tree_size"), observed("audited")), (Some(300.0), Some(300.0)));
    assert_eq!(observed("merge_delay_max"), None, "its checkpoints have no time");
}

#[test]
fn a_log_that_cannot_be_read_is_named_once_by_the_place_where_it_is_read() {
    let (log, elsewhere, folder) =
        (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let setup =
        Audited { lie: None, submissions: 1, delay_ms: LONG_MS, drain: Nanos::from_secs(2), patience: None };
    let place = LogPlace::Folder(elsewhere.path().to_owned());
    let (_, notes) = setup.run_noted(place, log.path(), folder.path());
    let told: Vec<&String> = notes.iter().filter(|note| note.contains("does not get on")).collect();
    let [told] = told.as_slice() else { panic!("{notes:?}") };
    let expected =
        format!("toy: the audit of {} does not get on: failed to read ", elsewhere.path().display());
    assert!(told.starts_with(&expected), "{told}");
}

#[test]
fn a_leaf_that_is_lost_is_told_with_its_index_and_leaves_its_receipt() {
    let (result, found, folder) = promises(ToyLie::Lost, SUBMISSIONS, LONG_MS);
    assert_eq!(found, [("lost-leaf".to_owned(), 10)]);
    assert_eq!(result.promises.kept, SUBMISSIONS - 1);
    let file = std::fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
    let line: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    assert_eq!((line["reason"].as_str(), line["leaf_index"].as_u64()), (Some("lost-leaf"), Some(10)));
    assert_eq!(line["pledge"], "pledged 10", "the protocol's own evidence");
}

#[test]
fn leaves_in_each_others_places_are_told_with_where_they_are() {
    let (result, found, _folder) = promises(ToyLie::Swapped, SUBMISSIONS, LONG_MS);
    assert_eq!(found, [("wrong-index".to_owned(), 10), ("wrong-index".to_owned(), 11)]);
    assert!(result.breaches.iter().any(|breach| breach.detail.ends_with("the tree has it at index 11")));
}

#[test]
fn another_entry_than_the_trees_is_told() {
    let (_, found, _folder) = promises(ToyLie::Altered, SUBMISSIONS, LONG_MS);
    assert_eq!(found, [("altered-leaf".to_owned(), 10)]);
}

#[test]
fn a_leaf_that_no_head_covers_in_time_is_overdue_in_neutral_words() {
    let (result, found, _folder) = promises(ToyLie::Withheld, 30, 100);
    let overdue = (10..30).map(|index| ("overdue".to_owned(), index)).collect::<Vec<_>>();
    // Leaves that were published may have been late too, on a slow machine.
    assert_eq!(found.iter().filter(|(_, index)| *index >= 10).cloned().collect::<Vec<_>>(), overdue);
    assert!(
        result.breaches.iter().any(|breach| breach.detail.ends_with("the time that was promised is over"))
    );
}

#[test]
fn a_fork_and_a_shrinking_tree_end_the_run_with_both_heads_saved() {
    for (lie, kind) in [(ToyLie::Forks, "forked-checkpoint"), (ToyLie::Shrinks, "shrinking-tree")] {
        let folder = tempfile::tempdir().unwrap();
        let result = audited(Some(lie), 1_000_000, LONG_MS, folder.path());
        assert!(result.stopped.contains(LOG_FORKED), "{lie:?}: {}", result.stopped);
        assert!(broken(&result).contains(&(kind, None, None)), "{:?}", result.breaches);
        let heads = std::fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name());
        let heads = heads.filter(|name| name.to_string_lossy().contains("-head-"));
        assert_eq!(heads.count(), 2, "{lie:?}");
    }
}

#[test]
fn a_log_that_serves_no_entries_has_its_fork_told() {
    let folder = tempfile::tempdir().unwrap();
    let result = audited(Some(ToyLie::Bundleless), 1_000_000, LONG_MS, folder.path());
    assert!(result.stopped.contains(LOG_FORKED), "{}", result.stopped);
    let kinds = broken(&result).into_iter().map(|(kind, _, _)| kind);
    // On a slow machine the fork's tiles are read against the head before it, and that is told as well.
    let kinds: Vec<_> = kinds.filter(|kind| *kind != "tampered-tile").collect();
    assert_eq!(kinds, ["forked-checkpoint", "missing-tile"], "{:?}", result.breaches);
}
