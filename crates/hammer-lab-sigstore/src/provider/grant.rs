//! What is asked of a token endpoint (RFC 6749 sections 2.3.1, 4.3.2 and 4.4.2).

use std::collections::HashMap;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use http::{
    header::{AUTHORIZATION, CONTENT_TYPE},
    request::Parts,
};

/// A request that is granted.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TokenRequest {
    /// Who is to be named: the user, or the client itself.
    pub(super) whom: String,
    /// Whether an identity token is wanted (OpenID Connect Core section 3.1.2.1, `openid`).
    pub(super) wants_identity: bool,
}

/// Why a request is not granted (RFC 6749 section 5.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GrantRefusal {
    /// It is no form, or says something twice, or not all of it.
    Request,
    /// It wants another grant.
    Kind,
    /// The user said no password.
    Grant,
    /// The client does not say who it is, or says so in two places.
    Client,
}

impl TokenRequest {
    /// As an e-mail address.
    pub(super) fn email(&self) -> String {
        let is_address =
            self.whom.split_once('@').is_some_and(|(local, domain)| !local.is_empty() && !domain.is_empty());
        if is_address { self.whom.clone() } else { format!("{}@hammer.test", self.whom) }
    }
}

/// Reads a request.
///
/// # Errors
/// What keeps it from being granted.
pub(super) fn read(parts: &Parts, body: &[u8]) -> Result<TokenRequest, GrantRefusal> {
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
    let whom = match kind {
        "client_credentials" if secret.is_none_or(|secret| secret.is_empty()) => {
            return Err(GrantRefusal::Client);
        }
        "client_credentials" => client,
        "password" => {
            let username = field("username").ok_or(GrantRefusal::Request)?;
            field("password").ok_or(GrantRefusal::Grant)?;
            username.to_owned()
        }
        _ => return Err(GrantRefusal::Kind),
    };
    let wants_identity = field("scope").is_some_and(|scope| scope.split(' ').any(|word| word == "openid"));
    Ok(TokenRequest { whom, wants_identity })
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
        read(&request.body(()).unwrap().into_parts().0, body.as_bytes())
    }

    fn of(whom: &str, wants_identity: bool) -> Result<TokenRequest, GrantRefusal> {
        Ok(TokenRequest { whom: whom.to_owned(), wants_identity })
    }

    #[test]
    fn clients_and_users_are_granted_what_they_ask_for() {
        // hammer:hush-client
        let basic = Some("Basic aGFtbWVyOmh1c2gtY2xpZW50");
        assert_eq!(asked(basic, "grant_type=client_credentials"), of("hammer", false));
        assert_eq!(asked(basic, "grant_type=client_credentials&scope=email+openid"), of("hammer", true));
        let post = "grant_type=client_credentials&client_id=c&client_secret=s";
        assert_eq!(asked(None, post), of("c", false));
        let password = "grant_type=password&username=j%40d.e&password=p&client_id=public";
        assert_eq!(asked(None, password), of("j@d.e", false));
        assert_eq!(asked(None, password).unwrap().email(), "j@d.e");
        assert_eq!(asked(None, post).unwrap().email(), "c@hammer.test");
        // a%3Ab:x, whose client is called a:b.
        assert_eq!(asked(Some("Basic YSUzQWI6eA=="), "grant_type=client_credentials"), of("a:b", false));
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
        assert_eq!(read(&json.into_parts().0, b"{}"), Err(GrantRefusal::Request));
    }
}
