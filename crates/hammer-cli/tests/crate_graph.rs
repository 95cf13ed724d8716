//! The crate graph is the table of `ARCHITECTURE.md`, and no tracked text names a path of one machine.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Who alone may name these.
const OWNERS: [(&str, &str); 7] = [
    ("clap", "hammer-cli"),
    ("mimalloc", "hammer-cli"),
    ("indicatif", "hammer-cli"),
    ("ratatui", "hammer-cli"),
    ("hdrhistogram", "hammer-measure"),
    ("maud", "hammer-html"),
    ("plotters", "hammer-html"),
];

#[test]
fn every_crate_depends_on_what_the_table_says_and_on_all_of_it() {
    let table = table();
    for package in packages() {
        let name = name(&package);
        let said =
            table.get(&name).unwrap_or_else(|| panic!("{name} is not in the table of ARCHITECTURE.md"));
        compare(&name, &ours(&package, |kind| kind != Some("dev")), said);
    }
}

#[test]
fn the_tests_of_a_crate_depend_on_what_the_table_says_besides_and_on_all_of_it() {
    let table = table_of_tests();
    for package in packages() {
        let name = name(&package);
        let said = table.get(&name).cloned().unwrap_or_default();
        compare(&format!("the tests of {name}"), &ours(&package, |kind| kind == Some("dev")), &said);
    }
}

#[test]
fn what_a_crate_declares_of_ours_its_sources_name() {
    for package in packages() {
        let (name, folder) = (name(&package), folder(&package));
        let product = text_of(&folder.join("src"));
        let tests = text_of(&folder.join("tests")) + &text_of(&folder.join("benches"));
        let unused = |others: BTreeSet<String>, text: &str| -> Vec<String> {
            others.into_iter().filter(|other| !text.contains(&other.replace('-', "_"))).collect()
        };
        let declared = unused(ours(&package, |kind| kind != Some("dev")), &product);
        assert!(declared.is_empty(), "{name} declares {declared:?}, and names none of it");
        let declared = unused(ours(&package, |kind| kind == Some("dev")), &(product + &tests));
        assert!(declared.is_empty(), "{name} declares {declared:?} for its tests, which name none of it");
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
    assert!(protocols.iter().all(|protocol| table[protocol].contains("hammer-core")), "{protocols:?}");
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

/// Fails where `there` and what the table says differ, in either way.
fn compare(name: &str, there: &BTreeSet<String>, said: &BTreeSet<String>) {
    let forbidden: Vec<_> = there.difference(said).collect();
    assert!(forbidden.is_empty(), "{name} may not depend on {forbidden:?}");
    let unused: Vec<_> = said.difference(there).collect();
    assert!(
        unused.is_empty(),
        "the table of ARCHITECTURE.md allows {name} {unused:?}, which it does not use"
    );
}

/// Whether `text` holds `path` as an absolute path, not as a part of a longer one or of a URL.
fn names(text: &str, path: &str) -> bool {
    let begins = |at: usize| !text[..at].ends_with(|c: char| c.is_alphanumeric() || "._-~}>)$*".contains(c));
    text.match_indices(path).any(|(at, _)| begins(at))
}

/// Each crate, and which others of ours it depends on: the lines `a, b -> c, d` of `ARCHITECTURE.md`.
fn table() -> BTreeMap<String, BTreeSet<String>> {
    read_table(|listed| (!listed.starts_with(OF_TESTS)).then_some(listed))
}

/// Each crate whose tests depend on more of ours than the crate does, and on what: the lines `tests of a, b -> c, d`.
fn table_of_tests() -> BTreeMap<String, BTreeSet<String>> {
    read_table(|listed| listed.strip_prefix(OF_TESTS))
}

const OF_TESTS: &str = "tests of ";

fn read_table(crates_of: impl Fn(&str) -> Option<&str>) -> BTreeMap<String, BTreeSet<String>> {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let lines = text.lines().filter_map(|line| line.strip_prefix("    ")?.split_once(" -> "));
    let mut table = BTreeMap::new();
    for (listed, said) in lines.filter_map(|(listed, said)| Some((crates_of(listed)?, said))) {
        let said: BTreeSet<_> = match said {
            "none of ours" => BTreeSet::new(),
            said => crates(said).into_iter().collect(),
        };
        for name in crates(listed) {
            assert!(table.insert(name.clone(), said.clone()).is_none(), "{name} stands in the table twice");
        }
    }
    assert!(!table.is_empty(), "ARCHITECTURE.md has no table of crates");
    table
}

/// What talks to a kind of service: the line `protocols: a, b` of `ARCHITECTURE.md`.
fn protocols() -> BTreeSet<String> {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let listed = text.lines().find_map(|line| line.strip_prefix("    protocols: "));
    crates(listed.expect("ARCHITECTURE.md lists no protocols")).into_iter().collect()
}

/// The crates of a list in `ARCHITECTURE.md`, by their full names.
fn crates(list: &str) -> Vec<String> {
    list.split(", ").map(|short| format!("hammer-{}", short.trim())).collect()
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

/// Where the package lies.
fn folder(package: &Value) -> PathBuf {
    Path::new(package["manifest_path"].as_str().unwrap()).parent().unwrap().to_owned()
}

/// All Rust sources below a folder; empty where there is none.
fn text_of(folder: &Path) -> String {
    let Ok(entries) = std::fs::read_dir(folder) else { return String::new() };
    let mut text = String::new();
    for path in entries.map(|entry| entry.unwrap().path()) {
        match path.extension() {
            _ if path.is_dir() => text.push_str(&text_of(&path)),
            Some(extension) if extension == "rs" => text.push_str(&std::fs::read_to_string(&path).unwrap()),
            _ => {}
        }
    }
    text
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
