//! The crate graph is the table of `ARCHITECTURE.md`, and no tracked text names a path of one machine.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Who alone may name these.
const OWNERS: [(&str, &str); 4] = [
    ("clap", "hammer-cli"),
    ("indicatif", "hammer-cli"),
    ("ratatui", "hammer-cli"),
    ("hdrhistogram", "hammer-measure"),
];

#[test]
fn every_crate_depends_on_what_the_table_allows_and_on_nothing_else() {
    let table = table();
    for package in packages() {
        let name = name(&package);
        let allowed =
            table.get(&name).unwrap_or_else(|| panic!("{name} is not in the table of ARCHITECTURE.md"));
        for other in ours(&package, |kind| kind != Some("dev")) {
            assert!(allowed.contains(&other), "{name} may not depend on {other}");
        }
    }
}

#[test]
fn every_crate_of_the_table_is_there() {
    let there: BTreeSet<_> = packages().iter().map(name).collect();
    assert_eq!(there, table().into_keys().collect());
}

#[test]
fn no_protocol_knows_another_and_no_test_below_the_binary_needs_it() {
    let (protocols, table) = (protocols(), table());
    assert!(protocols.contains("hammer-ct") && protocols.contains("hammer-http"), "{protocols:?}");
    for package in packages() {
        let (name, others) = (name(&package), ours(&package, |_| true));
        let known: Vec<_> = others.intersection(&protocols).collect();
        assert!(!protocols.contains(&name) || known.is_empty(), "{name} knows {known:?}");
        assert!(!others.contains("hammer-cli"), "{name} depends on the binary");
        assert!(name != "hammer-lab" || others.is_subset(&table[&name]), "{name} knows {others:?}");
    }
}

#[test]
fn a_library_that_belongs_to_one_crate_is_named_by_no_other() {
    for package in packages() {
        let (name, known) = (name(&package), dependencies(&package, |_| true));
        for (library, owner) in OWNERS {
            assert!(name == owner || !known.contains(library), "{name} names {library}, which is {owner}'s");
        }
    }
}

#[test]
fn no_tracked_text_names_a_path_of_one_machine() {
    let listed = Command::new("git").args(["ls-files", "-z"]).current_dir(root()).output();
    // A source archive has no repository, and so nothing that is tracked.
    let Some(listed) = listed.ok().filter(|listed| listed.status.success()) else { return };
    let files = String::from_utf8(listed.stdout).unwrap();
    assert!(files.contains("Cargo.toml"));
    let paths = ["work", "root", "tmp/bash_jobs", "tmp/hammer"].map(|folder| format!("/{folder}/"));
    let mut found = Vec::new();
    for file in files.split_terminator('\0') {
        let Ok(text) = std::fs::read_to_string(root().join(file)) else { continue };
        for (number, line) in text.lines().enumerate() {
            let named = paths.iter().filter(|path| names(line, path));
            found.extend(named.map(|path| format!("{file}:{} names {path}", number + 1)));
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}

/// Whether `text` holds `path` as an absolute path, not as a part of a longer one or of a URL.
fn names(text: &str, path: &str) -> bool {
    let begins = |at: usize| !text[..at].ends_with(|c: char| c.is_alphanumeric() || "._-~}>)$*".contains(c));
    text.match_indices(path).any(|(at, _)| begins(at))
}

/// Each crate, and which others of ours it may depend on: the lines `a, b -> c, d` of `ARCHITECTURE.md`.
fn table() -> BTreeMap<String, BTreeSet<String>> {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let names = |list: &str| -> Vec<String> {
        list.split(", ").map(|short| format!("hammer-{}", short.trim())).collect()
    };
    let lines = text.lines().filter(|line| line.starts_with("    "));
    let mut table = BTreeMap::new();
    for (crates, allowed) in lines.filter_map(|line| line.split_once(" -> ")) {
        let allowed: BTreeSet<_> = match allowed {
            "none of ours" => BTreeSet::new(),
            allowed => names(allowed).into_iter().collect(),
        };
        table.extend(names(crates).into_iter().map(|name| (name, allowed.clone())));
    }
    table
}

/// What talks to a kind of service: whatever stands on the engine, but for those that stand on everything.
fn protocols() -> BTreeSet<String> {
    let is_one =
        |allowed: &BTreeSet<String>| allowed.contains("hammer-core") && !allowed.contains("hammer-report");
    table().into_iter().filter(|(_, allowed)| is_one(allowed)).map(|(name, _)| name).collect()
}

fn packages() -> Vec<Value> {
    let ended = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    let metadata: Value = serde_json::from_slice(&ended.stdout).unwrap();
    metadata["packages"].as_array().unwrap().clone()
}

fn name(package: &Value) -> String {
    package["name"].as_str().unwrap().to_owned()
}

fn ours(package: &Value, kind: impl Fn(Option<&str>) -> bool) -> BTreeSet<String> {
    dependencies(package, kind).into_iter().filter(|name| name.starts_with("hammer-")).collect()
}

fn dependencies(package: &Value, kind: impl Fn(Option<&str>) -> bool) -> BTreeSet<String> {
    let all = package["dependencies"].as_array().unwrap().iter();
    all.filter(|one| kind(one["kind"].as_str())).map(|one| one["name"].as_str().unwrap().to_owned()).collect()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
