//! A token that was written where none belongs.

use super::*;

const TOKEN: &str = "eyJhbGciOiJub25lIn0.eyJzdWIiOiJjYW5hcnkifQ.c2lnbmF0dXJlLWNhbmFyeQ";

#[test]
fn it_is_quoted_by_no_error() {
    let folder = Folder::new();
    let file = folder.write("token", TOKEN);
    let plan = folder.write(
        "plan.yaml",
        r#"{"target":{"lab":{"sigstore":{}}},"workloads":[{"name":"a","sigstore_sign":{},"load":{"rate":"1/s"}}]}"#,
    );
    let set = |value: &str| format!("target.sigstore.identity{value}");
    let changes = [
        set(&format!("={TOKEN}")),
        set(&format!(".token.env={TOKEN}")),
        set(&format!("={{token: {{file: {TOKEN}}}}}")),
    ];
    let changed = changes.iter().map(|change| vec!["run", &plan, "--set", change]);
    let on = ["sigstore", "sign", "--fulcio", "http://127.0.0.1:9", "--trusted-root", &file];
    let lines = [
        vec!["run", &file],
        vec!["lab", "sigstore", "--config", &file],
        [on.as_slice(), &["--issuer", TOKEN]].concat(),
        [on.as_slice(), &["--token-file", TOKEN]].concat(),
        [on.as_slice(), &["--token-env", TOKEN]].concat(),
    ];
    for line in lines.into_iter().chain(changed) {
        let ended = hammer(&line);
        assert_eq!(ended.code, 2, "{line:?}: {}", ended.stderr);
        assert!(!ended.stderr.contains("eyJ"), "{line:?}: {}", ended.stderr);
    }
}

#[test]
fn what_has_no_effect_beside_a_token_or_a_log_is_refused() {
    let on = ["sigstore", "sign", "--fulcio", "http://127.0.0.1:9", "--trusted-root", "root.json"];
    let token = ["--token-file", "token"];
    let rekor = ["--rekor", "http://127.0.0.1:9"];
    for (more, part) in [
        (&["--audience", "me"][..], "--audience"),
        (&["--rs256"], "--rs256"),
        (&["--rekor-tiles-read", "http://127.0.0.1:9"], "--rekor-tiles-read"),
        (&["--rekor-tiles-origin", "me"], "--rekor-tiles-origin"),
        (&["--log-file", "log"], "--log"),
    ] {
        let ended = hammer(&[on.as_slice(), &token, &rekor, more].concat());
        assert!(ended.code == 2 && ended.stderr.contains(part), "{}", ended.stderr);
    }
}
