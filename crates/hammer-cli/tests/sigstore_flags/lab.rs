//! What `hammer lab sigstore` says.

use super::answers::get;
use super::*;

#[test]
fn the_lab_says_at_its_end_what_each_service_has_answered() {
    let folder = Folder::new();
    let lab = Started::of(command(&["lab", "sigstore", "--set", "has_ct_log=false"]));
    let target: Value = serde_json::from_str(&lab.line_with("fulcio_url")).unwrap();
    assert!(target.get("identity").is_none() && target.get("trusted_root").is_none(), "nothing was written");
    let chain = folder
        .write("chain.pem", &get(target["timestamp_url"].as_str().unwrap(), "/api/v1/timestamp/certchain"));
    assert!(fs::read_to_string(chain).unwrap().contains("BEGIN CERTIFICATE"));
    lab.signal(Signal::TERM);
    let ended = lab.ended();
    let stats: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(stats["timestamp_authority"]["requests"]["certchain"]["200"], 1, "{stats}");
    assert!(stats["ct_log"].is_null() && stats["rekor"].is_object(), "{stats}");
    assert_eq!(ended.code, 0);
}

#[test]
fn the_lab_prints_how_cosign_signs_and_verifies_with_the_files_that_it_left() {
    for (has_ct_log, is_ignored) in
        [("has_ct_log=true", false), ("has_ct_log=false", true), ("fulcio.sct=detached", true)]
    {
        let folder = Folder::new();
        let out = folder.path("with space");
        let lab = Started::of(command(&["lab", "sigstore", "--out", &out, "--set", has_ct_log]));
        lab.line_with("fulcio_url");
        lab.signal(Signal::TERM);
        let said = lab.ended().stderr;
        let lines: Vec<&str> = said.lines().filter(|line| line.starts_with("    cosign ")).collect();
        assert_eq!(lines.len(), 2, "{said}");
        assert!(lines[0].contains("sign-blob") && lines[1].contains("verify-blob"), "{said}");
        assert_eq!(lines[1].ends_with("--insecure-ignore-sct"), is_ignored, "{said}");
        let files = lines.iter().flat_map(|line| line.split('\'')).filter(|word| word.starts_with('/'));
        let there: Vec<bool> = files.map(|path| std::path::Path::new(path).is_file()).collect();
        // The bundle is what is made by them.
        assert_eq!(there, [true, false, true, true, true, true, false, true], "{said}");
        let token = fs::read_to_string(format!("{out}/token")).unwrap();
        assert!(!token.contains(char::is_whitespace), "cosign sends it as it stands");
    }
}

/// Carries out the lines for hammer that the lab printed, each for a second, as a shell does; their reports.
fn carried_out(said: &str, folder: &Folder) -> Vec<(String, Report)> {
    let lines = said.lines().filter_map(|line| line.strip_prefix("    hammer "));
    let carry_out = |line: &str| {
        let line = line.replace("--for 10s", "--for 1s");
        let script = format!("exec \"$HAMMER\" {line} --out - --quiet");
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", &script]).env("HAMMER", env!("CARGO_BIN_EXE_hammer")).current_dir(folder.path("."));
        let ended = Started::of(shell).ended();
        let report = ended.report();
        assert_eq!(exit_if_on_time(&report.verdict), 0, "{line}: {}", ended.stderr);
        let promises = &report.promises.all;
        assert!(promises.made > 0 && promises.kept == promises.made, "{line}: {}", ended.stderr);
        (line.split(' ').nth(1).unwrap_or_default().to_owned(), report)
    };
    lines.map(carry_out).collect()
}

#[test]
fn the_lines_that_the_lab_prints_for_hammer_work_as_they_stand() {
    for has_files in [true, false] {
        let folder = Folder::new();
        let out = folder.path("with space");
        let files: &[&str] = if has_files { &["--out", &out] } else { &["--seed", "3"] };
        let quick = ["--set", "rekor_tiles.checkpoint_interval=50ms"];
        let mut lab = Started::of(command(&[["lab", "sigstore"].as_slice(), files, &quick].concat()));
        lab.line_with("fulcio_url");
        let mut said = String::new();
        while !said.contains("hammer sigstore tsa ") {
            said += &lab.stderr.recv_timeout(hammer::DEADLINE).unwrap();
        }
        let reports = carried_out(&said, &folder);
        let commands: Vec<&str> = reports.iter().map(|(command, _)| command.as_str()).collect();
        let expected: &[&str] = match has_files {
            true => &["sign", "fill", "verify", "mixed", "tsa"],
            false => &["sign", "verify", "mixed", "tsa"],
        };
        assert_eq!(commands, expected);
        lab.child.kill().unwrap();
        lab.child.wait().unwrap();
    }
}
