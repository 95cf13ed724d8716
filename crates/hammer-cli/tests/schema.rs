//! The schemas in `docs/` are those that the binary prints. `UPDATE_SCHEMA=1` rewrites the plan's; the others are
//! rewritten where they are made, in the report's own tests.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

#[test]
fn the_schema_of_a_plan_is_in_step() {
    let printed = printed("plan");
    if env::var_os("UPDATE_SCHEMA").is_some_and(|value| value == "1") {
        fs::write(file("plan"), &printed).unwrap();
    }
    assert!(
        stored("plan") == printed,
        "docs/plan.schema.json is not what is printed: run with UPDATE_SCHEMA=1"
    );
}

#[test]
fn every_other_schema_is_printed_as_it_is_stored() {
    for of in ["report", "events", "samples", "summary"] {
        assert!(stored(of) == printed(of), "docs/{of}.schema.json is not what is printed");
    }
}

#[test]
fn the_schema_of_a_plan_knows_every_key_and_allows_no_other() {
    let schema: serde_json::Value = serde_json::from_str(&printed("plan")).unwrap();
    for key in
        ["target", "workloads", "phases", "stop", "thresholds", "rounds", "sweep", "order", "hooks", "output"]
    {
        assert!(schema["properties"][key].is_object(), "{key}");
    }
    assert_eq!(schema["additionalProperties"], false);
    assert_eq!(schema["required"], serde_json::json!(["target", "workloads"]));
}

#[test]
fn every_plan_of_configs_names_the_schema_for_editors() {
    let plans = plans(&root().join("configs"));
    assert!(plans.len() > 200, "{}", plans.len());
    let schema = file("plan").canonicalize().unwrap();
    for plan in plans {
        let text = fs::read_to_string(&plan).unwrap();
        let first = text.lines().next().unwrap_or_default();
        let path = first.strip_prefix("# yaml-language-server: $schema=");
        let path = path.unwrap_or_else(|| panic!("{} starts with {first:?}", plan.display()));
        let named = plan.parent().unwrap().join(path).canonicalize();
        assert_eq!(named.ok().as_ref(), Some(&schema), "{}: {path}", plan.display());
    }
}

/// The plans in a folder, and in those within.
fn plans(folder: &Path) -> Vec<PathBuf> {
    let found = fs::read_dir(folder).unwrap().map(|found| found.unwrap().path());
    let (folders, files): (Vec<_>, Vec<_>) = found.partition(|path| path.is_dir());
    let plans = files.into_iter().filter(|path| path.extension().is_some_and(|end| end == "yaml"));
    plans.chain(folders.iter().flat_map(|folder| self::plans(folder))).collect()
}

fn printed(of: &str) -> String {
    let ended = Command::new(env!("CARGO_BIN_EXE_hammer")).args(["schema", of]).output().unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    String::from_utf8(ended.stdout).unwrap()
}

fn stored(of: &str) -> String {
    fs::read_to_string(file(of)).unwrap_or_default()
}

fn file(of: &str) -> PathBuf {
    root().join("docs").join(format!("{of}.schema.json"))
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
