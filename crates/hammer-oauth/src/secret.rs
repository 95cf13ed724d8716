//! Texts that no output ever shows.

use std::{fmt, sync::Arc};

/// A token as it is sent, in an `Authorization` header or a message. Printed as `***`; cloning shares the text.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct BearerToken(Arc<str>);

/// A password, a client's secret, or what holds one of them. Printed as `***`; cloning shares the text.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct SecretText(Arc<str>);

impl BearerToken {
    /// The token that is this text.
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        Self(text.into())
    }

    /// The text, for whoever sends it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl SecretText {
    /// The secret that is this text.
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        Self(text.into())
    }

    /// The text, for whoever sends it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for BearerToken {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("***")
    }
}

impl fmt::Debug for SecretText {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("***")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_never_printed() {
        let (token, secret) = (BearerToken::new("canary"), SecretText::new("canary"));
        assert_eq!(format!("{token:?} {secret:#?}"), "*** ***");
        assert_eq!((token.expose(), secret.expose()), ("canary", "canary"));
    }
}
