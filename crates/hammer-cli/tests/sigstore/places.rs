//! By which key a target that cannot be used is named, where its values come from a file, from changes of the command line or from
//! arguments.

use std::fs;
use std::net::TcpListener;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::hammer::{Ended, Started, command};

/// Files of a plan, and an address where nobody listens.
struct PlanFolder {
    folder: TempDir,
    nowhere: String,
}

impl PlanFolder {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let written = Self { folder, nowhere: format!("http://{closed}") };
        let recorded = concat!(env!("CARGO_MANIFEST_DIR"), "/../hammer-sigstore/testdata/trusted_root.json");
        let root: Value = serde_json::from_str(&fs::read_to_string(recorded).unwrap()).unwrap();
        written.write("root.json", &root.to_string());
        for key in ["tlogs", "certificateAuthorities", "timestampAuthorities"] {
            let mut without = root.clone();
            without[key] = json!([]);
            written.write(&format!("no-{key}.json"), &without.to_string());
        }
        for (name, claims) in [("token", GOOD), ("over", OVER), ("nobody", NOBODY)] {
            written.write(name, &format!("eyJhbGciOiJFUzI1NiIsInR5cCI6IkpXVCJ9.{claims}.AAAA"));
        }
        written.write("none.txt", "none");
        written.write("empty.jsonl", "{\"hammer_corpus\":1}\n");
        written
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.folder.path().join(name), text).unwrap();
    }

    /// What `hammer` does with these arguments in the folder.
    fn hammer(&self, args: &[&str]) -> Ended {
        let mut command = command(args);
        command.current_dir(self.folder.path());
        Started::of(command).ended()
    }

    /// What becomes of a plan whose own values are right, once these are changed.
    fn changed(&self, changes: &[&str]) -> Ended {
        let url = &self.nowhere;
        let plan = format!(
            "target:\n  sigstore:\n    fulcio_url: {url}\n    rekor_url: {url}\n    rekor_tiles_url: {url}\n    timestamp_url: {url}\n    \
             trusted_root: root.json\n    identity: {{ token: {{ file: token }} }}\n\
             workloads:\n  - name: sign\n    sigstore_sign: {{}}\n    load: {{ rate: 10/s }}\nphases: {{ measurement: 100ms }}\n"
        );
        self.write("plan.yaml", &plan);
        let set = changes.iter().flat_map(|change| ["--set", change]);
        self.hammer(&["run", "plan.yaml"].into_iter().chain(set).collect::<Vec<_>>())
    }
}

#[track_caller]
fn refused(ended: &Ended, named: &str, why: &str) {
    assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{}", ended.stderr);
    let start = format!("hammer: failed to use {named}: ");
    assert!(ended.stderr.starts_with(&start) && ended.stderr.contains(why), "{start}{why}: {}", ended.stderr);
}

/// What a change of a key makes of the plan: that change is named, and no line of the file.
#[test]
fn a_value_of_the_command_line_is_named_by_its_change_and_not_by_a_line_of_the_file() {
    let folder = PlanFolder::new();
    for (change, why) in [
        ("trusted_root=absent", "failed to read absent"),
        ("trusted_root=none.txt", "failed to use the trusted root in none.txt"),
        ("trusted_root=no-tlogs.json", "failed to find the key of Rekor v1"),
        ("trusted_root=no-certificateAuthorities.json", "failed to find the chain of Fulcio"),
        ("trusted_root=no-timestampAuthorities.json", "failed to find the chain of the timestamp authority"),
        ("trusted_root=null", "failed to find the chain of Fulcio"),
        ("fulcio_chain=none.txt", "failed to use the chain in none.txt"),
        ("timestamp_chain=absent", "failed to read absent"),
        ("rekor_key=none.txt", "failed to use the key in none.txt"),
        ("ct_log_key=none.txt", "failed to use the key in none.txt"),
        ("signing_config=none.txt", "failed to use the signing configuration in none.txt"),
        ("identity.token.file=absent", "failed to read a secret from absent"),
        ("identity.token.file=over", "failed to use the token of over: it expired at 2001-09-09"),
        ("identity.token.file=nobody", "find out whose it is"),
        ("identity.token.file=none.txt", "find out whose it is"),
        ("rekor_url=[]", "`rekor_url` is not given"),
        ("identity={}", "failed to find the tokens that Fulcio is shown"),
        ("trust=servers", "failed to use both trusted_root and trust"),
    ] {
        let change = format!("target.sigstore.{change}");
        refused(&folder.changed(&[&change]), &format!("--set {change}"), why);
    }
    for (change, why) in [
        ("sigstore_sign.artifact_file=absent", "failed to sign absent"),
        ("sigstore_sign.bundles={file: /nowhere/b}", "failed to open /nowhere/b for bundles"),
        ("sigstore_verify={corpus: absent}", "failed to use the corpus absent"),
        ("sigstore_verify={corpus: none.txt}", "failed to use the corpus none.txt: line 1: it is no corpus"),
        ("sigstore_verify={corpus: empty.jsonl}", "it has no entry of Rekor v1"),
    ] {
        let change = format!("workloads.sign.{change}");
        let is_other = change.contains("sigstore_verify");
        let changes: &[&str] =
            if is_other { &["workloads.sign={name: sign, load: {rate: 10/s}}", &change] } else { &[&change] };
        refused(&folder.changed(changes), &format!("--set {change}"), why);
    }
    refused(
        &folder.changed(&["fill={workload: sign, operations: 5}", "fill.corpus=none.txt"]),
        "--set fill.corpus=none.txt",
        "failed to use the corpus none.txt",
    );
}

/// Of two values that do not fit, the one that was changed is named, and of several changes the one that is at fault.
#[test]
fn of_two_values_that_do_not_fit_the_changed_one_is_named() {
    let folder = PlanFolder::new();
    let (sign, target) = ("workloads.sign.sigstore_sign", "target.sigstore");
    let mixed = "workloads.sign={name: sign, sigstore_mixed: {}, load: {rate: 10/s}}";
    let verify = "workloads.sign={name: sign, sigstore_verify: {corpus: empty.jsonl}, load: {rate: 10/s}}";
    let served = [format!("{target}.trusted_root=null"), format!("{target}.trust=servers")];
    let at_closed = format!("{target}.fulcio_url={}", folder.nowhere);
    for (changes, named, why) in [
        (
            vec![format!("{sign}.artifact_file=absent"), format!("{sign}.rekor=v1")],
            0,
            "failed to sign absent",
        ),
        (
            vec![format!("{target}.trust=servers"), format!("{target}.trusted_root=root.json")],
            1,
            "only one may be given",
        ),
        (
            vec![served[0].clone(), served[1].clone(), at_closed],
            2,
            "failed to read whom to trust from http://127.0.0.1:",
        ),
        (
            vec![
                mixed.to_owned(),
                "workloads.sign.sigstore_mixed.sign.bundles={file: /nowhere/b}".to_owned(),
            ],
            1,
            "failed to open /nowhere/b for bundles",
        ),
        (
            vec![
                format!("{sign}.fulcio=grpc"),
                format!("{target}.fulcio_grpc_url={}", folder.nowhere),
                "target.connection.http=1.1".to_owned(),
            ],
            2,
            "failed to call gRPC over HTTP/1.1",
        ),
        (
            vec![verify.to_owned(), "workloads.sign.sigstore_verify.rekor=v2".to_owned()],
            1,
            "it has no entry of Rekor v2",
        ),
        (
            vec![
                format!("{target}.trusted_root=null"),
                format!("{target}.tuf={{url: \"{}\", root: none.txt}}", folder.nowhere),
            ],
            1,
            "failed to use the root of the TUF repository",
        ),
    ] {
        let changes: Vec<&str> = changes.iter().map(String::as_str).collect();
        refused(&folder.changed(&changes), &format!("--set {}", changes[named]), why);
    }
}

/// What nobody changed has its line.
#[test]
fn a_value_of_the_file_has_its_line_whatever_else_was_changed() {
    let folder = PlanFolder::new();
    folder.write("root.json", "none");
    let ended = folder.changed(&["target.sigstore.identity.subject=me", "seed=3"]);
    refused(
        &ended,
        "the plan plan.yaml:7:19: target.sigstore.trusted_root",
        "failed to use the trusted root in root.json",
    );
}

#[test]
fn a_value_of_an_argument_is_named_by_that() {
    let folder = PlanFolder::new();
    let url = &folder.nowhere;
    let sign = |more: &[&str]| {
        let on = ["sigstore", "sign", "--fulcio", url, "--rekor", url, "--timestamp", url, "--for", "100ms"];
        folder.hammer(&[on.as_slice(), more].concat())
    };
    let (root, token) = (["--trusted-root", "root.json"], ["--token-file", "token"]);
    for (more, flag, why) in [
        (["--trusted-root", "no-tlogs.json", token[0], token[1]], "--trusted-root", "the key of Rekor v1"),
        ([root[0], root[1], "--token-file", "nobody"], "--token-file", "find out whose it is"),
        ([root[0], root[1], "--token-file", "none.txt"], "--token-file", "find out whose it is"),
        ([root[0], root[1], "--token-file", "over"], "--token-file", "it expired at"),
        (
            [root[0], root[1], "--token-env", "HAMMER_NO_SUCH_TOKEN"],
            "--token-env",
            "HAMMER_NO_SUCH_TOKEN is not set",
        ),
    ] {
        refused(&sign(&more), flag, why);
    }
    let artifact = [root.as_slice(), &token, &["--artifact", "absent"]].concat();
    refused(&sign(&artifact), "--artifact", "failed to sign absent");
}

/// Claims until the year 2100, until 2001, and of nobody.
const GOOD: &str = "eyJpc3MiOiJodHRwOi8vaXNzdWVyLmhhbW1lci50ZXN0IiwiYXVkIjoic2lnc3RvcmUiLCJzdWIiOiJtZSIsImVtYWlsIjoibWVAaGFtbWVyLnRlc3QiLCJpYXQiOjAsImV4cCI6NDEwMjQ0NDgwMH0";
const OVER: &str = "eyJpc3MiOiJodHRwOi8vaXNzdWVyLmhhbW1lci50ZXN0IiwiYXVkIjoic2lnc3RvcmUiLCJzdWIiOiJtZSIsImVtYWlsIjoibWVAaGFtbWVyLnRlc3QiLCJpYXQiOjAsImV4cCI6MTAwMDAwMDAwMH0";
const NOBODY: &str =
    "eyJpc3MiOiJodHRwOi8vaXNzdWVyLmhhbW1lci50ZXN0IiwiYXVkIjoic2lnc3RvcmUiLCJpYXQiOjAsImV4cCI6NDEwMjQ0NDgwMH0";
