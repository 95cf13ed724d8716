//! An embedded verifier in the test's own process, and what plans come to on it.

use std::fs;

use hammer_lab_attest::{AttestLabHandle, AttestLabPlan};
use hammer_report::Report;
use hammer_report::report::Series;
use serde_json::{Value, json};

use crate::folder::Folder;
use crate::hammer::{Ended, Started, command};

/// A verifier, and what a plan came to on it.
pub(crate) struct Came {
    pub(crate) ended: Ended,
    pub(crate) verifier: AttestLabHandle,
}

impl Came {
    pub(crate) fn report(&self) -> Report {
        self.ended.report()
    }

    /// How many answers of that status it gave to requests of that kind.
    pub(crate) fn answered(&self, endpoint: &str, status: u16) -> u64 {
        let requests = self.verifier.stats().requests;
        requests.get(endpoint).and_then(|by_status| by_status.get(&status)).copied().unwrap_or(0)
    }
}

pub(crate) fn path(name: &str) -> String {
    format!("{}/../../configs/{name}.yaml", env!("CARGO_MANIFEST_DIR"))
}

pub(crate) fn embedded(name: &str) -> AttestLabPlan {
    let plan: Value = serde_saphyr::from_str(&fs::read_to_string(path(name)).unwrap()).unwrap();
    serde_json::from_value(plan["target"]["lab"]["attest"].clone()).unwrap()
}

/// Runs a plan on a verifier of those settings.
pub(crate) fn run_on(lab: AttestLabPlan, name: &str, changes: &[&str]) -> Came {
    let verifier = AttestLabHandle::spawn(lab).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let urls = json!({ "provisioning_url": verifier.url, "verification_url": verifier.url });
    let target = format!("target={}", json!({ "attest": urls }));
    let mut run = command(&["run", &path(name), "--set", &target, "--out", "-"]);
    run.args(changes.iter().flat_map(|change| ["--set", change])).current_dir(folder.path());
    Came { ended: Started::of(run).ended(), verifier }
}

/// Runs a plan on its embedded verifier.
pub(crate) fn run(name: &str, changes: &[&str]) -> Came {
    run_on(embedded(name), name, changes)
}

/// Carries out a plan.
pub(crate) fn planned(plan: &Value) -> Ended {
    planned_in(&Folder::new(), plan, &[])
}

/// Carries out a plan in a folder, with more arguments.
pub(crate) fn planned_in(folder: &Folder, plan: &Value, more: &[&str]) -> Ended {
    let file = folder.write("plan.yaml", &plan.to_string());
    let mut run = command(&[&["run", &file, "--out", "-"], more].concat());
    run.current_dir(folder.path("."));
    Started::of(run).ended()
}

pub(crate) fn of<'a>(report: &'a Report, path: &str) -> &'a Series {
    let mut series = report.series.iter();
    series.find(|series| series.path == path).unwrap_or_else(|| panic!("no series {path}"))
}
