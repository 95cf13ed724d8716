//! What a run is told to be that measured nothing of what it is for.

#[path = "support/folder.rs"]
mod folder;
#[path = "support/hammer.rs"]
mod hammer;
#[path = "support/on_time.rs"]
mod on_time;
#[path = "support/server.rs"]
#[expect(dead_code, reason = "other tests look at what came")]
mod server;

use folder::Folder;
use hammer::{Ended, hammer};
use hammer_report::Standing;
use on_time::exit_if_on_time;
use server::Server;

/// A plan of two workloads on these servers, for a second.
fn run(first: &Server, second: &Server, thresholds: &str) -> Ended {
    let folder = Folder::new();
    let plan = format!(
        "target: {{ services: {{ one: {{ url: \"{}\" }}, two: {{ url: \"{}\" }} }} }}\n\
         workloads:\n\
         - {{ name: api, http: {{ service: one, contains: thing }}, load: {{ rate: 20/s }}, thresholds: {thresholds} }}\n\
         - {{ name: page, http: {{ service: two }}, load: {{ rate: 20/s }} }}\n\
         phases: {{ measurement: 500ms }}\n",
        first.url(),
        second.url()
    );
    hammer(&["run", &folder.write("plan.yaml", &plan), "--out", "-", "--quiet"])
}

fn refusing() -> Server {
    let body = "{\"message\": \"no such thing\",\n \"token\": \"eyJhbGciOiJub25lIn0.e30.c2ln\"}";
    Server::answering(format!("HTTP/1.1 404 Not Found\r\ncontent-length: {}\r\n\r\n{body}", body.len()))
}

#[test]
fn a_workload_that_was_refused_alone_is_no_pass_though_another_was_served() {
    let ended = run(&refusing(), &Server::ok(), "[]");
    let report = ended.report();
    assert_eq!(exit_if_on_time(&report.verdict), 1, "{}", ended.stderr);
    let said = &report.verdict.reasons.last().unwrap().text;
    let expected = "nothing of api was accepted: 10 refused \
                    (HTTP 404, {\"message\": \"no such thing\", \"token\": \"***\"})";
    assert_eq!(said, expected);
    let answer = report.series[0].measurement.causes[0].answer.as_deref();
    assert_eq!(answer, Some("{\"message\": \"no such thing\", \"token\": \"***\"}"));
    assert!(ended.stderr.contains(": HTTP 404 (refused), said: {\"message\":"), "{}", ended.stderr);
    assert!(!ended.stdout.contains("eyJhbGci") && !ended.stderr.contains("eyJhbGci"), "{}", ended.stderr);
}

/// A plan of one workload on a server, for half a second: the request as given, and what is expected of it.
fn one(server: &Server, request: &str, thresholds: &str) -> Ended {
    let folder = Folder::new();
    let plan = format!(
        "target: {{ url: \"{}\" }}\n\
         workloads:\n\
         - {{ name: api, http: {request}, load: {{ rate: 20/s }}, thresholds: {thresholds} }}\n\
         phases: {{ measurement: 500ms }}\n",
        server.url()
    );
    hammer(&["run", &folder.write("plan.yaml", &plan), "--out", "-", "--quiet"])
}

#[test]
fn a_run_of_which_nothing_was_expected_says_so_and_does_not_pass() {
    // What says more of an answer than that it is one is an expectation.
    for (request, thresholds, passed, refused) in [
        ("{}", "[]", false, false),
        ("{}", "[ \"count(accepted) > 0\" ]", true, false),
        ("{ expect: [ 200 ] }", "[]", true, false),
        ("{ contains: ok }", "[]", true, false),
        ("{ expect: [ 404 ] }", "[]", true, true),
    ] {
        let ended = one(&if refused { refusing() } else { Server::ok() }, request, thresholds);
        let verdict = ended.report().verdict;
        assert_eq!(exit_if_on_time(&verdict), 0, "{request} {thresholds}: {}", ended.stderr);
        if verdict.reasons.is_empty() {
            let standing = if passed { Standing::Passed } else { Standing::NoExpectation };
            assert_eq!(verdict.standing, standing, "{request} {thresholds}: {}", ended.stderr);
            let said = if passed { "PASS, exit 0" } else { "no expectation, exit 0: " };
            assert!(ended.stderr.starts_with(said), "{}", ended.stderr);
        }
    }
}

#[test]
fn the_first_lines_say_that_nothing_was_accepted() {
    for status in ["404 Not Found", "400 Bad Request", "500 Internal Server Error"] {
        let server = Server::answering(format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n"));
        let ended = one(&server, "{}", "[]");
        assert_eq!(exit_if_on_time(&ended.report().verdict), 1, "{}", ended.stderr);
        let first = ended.stderr.split("\nhealth").next().unwrap();
        let first = first.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(first.ends_with("; 0 of 10 accepted"), "{status}: {first}");
    }
}

#[test]
fn a_plan_that_expects_refusals_says_so_by_a_threshold() {
    let ended = run(&refusing(), &Server::ok(), "[ \"share(refused) == 100%\" ]");
    assert_eq!(exit_if_on_time(&ended.report().verdict), 0, "{}", ended.stderr);
    let ended = run(&refusing(), &Server::ok(), "[ \"p99(response) < 30s\" ]");
    assert_eq!(exit_if_on_time(&ended.report().verdict), 1, "{}", ended.stderr);
}

#[test]
fn a_mix_all_of_whose_verify_flows_fail_is_no_pass_though_its_sign_flows_are_accepted() {
    let folder = Folder::new();
    let plan = "target: { lab: { sigstore: { rekor: { faults: { rules: \
                [ { endpoints: [ search, get-entry ], refuse: { share: 100%, status: 404 } } ] } } } } }\n\
                workloads:\n\
                - name: flows\n  \
                  sigstore_mixed: { sign_weight: 1, verify_weight: 1, sign: { timestamp: false } }\n  \
                  load: { users: 4, operations: 40 }\n\
                phases: { drain: 60s }\n";
    let ended = hammer(&["run", &folder.write("plan.yaml", plan), "--out", "-", "--quiet"]);
    let report = ended.report();
    let accepted = report
        .operations()
        .map(|series| (series.path.as_str(), series.measurement.counts.fates.accepted > 0));
    let accepted: Vec<_> = accepted.collect();
    assert_eq!(accepted, [("flows/sign/sign", true), ("flows/verify/verify", false)], "{}", ended.stderr);
    assert_eq!(exit_if_on_time(&report.verdict), 1, "{}", ended.stderr);
    let said = &report.verdict.reasons.last().unwrap().text;
    assert!(said.starts_with("nothing of flows/verify/verify was accepted: "), "{said}");
}

/// The only threshold of a run: whether it holds, and what was found.
fn only_threshold(ended: &Ended) -> (bool, String) {
    let report = ended.report();
    let [threshold] = report.thresholds.as_slice() else { panic!("{:?}", report.thresholds) };
    (threshold.holds, threshold.found.clone())
}

#[test]
fn a_share_or_a_count_of_nothing_holds_nothing() {
    // A plain server promises nothing.
    for threshold in ["count(broken) == 0", "share(unchecked) < 1%"] {
        let ended = one(&Server::ok(), "{}", &format!("[ \"{threshold}\" ]"));
        assert_eq!(only_threshold(&ended), (false, "none".to_owned()), "{threshold}");
        assert_eq!(exit_if_on_time(&ended.report().verdict), 1, "{}", ended.stderr);
    }
}

#[test]
fn a_server_that_fails_fast_meets_no_bound_of_the_response_time() {
    let (fails, serves) = ["500 Internal Server Error", "200 OK"]
        .map(|status| format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n"))
        .into();
    let server =
        Server::answering_each(move |number| if number % 2 == 0 { fails.clone() } else { serves.clone() });
    let (holds, found) = only_threshold(&one(&server, "{}", "[ \"p99(response) < 1h\" ]"));
    assert!(!holds && found.starts_with("> "), "{found}");
    let (holds, found) = only_threshold(&one(&server, "{}", "[ \"p99(response.server_error) < 1h\" ]"));
    assert!(holds, "{found}");
}

#[test]
fn a_run_is_not_ended_before_there_is_something_to_judge() {
    let folder = Folder::new();
    // Nothing has ended in the first intervals, of each window some is still under way, and no promise has a verdict.
    let slow = "target: { lab: { http: { faults: { rules: [ { latency: { constant: 300ms } } ] } } } }\n\
                workloads: [ { name: api, http: {}, load: { rate: 20/s } } ]\n\
                thresholds: [ { expect: share(accepted) > 99%, window: 1s, abort_on_fail: true } ]\n\
                phases: { measurement: 3s }\ninterval: 100ms\n";
    let promising = "target: { lab: { ct: {} } }\n\
                     workloads: [ { name: submit, ct_submit: {}, load: { rate: 20/s } } ]\n\
                     thresholds: [ { expect: share(kept) == 100%, abort_on_fail: true } ]\n\
                     phases: { measurement: 2s, drain: 60s }\ninterval: 100ms\n";
    for plan in [slow, promising] {
        let ended = hammer(&["run", &folder.write("plan.yaml", plan), "--out", "-", "--quiet"]);
        assert_eq!(ended.report().run.stopped, "as planned", "{}", ended.stderr);
        assert!(only_threshold(&ended).0, "{}", ended.stderr);
    }
}

/// What ended the run is told by what it was judged by, and not by all of measurement, which may be better.
#[test]
fn a_threshold_that_ends_a_run_is_told_by_its_window() {
    let folder = Folder::new();
    let failing = "target: { lab: { http: { faults: { rules: [ { stalls: [ { at: 2s, duration: 1h } ] } ] } } } }\n\
                   workloads: [ { name: api, http: {}, load: { rate: 100/s } } ]\n\
                   thresholds: [ { expect: rate(accepted) > 20/s, window: 500ms, abort_on_fail: true } ]\n\
                   phases: { measurement: 30s, drain: 1s }\ninterval: 100ms\n";
    let ended = hammer(&["run", &folder.write("plan.yaml", failing), "--out", "-", "--quiet"]);
    let report = ended.report();
    let [verdict] = report.thresholds.as_slice() else { panic!("{:?}", report.thresholds) };
    assert!(verdict.aborted && !verdict.holds, "{verdict:?}");
    let (rate, window) = verdict.found.split_once("/s in the last ").unwrap();
    assert!(rate.parse::<f64>().unwrap() <= 20.0 && window.ends_with("ms"), "{verdict:?}");
}

#[test]
fn a_threshold_that_fails_as_the_plan_ends_did_not_end_the_run() {
    let folder = Folder::new();
    // Its window is full only as measurement ends; what follows is no failure of the last second alone.
    let failing = "target: { lab: { http: { status: 500, faults: { rules: [ { latency: { constant: 50ms } } ] } } } }\n\
                   workloads: [ { name: api, http: {}, load: { rate: 100/s } } ]\n\
                   thresholds: [ { expect: share(accepted) > 99%, window: 1s, abort_on_fail: true } ]\n\
                   phases: { measurement: 1s }\n";
    for _ in 0..4 {
        let ended = hammer(&["run", &folder.write("plan.yaml", failing), "--out", "-", "--quiet"]);
        let report = ended.report();
        let [verdict] = report.thresholds.as_slice() else { panic!("{:?}", report.thresholds) };
        assert!(!verdict.holds, "{verdict:?}");
        assert_eq!(verdict.aborted, report.run.stopped != "as planned", "{}", report.run.stopped);
    }
}

#[test]
fn a_bound_of_what_was_never_accepted_finds_that_it_never_was() {
    let (holds, found) = only_threshold(&one(&refusing(), "{}", "[ \"p99(response) < 1h\" ]"));
    assert!(!holds && found.starts_with("never (") && found.ends_with(" not accepted)"), "{found}");
}

/// A plan of submissions to the embedded log, of which `invalid_percent` are wrong on purpose, for a second.
fn submissions(invalid_percent: u32) -> Ended {
    let folder = Folder::new();
    let plan = format!(
        "target: {{ lab: {{ ct: {{}} }} }}\n\
         workloads:\n\
         - {{ name: submit, ct_submit: {{ precert_percent: 0, invalid_percent: {invalid_percent} }}, load: {{ rate: 60/s }} }}\n\
         phases: {{ measurement: 500ms }}\n"
    );
    hammer(&["run", &folder.write("plan.yaml", &plan), "--out", "-", "--quiet"])
}

#[test]
fn refusals_of_what_is_wrong_on_purpose_are_a_pass() {
    for invalid_percent in [50, 100] {
        let ended = submissions(invalid_percent);
        assert_eq!(exit_if_on_time(&ended.report().verdict), 0, "{invalid_percent}: {}", ended.stderr);
    }
}
