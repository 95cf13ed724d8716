//! The endpoint that grants tokens: what it is sent, and what its answer is taken for.

use hammer_core::workload::Ended;
use hammer_measure::Outcome;
use hammer_net::{Answer, Request, Secret};
use hammer_oauth::{GrantError, GrantRequest, WantedToken, grant};
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, DATE};
use http::uri::PathAndQuery;
use http::{HeaderMap, HeaderValue};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc2822;

use crate::stock::{StockedToken, TokenSubject, UselessToken};

/// Who grants tokens, and to whom.
#[derive(Clone, Debug)]
pub struct TokenEndpoint {
    /// What is asked of it.
    pub request: GrantRequest,
    /// Which token of its answers is meant.
    pub wanted: WantedToken,
    /// Whom its tokens are of.
    pub subject: TokenSubject,
}

/// Why an answer grants nothing. A fragment that completes "failed to ..."; it says no secret.
#[derive(Debug, thiserror::Error)]
pub enum EndpointFault {
    /// As the issuer says, or its answer shows.
    #[error(transparent)]
    Grant(#[from] GrantError),
    /// A token that cannot be used.
    #[error("use the token that was granted: failed to {0}")]
    Useless(#[from] UselessToken),
    /// A token without a future.
    #[error("use the token that was granted: it is over when it comes")]
    Over,
}

impl EndpointFault {
    /// How the exchange ends.
    pub(crate) const fn ended(&self) -> Ended {
        let failure = match self {
            Self::Grant(GrantError::Refused { status: 200..300, .. }) => {
                return Ended::failed(Outcome::Refused, "refusal within a success");
            }
            Self::Grant(GrantError::Refused { status, .. } | GrantError::Status { status }) => {
                return Ended::of_status(*status);
            }
            Self::Grant(GrantError::Json) => "answer is no token response",
            Self::Grant(GrantError::NoToken(_)) => "answer without a token",
            Self::Useless(_) => "token of no use",
            Self::Over => "token is over when it comes",
        };
        Ended::failed(Outcome::Malformed, failure)
    }
}

impl TokenEndpoint {
    /// The request for a token, at that path.
    pub fn http_request(&self, path: PathAndQuery) -> Request {
        let mut request = Request::post(path, self.request.body().expose().to_owned().into_bytes());
        request.headers.insert(CONTENT_TYPE, HeaderValue::from_static(grant::CONTENT_TYPE));
        request.headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        if let Some(pair) = self.request.authorization() {
            // Base64 is always a header.
            if let Ok(mut value) = HeaderValue::try_from(pair.expose()) {
                value.set_sensitive(true);
                request.headers.insert(AUTHORIZATION, value);
            }
        }
        request.keep_header(DATE)
    }

    /// The token of the answer that came at `now`, in seconds since the Unix epoch.
    ///
    /// A token says its end by its issuer's clock. Where the answer shows that it is another one's than this machine's, the end is
    /// moved by what they are apart.
    ///
    /// # Errors
    /// When there is none that could be used.
    pub fn token(&self, answer: &Answer, now: i64) -> Result<StockedToken, EndpointFault> {
        let issuers_now = date(&answer.headers).filter(|date| date.abs_diff(now) > SAME_CLOCK).unwrap_or(now);
        let status = answer.status.as_u16();
        let granted = self.request.read_answer(status, &answer.body, self.wanted, issuers_now)?;
        let expires_at = granted.expires_at.map(|end| end.saturating_sub(issuers_now).saturating_add(now));
        if expires_at.is_some_and(|end| end <= now) {
            return Err(EndpointFault::Over);
        }
        let token = Secret::new(granted.token.expose()).map_err(UselessToken::from)?;
        Ok(StockedToken::of(token, &self.subject, expires_at)?)
    }
}

/// When an answer was made, by the clock of who made it (RFC 9110 section 6.6.1).
fn date(headers: &HeaderMap) -> Option<i64> {
    let text = headers.get(DATE)?.to_str().ok()?;
    OffsetDateTime::parse(text, &Rfc2822).ok().map(OffsetDateTime::unix_timestamp)
}

/// Seconds by which clocks may be apart that are taken for one: an answer is under way, and its date has no fraction.
const SAME_CLOCK: u64 = 5;

#[cfg(test)]
mod tests {
    use hammer_oauth::{ClientAuthentication, Grant, SecretText};
    use http::StatusCode;

    use super::*;

    const NOW: i64 = 1_795_243_700;

    fn endpoint(subject: TokenSubject) -> TokenEndpoint {
        let client = ClientAuthentication::Basic { id: "c".into(), secret: SecretText::new("canary") };
        let request =
            GrantRequest { grant: Grant::ClientCredentials, client, scope: None, extra: Vec::new() };
        TokenEndpoint { request, wanted: WantedToken::Either, subject }
    }

    fn answer(status: u16, body: &str, date: Option<&'static str>) -> Answer {
        let headers = date.map(|date| (DATE, HeaderValue::from_static(date))).into_iter().collect();
        let status = StatusCode::from_u16(status).unwrap();
        Answer { status, body: body.as_bytes().to_vec(), headers, ..Answer::new() }
    }

    /// When the token of an answer is over, in seconds from now on.
    fn life(body: &str, date: Option<&'static str>) -> Option<i64> {
        let token = endpoint(TokenSubject::Unasked).token(&answer(200, body, date), NOW);
        token.unwrap().expires_at.map(|end| end - NOW)
    }

    #[test]
    fn the_end_of_a_token_is_by_the_clock_of_this_machine() {
        // Claims that end at NOW + 3590.
        let own = format!(
            r#"{{"id_token":"{}"}}"#,
            include_str!("../../../hammer-oauth/testdata/oidc-token.jwt").trim()
        );
        // NOW is 06:48:20 of that day.
        for (date, seconds) in [
            (None, 3590),
            (Some("Sat, 21 Nov 2026 06:48:20 GMT"), 3590),
            (Some("Sat, 21 Nov 2026 06:48:18 GMT"), 3590),
            (Some("Sat, 21 Nov 2026 07:38:20 GMT"), 590),
            (Some("Sat, 21 Nov 2026 06:38:20 GMT"), 4190),
            (Some("yesterday"), 3590),
        ] {
            assert_eq!(life(&own, date), Some(seconds), "{date:?}");
        }
        let told = r#"{"access_token":"opaque","expires_in":60}"#;
        assert_eq!(life(told, Some("Sat, 21 Nov 2026 07:38:20 GMT")), Some(60));
        assert_eq!(life(r#"{"access_token":"opaque","token_type":"bearer"}"#, None), None);
    }

    #[test]
    fn what_grants_nothing_has_its_own_cause_each() {
        for (status, body, outcome, told) in [
            (400, r#"{"error":"invalid_grant"}"#, Outcome::Refused, "answered 400 with invalid_grant"),
            (401, r#"{"error":"invalid_client"}"#, Outcome::Refused, "answered 401 with invalid_client"),
            (200, r#"{"error":"invalid_grant"}"#, Outcome::Refused, "answered 200 with invalid_grant"),
            (500, "oops", Outcome::ServerError, "answered 500"),
            (503, "", Outcome::Pushback, "answered 503"),
            (200, "<html>", Outcome::Malformed, "not the JSON"),
            (200, r#"{"token_type":"Bearer"}"#, Outcome::Malformed, "holds no token"),
            (200, r#"{"access_token":"a","expires_in":0}"#, Outcome::Malformed, "over when it comes"),
            (200, r#"{"access_token":"a\u0007b"}"#, Outcome::Malformed, "control characters"),
        ] {
            let fault = endpoint(TokenSubject::Unasked).token(&answer(status, body, None), NOW).unwrap_err();
            assert_eq!(fault.ended().outcome, outcome, "{body}");
            assert!(fault.to_string().contains(told), "{fault}");
        }
        let body = r#"{"access_token":"opaque-canary"}"#;
        let fault = endpoint(TokenSubject::OfToken).token(&answer(200, body, None), NOW).unwrap_err();
        assert_eq!(fault.ended(), Ended::failed(Outcome::Malformed, "token of no use"));
        assert!(!format!("{fault}{fault:?}").contains("canary"), "{fault}");
    }
}
