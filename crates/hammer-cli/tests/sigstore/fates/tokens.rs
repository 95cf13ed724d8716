//! Tokens that are of no use to a flow: whose they are not, and whose validity is over.

use hammer_oauth::{IdentityClaims, MintScratch, TokenAlgorithm, TokenMinter};

use super::*;
use crate::services::{ISSUER, keys};

/// A token of the issuer whose validity is over, as a run has it that starts too late.
fn expired_token() -> String {
    let issued_at = 1_700_000_000;
    let email = "one@hammer.test";
    let claims = IdentityClaims {
        subject: email,
        email: Some(email),
        issued_at,
        expires_at: issued_at + 3600,
        extra: &[],
    };
    let mut token = String::new();
    let minter = TokenMinter::new(ISSUER, "sigstore", keys(TokenAlgorithm::Es256));
    minter.mint(0, &claims, &mut MintScratch::default(), &mut token);
    token
}

#[test]
fn a_token_that_is_for_somebody_else_is_refused_at_each_interface() {
    for (interface, endpoint, status, cause) in [
        ("v1", "signing-cert-v1", 400, "HTTP 400"),
        ("v2", "signing-cert-v2", 400, "HTTP 400"),
        ("grpc", "signing-cert-grpc", 200, "INVALID_ARGUMENT"),
    ] {
        let foreign =
            Flows::of(&json!({ "fulcio": { "audience": "another" } }), &json!({ "fulcio": interface }));
        let came = foreign.with("target.preflight=false").come();
        came.all_end_at("fulcio", |fates| fates.refused, cause, [&[], &["rekor", "timestamp"]]);
        for name in ["sign", "fulcio"] {
            let answer = came.series(name).measurement.causes[0].answer.as_deref().unwrap_or_default();
            assert!(answer.contains("There was an error processing the identity token"), "{name}: {answer}");
        }
        let verdict = &came.report.verdict;
        assert_eq!(exit_if_on_time(verdict), 1, "nothing was signed: {verdict}");
        assert_eq!(answers(&came.services.lab.fulcio, endpoint), only(status));
        let asked = came.services.lab.rekor.stats().requests;
        assert!(asked.keys().all(|endpoint| endpoint == "log-info"), "no flow got there: {asked:?}");
        assert!(came.services.lab.timestamp_authority.stats().requests.is_empty());
    }
}

#[test]
fn a_token_that_has_expired_is_shown_to_nobody() {
    let flows = Flows::of(&json!({}), &json!({}));
    fs::write(flows.services.folder.path().join("token"), expired_token()).unwrap();
    let services = &flows.services;
    let identity = r#"target.sigstore.identity={"token":{"file":"token"}}"#.to_owned();
    let ended = services.run(PLAN, &[identity]);
    let said = "target.sigstore.identity.token: failed to use the token of token: it expired at 2023-11-14T23:13:20.000Z";
    assert!(ended.code == 2 && ended.stderr.contains(said), "{}", ended.stderr);
    assert!(services.lab.fulcio.stats().requests.is_empty());
}

#[test]
fn a_token_of_no_use_is_told_by_its_place_and_shown_to_nobody() {
    let flows = Flows::of(&json!({}), &json!({}));
    let services = &flows.services;
    // The claims are {}, and {"email":"one@hammer.test","exp":-5}.
    for (token, said) in [
        (
            "eyJhbGciOiJFUzI1NiJ9.e30.AAAA",
            "the token has neither `email` nor `sub`; `subject` (or `--subject`) can say whose it is",
        ),
        ("no-jwt", "find out whose it is: failed to read a token: "),
        (
            "eyJhbGciOiJFUzI1NiJ9.eyJlbWFpbCI6Im9uZUBoYW1tZXIudGVzdCIsImV4cCI6LTV9.AAAA",
            "it expired at 1970-01-01T00:00:00.000Z",
        ),
    ] {
        fs::write(services.folder.path().join("token"), token).unwrap();
        let identity = r#"target.sigstore.identity={"token":{"file":"token"}}"#.to_owned();
        let ended = services.run(PLAN, &[identity]);
        let place = "target.sigstore.identity.token: failed to use the token of token: ";
        assert!(
            ended.code == 2 && ended.stderr.contains(place) && ended.stderr.contains(said),
            "{}",
            ended.stderr
        );
        assert!(!ended.stderr.contains(token), "{}", ended.stderr);
    }
    assert!(services.lab.fulcio.stats().requests.is_empty());
}
