//! The table of mistakes: what a person can do wrong, what hammer says to it, and its exit code. All messages stand in one file,
//! `snapshots/mistakes__table.snap`, to be read as a whole.

#[path = "mistakes/commands.rs"]
mod commands;
#[path = "mistakes/files.rs"]
mod files;
#[path = "support/folder.rs"]
mod folder;
#[path = "support/hammer.rs"]
#[expect(dead_code, reason = "no row leaves a report")]
mod hammer;
#[path = "mistakes/keys.rs"]
mod keys;
#[path = "support/plan.rs"]
#[expect(dead_code, reason = "the table has every message whole")]
mod plan;
#[path = "mistakes/plans.rs"]
mod plans;
#[path = "mistakes/protocols.rs"]
mod protocols;
#[path = "mistakes/row.rs"]
mod row;
#[path = "mistakes/values.rs"]
mod values;
#[path = "mistakes/yaml.rs"]
mod yaml;

use std::fmt::Write as _;

use folder::Folder;
use hammer::{Ended, hammer};
use plan::{CT_PLAN, PLAN};
use row::{Bench, Row};

const TOPICS: [(&str, &[Row]); 6] = [
    ("A file that is no plan", yaml::ROWS),
    ("A key that is none, or is missing", keys::ROWS),
    ("A value that the key cannot have", values::ROWS),
    ("What protocols say", protocols::ROWS),
    ("Files that are read and written", files::ROWS),
    ("Command lines", commands::ROWS),
];

#[test]
fn each_mistake_is_told_with_its_place_its_reason_and_its_exit_code() {
    let bench = Bench::new();
    let mut table = String::new();
    let mut wrong = Vec::new();
    for (topic, rows) in TOPICS {
        writeln!(table, "# {topic}\n").unwrap();
        for row in rows {
            let ended = bench.carry_out(row);
            writeln!(table, "## {}\n{}exit {}\n{}", row.done, row.written(), ended.code, ended.stderr)
                .unwrap();
            wrong.extend(faults(row, &ended).map(|fault| format!("{}: {fault}\n{}", row.done, ended.stderr)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    insta::with_settings!({ omit_expression => true }, { insta::assert_snapshot!("table", table) });
}

#[test]
fn the_plans_that_rows_spoil_are_right() {
    for plan in [
        PLAN,
        CT_PLAN,
        plans::FILL,
        plans::LAB,
        plans::SIGSTORE,
        plans::ATTEST,
        plans::PKI,
        plans::FLOWS,
        plans::TRILLIAN,
    ] {
        let folder = Folder::new();
        let shown = hammer(&["plan", &folder.write("plan.yaml", plan)]);
        assert_eq!(shown.code, 0, "{}", shown.stderr);
        assert!(shown.stdout.contains("workloads:"), "{}", shown.stdout);
    }
}

/// What holds for every message, whatever it is about.
fn faults(row: &Row, ended: &Ended) -> impl Iterator<Item = String> {
    let code = (ended.code != row.code).then(|| format!("exit {} and not {}", ended.code, row.code));
    let silent = ended.stderr.trim().is_empty().then(|| "nothing is said".to_owned());
    let is_unplaced = row.is_placed && !ended.stderr.contains("plan.yaml");
    let unplaced = is_unplaced.then(|| "the plan is not named".to_owned());
    let words = LIBRARY_WORDS.iter().filter(|word| ended.stderr.contains(**word));
    let words: Vec<_> = words.map(|word| format!("{word:?} is said")).collect();
    code.into_iter().chain(silent).chain(unplaced).chain(words)
}

/// What means nothing to who writes no Rust.
const LIBRARY_WORDS: [&str; 20] = [
    "u64",
    "u32",
    "u16",
    "u8,",
    "usize",
    "f64",
    "i64",
    "struct ",
    "enum ",
    "variant",
    "DuplicateKeyPolicy",
    "mapping start",
    "invalid type",
    "invalid value:",
    "missing field",
    "unknown field",
    "invalid digit",
    "relative URL",
    "panicked",
    "scalar",
];
