//! Reports that standard output does not take.

use std::fs::File;
use std::process::{Command, Stdio};

use crate::folder::Folder;
use crate::hammer::command;

const PLAN: &str = "\
target: { lab: { http: {} } }
workloads: [ { name: web, http: {}, load: { rate: 20/s } } ]
phases: { measurement: 300ms }
health: { on_fail: warn }
";

/// The exit code, and standard error, of what has that for its standard output.
fn ended(mut command: Command, stdout: Option<Stdio>) -> (Option<i32>, String) {
    if let Some(stdout) = stdout {
        command.stdout(stdout);
    }
    let ended = command.output().unwrap();
    (ended.status.code(), String::from_utf8(ended.stderr).unwrap())
}

fn without_a_reader() -> Stdio {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    writer.into()
}

fn full() -> Stdio {
    File::options().write(true).open("/dev/full").unwrap().into()
}

#[test]
fn a_report_that_nobody_takes_goes_to_standard_error_and_is_exit_6() {
    let folder = Folder::new();
    let plan = folder.write("plan.yaml", PLAN);
    for (stdout, why) in
        [(without_a_reader as fn() -> Stdio, "Broken pipe"), (full, "No space left on device")]
    {
        for args in
            [vec!["run", &plan], vec!["run", &plan, "--out", "-"], vec!["run", &plan, "--set", "rounds=2"]]
        {
            let (code, said) = ended(command(&args), Some(stdout()));
            assert_eq!(code, Some(6), "{args:?}: {said}");
            let is_told = said.contains("web/get") || said.contains("rounds=2") || said.contains("round");
            assert!(is_told, "{args:?}: {said}");
            if args.len() == 2 {
                assert!(said.contains(&format!("failed to write standard output: {why}")), "{said}");
            }
        }
    }
}

#[test]
fn a_run_without_a_standard_output_tells_its_report_on_standard_error() {
    let folder = Folder::new();
    let plan = folder.write("plan.yaml", PLAN);
    let closed = |more: &str| {
        let mut shell = Command::new("sh");
        shell.args([
            "-c",
            &format!("exec \"$0\" run \"$1\" {more} >&-"),
            env!("CARGO_BIN_EXE_hammer"),
            &plan,
        ]);
        ended(shell, None)
    };
    let (code, said) = closed("");
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("web/get") && said.contains("promises   none made"), "{said}");
    // A program that throws output away by a /dev/null that it opened to read as well cannot be told from it.
    let given_away: Stdio = File::options().read(true).write(true).open("/dev/null").unwrap().into();
    let to_nobody = ended(command(&["run", &plan, "--out", "-"]), Some(given_away));
    for (code, said) in [closed("--out -"), to_nobody] {
        assert_eq!(code, Some(0), "{said}");
        let note = "hammer: note: --out -: standard output is closed, or leads to /dev/null: nobody may read the report\n";
        assert!(said.starts_with(note) && said.contains("promises   none made"), "{said}");
    }
}

#[test]
fn what_is_printed_without_a_run_is_exit_6_where_there_is_no_room_and_none_where_a_reader_leaves() {
    let folder = Folder::new();
    let plan = folder.write("plan.yaml", PLAN);
    for args in [vec!["plan", &plan], vec!["schema", "plan"], vec!["man"], vec!["ct", "roots"]] {
        let (code, said) = ended(command(&args), Some(full()));
        assert_eq!(code, Some(6), "{args:?}: {said}");
        assert_eq!(said, "hammer: failed to write standard output: No space left on device\n");
        let (code, said) = ended(command(&args), Some(without_a_reader()));
        assert_eq!((code, said.as_str()), (Some(0), ""), "{args:?}");
    }
}
