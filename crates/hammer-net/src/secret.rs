//! Tokens, which no output ever shows.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use http::HeaderValue;

/// A bearer token. Prints as `***`, whichever way it is printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Arc<str>);

/// Why there is no token. Never says what it is.
#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    /// The environment has no such variable, or it is not UTF-8.
    #[error("read a token from the environment: {variable} is not set")]
    Unset {
        /// Its name.
        variable: String,
    },
    /// The file cannot be read.
    #[error("read a token from {path}: {source}")]
    Unreadable {
        /// Its path.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Nothing but white space.
    #[error("use an empty token")]
    Empty,
    /// The value of a header in place of the token.
    #[error(
        "use a token that starts with `Bearer`: that word stands before it in the header, and is no part of it"
    )]
    WithScheme,
    /// A byte that cannot stand in a header.
    #[error("send a token that holds control characters")]
    Unprintable,
    /// What was found at that place is no token.
    #[error("take a token from {place}: failed to {reason}")]
    Unusable {
        /// The file, or the environment variable.
        place: String,
        /// Why.
        reason: Box<SecretError>,
    },
}

impl Secret {
    /// The token `text`, without white space around it.
    pub fn new(text: &str) -> Result<Self, SecretError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(SecretError::Empty);
        }
        let is_scheme = |word: &str| word.eq_ignore_ascii_case("bearer");
        if text.split_once(char::is_whitespace).is_some_and(|(word, _)| is_scheme(word)) {
            return Err(SecretError::WithScheme);
        }
        let secret = Self(text.into());
        secret.bearer().map(|_| secret)
    }

    /// The token in the environment variable `variable`.
    pub fn from_env(variable: &str) -> Result<Self, SecretError> {
        let text =
            std::env::var(variable).map_err(|_| SecretError::Unset { variable: variable.to_owned() })?;
        Self::new(&text).map_err(|reason| SecretError::Unusable {
            place: format!("the environment's {variable}"),
            reason: Box::new(reason),
        })
    }

    /// The token in the file at `path`.
    pub fn from_file(path: &Path) -> Result<Self, SecretError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| SecretError::Unreadable { path: path.to_owned(), source })?;
        Self::new(&text).map_err(|reason| SecretError::Unusable {
            place: path.display().to_string(),
            reason: Box::new(reason),
        })
    }

    /// The token itself, for the body of a request that has to carry it. It must reach no text that anybody reads.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// The value of an `Authorization` header, marked as sensitive (RFC 6750, section 2.1).
    pub fn bearer(&self) -> Result<HeaderValue, SecretError> {
        let mut value =
            HeaderValue::try_from(format!("Bearer {}", self.0)).map_err(|_| SecretError::Unprintable)?;
        value.set_sensitive(true);
        Ok(value)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_never_printed() {
        let secret = Secret::new("canary\n").unwrap();
        assert_eq!(format!("{secret} {secret:?}"), "*** ***");
        let header = secret.bearer().unwrap();
        assert_eq!(header.as_bytes(), b"Bearer canary");
        assert_eq!(format!("{header:?}"), "Sensitive");
    }

    #[test]
    fn a_token_that_cannot_be_sent_is_refused_without_being_shown() {
        assert!(matches!(Secret::new(" \n"), Err(SecretError::Empty)));
        let error = Secret::new("can\u{7}ary").unwrap_err();
        assert!(!format!("{error} {error:?}").contains("ary"));
    }

    #[test]
    fn a_missing_file_is_named() {
        let error = Secret::from_file(Path::new("/nonexistent/token")).unwrap_err();
        assert!(error.to_string().starts_with("read a token from /nonexistent/token: "), "{error}");
    }
}
