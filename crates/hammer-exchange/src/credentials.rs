//! What is secret of a request that was sent.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use hammer_net::{Request, credentials_of_queries, is_credential};
use http::header::{AUTHORIZATION, COOKIE, PROXY_AUTHORIZATION};
use http::{HeaderName, HeaderValue};

/// What is secret in the headers of `request`, and in the `Authorization` that it was sent with.
pub(crate) fn secrets_of(request: &Request, bearer: Option<&HeaderValue>) -> Vec<String> {
    let headers = request.headers.iter().filter(|(name, _)| is_credential(name.as_str()));
    let mut secrets = Vec::new();
    for (name, value) in headers.chain(bearer.map(|value| (&AUTHORIZATION, value))) {
        add(name, &String::from_utf8_lossy(value.as_bytes()), &mut secrets);
    }
    let path = request.path.as_str();
    for at in credentials_of_queries(path) {
        // As it is meant: what is masked is found in any way to write it.
        let pair = form_urlencoded::parse(path[at].as_bytes()).next();
        secrets.extend(pair.map(|(value, _)| value.into_owned()));
    }
    secrets
}

/// Adds what is secret in a header that carries a credential.
fn add(name: &HeaderName, value: &str, secrets: &mut Vec<String>) {
    if name == COOKIE {
        let values = value.split(';').map(|pair| pair.split_once('=').map_or(pair, |(_, value)| value));
        secrets.extend(values.map(|value| value.trim().trim_matches('"').to_owned()));
        return;
    }
    let scheme = value.split_once(' ').filter(|(scheme, _)| {
        [AUTHORIZATION, PROXY_AUTHORIZATION].contains(name)
            || SCHEMES.iter().any(|known| scheme.eq_ignore_ascii_case(known))
    });
    let Some((scheme, credential)) = scheme.map(|(scheme, rest)| (scheme, rest.trim())) else {
        secrets.push(value.to_owned());
        return;
    };
    secrets.push(credential.to_owned());
    // A name and a password (RFC 7617), which the server has as they are.
    if scheme.eq_ignore_ascii_case("Basic")
        && let Ok(pair) = BASE64_STANDARD.decode(credential)
    {
        let pair = String::from_utf8_lossy(&pair);
        secrets.extend(pair.split_once(':').map(|(_, password)| password.to_owned()));
        secrets.push(pair.into_owned());
    }
}

/// Words before a credential that say what it is, in headers of any name.
const SCHEMES: [&str; 3] = ["Basic", "Bearer", "Token"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_credential_of_a_header_is_all_of_it_but_the_word_that_says_what_it_is() {
        let secrets = |name: &'static str, value: &str| {
            let mut secrets = Vec::new();
            add(&HeaderName::from_static(name), value, &mut secrets);
            secrets
        };
        assert_eq!(secrets("x-api-key", "canary plus space"), ["canary plus space"]);
        assert_eq!(secrets("authorization", "Bearer canary"), ["canary"]);
        assert_eq!(secrets("x-auth", "bearer canary"), ["canary"]);
        assert_eq!(secrets("proxy-authorization", "Own a=b, c=d"), ["a=b, c=d"]);
        assert_eq!(secrets("authorization", "canary"), ["canary"]);
        assert_eq!(secrets("authorization", "Basic dXNlcjpwYXNz"), ["dXNlcjpwYXNz", "pass", "user:pass"]);
        assert_eq!(secrets("cookie", "sid=a=b; theme=\"dark\"; bare"), ["a=b", "dark", "bare"]);
    }

    #[test]
    fn what_is_secret_of_a_request_is_in_its_credentials_and_in_the_bearer() {
        let mut request = Request::get("/".parse().unwrap());
        request.headers.insert("x-api-key", HeaderValue::from_static("key"));
        request.headers.insert("accept", HeaderValue::from_static("text/plain"));
        let bearer = HeaderValue::from_static("Bearer canary");
        assert_eq!(secrets_of(&request, Some(&bearer)), ["key", "canary"]);
        let request = Request::get("/a?logIndex=1&api_key=a%2Fb+c%3D".parse().unwrap());
        assert_eq!(secrets_of(&request, None), ["a/b c="]);
    }
}
