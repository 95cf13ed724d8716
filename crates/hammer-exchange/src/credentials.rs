//! What is secret of a request that was sent.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use hammer_measure::credential::{credentials_of_body, credentials_of_queries, is_credential};
use hammer_net::{Body, Request};
use http::header::{AUTHORIZATION, COOKIE, PROXY_AUTHORIZATION};
use http::{HeaderName, HeaderValue};

/// What is secret in the headers of `request`, in the queries of its path and of the URLs in its headers, in the start of its body, and in the
/// `Authorization` that it was sent with.
pub(crate) fn secrets_of(request: &Request, bearer: Option<&HeaderValue>) -> Vec<String> {
    let mut secrets = secrets_of_bearer(bearer);
    request.headers.iter().for_each(|(name, value)| add_of_header(name, value, &mut secrets));
    add_of_queries(request.path.as_str(), &mut secrets);
    add_of_body(&request.body, &mut secrets);
    secrets
}

/// What is secret in the `Authorization` that a request was sent with.
pub fn secrets_of_bearer(bearer: Option<&HeaderValue>) -> Vec<String> {
    let mut secrets = Vec::new();
    bearer.iter().for_each(|value| add_of_header(&AUTHORIZATION, value, &mut secrets));
    secrets
}

fn add_of_header(name: &HeaderName, value: &HeaderValue, secrets: &mut Vec<String>) {
    let value = String::from_utf8_lossy(value.as_bytes());
    if is_credential(name.as_str()) {
        add(name, &value, secrets);
    }
    add_of_queries(&value, secrets);
}

/// Adds what is secret in the queries of a text.
fn add_of_queries(text: &str, secrets: &mut Vec<String>) {
    credentials_of_queries(text).into_iter().for_each(|at| add_meant(&text[at], secrets));
}

/// Adds what is secret in the start of a body, as it stands there and as JSON or a form means it.
fn add_of_body(body: &Body, secrets: &mut Vec<String>) {
    let mut start = Vec::new();
    body.append_piece(0, MOST_OF_BODY, &mut start);
    let body = String::from_utf8_lossy(&start);
    for at in credentials_of_body(&body) {
        let written = &body[at];
        secrets.push(written.to_owned());
        secrets.extend(serde_json::from_str::<String>(&format!("\"{written}\"")));
        add_meant(written, secrets);
    }
}

/// Adds the value of a parameter as it is meant: what is masked is found in any way to write it. Of what was encoded more than once, the
/// server may have either.
fn add_meant(written: &str, secrets: &mut Vec<String>) {
    let mut written = written.to_owned();
    for _ in 0..MOST_ENCODED {
        let meant = decoded(&written);
        let is_last = meant == written || !meant.contains('%');
        secrets.push(meant.clone());
        if is_last {
            break;
        }
        written = meant;
    }
}

/// The value of a form's field (`application/x-www-form-urlencoded`), all of it.
fn decoded(written: &str) -> String {
    // A pair without a name, in which nothing but the first `=` separates.
    let pair = format!("={}", written.replace('&', "%26"));
    form_urlencoded::parse(pair.as_bytes()).map(|(_, value)| value).collect()
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
        // A server may tell of it without the quotation marks.
        let unquoted = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        secrets.extend(unquoted.map(str::to_owned));
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
/// So much of a body is looked at, in bytes.
const MOST_OF_BODY: usize = 64 << 10;
/// So often, at most, a query within a query is encoded.
const MOST_ENCODED: usize = 4;

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
        assert_eq!(secrets("x-api-key", "\"canary\""), ["\"canary\"", "canary"]);
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
        assert_eq!(secrets_of(&request, Some(&bearer)), ["canary", "key"]);
        let request = Request::get("/a?logIndex=1&api_key=a%2Fb+c%3D".parse().unwrap());
        assert_eq!(secrets_of(&request, None), ["a/b c="]);
    }

    #[test]
    fn the_whole_value_of_a_parameter_is_secret_as_it_is_meant() {
        for (path, secrets) in [
            ("/a?token=abc=canary-secret", &["abc=canary-secret"] as &[_]),
            ("/a?token=a;b&page=2", &["a;b"]),
            ("/a?token=a%26b%3Dc", &["a&b=c"]),
            // What the server has, and what it sends its client on with.
            ("/a?next=%2Fb%3Ftoken%3Da%252526b", &["a%2526b", "a%26b", "a&b"]),
        ] {
            assert_eq!(secrets_of(&Request::get(path.parse().unwrap()), None), secrets, "{path}");
        }
    }

    #[test]
    fn a_body_has_its_secrets_as_they_are_written_and_as_they_are_meant() {
        for (body, meant) in [
            (r#"{"user":"ann","password":"can\"ary"}"#, "can\"ary"),
            ("user=ann&password=can%26ary", "can&ary"),
        ] {
            let mut request = Request::get("/".parse().unwrap());
            request.body = Body::from(body);
            let secrets = secrets_of(&request, None);
            assert!(secrets.iter().any(|secret| secret == meant), "{secrets:?}");
            assert!(!secrets.iter().any(|secret| secret == "ann"), "{secrets:?}");
        }
    }

    #[test]
    fn a_url_in_a_header_of_any_name_has_its_secrets() {
        let mut request = Request::get("/".parse().unwrap());
        request
            .headers
            .insert("referer", HeaderValue::from_static("http://a/?page=1&X-Amz-Signature=canary"));
        assert_eq!(secrets_of(&request, None), ["canary"]);
    }
}
