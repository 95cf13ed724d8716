//! The files of each crate import downwards.
//!
//! What is counted is the code outside of tests: `use` declarations, and paths that start with `crate`, `super`, `self` or
//! a module of the same file. An *arrow* leads from a file to the file whose module such a path names. `foo.rs` and the
//! folder `foo/` are one *room*; the crate is a room, too. An arrow leads *upward* where
//!
//! - a file imports, from the face of a room that it lies in (`foo.rs`, or the crate's root), what that face itself
//!   imports: the name belongs to another file, which is to be imported; or
//! - two rooms of one parent, at least one of which has a folder, import each other, directly or through others, so that
//!   neither lies below the other.
//!
//! A *circle* is a set of files each of which imports every other one, directly or through others. It may have three files,
//! all of one room.

use std::path::{Path, PathBuf};

use crate_files::CrateFiles;
use graph::ModuleGraph;

mod crate_files;
mod dashboard;
mod graph;
mod imports;
mod tokens;
mod type_names;

#[test]
fn no_import_leads_upward_and_no_circle_is_wide() {
    let mut problems = Vec::new();
    for (name, folder) in crates() {
        let graph = ModuleGraph::of(&CrateFiles::read(&folder.join("src")));
        let (files, arrows) = (graph.files(), graph.arrows());
        let (upward, wide) = (graph.upward(), graph.wide_circles());
        println!(
            "{name}: {files} files, {arrows} arrows, {} upward, {} wide circles",
            upward.len(),
            wide.len()
        );
        problems.extend(upward.into_iter().chain(wide).map(|problem| format!("{name}: {problem}")));
    }
    assert!(problems.is_empty(), "{problems:#?}");
}

/// The crates of the workspace that have modules, by name, and where they lie.
fn crates() -> Vec<(String, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let entries = std::fs::read_dir(root.join("crates")).unwrap();
    let mut crates: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    crates.push(root.join("benches"));
    crates.sort();
    let named = crates.into_iter().filter(|folder| folder.join("Cargo.toml").is_file());
    named.map(|folder| (folder.file_name().unwrap().to_str().unwrap().to_owned(), folder)).collect()
}
