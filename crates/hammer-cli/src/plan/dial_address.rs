//! Where connections are dialled, in plans.

use hammer_net::DialPlace;
use hammer_values::ValueError;
use http::Uri;
use http::uri::Authority;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A host, which is an address or a name, and a port.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub(crate) struct DialAddress {
    authority: Authority,
    port: u16,
}

impl DialAddress {
    /// As a client is told it.
    pub(super) fn place(&self) -> DialPlace {
        DialPlace::Host(self.authority.host().trim_matches(['[', ']']).to_owned(), self.port)
    }

    /// The URL of what is dialled in place of `url`.
    pub(super) fn in_place_of(&self, url: &Uri) -> Uri {
        let mut parts = url.clone().into_parts();
        parts.authority = Some(self.authority.clone());
        Uri::from_parts(parts).unwrap_or_else(|_| url.clone())
    }
}

impl TryFrom<String> for DialAddress {
    type Error = ValueError;

    fn try_from(text: String) -> Result<Self, ValueError> {
        let authority = text.parse::<Authority>().ok().filter(|authority| !authority.as_str().contains('@'));
        let with_port = authority.and_then(|authority| Some((authority.port_u16()?, authority)));
        match with_port {
            Some((port, authority)) if !authority.host().is_empty() => Ok(Self { authority, port }),
            _ => Err(ValueError::Form { text, expected: "host and port (like 10.0.0.5:8443)" }),
        }
    }
}

impl From<DialAddress> for String {
    fn from(address: DialAddress) -> Self {
        address.authority.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_host_and_a_port_and_stands_for_those_of_a_url() {
        let url: Uri = "https://shop.test/a".parse().unwrap();
        for (text, host, url_there) in [
            ("10.0.0.5:8443", "10.0.0.5", "https://10.0.0.5:8443/a"),
            ("[::1]:81", "::1", "https://[::1]:81/a"),
            ("web.internal:80", "web.internal", "https://web.internal:80/a"),
        ] {
            let address = DialAddress::try_from(text.to_owned()).unwrap();
            assert!(matches!(address.place(), DialPlace::Host(known, _) if known == host), "{text}");
            assert_eq!(address.in_place_of(&url).to_string(), url_there);
            assert_eq!(String::from(address), text);
        }
        for text in ["", "10.0.0.5", ":80", "a:99999", "me:secret@a:80", "http://a:80", "a b:80"] {
            assert!(DialAddress::try_from(text.to_owned()).is_err(), "{text}");
        }
    }
}
