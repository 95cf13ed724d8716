//! `hammer sigstore issuer`.

use super::answers::json_at;
use super::*;

#[test]
fn the_issuer_publishes_the_key_of_its_seed_and_prints_what_fulcio_needs_of_it() {
    let lab = Lab::of(&["--seed", "9"]);
    let token = fs::read_to_string(lab.token()).unwrap();
    let minted_by = jwt::parse(token.trim()).unwrap().header.key_id;
    for (seed, is_same) in [("9", true), ("8", false)] {
        let args =
            ["sigstore", "issuer", "https://sso.test/realms/tas", "--listen", "127.0.0.1:0", "--seed", seed];
        let issuer = Started::of(command(&args));
        let served = issuer.line_with("# served at ");
        let url = served.trim_end().trim_start_matches("# served at ");
        let printed: String = (0..5).map(|_| issuer.stdout.recv_timeout(hammer::DEADLINE).unwrap()).collect();
        let entry = "\"https://sso.test/realms/tas\"";
        let expected = format!(
            "oidc-issuers:\n  {entry}:\n    issuer-url: {entry}\n    client-id: \"sigstore\"\n    type: email\n"
        );
        assert_eq!(printed, expected);

        let discovery: Value = json_at(url, "/realms/tas/.well-known/openid-configuration");
        assert_eq!(discovery["issuer"], "https://sso.test/realms/tas");
        let jwks = json_at(url, "/realms/tas/jwks.json");
        assert_eq!(jwks["keys"][0]["kid"] == json!(minted_by), is_same, "{jwks} {minted_by:?}");
        issuer.signal(Signal::INT);
        let ended = issuer.ended();
        assert_eq!((ended.code, ended.stdout.as_str(), ended.stderr.as_str()), (0, "", ""));
    }
}

#[test]
fn an_issuer_alone_publishes_the_next_key_ahead_and_more_as_time_goes_by() {
    let args =
        ["sigstore", "issuer", "http://127.0.0.1:1", "--listen", "127.0.0.1:0", "--rotate-every", "1s"];
    let issuer = Started::of(command(&args));
    let served = issuer.line_with("# served at ");
    let url = served.trim_end().trim_start_matches("# served at ");
    let keys = || json_at(url, "/jwks.json")["keys"].as_array().unwrap().len();
    assert!(keys() >= 2);
    // Each look waits a tenth of a second for a line that does not come.
    let looks = hammer::DEADLINE.as_millis() / 100;
    let is_there = (0..looks).any(|_| {
        let _ = issuer.stderr.recv_timeout(std::time::Duration::from_millis(100));
        keys() >= 4
    });
    assert!(is_there, "no key came");
    issuer.signal(Signal::INT);
    assert_eq!(issuer.ended().code, 0);
    refused(
        &hammer(&[&args[..6], &["100ms"]].concat()),
        &["use --rotate-every: a key is used for a second at least"],
    );
}
