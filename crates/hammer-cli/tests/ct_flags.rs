//! What the arguments of `hammer ct` become.

#[path = "support/folder.rs"]
mod folder;
#[path = "support/hammer.rs"]
mod hammer;
#[path = "support/log.rs"]
#[expect(dead_code, reason = "other tests submit, to both kinds of logs")]
mod log;
#[path = "support/server.rs"]
#[expect(dead_code, reason = "other tests look at request lines and connections")]
mod server;

use hammer_lab::ct::Flavour;

use folder::Folder;
use hammer::{Started, command, hammer};
use log::Log;
use server::Server;

const KEY: &str = "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEqG51pjbkmFczWR9zrHs0sIVFt8ErBljJ8NcYFITKMsgMaf6+YjbKxA1OiWXWuLEnKTdx1KB6KqMcaDTzVbZ6Sg==";

#[test]
fn duplicates_and_invalid_chains_are_series_and_the_audit_can_be_left_out() {
    let log = Log::of(Flavour::StaticCt, Vec::new());
    let args = ["-q", "200/s", "-z", "1s", "--duplicates", "30", "--invalid", "12.5", "--out", "-"];
    for (more, is_audited) in [(None, true), (Some("--no-audit"), false)] {
        let args: Vec<&str> = args.iter().copied().chain(more).collect();
        let report = log.hammer("submit", &args).report();
        assert_eq!(report.totals.all.offered, 200);
        for series in ["duplicate", "invalid"] {
            let found = report.operations().find(|operations| operations.name == series);
            let offered = found.map_or(0, |operations| operations.measurement.counts.offered);
            assert!((5..120).contains(&offered), "{series}: {offered}");
        }
        let audited = report.observations.iter().any(|observation| observation.name == "audited");
        assert_eq!(audited, is_audited);
        assert_eq!((report.promises.all.broken, report.promises.all.pending), (0, 0));
    }
}

#[test]
fn the_token_of_each_side_goes_to_that_side_alone() {
    let folder = Folder::new();
    let file = folder.write("token", "to-write\n");
    let (writes, reads) = (Server::ok(), Server::ok());
    let (write, read) = (writes.url(), reads.url());
    let sides = ["--submission-token-file", &file, "--monitoring-token-env", "HAMMER_TEST_TOKEN"];
    let args = ["ct", "submit", &write, "--key", KEY, "--monitoring-url", &read, "-q", "20/s", "-z", "500ms"];
    let mut process = command(&[&args, sides.as_slice()].concat());
    process.env("HAMMER_TEST_TOKEN", "to-read");
    let ended = Started::of(process).ended();
    for (server, token) in [(&writes, "Bearer to-write"), (&reads, "Bearer to-read")] {
        let requests = server.requests();
        assert!(!requests.is_empty(), "{ended:?}");
        assert!(
            requests.iter().all(|request| request.header("authorization") == Some(token)),
            "{requests:?}"
        );
    }
    assert!(!ended.stdout.contains("to-write") && !ended.stdout.contains("to-read"), "{ended:?}");
    // Who reads where chains are sent shows the token of that place.
    let args = ["ct", "follow", &write, "--key", KEY, "-z", "200ms", "--submission-token-file", &file];
    let before = writes.requests().len();
    hammer(&args);
    let requests = &writes.requests()[before..];
    assert!(!requests.is_empty());
    assert!(requests.iter().all(|request| request.header("authorization") == Some("Bearer to-write")));
}

#[test]
fn arguments_that_contradict_each_other_are_refused() {
    let folder = Folder::new();
    let (empty, garbage) = (folder.write("empty", "\n"), folder.write("garbage", "{}\n"));
    let on = ["http://127.0.0.1:9/", "--key", KEY];
    let (absent, in_folder) = (folder.path("absent"), "file:///nowhere");
    let checkpointless = format!("file://{}", folder.path(""));
    for (subcommand, more, part) in [
        ("read", ["--mix", "tile"], "use --mix tile: expected KIND=WEIGHT"),
        ("read", ["--mix", "tile=x"], "use --mix tile=x: expected KIND=WEIGHT"),
        ("read", ["--mix", "tile=1,tile=2"], "use --mix tile=2: it has a weight already"),
        ("read", ["--mix", "leaf=1"], "use --mix: `leaf` cannot stand here"),
        (
            "read",
            ["--mix", "get-sth=1"],
            "use --mix: failed to use \"get-sth\" as mix: expected kinds of static-ct: checkpoint, tile, bundle, names, issuer",
        ),
        ("read", ["--pattern", "backwards"], "invalid value 'backwards' for '--pattern"),
        ("submit", ["--mmd", "long"], "use --mmd: `long` is no time"),
        ("submit", ["--duplicates", "101"], "use --duplicates: `101` is no percentage (0 to 100, "),
        ("submit", ["--monitoring-token-file", &absent], &absent),
        ("submit", ["--submission-token-env", "HAMMER_NOT_SET"], "HAMMER_NOT_SET"),
        ("audit", ["--receipts", &absent], &format!("read {absent}: No such file")),
        ("audit", ["--receipts", &empty], "it holds no receipt"),
        ("audit", ["--receipts", &garbage], "line 1: failed to read it as JSON: it lacks"),
    ] {
        let ended = hammer(&[&["ct", subcommand], on.as_slice(), more.as_slice()].concat());
        assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{more:?}: {ended:?}");
        assert!(ended.stderr.contains(part), "{part}: {ended:?}");
    }
    for (subcommand, more, part) in [
        ("submit", ["--origin", "log.test"].as_slice(), "use file:///nowhere: chains are sent to a server"),
        ("audit", &[], "use file:///nowhere: a folder needs --origin"),
        (
            "audit",
            &["--origin", "log.test", "--kind", "rfc6962"],
            "only a log of static-ct can be read in a folder",
        ),
        (
            "follow",
            &["--origin", "log.test", "--monitoring-url", "http://127.0.0.1:9"],
            "use --monitoring-url: ",
        ),
    ] {
        let ended = hammer(&[&["ct", subcommand, in_folder, "--key", KEY], more].concat());
        assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{more:?}: {ended:?}");
        assert!(ended.stderr.contains(part), "{part}: {ended:?}");
    }
    let named = ["--key", KEY, "--origin", "log.test"];
    let absent = "read a log in the folder /nowhere: No such file or directory";
    let empty = "has no file `checkpoint`";
    for (command, part) in [
        (["read", in_folder].as_slice(), absent),
        (&["audit", in_folder], absent),
        (&["follow", in_folder], absent),
        // Nothing is sent to a log that cannot be read.
        (&["submit", "http://127.0.0.1:9/", "--monitoring-url", in_folder], absent),
        (&["read", &checkpointless], empty),
        (&["submit", "http://127.0.0.1:9/", "--monitoring-url", &checkpointless], empty),
        (
            &["follow", "http://127.0.0.1:9/", "--evidence", "/proc/none"],
            "use --evidence: failed to make the folder",
        ),
        (&["follow", "http://127.0.0.1:9/", "--evidence", "/proc"], "use --evidence: failed to open /proc: "),
        (
            &["read", "http://127.0.0.1:9/", "--events", "-"],
            "use --events: `-` is standard output for a report alone",
        ),
        (&["read", "http://127.0.0.1:9/", "--csv", &folder.path("no/such")], "use --csv: "),
        (
            &["read", "http://127.0.0.1:9/", "--csv", "-"],
            "use --csv: `-` is standard output for a report alone",
        ),
    ] {
        let ended = hammer(&[&["ct"], command, named.as_slice()].concat());
        assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{command:?}: {ended:?}");
        assert!(ended.stderr.contains(part), "{part}: {ended:?}");
    }
    let ended = hammer(&[&["ct", "audit", &checkpointless], named.as_slice()].concat());
    assert!(ended.code == 5 && ended.stdout.contains(empty), "{ended:?}");
}

#[test]
fn the_roots_of_a_command_of_one_line_are_printed_without_a_plan() {
    let folder = Folder::new();
    let plan = "target: { lab: { ct: {} } }\n\
                workloads: [ { name: submit, ct_submit: {}, load: { rate: 1/s } } ]\n\
                phases: { measurement: 1s }\n";
    let plan = folder.write("plan.yaml", plan);
    let of_plan = hammer(&["ct", "roots", &plan, "--seed", "5"]);
    let of_line = hammer(&["ct", "roots", "--seed", "5"]);
    assert!(of_line.code == 0 && of_line.stdout.contains("BEGIN CERTIFICATE"), "{of_line:?}");
    assert_eq!(of_line.stdout, of_plan.stdout);
    assert_ne!(hammer(&["ct", "roots"]).stdout, of_line.stdout);
    let set = hammer(&["ct", "roots", "--set", "seed=5"]);
    assert!(
        set.code == 2 && set.stderr.contains("use --set: there is no plan whose keys it changes"),
        "{set:?}"
    );
}
