//! What README and the pages of `docs/` print is carried out as it stands: each block of `sh`, section by section, in a folder of its own beside the
//! plans. Ports are others, and loads are shorter.

#[path = "documented/block.rs"]
mod block;
#[path = "documented/session.rs"]
mod session;

use std::fs;
use std::path::{Path, PathBuf};

use block::{Page, commands_outside};
use session::Workplace;

/// Runs all sections of a page of documentation.
fn carried_out(page: &str) {
    let text = fs::read_to_string(repository().join(page)).unwrap();
    let page = Page::parse(page, &text);
    assert!(page.sections.iter().any(|section| section.blocks.iter().any(|block| block.not_run.is_none())));
    let workplace = Workplace::of(&page);
    page.sections.iter().for_each(|section| workplace.carried_out(section));
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

#[test]
fn the_commands_of_the_readme_do_what_they_say() {
    carried_out("README.md");
}

#[test]
fn no_page_prints_a_command_that_no_test_carries_out() {
    let pages = fs::read_dir(repository().join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let pages = pages.filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    let outside: Vec<String> = pages
        .chain([repository().join("README.md")])
        .flat_map(|path| commands_outside(&path.display().to_string(), &fs::read_to_string(&path).unwrap()))
        .collect();
    assert_eq!(outside, Vec::<String>::new(), "these stand in no block of `sh`");
}

#[test]
fn the_commands_of_ct_do_what_they_say() {
    carried_out("docs/ct.md");
}

#[test]
fn the_commands_of_http_do_what_they_say() {
    carried_out("docs/http.md");
}

#[test]
fn the_commands_of_attest_do_what_they_say() {
    carried_out("docs/attest.md");
}

#[test]
fn the_commands_of_pki_do_what_they_say() {
    carried_out("docs/pki.md");
}

#[test]
fn the_commands_of_sigstore_do_what_they_say() {
    carried_out("docs/sigstore.md");
}

#[test]
fn the_commands_of_plan_do_what_they_say() {
    carried_out("docs/plan.md");
}

#[test]
fn the_commands_of_report_do_what_they_say() {
    carried_out("docs/report.md");
}

#[test]
fn the_commands_of_events_do_what_they_say() {
    carried_out("docs/events.md");
}

#[test]
fn the_commands_of_compare_do_what_they_say() {
    carried_out("docs/compare.md");
}

#[test]
fn the_commands_of_live_do_what_they_say() {
    carried_out("docs/live.md");
}

#[test]
fn the_commands_of_from_rhtas_benchmark_do_what_they_say() {
    carried_out("docs/from-rhtas-benchmark.md");
}

#[test]
fn the_commands_of_from_rest_pki_test_do_what_they_say() {
    carried_out("docs/from-rest-pki-test.md");
}

#[test]
fn the_commands_of_install_do_what_they_say() {
    carried_out("docs/install.md");
}

#[test]
fn the_commands_of_samples_do_what_they_say() {
    carried_out("docs/samples.md");
}

#[test]
fn the_commands_of_first_plan_do_what_they_say() {
    carried_out("docs/first-plan.md");
}
