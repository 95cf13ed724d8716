//! The answer of a token endpoint.

use serde::Deserialize;
use serde_json::Value;

use super::request::GrantRequest;
use crate::{jwt, secret::BearerToken};

/// Which token of an answer is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WantedToken {
    /// The `id_token`, and where there is none the `access_token`.
    #[default]
    Either,
    /// The `id_token` (OpenID Connect Core 1.0 section 3.1.3.3).
    Id,
    /// The `access_token`.
    Access,
}

/// A token that was granted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantedToken {
    /// The token.
    pub token: BearerToken,
    /// The first second since the Unix epoch at which it is no longer good; none where nobody said.
    pub expires_at: Option<i64>,
}

/// Why no token was granted. Completes "failed to ..."; it says neither tokens nor what the request held in secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GrantError {
    /// The issuer said no, as section 5.2 has it; some issuers do so with a success.
    #[error("be granted a token: the issuer answered {status} with {error}{}", told(description))]
    Refused {
        /// The status of HTTP.
        status: u16,
        /// The `error`: `invalid_grant`, `invalid_client`, ...
        error: String,
        /// The `error_description`, cut off where it is long; may be empty.
        description: String,
    },
    /// A status that is no success, and no error of OAuth in the body.
    #[error("be granted a token: the issuer answered {status}")]
    Status {
        /// The status of HTTP.
        status: u16,
    },
    /// A success whose body is not the JSON of section 5.1.
    #[error("be granted a token: the issuer's answer is not the JSON of a token response")]
    Json,
    /// A success without the token that was meant.
    #[error("be granted a token: the issuer's answer holds no {0}")]
    NoToken(&'static str),
}

fn told(description: &str) -> String {
    if description.is_empty() { String::new() } else { format!(": {description}") }
}

#[derive(Deserialize)]
struct TokenResponse {
    access_token: Option<String>,
    id_token: Option<String>,
    /// Seconds: a number (section 5.1), or the same as text, as some issuers have it. Anything else says nothing.
    #[serde(default)]
    expires_in: Value,
}

impl TokenResponse {
    fn life(&self) -> Option<f64> {
        let life = match &self.expires_in {
            Value::Number(seconds) => seconds.as_f64(),
            Value::String(seconds) => seconds.trim().parse().ok(),
            _ => None,
        };
        life.filter(|seconds| seconds.is_finite())
    }
}

#[derive(Deserialize)]
struct ErrorResponse {
    error: String,
    #[serde(default)]
    error_description: Option<String>,
}

impl GrantRequest {
    /// Reads the answer that came at `now`, in seconds since the Unix epoch.
    ///
    /// A token that says its own end keeps it; the end of another one is `expires_in` from now on.
    ///
    /// # Errors
    /// An answer that is no success, or holds no token of the kind that is wanted.
    pub fn read_answer(
        &self,
        status: u16,
        body: &[u8],
        wanted: WantedToken,
        now: i64,
    ) -> Result<GrantedToken, GrantError> {
        if !(200..300).contains(&status) {
            return Err(self.refusal(status, body).unwrap_or(GrantError::Status { status }));
        }
        let answer: TokenResponse = serde_json::from_slice(body).map_err(|_| GrantError::Json)?;
        if answer.access_token.is_none()
            && answer.id_token.is_none()
            && let Some(refused) = self.refusal(status, body)
        {
            return Err(refused);
        }
        let life = answer.life();
        let (token, name) = match wanted {
            WantedToken::Either => (answer.id_token.or(answer.access_token), "token"),
            WantedToken::Id => (answer.id_token, "id_token"),
            WantedToken::Access => (answer.access_token, "access_token"),
        };
        let token = token.filter(|token| !token.is_empty()).ok_or(GrantError::NoToken(name))?;
        let own_end = jwt::parse(&token).ok().and_then(|read| read.claims.times.expires_at);
        // A fraction of a second is cut off, and so is what no i64 can say.
        let told_end = life.map(|seconds| now.saturating_add(seconds as i64));
        Ok(GrantedToken { token: BearerToken::new(token), expires_at: own_end.or(told_end) })
    }

    /// What the issuer says against it, where it does.
    fn refusal(&self, status: u16, body: &[u8]) -> Option<GrantError> {
        let answer: ErrorResponse = serde_json::from_slice(body).ok()?;
        // What is taken out may be what a secret was hidden by.
        let shown = |text: &str| {
            let text: String =
                self.without_secrets(text).chars().filter(|symbol| !symbol.is_control()).collect();
            self.without_secrets(&text).chars().take(LONGEST_TEXT).collect::<String>()
        };
        let description = answer.error_description.unwrap_or_default();
        Some(GrantError::Refused { status, error: shown(&answer.error), description: shown(&description) })
    }
}

const LONGEST_TEXT: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grant::{ClientAuthentication, Grant};
    use crate::secret::SecretText;

    const NOW: i64 = 1_795_243_700;
    const RECORDED: &str = include_str!("../../testdata/oidc-token.jwt");

    fn read(status: u16, body: &str, wanted: WantedToken) -> Result<GrantedToken, GrantError> {
        let request = GrantRequest {
            grant: Grant::Password { username: "jdoe".into(), password: SecretText::new("canary") },
            client: ClientAuthentication::Public { id: "sigstore".into() },
            scope: None,
            extra: Vec::new(),
        };
        request.read_answer(status, body.as_bytes(), wanted, NOW)
    }

    #[test]
    fn the_token_that_is_wanted_is_taken() {
        let body = r#"{"access_token":"access","id_token":"id","token_type":"Bearer","expires_in":300}"#;
        for (wanted, text) in
            [(WantedToken::Either, "id"), (WantedToken::Id, "id"), (WantedToken::Access, "access")]
        {
            let granted = read(200, body, wanted).unwrap();
            assert_eq!((granted.token.expose(), granted.expires_at), (text, Some(NOW + 300)));
        }
        let access = r#"{"access_token":"access"}"#;
        assert_eq!(read(200, access, WantedToken::Either).unwrap().token.expose(), "access");
        assert_eq!(read(200, access, WantedToken::Either).unwrap().expires_at, None);
        assert_eq!(read(200, access, WantedToken::Id), Err(GrantError::NoToken("id_token")));
    }

    #[test]
    fn a_token_that_says_its_end_keeps_it() {
        let body = format!(r#"{{"id_token":"{}","expires_in":300}}"#, RECORDED.trim());
        assert_eq!(read(200, &body, WantedToken::Id).unwrap().expires_at, Some(1_795_247_290));
    }

    #[test]
    fn a_refusal_says_why_and_not_what_was_sent() {
        let body = r#"{"error":"invalid_grant","error_description":"canary is\n no password of jdoe"}"#;
        let error = read(401, body, WantedToken::Either).unwrap_err();
        let text =
            "be granted a token: the issuer answered 401 with invalid_grant: *** is no password of jdoe";
        assert_eq!(error.to_string(), text);
        assert!(!format!("{error:?}").contains("canary"));
        let hidden =
            read(401, r#"{"error":"can\u0007ary","error_description":"cana\nry"}"#, WantedToken::Either);
        assert_eq!(
            hidden.unwrap_err().to_string(),
            "be granted a token: the issuer answered 401 with ***: ***"
        );
        let short = read(400, r#"{"error":"invalid_client"}"#, WantedToken::Either).unwrap_err();
        assert!(short.to_string().ends_with("400 with invalid_client"), "{short}");
    }

    #[test]
    fn a_life_may_be_text_and_one_that_cannot_be_read_says_nothing() {
        for (life, end) in [
            ("300", Some(NOW + 300)),
            ("299.9", Some(NOW + 299)),
            (r#""300""#, Some(NOW + 300)),
            ("0", Some(NOW)),
            ("-1", Some(NOW - 1)),
            (r#""soon""#, None),
            (r#""NaN""#, None),
            ("null", None),
            ("{}", None),
        ] {
            let body = format!(r#"{{"access_token":"access","token_type":"bearer","expires_in":{life}}}"#);
            assert_eq!(read(200, &body, WantedToken::Access).unwrap().expires_at, end, "{life}");
        }
    }

    #[test]
    fn a_refusal_may_come_with_a_success() {
        let body = r#"{"error":"invalid_grant","error_description":"of canary"}"#;
        let error = read(200, body, WantedToken::Either).unwrap_err();
        assert_eq!(
            error.to_string(),
            "be granted a token: the issuer answered 200 with invalid_grant: of ***"
        );
        let both = r#"{"access_token":"access","error":"none"}"#;
        assert_eq!(read(200, both, WantedToken::Access).unwrap().token.expose(), "access");
    }

    #[test]
    fn what_was_sent_is_not_shown_in_the_forms_that_it_was_sent_in() {
        let secret = SecretText::new("a canary&b");
        let request = GrantRequest {
            grant: Grant::Password { username: "jdoe".into(), password: secret.clone() },
            client: ClientAuthentication::Basic { id: "id".into(), secret },
            scope: None,
            extra: Vec::new(),
        };
        let sent = [request.body().expose().to_owned(), request.authorization().unwrap().expose().to_owned()];
        for sent in sent {
            let body = serde_json::json!({ "error": "bad", "error_description": format!("you sent {sent}") });
            let told = request.read_answer(400, body.to_string().as_bytes(), WantedToken::Either, NOW);
            let told = told.unwrap_err().to_string();
            assert!(!told.contains("canary") && told.contains("***"), "{told}");
            assert!(!told.contains(sent.trim_start_matches("Basic ")), "{told}");
        }
    }

    #[test]
    fn an_answer_of_another_kind_is_told_by_its_status() {
        assert_eq!(read(502, "<html>", WantedToken::Either), Err(GrantError::Status { status: 502 }));
        assert_eq!(read(200, "<html>", WantedToken::Either), Err(GrantError::Json));
        assert_eq!(read(200, "{}", WantedToken::Access), Err(GrantError::NoToken("access_token")));
        let empty = r#"{"access_token":""}"#;
        assert_eq!(read(200, empty, WantedToken::Access), Err(GrantError::NoToken("access_token")));
    }

    #[test]
    fn a_token_that_was_granted_is_not_shown() {
        let granted = read(200, r#"{"access_token":"granted-canary"}"#, WantedToken::Access).unwrap();
        assert!(!format!("{granted:?}").contains("canary"));
    }
}
