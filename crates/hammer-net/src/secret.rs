//! Tokens, which no output ever shows.

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hammer_measure::masked::keep_secret;
use http::HeaderValue;

/// A bearer token. Prints as `***`, whichever way it is printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Arc<str>);

/// Why there is no token. Never says what it is.
#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    /// The environment has no such variable, or it is not UTF-8.
    #[error("read a secret from the environment: {variable} is not set")]
    Unset {
        /// Its name.
        variable: String,
    },
    /// What stands in place of the name of a variable can be none, and may be the token itself: it is not shown.
    #[error("read a secret from the environment: what is given is not the name of a variable")]
    NoName,
    /// The file cannot be read.
    #[error("read a secret from {}: {source}", shown(path))]
    Unreadable {
        /// Its path, which is not shown where it looks like a token.
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
    /// More than [`LARGEST`] bytes.
    #[error("use a token of more than {LARGEST} bytes")]
    TooLarge,
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

    /// The token in the environment variable `variable`, masked in whatever peers write from then on.
    pub fn from_env(variable: &str) -> Result<Self, SecretError> {
        // As POSIX has them (IEEE 1003.1, section 8.1), in letters of either case.
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        if !variable.bytes().all(is_name) {
            return Err(SecretError::NoName);
        }
        let text =
            std::env::var(variable).map_err(|_| SecretError::Unset { variable: variable.to_owned() })?;
        let secret = Self::new(&text).map_err(|reason| SecretError::Unusable {
            place: format!("the environment's {variable}"),
            reason: Box::new(reason),
        })?;
        keep_secret(&secret.0);
        Ok(secret)
    }

    /// The token in the file at `path`, masked in whatever peers write from then on.
    pub fn from_file(path: &Path) -> Result<Self, SecretError> {
        let unreadable = |source| SecretError::Unreadable { path: path.to_owned(), source };
        let unusable = |reason| SecretError::Unusable { place: shown(path), reason: Box::new(reason) };
        let mut text = String::new();
        // One that never ends is no token, and must not take all memory.
        let mut file = File::open(path).map_err(unreadable)?.take(LARGEST + 1);
        let read = file.read_to_string(&mut text).map_err(unreadable)?;
        if read as u64 > LARGEST {
            return Err(unusable(SecretError::TooLarge));
        }
        // An editor's mark is no part of it.
        let secret = Self::new(text.strip_prefix('\u{feff}').unwrap_or(&text)).map_err(unusable)?;
        keep_secret(&secret.0);
        Ok(secret)
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

impl SecretError {
    /// Whether there is a place for a token, with nothing in it.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Empty => true,
            Self::Unusable { reason, .. } => reason.is_empty(),
            _ => false,
        }
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

/// A path as errors have it, unless it looks like a JWT (RFC 7519) that stands where its file belongs.
fn shown(path: &Path) -> String {
    let text = path.display().to_string();
    let is_part = |part: &str| {
        part.len() >= SHORTEST_PART
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
    };
    let parts: Vec<&str> = text.split('.').collect();
    if parts.len() == 3 && parts.into_iter().all(is_part) { "***".to_owned() } else { text }
}

/// Bytes of the longest token that is taken; servers take less in a header.
const LARGEST: u64 = 64 << 10;

/// Characters of the shortest part of a JWT.
const SHORTEST_PART: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_in_place_of_where_it_is_kept_is_not_shown() {
        let token = "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJjYW5hcnkifQ.c2lnbmF0dXJlLWNhbmFyeQ";
        let errors = [Secret::from_env(token).unwrap_err(), Secret::from_file(Path::new(token)).unwrap_err()];
        for error in errors {
            assert!(!error.to_string().contains("eyJ"), "{error}");
        }
        let error = Secret::from_env("HAMMER_NO_SUCH_VARIABLE").unwrap_err();
        assert!(error.to_string().contains("HAMMER_NO_SUCH_VARIABLE is not set"), "{error}");
    }

    #[test]
    fn a_file_that_never_ends_is_no_token() {
        let error = Secret::from_file(Path::new("/dev/zero")).unwrap_err();
        assert!(error.to_string().contains("more than 65536 bytes"), "{error}");
    }

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
        assert!(error.to_string().starts_with("read a secret from /nonexistent/token: "), "{error}");
    }
}
