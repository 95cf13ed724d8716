//! Tokens, the keys of who issues them, and the answers of token endpoints.

use std::sync::LazyLock;

use hammer_oauth::jwks::verify;
use hammer_oauth::{
    ClientAuthentication, ExpectedClaims, Grant, GrantRequest, IssuerDiscovery, JwkSet, SecretText,
    TokenClaims, WantedToken, jwt,
};
use serde_json::Value;

use crate::structure::text;

/// A token that the recorded issuer's keys verify says what that issuer said, and no text shows it.
pub(crate) fn token(data: &[u8]) -> bool {
    let text = text(data);
    let Ok(parsed) = jwt::parse(&text) else { return false };
    let _ = parsed.claims.times.is_expired_at(ISSUED_AT);
    let verified = verify(&text, &RECORDED.keys, EXPECTED, ISSUED_AT);
    if let Ok(claims) = &verified {
        assert_eq!(*claims, RECORDED.claims);
        let (signed, _) = TOKEN.rsplit_once('.').expect("three parts");
        assert!(text.starts_with(signed));
        assert!(!format!("{parsed:?}").contains(signed));
    }
    verified.is_ok()
}

/// Every key of a set is read or skipped; whether one of them signed the recorded token.
pub(crate) fn jwks(data: &[u8]) -> bool {
    let Ok(set) = JwkSet::read(data) else { return false };
    let written: Value = serde_json::from_slice(data).expect("JSON");
    assert_eq!(written["keys"].as_array().map(Vec::len), Some(set.len() + set.skipped()));
    verify(TOKEN, &set, EXPECTED, ISSUED_AT).is_ok()
}

/// A configuration that is believed is its issuer's own, and names a URL.
pub(crate) fn discovery(data: &[u8]) -> bool {
    let Ok(read) = IssuerDiscovery::read(data, EXPECTED.issuer) else { return false };
    // In a key that nobody reads a text may hold what is no Unicode.
    let Ok(written) = serde_json::from_slice::<Value>(data) else { return true };
    assert_eq!(written["issuer"].as_str().map(|issuer| issuer.trim_end_matches('/')), Some(EXPECTED.issuer));
    assert_eq!(written["token_endpoint"].as_str(), Some(read.token_endpoint.as_str()));
    assert!(read.token_endpoint.starts_with("http"));
    true
}

/// An answer that grants has a token, and what is told of one that does not shows no secret of the request.
pub(crate) fn grant(data: &[u8]) -> bool {
    let mut granted = false;
    for wanted in [WantedToken::Either, WantedToken::Id, WantedToken::Access] {
        match REQUEST.read_answer(200, data, wanted, ISSUED_AT) {
            Ok(answer) => {
                assert!(!answer.token.expose().is_empty());
                assert!(format!("{answer:?}").contains("***"));
                granted = true;
            }
            Err(error) => check_told(&error.to_string()),
        }
    }
    let refused = REQUEST.read_answer(401, data, WantedToken::Either, ISSUED_AT);
    check_told(&refused.expect_err("401 grants nothing").to_string());
    granted
}

fn check_told(told: &str) {
    assert!(SECRETS.iter().all(|secret| !told.contains(secret)), "{told}");
    assert!(!told.contains(char::is_control) && told.chars().count() < LONGEST_TEXT, "{told}");
}

struct RecordedToken {
    keys: JwkSet,
    claims: TokenClaims,
}

static RECORDED: LazyLock<RecordedToken> = LazyLock::new(|| RecordedToken {
    keys: JwkSet::read(include_bytes!("../../../fuzz/seeds/jwks/oidc.json")).expect("keys"),
    claims: jwt::parse(TOKEN).expect("a token").claims,
});

static REQUEST: LazyLock<GrantRequest> = LazyLock::new(|| GrantRequest {
    grant: Grant::Password { username: "jdoe".to_owned(), password: SecretText::new(SECRETS[0]) },
    client: ClientAuthentication::Basic { id: "hammer".to_owned(), secret: SecretText::new(SECRETS[1]) },
    scope: Some("openid".to_owned()),
    extra: Vec::new(),
});

const TOKEN: &str = include_str!("../../../fuzz/seeds/token/oidc.jwt");
const EXPECTED: ExpectedClaims<'_> =
    ExpectedClaims { issuer: "http://127.0.0.1:18888", audience: "sigstore" };
/// The `iat` of the recorded token.
const ISSUED_AT: i64 = 1_795_243_690;
const SECRETS: [&str; 2] = ["correct horse battery staple", "0f8fad5b-d9cb-469f"];
/// Of an error: its own words, and twice as many as an answer may add.
const LONGEST_TEXT: usize = 600;
