//! What hammer does with a plan that it cannot use: exit 2, and a message that names file, line and key.

#[path = "bad_plan/credentials.rs"]
mod credentials;
#[path = "support/folder.rs"]
mod folder;
#[path = "support/hammer.rs"]
mod hammer;
#[path = "bad_plan/logs.rs"]
mod logs;
#[path = "support/plan.rs"]
mod plan;

use std::net::TcpListener;

use folder::Folder;
use hammer::hammer;
use plan::{CT_PLAN, PLAN, refused, run};

#[test]
fn the_plan_that_the_others_spoil_is_carried_out_as_it_stands() {
    let folder = Folder::new();
    let ended = hammer(&["run", &folder.write("plan.yaml", PLAN), "--out", "-"]);
    assert_eq!((ended.report().totals.all.offered, ended.code), (5, 3), "{}", ended.stderr);
}

#[test]
fn an_unknown_key_is_named_by_file_line_and_path() {
    let folder = Folder::new();
    let plan = folder
        .write("plan.yaml", &PLAN.replace("load: { rate: 10/s }", "load: { rate: 10/s }\n    in_flght: 5"));
    for command in ["run", "plan"] {
        let ended = hammer(&[command, &plan]);
        refused(&ended, &[&format!("{plan}:7:5: "), "workloads[0].in_flght: unknown key `in_flght`"]);
    }
    let ended = hammer(&["run", &plan]);
    insta::assert_snapshot!("an_unknown_key", ended.stderr.replace(&plan, "plan.yaml"));
}

#[test]
fn an_unknown_key_deep_in_a_target_has_its_line() {
    let ended = run(&PLAN.replace("url: http://127.0.0.1:9", "lab:\n    http:\n      boddy_bytes: 5"), &[]);
    refused(&ended, &["plan.yaml:4:7: ", "target.lab.http.boddy_bytes: unknown key `boddy_bytes`"]);
}

#[test]
fn a_wrong_unit_is_named_by_file_line_and_path() {
    let folder = Folder::new();
    let plan = folder.write("plan.yaml", &PLAN.replace("500ms", "10 parsecs"));
    let ended = hammer(&["run", &plan]);
    refused(
        &ended,
        &[&format!("{plan}:8:16: "), "phases.measurement: `10 parsecs` is no time (like 250ms, "],
    );
    insta::assert_snapshot!("a_wrong_unit", ended.stderr.replace(&plan, "plan.yaml"));
    let ended = run(&PLAN.replace("10/s", "10"), &[]);
    refused(&ended, &["plan.yaml:6:", "workloads[0].load.rate"]);
    let ended = run(&PLAN.replace("10/s", "10qps"), &[]);
    refused(&ended, &["plan.yaml:6:", "workloads[0].load.rate: `10qps` is no rate (like 500/s, "]);
}

#[test]
fn a_load_in_which_nothing_ever_comes_is_refused() {
    let none = "at 0/s nothing is ever sent: give a rate above it";
    for (load, key) in [
        ("{ rate: 0/min }", "rate"),
        ("{ ramp: { from: 0/s, to: 0/s, over: 1s } }", "ramp"),
        ("{ steps: [{ rate: 0/s, for: 1s }] }", "steps"),
    ] {
        let ended = run(&PLAN.replace("{ rate: 10/s }", load), &[]);
        refused(&ended, &["plan.yaml:6:", &format!("workloads[0].load.{key}: {none}")]);
    }
}

#[test]
fn a_threshold_on_a_series_that_is_not_there_is_refused_with_those_that_are() {
    let of_run = |series: &str| {
        PLAN.replace(
            "phases:",
            &format!("thresholds:\n- {{ expect: p99(response) < 1s, series: {series} }}\nphases:"),
        )
    };
    let known = "thresholds[0].series: there is no series `web/post`; the run has web/get";
    refused(&run(&of_run("web/post"), &[]), &["plan.yaml:8:", known]);
    let of_workload =
        "load: { rate: 10/s }\n    thresholds:\n    - { expect: count(refused) < 5, series: web/post }";
    let of_workload = run(&PLAN.replace("load: { rate: 10/s }", of_workload), &[]);
    refused(&of_workload, &["plan.yaml:8:", &format!("workloads[0].{known}")]);
    // Without anything being opened, and ahead of a fill.
    let folder = Folder::new();
    for series in ["wbe/get", "get", "''"] {
        let why = format!("`{}` is no series of a workload that is measured: web", series.trim_matches('\''));
        for command in ["plan", "run"] {
            let ended = hammer(&[command, &folder.write("plan.yaml", &of_run(series))]);
            refused(&ended, &["plan.yaml:8:", "thresholds[0].series: ", &why]);
        }
    }
    let filling = PLAN.replace("load: { rate: 10/s }", "thresholds: [ count(accepted) > 1 ]");
    let filling = filling.replace("phases:", "fill: { workload: web, operations: 5 }\nphases:");
    refused(
        &run(&filling, &[]),
        &["plan.yaml:6:", "workloads[0].thresholds[0]: the workload fills and is not"],
    );
}

#[test]
fn what_takes_no_time_is_refused_where_it_stands() {
    let none = "it must be 1ns at least";
    let of = |from: &str, to: &str| run(&PLAN.replace(from, to), &[]);
    refused(&of("500ms", "0s"), &["plan.yaml:8:", "phases.measurement: ", none]);
    let timeout = of("load: { rate: 10/s }", "load: { rate: 10/s }\n    timeout: 0s");
    refused(&timeout, &["plan.yaml:7:", "workloads[0].timeout: ", none]);
    let window = of("phases:", "resources: { window: 0s }\nphases:");
    refused(&window, &["plan.yaml:7:", "resources.window: ", none]);
    let judged = of("phases:", "thresholds: [ { expect: share(shed) < 1%, window: 0s } ]\nphases:");
    refused(&judged, &["plan.yaml:7:", "thresholds[0].window: ", none]);
    for (flag, more) in [("-t", "-t"), ("-z", "-z")] {
        let ended = hammer(&["http", "get", "http://127.0.0.1:9/", more, "0s"]);
        refused(&ended, &[&format!("use {flag}: {none}")]);
    }
}

#[test]
fn a_file_that_is_no_yaml_or_not_there_is_named() {
    refused(&run("target: [", &[]), &["plan.yaml:"]);
    refused(&run("# nothing yet\n", &[]), &["plan.yaml: it is empty"]);
    refused(&hammer(&["run", env!("CARGO_TARGET_TMPDIR")]), &["Is a directory"]);
    refused(&hammer(&["run", "/nonexistent/plan.yaml"]), &["read /nonexistent/plan.yaml: No such file"]);
}

#[test]
fn a_change_that_does_not_fit_is_named_by_its_key() {
    for (change, part) in [
        (
            "workloads.nobody.load.rate=5/s",
            "use --set workloads.nobody.load.rate=5/s: there is no item nobody",
        ),
        ("workloads.web.load.rat=5/s", "use --set workloads.web.load.rat=5/s: unknown key `rat`"),
        ("workloads.web.load.rate=fast", "use --set workloads.web.load.rate=fast: `fast` is no rate"),
        ("rounds=two", "use --set rounds=two: `two` is no whole number"),
        ("rounds", "use --set rounds: expected KEY=VALUE"),
    ] {
        refused(&run(PLAN, &[change]), &[part]);
    }
}

#[test]
fn a_plan_that_contradicts_itself_is_refused() {
    for (change, part) in [
        (
            "target.lab={http: {}}",
            "target: give exactly one of url, log, logs, sigstore, trillian, attest, pki, services, lab",
        ),
        ("target={}", ": give exactly one of url, log, logs, sigstore, trillian, attest, pki, services, lab"),
        ("target={lab: {http: {}, ct: {}}}", "target.lab: give exactly one of http, gateway, ct, logs"),
        ("target.url=ftp://127.0.0.1/", "ftp://127.0.0.1/"),
        ("target.url=http://no host/", ": `http://no host/` is no URL"),
        (
            "target.url=[\"http://127.0.0.1/a?b=c\"]",
            "target.url[0]: `http://127.0.0.1/a?b=c` is no URL of a service: it has a query",
        ),
        ("target.contact=\"a\\nb\"", "` is no contact that a header can hold"),
        ("target.connection.streams=0", ": it must be 1 at least"),
        ("interval=5ms", ": it must be 10ms at least"),
        ("compat=k6", ": `k6` cannot stand here; give one of rhtas-benchmark, rest-pki"),
        (
            "compat=rest-pki",
            "compat=rest-pki: nothing is signed; give a workload `pki_sign`, `pki_authenticate` or ",
        ),
        (
            "compat=rhtas-benchmark",
            "compat=rhtas-benchmark: no flow signs or verifies; give a workload `sigstore_sign`, ",
        ),
        ("workloads=[]", ": it is empty"),
        ("workloads.web.name=a b", ": `a b` is no word: a name without space, dot and slash"),
        (
            "workloads.web.ct_read={}",
            "workloads[0]: give exactly one of http, http_flows, ct_submit, ct_read",
        ),
        ("workloads.web.http=null", "workloads[0]: give exactly one of http, http_flows, ct_submit, ct_read"),
        ("workloads.web.load.users=5", "workloads[0].load: give either a rate or users, not both"),
        ("workloads.web.load={}", ": give exactly one of rate, ramp, "),
        ("workloads.web.load={trace: /nonexistent/trace}", "failed to read /nonexistent/trace: "),
        ("workloads.web.in_flight=0", ": it must be 1 at least"),
        (
            "workloads.web.http.headers={Content-Length: 99}",
            "`Content-Length` is no header that can be given",
        ),
        ("workloads.web.http.headers={transfer-encoding: chunked}", "it follows from the body"),
        ("workloads.web.http.method=get", ": `get` is no method in capitals (like GET, POST, PUT)"),
        ("workloads.web.http.method=GE T", ": `GE T` is no method in capitals (like GET, POST, PUT)"),
        ("workloads.web.http.body_file=/nonexistent/body", "read a body from /nonexistent/body: "),
        ("workloads.web.http.path=/a b", ": `/a b` is no path (like /a/b?c=d)"),
        ("workloads.web.http={body: a, body_file: b}", ": workloads[0].http.body_file: body is given too"),
        ("workloads.web.http.bearer={file: a, env: B}", ": give exactly one of file, env"),
        ("workloads.web.http.expect=[200, 1000]", "workloads[0].http.expect[1]: it must be 599 at most"),
        ("workloads.web.load.think=1s", ": think time belongs to users; a rate has none"),
        ("workloads.web.load.spawn_rate=5/s", ": users enter a closed loop; an open one has none"),
        (
            "workloads.web.load={users: 5, spawn_rate: 0/s}",
            "workloads[0].load.spawn_rate: `0/s` is no rate at which anyone enters",
        ),
        ("workloads.web.load={users: 0}", "workloads[0].load.users: there must be at least one user"),
        ("resources={saturation: {}}", "resources.saturation.of: give the name of one of"),
        (
            "resources={processes: [{name: a, command: a}], saturation: {of: b}}",
            "resources.saturation.of: no process, control group or page is called `b`",
        ),
        (
            "resources={processes: [{name: a, command: a}], saturation: {above: 100%}}",
            "resources.saturation.above: nothing uses more than all of its cores",
        ),
        (
            "resources={processes: [{name: a, command: a}], saturation: {for: 0s}}",
            "resources.saturation.for: it takes some time",
        ),
        (
            "resources={metrics: [{name: a, url: 'http://127.0.0.1:1/'}], saturation: {}}",
            "resources.saturation.cores: a page does not tell how many cores",
        ),
        ("workloads.web.load={users: 5, groups: 0}", "workloads[0].load.groups: "),
        ("workloads.web.load={rate: 5/s, groups: 2}", "workloads[0].load.groups: "),
        ("workloads.web.load={users: 5, groups: 1001}", "workloads[0].load.groups: "),
        ("workloads.web.load={users: 5, think: 2s, think_up_to: 1s}", "workloads[0].load.think_up_to: "),
        (
            "workloads.web.load={ramp: {from: 1/s, to: 2/s, over: 0s}}",
            "workloads[0].load.ramp.over: a ramp takes time",
        ),
        ("health.dispatch_lag_p99=0s", "health.dispatch_lag_p99=0s: nothing is sent at the very instant"),
        (
            "workloads.web.load={bursts: {size: 2, every: 1s, within: 2s}}",
            "workloads[0].load.bursts.within: it is longer than every, 1s",
        ),
        (
            "workloads.web.load={bursts: {size: 0, every: 1s}}",
            "workloads[0].load.bursts.size: it must be 1 at least",
        ),
        ("threads.shards=0", ": it must be 1 at least"),
        ("phases=[1s, 2s, 3s]", "phases=[1s, 2s, 3s]: expected keys with values, and not a list"),
        ("workloads.web.load=[5/s]", "load=[5/s]: expected keys with values, and not a list"),
        ("workloads.web.http=[GET]", "http=[GET]: expected keys with values, and not a list"),
        ("phases.measurement=", "the value is empty: write null to take a key away"),
        ("rounds=0", ": it must be 1 at least"),
        ("stop={tree_size: 5}", ": it needs a log"),
        ("stop={}", ": give tree_size or tree_growth"),
        ("stop={tree_growth: 0}", "stop.tree_growth: it must be 1 at least"),
        (
            "thresholds=[p99(response) < 5]",
            "thresholds[0]: failed to read `p99(response) < 5`: `5` is no time",
        ),
        (
            "thresholds=[{expect: p99(response) < 1s, window: 1m, abort_on_fail: true}]",
            "abort_on_fail never acts: it judges the last 1m, and the measurement is of ",
        ),
        ("thresholds=[fast please]", "read `fast please`: expected `function(measure) < bound`"),
        (
            "workloads.web.thresholds=[p99(respons) < 5ms]",
            "workloads[0].thresholds[0]: failed to read `p99(respons) < 5ms`",
        ),
    ] {
        let ended = run(PLAN, &[change]);
        assert_eq!(ended.code, 2, "{change}: {}", ended.stderr);
        refused(&ended, &[&format!("hammer: failed to use --set {change}: "), part]);
    }
}

#[test]
fn a_sweep_that_does_not_fit_names_its_key_and_value() {
    for (sweep, part) in [
        ("{usrs: [1, 2]}", "failed to use the sweep of usrs to 1: unknown key `usrs`"),
        (
            "{threads.shards: [1, none]}",
            "failed to use the sweep of threads.shards to \"none\": `none` is no whole number",
        ),
        ("{threads.shards: [1, 0]}", "failed to use the sweep of threads.shards to 0: it must be 1 at least"),
        (
            "{threads.shards: []}",
            "failed to use --set sweep={threads.shards: []}: sweep.threads.shards: it is empty",
        ),
        ("{seed.x: [1]}", "sweep.seed.x: what stands before x has no keys"),
        ("{rate: [1/s], workloads.web.load.rate: [2/s]}", "it is the key that rate is, too"),
        ("{rounds: [5]}", "sweep.rounds: it is of all runs together"),
        ("{output.report: [a.json, b.json]}", "it is of all runs together, so that no run can have another"),
    ] {
        refused(&run(PLAN, &[&format!("sweep={sweep}")]), &[part]);
    }
}

#[test]
fn a_sweep_of_a_file_has_its_line_there_though_what_it_names_has_none() {
    let folder = Folder::new();
    for (sweep, parts) in [
        ("sweep: { rat: [50/s] }", ["the sweep of rat to \"50/s\" (", "plan.yaml:10:10): unknown key `rat`"]),
        (
            "sweep: { users: [5] }",
            ["the sweep of users to 5 (", "plan.yaml:10:10): workloads[0].load: give either"],
        ),
    ] {
        let plan = folder.write("plan.yaml", &format!("{}{sweep}\n", PLAN.trim_start()));
        let line = PLAN.trim_start().lines().count() + 1;
        let parts = parts.map(|part| part.replace(":10:10", &format!(":{line}:10")));
        refused(&hammer(&["run", &plan]), &parts.each_ref().map(String::as_str));
    }
}

#[test]
fn a_key_that_stands_there_twice_is_told_without_advice_to_programmers() {
    let folder = Folder::new();
    let plan = folder.write("plan.yaml", &format!("{PLAN}name: one\nname: two\n"));
    let ended = hammer(&["run", &plan]);
    refused(&ended, &[": the key `name` stands here twice\n"]);
    assert!(!ended.stderr.contains("DuplicateKeyPolicy"), "{}", ended.stderr);
}

/// What contradicts another key is found after the plan was read; it has its line all the same.
#[test]
fn what_contradicts_another_key_is_named_by_file_line_and_path() {
    let with = |from: &str, to: &str| run(&PLAN.replace(from, to), &[]);
    refused(
        &with("load: { rate: 10/s }", "load: { rate: 10/s, users: 5 }"),
        &[
            "plan.yaml:6:11: workloads[0].load: give either a rate or users, not both",
            "\n6 |     load: { rate: 10/s, users: 5 }\n",
        ],
    );
    refused(
        &with("url: http://127.0.0.1:9", "authorized: me"),
        &[
            "plan.yaml:2:3: target: give exactly one of url, log, logs, sigstore, trillian, attest, pki, services, lab",
        ],
    );
    refused(&with("name: web", "name: a b"), &["plan.yaml:4:11: workloads[0].name: `a b` is no word"]);
    refused(
        &with("http: {}", "http: { headers: { a b: c } }"),
        &["plan.yaml:5:24: workloads[0].http.headers.a b: `a b` is no header name"],
    );
    refused(
        &with("phases:", "stop: { tree_size: 5 }\nphases:"),
        &["plan.yaml:7:7: stop: it needs a log: give target.log, "],
    );
    refused(
        &with("phases:", "thresholds:\n- p99(response) < 5s\n- fast please\nphases:"),
        &["plan.yaml:9:3: thresholds[1]: failed to read `fast please`: "],
    );
    // What a line does not change is still the file's.
    let broken = PLAN.replace("in_flight", "").replace("http: {}", "http: {}\n    in_flight: 0");
    refused(&run(&broken, &["seed=5"]), &["plan.yaml:6:16: workloads[0].in_flight: it must be 1 at least"]);
    let unknown = CT_PLAN.replace("ct_submit: {}", "ct_submit: { logs: [2027h1] }");
    refused(
        &run(&unknown, &[]),
        &["plan.yaml:7:24: workloads[0].ct_submit.logs: the target has no log `2027h1`"],
    );
}

#[test]
fn two_workloads_of_one_name_are_refused() {
    let two = PLAN.replace("phases:", "  - { name: web, http: {}, load: { rate: 1/s } }\nphases:");
    let ended = run(&two, &[]);
    refused(&ended, &["workloads[1].name: `web` is taken"]);
}

#[test]
fn an_unreadable_pem_is_named_by_its_file() {
    let folder = Folder::new();
    let garbage =
        folder.write("garbage.pem", "-----BEGIN CERTIFICATE-----\nno base64!\n-----END CERTIFICATE-----\n");
    let empty = folder.write("empty.pem", "");
    let missing = folder.path("missing.pem");
    for file in [&garbage, &empty, &missing] {
        let file = file.as_str();
        refused(
            &run(PLAN, &[&format!("target.tls.roots=[{file}]")]),
            &["target.tls.roots[0]: failed to read ", file],
        );
        refused(&hammer(&["http", "get", "https://127.0.0.1:9/", "--cacert", file]), &[file]);
        let identity = format!("target.tls={{certificate: {file}, key: {file}}}");
        refused(&run(PLAN, &[&identity]), &["target.tls.certificate: failed to read ", file]);
        let key = format!("target.log={{submission_url: \"http://127.0.0.1:9/\", public_key_file: {file}}}");
        refused(&run(CT_PLAN, &[&key]), &["failed to ", file]);
        let ca = format!("workloads.submit.ct_submit.ca={{chain: {file}, key: {file}}}");
        refused(&run(CT_PLAN, &[&ca]), &["workloads[0].ct_submit.ca.", ": failed to read ", file]);
        let chains = format!("workloads.submit.ct_submit.chains=[{file}]");
        refused(&run(CT_PLAN, &[&chains]), &[&format!("use --set {chains}: failed to read "), file]);
        let roots = format!("target={{lab: {{ct: {{roots_pem_files: [{file}]}}}}}}");
        refused(&run(CT_PLAN, &[&roots]), &[file]);
        refused(&hammer(&["lab", "ct", "--roots", file]), &[file]);
        let tls =
            format!("target={{lab: {{http: {{serve: {{tls: {{certificate: {file}, key: {file}}}}}}}}}}}");
        refused(&run(PLAN, &[&tls]), &[file]);
    }
    refused(
        &run(CT_PLAN, &[&format!("target.log.public_key={garbage}")]),
        &[".pem: failed to use the log's public key: failed to read a public key: "],
    );
}

#[test]
fn an_embedded_target_that_cannot_start_says_why() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    for lab in ["ct", "http"] {
        let ended = hammer(&["lab", lab, "--listen", &address]);
        refused(&ended, &[&format!("hammer: failed to listen on {address}: Address already in use")]);
        let ended = hammer(&["lab", lab, "--set", &format!("serve.listen={address}")]);
        refused(&ended, &["--set serve.listen=", ": failed to listen on ", "Address already in use"]);
    }
    let listen = format!("serve: {{ listen: \"{address}\" }}");
    let own = PLAN.replace("url: http://127.0.0.1:9", &format!("lab: {{ http: {{ {listen} }} }}"));
    refused(&run(&own, &[]), &["plan.yaml:2:", "target.lab.http.serve.listen: failed to listen on "]);

    let folder = Folder::new();
    let workload = "workloads: [ { name: submit, ct_submit: {}, load: { rate: 1/s } } ]";
    let plan = folder
        .write("plan.yaml", &format!("target: {{ lab: {{ ct: {{ keep_entries: 5 }} }} }}\n{workload}\n"));
    let kept = "plan.yaml:1:38: target.lab.ct.keep_entries: it must be 1024 at least";
    refused(&hammer(&["run", &plan]), &[kept]);
    refused(&hammer(&["lab", "ct", "--plan", &plan]), &[kept]);
    refused(
        &hammer(&["lab", "ct", "--set", "keep_entries=5"]),
        &["use --set keep_entries=5: it must be 1024 at least"],
    );
    let config = folder.write("log.yaml", &format!("private_key: {plan}\n"));
    refused(
        &hammer(&["lab", "ct", "--config", &config]),
        &["log.yaml:1:14: private_key: no private key in it"],
    );
    refused(
        &hammer(&["lab", "ct", "--roots", &config]),
        &[&format!("failed to use {config}: no certificate in it")],
    );
}

#[test]
fn more_than_a_machine_can_hold_is_refused() {
    for (set, why) in [
        ("workloads.web.load={users: 99999999999}", "workloads[0].load.users: there can be a million users"),
        ("rounds=99999999999", "rounds=99999999999: there can be 10,000 runs"),
        ("workloads.web.http.path=a", "use --set workloads.web.http.path=a: `a` is no path"),
    ] {
        refused(&run(PLAN, &[set]), &[why]);
    }
}

#[test]
fn more_audited_workloads_than_can_be_told_apart_are_refused() {
    let (target, _) = CT_PLAN.split_once("workloads:").unwrap();
    let workload =
        |place: usize| format!("  - {{ name: w{place}, ct_submit: {{}}, load: {{ rate: 1/s }} }}\n");
    let plan = |workloads: usize| {
        format!("{target}workloads:\n{}", (0..workloads).map(workload).collect::<String>())
    };
    let folder = Folder::new();
    let shown = |text: &str| hammer(&["plan", &folder.write("plan.yaml", text)]);
    assert_eq!(shown(&plan(256)).code, 0, "{}", shown(&plan(256)).stderr);
    refused(&shown(&plan(257)), &["workloads[256].ct_submit: 256 workloads at most can be audited"]);
}

#[test]
fn a_conflict_within_mixed_flows_is_told_at_its_own_key() {
    for (settings, key) in [
        ("{ sign: { timestamp: false, timestamp_entry: true } }", "sign.timestamp_entry"),
        ("{ sign: { bundles: { file: a, folder: b } } }", "sign.bundles"),
        ("{ verify: { draw: hot } }", "verify.draw"),
        ("{ sign: { rekor: v2 } }", "sign.rekor"),
    ] {
        let plan = format!(
            "target: {{ lab: {{ sigstore: {{}} }} }}\nworkloads:\n  - name: both\n    sigstore_mixed: {settings}\n    load: {{ rate: 1/s }}\n"
        );
        refused(&run(&plan, &[]), &["plan.yaml:4:", &format!("workloads[0].sigstore_mixed.{key}: ")]);
    }
}

#[test]
fn a_log_that_more_workloads_follow_than_there_is_room_for_is_refused_at_the_first_of_them() {
    let folder = Folder::new();
    let plan = |flows: &str, count: usize| {
        let one = |place| format!("  - name: w{place}\n    {flows}\n    load: {{ rate: 1/s }}\n");
        let workloads: String = (0..count).map(one).collect();
        let text = format!(
            "target: {{ lab: {{ sigstore: {{}} }} }}\nphases: {{ measurement: 1s }}\nworkloads:\n{workloads}"
        );
        hammer(&["plan", &folder.write("plan.yaml", &text)])
    };
    for (flows, most) in [
        ("sigstore_sign: {}", 256),
        ("sigstore_sign: { rekor: v2 }", 256),
        ("sigstore_mixed: {}", 128),
        ("sigstore_verify: { corpus: entries }", 256),
        ("sigstore_verify: { rekor: v2, corpus: entries }", 128),
        ("sigstore_mixed: { sign: { rekor: v2 }, verify: { rekor: v2 } }", 85),
    ] {
        assert_eq!(plan(flows, most).code, 0, "{flows}");
        let ended = plan(flows, most + 1);
        refused(&ended, &[&format!("workloads[{most}].sigstore_"), "256 workloads at most"]);
    }
    assert_eq!(plan("sigstore_sign: { audit: false }", 300).code, 0);
}

#[test]
fn tokens_of_hammers_own_that_would_be_over_before_the_run_are_refused() {
    let plan = |lifetime: &str| {
        format!(
            "target:\n  sigstore:\n    fulcio_url: http://127.0.0.1:9\n    identity:\n      issuer: http://127.0.0.1:9\n      \
             listen: 127.0.0.1:0\n      lifetime: {lifetime}\n\
             workloads:\n  - name: sign\n    sigstore_sign: {{ rekor: none, timestamp: false }}\n    \
             load: {{ rate: 1/s }}\nphases: {{ warm_up: 1s, measurement: 1s, drain: 1s }}\n"
        )
    };
    let ended = run(&plan("1999ms"), &[]);
    refused(&ended, &["plan.yaml:7:", "target.sigstore.identity.lifetime: tokens are valid for 1999ms "]);
    let ended = run(&plan("0s"), &[]);
    refused(&ended, &["target.sigstore.identity.lifetime: tokens are valid for 0s"]);
    // What is wrong then is that nobody is trusted.
    let ended = run(&plan("2s"), &[]);
    assert!(!ended.stderr.contains("lifetime"), "{}", ended.stderr);
}
