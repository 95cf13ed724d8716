//! What is secret in a plan that cannot be used: no message shows it.

use super::*;

#[test]
fn a_token_with_the_word_before_it_is_refused_and_not_shown() {
    let folder = Folder::new();
    let token = folder.write("token", "Bearer canary-token\n");
    let ended = hammer(&["http", "get", "http://127.0.0.1:9/", "--bearer-file", &token]);
    refused(&ended, &[&token, "starts with `Bearer`"]);
    assert!(!ended.stderr.contains("canary"), "{}", ended.stderr);
}

/// The values of these headers are secrets, wherever in a plan a mistake is shown beside them.
#[test]
fn no_credential_of_a_plan_is_shown_beside_a_mistake() {
    let secret = "http:\n      headers:\n        Authorization: Bearer canary-one\n        \"X-API-Key\": [canary-two,\n          canary-three]\n";
    let plan = |wrong: &str| PLAN.replace("http: {}", &format!("{secret}{wrong}"));
    for wrong in ["      expect: [nope]", "      expect: [1000]", "      exspect: [200]"] {
        assert!(plan(wrong).contains("canary-three"), "the plan has an http workload");
        let ended = run(&plan(wrong), &[]);
        refused(&ended, &["plan.yaml:", "workloads[0].http"]);
        assert!(!ended.stderr.contains("canary"), "{}", ended.stderr);
    }
    for (value, why) in
        [("4242424242", "it is no header's value"), ("{ a: canary }", "it is no header's value")]
    {
        let ended =
            run(&PLAN.replace("http: {}", &format!("http: {{ headers: {{ Cookie: {value} }} }}")), &[]);
        refused(&ended, &["workloads[0].http.headers.Cookie", why]);
        assert!(!ended.stderr.contains("4242424242") && !ended.stderr.contains("canary"), "{}", ended.stderr);
    }
}

/// The words of a change are shown where it is refused; a secret among them is not.
#[test]
fn no_credential_of_a_change_is_shown() {
    for set in [
        "workloads.web.http.headers.Authorization=7777777",
        "workloads.web.http={headers: {Cookie: 7777777}}",
        "workloads.none.http.headers.Authorization=7777777",
    ] {
        let ended = run(PLAN, &[set]);
        let (key, _) = set.split_once('=').unwrap();
        refused(&ended, &[&format!("--set {key}=***")]);
        assert!(!ended.stderr.contains("7777777"), "{}", ended.stderr);
    }
}

/// A sweep's values stand in the labels of its runs; a user of a URL may come with a password.
#[test]
fn no_credential_of_a_sweep_or_of_a_url_is_shown() {
    for sweep in [
        "{\"workloads.web.http.headers.Authorization\": [canary-one, canary-two]}",
        "{\"workloads.0.http.headers\": [{X-Auth-Token: canary}]}",
        "{\"workloads.web.http\": [{headers: {Cookie: canary}}]}",
    ] {
        let ended = run(PLAN, &[&format!("sweep={sweep}")]);
        refused(&ended, &["it cannot be swept"]);
        assert!(!ended.stderr.contains("canary") && !ended.stdout.contains("canary"), "{}", ended.stderr);
    }
    for url in ["ftp://me:canary@h/", "\"http://me:canary@no host/\"", "http://me:canary@h/"] {
        let ended = run(&PLAN.replace("http://127.0.0.1:9", url), &[]);
        refused(&ended, &["plan.yaml:2:", "target.url: `"]);
        assert!(!ended.stderr.contains("canary"), "{}", ended.stderr);
    }
    for change in ["workloads.web.http.path=/?token=canary x", "target.url=http://127.0.0.1/?token=canary"] {
        let ended = run(PLAN, &[change]);
        assert!(ended.code == 2 && ended.stderr.contains("?token=***"), "{}", ended.stderr);
        assert!(!ended.stderr.contains("canary"), "{}", ended.stderr);
    }
}

/// Whoever writes a token where its place belongs does not find it in a terminal.
#[test]
fn no_token_in_the_place_of_its_place_is_shown() {
    for http in
        ["{ bearer: canary }", "{ bearer: { value: canary } }", "{ bearer: { tokn: canary, file: a } }"]
    {
        let ended = run(&PLAN.replace("http: {}", &format!("http: {http}")), &[]);
        refused(&ended, &["workloads[0].http.bearer"]);
        assert!(!ended.stderr.contains("canary"), "{}", ended.stderr);
    }
    let ended = run(PLAN, &["workloads.web.http.bearer=canary"]);
    refused(&ended, &["use --set workloads.web.http.bearer=***", "it may be a secret"]);
    assert!(!ended.stderr.contains("canary"), "{}", ended.stderr);
}

#[test]
fn a_grant_that_cannot_be_asked_for_is_named_by_its_key_and_shows_no_secret() {
    let plan = |grant: &str| {
        format!(
            "target:\n  sigstore:\n    fulcio_url: http://127.0.0.1:9\n    identity:\n      grant: {{ {grant} }}\n\
             workloads:\n  - name: oauth\n    sigstore_sign: {{ rekor: none, timestamp: false }}\n    \
             load: {{ rate: 10/s }}\nphases: {{ measurement: 1s }}\n"
        )
    };
    let url = "token_url: http://127.0.0.1:9/token";
    for (grant, told) in [
        (format!("client_id: c, client_secret: canary, {url}"), "client_secret: expected a map"),
        (
            "client_id: c, client_secret: { env: S }".into(),
            "token_url: give exactly one of token_url, issuer",
        ),
        (format!("client_id: c, {url}"), "client_secret: it is not given"),
        (format!("client_id: c, kind: password, {url}"), "username: it is not given"),
        (format!("client_id: c, client_secret: {{ env: S }}, {url}, refresh: 100"), "refresh: "),
    ] {
        let ended = run(&plan(&grant), &[]);
        refused(&ended, &[&format!("target.sigstore.identity.grant.{told}"), "plan.yaml:5:"]);
        assert!(!ended.stderr.contains("canary"), "{}", ended.stderr);
    }
    let whole = plan(&format!("client_id: c, client_secret: {{ env: S }}, {url}"));
    refused(&run(&whole, &[]), &["workloads[0].name: `oauth` is taken"]);
}
