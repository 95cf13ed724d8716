//! The request to a token endpoint.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use form_urlencoded::{Serializer, byte_serialize};
use hammer_measure::masked::masked;

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
    fn a_request_does_not_show_its_secrets() {
        let grant = Grant::Password { username: "jdoe".into(), password: SecretText::new("canary-1") };
        let client = ClientAuthentication::Basic { id: "client".into(), secret: SecretText::new("canary-2") };
        let request = request(grant, client);
        let printed = format!("{request:?} {:?} {:?}", request.body(), request.authorization());
        assert!(!printed.contains("canary"), "{printed}");
    }
}
