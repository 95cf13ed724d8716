//! The dashboard is told in plain words what to show: outside of tests it names no plan and no protocol.

use std::path::Path;

use crate::crate_files::{CrateFiles, Module};
use crate::graph::ModuleGraph;

/// The modules of the binary that know plans or protocols.
const MODULES: [&str; 4] = ["assemble", "dashboard", "plan", "protocol"];

#[test]
fn the_dashboard_names_no_plan_and_no_protocol() {
    let files = CrateFiles::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    let of_dashboard = files.code.keys().filter(|module| is_of_dashboard(module)).count();
    assert!(of_dashboard > 20, "only {of_dashboard} files of the dashboard are found");
    assert_eq!(named_by_dashboard(&files, &protocol_crates()), Vec::<String>::new());
}

/// What the files of the dashboard name and must not.
fn named_by_dashboard(files: &CrateFiles, crates: &[String]) -> Vec<String> {
    let graph = ModuleGraph::of(files);
    let mut found = Vec::new();
    for (module, code) in files.code.iter().filter(|(module, _)| is_of_dashboard(module)) {
        let paths = graph
            .paths(module)
            .filter(|path| path.first().is_some_and(|first| MODULES.contains(&first.as_str())));
        let words = code.iter().filter_map(|token| token.word());
        let words = words.filter(|word| crates.iter().any(|name| name == word)).map(str::to_owned);
        let told = |name: String| format!("{} names {name}", module.join("/"));
        found.extend(paths.map(|path| path.join("::")).chain(words).map(told));
    }
    found
}

fn is_of_dashboard(module: &Module) -> bool {
    module.first().is_some_and(|first| first == "tui")
}

/// The crates of the line `protocols: a, b` of `ARCHITECTURE.md`, as code names them.
fn protocol_crates() -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ARCHITECTURE.md");
    let text = std::fs::read_to_string(path).unwrap();
    let listed = text.lines().find_map(|line| line.strip_prefix("    protocols: "));
    let listed = listed.expect("ARCHITECTURE.md lists no protocols");
    listed.split(", ").map(|short| format!("hammer_{}", short.trim())).collect()
}

#[test]
fn whatever_way_a_plan_or_a_protocol_is_named_it_is_found() {
    let files = [
        ("plan", "pub struct Plan;"),
        ("protocol", "mod ct;"),
        ("protocol/ct", ""),
        ("tui", "mod view; use crate::{args::Args, plan::Plan}; #[cfg(test)] mod tests;"),
        (
            "tui/view",
            "fn draw() { super::super::protocol::ct::draw(); hammer_ct::draw(); hammer_core::draw() }",
        ),
        ("tui/tests", "use crate::plan::Plan;"),
        ("dashboard", "use crate::plan::Plan; use hammer_ct::CtPlan;"),
    ];
    let module = |path: &str| path.split('/').map(str::to_owned).collect::<Module>();
    let texts = files.iter().map(|(path, text)| (module(path), (*text).to_owned()));
    let found = named_by_dashboard(&CrateFiles::of(texts.collect()), &["hammer_ct".to_owned()]);
    assert_eq!(
        found,
        ["tui names plan::Plan", "tui/view names protocol::ct::draw", "tui/view names hammer_ct"]
    );
}
