//! Which headers, and which parameters of a URL's query, carry a credential, as far as their names say.

use std::ops::Range;

/// Whether the header of that name carries a credential, however it is written: `Authorization`, `Cookie`, `X-Api-Key`,
/// `Private-Token`, `X-Amz-Security-Token`. A name says so by a word in it.
pub fn is_credential(header: &str) -> bool {
    let header = header.to_ascii_lowercase();
    CREDENTIAL_WORDS.iter().any(|word| header.contains(word))
}

/// What such names hold, in lower case.
pub const CREDENTIAL_WORDS: [&str; 8] =
    ["auth", "cookie", "token", "secret", "password", "api-key", "apikey", "credential"];

/// Where in `text` the values of those parameters are that carry a credential: of every query that stands in it, as it is written
/// there (`?access_token=...`, `&sig=...`). A query ends where a URL does: at a space, a quotation mark or a `#`.
pub fn credentials_of_queries(text: &str) -> Vec<Range<usize>> {
    let ends = |letter: char| letter.is_whitespace() || matches!(letter, '#' | '"' | '\'' | '`' | '<' | '>');
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(query) = text[from..].find('?') {
        let start = from + query + 1;
        let end = text[start..].find(ends).map_or(text.len(), |length| start + length);
        let mut at = start;
        for pair in text[start..end].split(['&', ';']) {
            if let Some((name, value)) = pair.split_once('=')
                && !value.is_empty()
                && is_credential_parameter(name)
            {
                found.push(at + name.len() + 1..at + pair.len());
            }
            at += pair.len() + 1;
        }
        from = end;
    }
    found
}

fn is_credential_parameter(name: &str) -> bool {
    is_credential(name) || CREDENTIAL_PARAMETERS.iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// Names of parameters that carry a credential without a word that says so: of API keys, signed URLs, and RFC 6749.
const CREDENTIAL_PARAMETERS: [&str; 12] = [
    "key",
    "api_key",
    "access_key",
    "sig",
    "signature",
    "code",
    "jwt",
    "assertion",
    "session",
    "sid",
    "pass",
    "pwd",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_credentials_of_a_query_are_found_by_the_names_of_their_parameters() {
        let found = |text: &'static str| -> Vec<&str> {
            credentials_of_queries(text).into_iter().map(|at| &text[at]).collect()
        };
        assert_eq!(found("/a?access_token=canary"), ["canary"]);
        assert_eq!(
            found("GET /a?q=1&sig=a%2Fb&x=2#key=3 and http://b/?Code=c&API_KEY=d"),
            ["a%2Fb", "c", "d"]
        );
        assert_eq!(found("path: \"/a?X-Amz-Security-Token=canary\", key=1"), ["canary"]);
        assert!(found("/a?logIndex=7&page=2, why? key=1 token=").is_empty());
        assert!(found("/a/token=1&key=2?").is_empty());
    }

    #[test]
    fn a_header_carries_a_credential_where_its_name_says_so() {
        for name in [
            "Authorization",
            "proxy-authorization",
            "Cookie",
            "X-Api-Key",
            "apikey",
            "X-Auth-Token",
            "Private-Token",
            "X-Client-Secret",
            "X-Password",
            "X-Credential",
        ] {
            assert!(is_credential(name), "{name}");
        }
        for name in ["accept", "content-type", "user-agent", "x-request-id", "idempotency-key", "traceparent"]
        {
            assert!(!is_credential(name), "{name}");
        }
    }
}
