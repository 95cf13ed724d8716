//! Which headers carry a credential, as far as their names say.

/// Whether the header of that name carries a credential, however it is written: `Authorization`, `Cookie`, `X-Api-Key`,
/// `Private-Token`, `X-Amz-Security-Token`. A name says so by a word in it.
pub fn is_credential(header: &str) -> bool {
    let header = header.to_ascii_lowercase();
    CREDENTIAL_WORDS.iter().any(|word| header.contains(word))
}

/// What such names hold, in lower case.
pub const CREDENTIAL_WORDS: [&str; 8] =
    ["auth", "cookie", "token", "secret", "password", "api-key", "apikey", "credential"];

#[cfg(test)]
mod tests {
    use super::*;

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
