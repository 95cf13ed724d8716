//! The request to a token endpoint.

use std::ops::Range;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use form_urlencoded::{Serializer, byte_serialize};

use crate::secret::SecretText;

/// The type of the request's body.
pub const CONTENT_TYPE: &str = "application/x-www-form-urlencoded";

/// What is asked of a token endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantRequest {
    /// What entitles to a token.
    pub grant: Grant,
    /// Who asks.
    pub client: ClientAuthentication,
    /// The `scope`, with spaces between its words; `openid` for an identity token.
    pub scope: Option<String>,
    /// Other parameters, such as `audience`.
    pub extra: Vec<(String, String)>,
}

/// What entitles to a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Grant {
    /// The password of somebody (section 4.3).
    Password {
        /// Who it is.
        username: String,
        /// The password.
        password: SecretText,
    },
    /// The client itself (section 4.4).
    ClientCredentials,
}

/// Who asks for a token (section 2.3.1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClientAuthentication {
    /// A client without a secret.
    Public {
        /// The `client_id`.
        id: String,
    },
    /// A client that says its secret in the header.
    Basic {
        /// The `client_id`.
        id: String,
        /// Its secret.
        secret: SecretText,
    },
    /// A client that says its secret in the body.
    Body {
        /// The `client_id`.
        id: String,
        /// Its secret.
        secret: SecretText,
    },
}

impl GrantRequest {
    /// The body of the request, of the type [`CONTENT_TYPE`].
    pub fn body(&self) -> SecretText {
        let mut form = Serializer::new(String::new());
        match &self.grant {
            Grant::Password { username, password } => {
                form.append_pair("grant_type", "password")
                    .append_pair("username", username)
                    .append_pair("password", password.expose());
            }
            Grant::ClientCredentials => {
                form.append_pair("grant_type", "client_credentials");
            }
        }
        match &self.client {
            ClientAuthentication::Public { id } => {
                form.append_pair("client_id", id);
            }
            ClientAuthentication::Body { id, secret } => {
                form.append_pair("client_id", id).append_pair("client_secret", secret.expose());
            }
            ClientAuthentication::Basic { .. } => {}
        }
        if let Some(scope) = &self.scope {
            form.append_pair("scope", scope);
        }
        form.extend_pairs(&self.extra);
        SecretText::new(form.finish())
    }

    /// The value of the `Authorization` header, where there is one.
    pub fn authorization(&self) -> Option<SecretText> {
        let ClientAuthentication::Basic { id, secret } = &self.client else { return None };
        let form = |text: &str| byte_serialize(text.as_bytes()).collect::<String>();
        let pair = format!("{}:{}", form(id), form(secret.expose()));
        Some(SecretText::new(format!("Basic {}", BASE64_STANDARD.encode(pair))))
    }

    /// The text without the secrets of this request, which a server may have said again.
    pub(super) fn without_secrets(&self, text: &str) -> String {
        let password = match &self.grant {
            Grant::Password { password, .. } => Some(password),
            Grant::ClientCredentials => None,
        };
        let secret = match &self.client {
            ClientAuthentication::Public { .. } => None,
            ClientAuthentication::Basic { secret, .. } | ClientAuthentication::Body { secret, .. } => {
                Some(secret)
            }
        };
        let pair = self.authorization().map(|pair| pair.expose().trim_start_matches("Basic ").to_owned());
        let plain = [password, secret].into_iter().flatten().map(SecretText::expose);
        let secrets: Vec<&str> = plain.chain(pair.as_deref()).collect();
        masked(text, &secrets)
    }
}

/// The text with `***` in the place of every secret in it: as it is, in letters of another case, and percent-encoded wholly, in part or
/// more than once (RFC 3986 section 2.1), with pluses for spaces as forms have them.
fn masked(text: &str, secrets: &[&str]) -> String {
    let mut hidden = vec![false; text.len()];
    let mut read = EncodedByte::of(text);
    for _ in 0..=MOST_ENCODED {
        for secret in secrets.iter().filter(|secret| !secret.is_empty()) {
            hide(&read, secret.as_bytes(), &mut hidden);
        }
        read = decoded(&read);
    }
    let mut shown = String::new();
    let mut was_hidden = false;
    for (at, symbol) in text.char_indices() {
        if !hidden[at] {
            shown.push(symbol);
        } else if !was_hidden {
            shown.push_str("***");
        }
        was_hidden = hidden[at];
    }
    shown
}

/// A byte that is written in a text, and where.
#[derive(Clone)]
struct EncodedByte {
    byte: u8,
    at: Range<usize>,
}

impl EncodedByte {
    fn of(text: &str) -> Vec<Self> {
        text.bytes().enumerate().map(|(at, byte)| Self { byte, at: at..at + 1 }).collect()
    }

    /// A form has a plus for a space.
    fn is(&self, wanted: u8) -> bool {
        self.byte.eq_ignore_ascii_case(&wanted) || (self.byte == b'+' && wanted == b' ')
    }
}

fn hide(read: &[EncodedByte], secret: &[u8], hidden: &mut [bool]) {
    for found in read.windows(secret.len()) {
        if let (Some(first), Some(last)) = (found.first(), found.last())
            && found.iter().zip(secret).all(|(byte, wanted)| byte.is(*wanted))
        {
            hidden[first.at.start..last.at.end].fill(true);
        }
    }
}

/// What is left once each `%XX` is the byte that it stands for.
fn decoded(read: &[EncodedByte]) -> Vec<EncodedByte> {
    let digit = |byte: &EncodedByte| char::from(byte.byte).to_digit(16);
    let mut decoded = Vec::with_capacity(read.len());
    let mut rest = read;
    while let [first, behind @ ..] = rest {
        rest = behind;
        let mut byte = first.clone();
        if let [high, low, after @ ..] = behind
            && byte.byte == b'%'
            && let (Some(high), Some(low_digit)) = (digit(high), digit(low))
        {
            byte = EncodedByte { byte: (high << 4 | low_digit) as u8, at: first.at.start..low.at.end };
            rest = after;
        }
        decoded.push(byte);
    }
    decoded
}

/// So often, at most, what a server says again was encoded on its way: by us, by the server, by what stands before it, and once more.
const MOST_ENCODED: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    fn request(grant: Grant, client: ClientAuthentication) -> GrantRequest {
        GrantRequest { grant, client, scope: None, extra: Vec::new() }
    }

    #[test]
    fn a_password_is_sent_in_a_form_with_its_client() {
        let grant =
            Grant::Password { username: "jdoe@redhat.com".into(), password: SecretText::new("a b&c=\u{fc}") };
        let client = ClientAuthentication::Public { id: "sigstore".into() };
        let request = GrantRequest { scope: Some("openid email".into()), ..request(grant, client) };
        let body = "grant_type=password&username=jdoe%40redhat.com&password=a+b%26c%3D%C3%BC&client_id=sigstore\
                    &scope=openid+email";
        assert_eq!(request.body().expose(), body);
        assert_eq!(request.authorization(), None);
    }

    #[test]
    fn a_client_says_its_secret_in_the_body_or_in_the_header_and_never_in_both() {
        let secret = SecretText::new("s:e cret");
        let body = ClientAuthentication::Body { id: "client".into(), secret: secret.clone() };
        let in_body = request(Grant::ClientCredentials, body);
        let form = "grant_type=client_credentials&client_id=client&client_secret=s%3Ae+cret";
        assert_eq!((in_body.body().expose(), in_body.authorization()), (form, None));
        let basic = ClientAuthentication::Basic { id: "client".into(), secret };
        let mut in_header = request(Grant::ClientCredentials, basic);
        in_header.extra.push(("audience".into(), "sigstore".into()));
        assert_eq!(in_header.body().expose(), "grant_type=client_credentials&audience=sigstore");
        // "client:s%3Ae+cret", as section 2.3.1 asks for.
        assert_eq!(in_header.authorization().unwrap().expose(), "Basic Y2xpZW50OnMlM0FlK2NyZXQ=");
    }

    #[test]
    fn a_secret_is_masked_however_it_is_written() {
        let secrets = ["Se cr\u{e9}t%&"];
        let masked = |text: &str| masked(text, &secrets);
        for written in [
            "Se cr\u{e9}t%&",
            "SE CR\u{e9}T%&",
            "Se+cr%C3%A9t%25%26",
            "se%20cr%c3%a9t%25%26",
            "%53e%20cr\u{e9}t%&",
            "%53%65%20%63%72%C3%A9%74%25%26",
            // Twice.
            "Se%2520cr%25C3%25A9t%2525%2526",
        ] {
            assert_eq!(
                masked(&format!("you sent \u{e9} {written}, 100% wrong")),
                "you sent \u{e9} ***, 100% wrong"
            );
        }
        assert_eq!(masked("no secret: %zz %"), "no secret: %zz %");
        assert_eq!(masked(""), "");
    }

    #[test]
    fn a_request_does_not_show_its_secrets() {
        let grant = Grant::Password { username: "jdoe".into(), password: SecretText::new("canary-1") };
        let client = ClientAuthentication::Basic { id: "client".into(), secret: SecretText::new("canary-2") };
        let request = request(grant, client);
        let printed = format!("{request:?} {:?} {:?}", request.body(), request.authorization());
        assert!(!printed.contains("canary"), "{printed}");
    }
}
