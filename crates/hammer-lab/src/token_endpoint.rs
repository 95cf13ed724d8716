//! A token endpoint of embedded services: what it is asked (RFC 6749 sections 2.3.1, 4.3.2 and 4.4.2), what it answers (sections 5.1 and
//! 5.2), and the document that names it (OpenID Connect Discovery section 3).

use std::collections::HashMap;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use hammer_values::TimeSpan;
use http::{
    Response, StatusCode,
    header::{AUTHORIZATION, CONTENT_TYPE},
    request::Parts,
};
use serde_json::json;

use crate::{
    error::LabError,
    serve::answer::{self, AnswerBody},
};

/// A request that says all that it must. Whether what it says is right is for whoever grants it to know.
#[derive(Debug, PartialEq, Eq)]
pub struct TokenRequest {
    /// The client.
    pub client_id: String,
    /// What shows that it is the client: there for a grant of client credentials.
    pub client_secret: Option<String>,
    /// The user and the password of a grant by password; none of client credentials.
    pub user: Option<UserPassword>,
    /// Whether an identity token is wanted (OpenID Connect Core section 3.1.2.1, `openid`).
    pub wants_identity: bool,
}

/// A user's name and password (RFC 6749 section 4.3.2).
#[derive(Debug, PartialEq, Eq)]
pub struct UserPassword {
    /// The name.
    pub username: String,
    /// The password.
    pub password: String,
}

/// Why a request is not granted (RFC 6749 section 5.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GrantRefusal {
    /// It is no form, or says something twice, or not all of it.
    Request,
    /// It wants another grant.
    Kind,
    /// The user said no password.
    Grant,
    /// The client does not say who it is, or says so in two places.
    Client,
}

impl GrantRefusal {
    /// The answer to what is refused (RFC 6749 section 5.2): 400, or 401 where the client is at fault, and the error in JSON.
    #[must_use]
    pub fn answer(self) -> Response<AnswerBody> {
        let (status, error) = match self {
            Self::Request => (StatusCode::BAD_REQUEST, "invalid_request"),
            Self::Kind => (StatusCode::BAD_REQUEST, "unsupported_grant_type"),
            Self::Grant => (StatusCode::BAD_REQUEST, "invalid_grant"),
            Self::Client => (StatusCode::UNAUTHORIZED, "invalid_client"),
        };
        let mut answer = answer::no_store(json!({ "error": error }).to_string());
        *answer.status_mut() = status;
        answer
    }
}

impl TokenRequest {
    /// Reads a request.
    ///
    /// # Errors
    /// What keeps it from being granted, whoever asks.
    pub fn read(parts: &Parts, body: &[u8]) -> Result<Self, GrantRefusal> {
        let form = parts.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        if !form.to_ascii_lowercase().starts_with("application/x-www-form-urlencoded") {
            return Err(GrantRefusal::Request);
        }
        let mut fields = HashMap::new();
        for (name, value) in form_urlencoded::parse(body) {
            if fields.insert(name.into_owned(), value.into_owned()).is_some() {
                return Err(GrantRefusal::Request);
            }
        }
        let field = |name: &str| fields.get(name).map(String::as_str).filter(|value| !value.is_empty());
        let kind = field("grant_type").ok_or(GrantRefusal::Request)?;
        let (client, secret) = match (basic(parts)?, field("client_id"), field("client_secret")) {
            // A client says its secret in one place.
            (Some(_), _, Some(_)) => return Err(GrantRefusal::Client),
            (Some((id, secret)), _, None) => (id, Some(secret)),
            (None, Some(id), secret) => (id.to_owned(), secret.map(str::to_owned)),
            (None, None, _) => return Err(GrantRefusal::Client),
        };
        let user = match kind {
            "client_credentials" if secret.as_ref().is_none_or(String::is_empty) => {
                return Err(GrantRefusal::Client);
            }
            "client_credentials" => None,
            "password" => {
                let username = field("username").ok_or(GrantRefusal::Request)?.to_owned();
                let password = field("password").ok_or(GrantRefusal::Grant)?.to_owned();
                Some(UserPassword { username, password })
            }
            _ => return Err(GrantRefusal::Kind),
        };
        let wants_identity =
            field("scope").is_some_and(|scope| scope.split(' ').any(|word| word == "openid"));
        Ok(Self { client_id: client, client_secret: secret, user, wants_identity })
    }

    /// Who is to be named: the user, or the client itself.
    #[must_use]
    pub fn whom(&self) -> &str {
        self.user.as_ref().map_or(&self.client_id, |user| &user.username)
    }

    /// The answer that grants it this token for so many seconds (RFC 6749 section 5.1), as identity token too where that is wanted.
    #[must_use]
    pub fn granted(&self, token: &str, expires_in: u64) -> Response<AnswerBody> {
        let mut answer = json!({ "access_token": token, "token_type": "Bearer", "expires_in": expires_in });
        if self.wants_identity {
            answer["id_token"] = json!(token);
        }
        answer::no_store(answer.to_string())
    }
}

/// The discovery document of an issuer with a token endpoint, whose tokens are signed by ES256.
#[must_use]
pub fn discovery(issuer: &str, jwks_uri: &str, token_endpoint: &str) -> String {
    json!({
        "issuer": issuer,
        "jwks_uri": jwks_uri,
        "token_endpoint": token_endpoint,
        "grant_types_supported": ["client_credentials", "password"],
        "response_types_supported": ["id_token"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["ES256"],
        "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post"],
    })
    .to_string()
}

/// The life of tokens in whole seconds.
///
/// # Errors
/// Less than one; the key is `expires_in`.
pub fn lifetime(expires_in: TimeSpan) -> Result<u64, LabError> {
    match expires_in.duration().as_secs() {
        0 => {
            let reason = "a token lives for a second at least".to_owned();
            Err(LabError::Plan { key: "expires_in".into(), reason })
        }
        seconds => Ok(seconds),
    }
}

/// The client and its secret, where they stand in the header.
fn basic(parts: &Parts) -> Result<Option<(String, String)>, GrantRefusal> {
    let Some(header) = parts.headers.get(AUTHORIZATION) else { return Ok(None) };
    let text =
        header.to_str().ok().and_then(|text| text.strip_prefix("Basic ")).ok_or(GrantRefusal::Client)?;
    let pair = BASE64_STANDARD.decode(text).ok().and_then(|pair| String::from_utf8(pair).ok());
    let pair = pair.ok_or(GrantRefusal::Client)?;
    let (id, secret) = pair.split_once(':').ok_or(GrantRefusal::Client)?;
    // Both are encoded as in a form, before they are joined.
    let decoded =
        |text: &str| form_urlencoded::parse(text.as_bytes()).next().map(|(name, _)| name.into_owned());
    Ok(Some((
        decoded(id).filter(|id| !id.is_empty()).ok_or(GrantRefusal::Client)?,
        decoded(secret).unwrap_or_default(),
    )))
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    fn asked(authorization: Option<&str>, body: &str) -> Result<TokenRequest, GrantRefusal> {
        let mut request = Request::post("/token").header(CONTENT_TYPE, "application/x-www-form-urlencoded");
        if let Some(authorization) = authorization {
            request = request.header(AUTHORIZATION, authorization);
        }
        TokenRequest::read(&request.body(()).unwrap().into_parts().0, body.as_bytes())
    }

    #[test]
    fn clients_and_users_are_granted_what_they_ask_for() {
        // hammer:hush-client
        let basic = Some("Basic aGFtbWVyOmh1c2gtY2xpZW50");
        let asked = |authorization, body| asked(authorization, body).unwrap();
        let by_itself = asked(basic, "grant_type=client_credentials");
        assert_eq!((by_itself.whom(), by_itself.client_secret.as_deref()), ("hammer", Some("hush-client")));
        assert_eq!((&by_itself.user, by_itself.wants_identity), (&None, false));
        assert!(asked(basic, "grant_type=client_credentials&scope=email+openid").wants_identity);
        let post = asked(None, "grant_type=client_credentials&client_id=c&client_secret=s");
        assert_eq!((post.whom(), post.client_secret.as_deref()), ("c", Some("s")));
        let by_password = asked(None, "grant_type=password&username=j%40d.e&password=p&client_id=public");
        assert_eq!((by_password.whom(), by_password.client_id.as_str()), ("j@d.e", "public"));
        assert_eq!((by_password.user.unwrap().password.as_str(), by_password.client_secret), ("p", None));
        // a%3Ab:x, whose client is called a:b.
        assert_eq!(asked(Some("Basic YSUzQWI6eA=="), "grant_type=client_credentials").whom(), "a:b");
    }

    #[test]
    fn what_is_not_said_as_it_must_be_is_refused_as_the_rfc_says() {
        let basic = Some("Basic aGFtbWVyOmh1c2gtY2xpZW50");
        for (authorization, body, refusal) in [
            (basic, "", GrantRefusal::Request),
            (basic, "grant_type=password&grant_type=password", GrantRefusal::Request),
            (basic, "grant_type=authorization_code", GrantRefusal::Kind),
            (basic, "grant_type=client_credentials&client_secret=s", GrantRefusal::Client),
            (None, "grant_type=client_credentials", GrantRefusal::Client),
            (None, "grant_type=client_credentials&client_id=c", GrantRefusal::Client),
            (Some("Bearer x"), "grant_type=client_credentials", GrantRefusal::Client),
            (Some("Basic !"), "grant_type=client_credentials", GrantRefusal::Client),
            // hammer: without a secret
            (Some("Basic aGFtbWVyOg=="), "grant_type=client_credentials", GrantRefusal::Client),
            (None, "grant_type=password&username=u&client_id=c", GrantRefusal::Grant),
            (None, "grant_type=password&password=p&client_id=c", GrantRefusal::Request),
        ] {
            assert_eq!(asked(authorization, body), Err(refusal), "{authorization:?} {body}");
        }
        let json = Request::post("/token").header(CONTENT_TYPE, "application/json").body(()).unwrap();
        assert_eq!(TokenRequest::read(&json.into_parts().0, b"{}"), Err(GrantRefusal::Request));
    }
}
