//! The token of a door, in a file.

use std::env;
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::{SecureRandom as _, SystemRandom};

use super::access::TokenTest;
use crate::error::UsageError;

/// A file with a token in it. Of the token itself only what tells it from others is kept.
#[derive(Debug)]
pub(crate) struct TokenFile {
    path: PathBuf,
    test: TokenTest,
    /// Whether it goes with whoever made it.
    is_passing: bool,
}

impl TokenFile {
    /// The file that somebody names; where it is not there, it is made with a new token that its owner alone can read.
    ///
    /// # Errors
    /// When it cannot be read or made, or holds no token.
    pub(super) fn given(path: &Path) -> Result<Self, UsageError> {
        match fs::read_to_string(path) {
            Ok(text) => {
                let token = text.trim();
                if !is_token(token) {
                    let why = format!("it holds no token: expected one line of {LEAST} letters or more");
                    return Err(UsageError::DoorToken { path: path.to_owned(), why });
                }
                Ok(Self { path: path.to_owned(), test: TokenTest::of(token), is_passing: false })
            }
            Err(error) if error.kind() == ErrorKind::NotFound => Self::made(path.to_owned(), false),
            Err(error) if error.kind() == ErrorKind::InvalidData => {
                let why = "it holds no token: it is no text".to_owned();
                Err(UsageError::DoorToken { path: path.to_owned(), why })
            }
            Err(error) => Err(UsageError::DoorToken { path: path.to_owned(), why: error.to_string() }),
        }
    }

    /// The file for a door at that address, which [`known_for`] finds again; it is gone with the door.
    ///
    /// # Errors
    /// When there is no folder for it, or it cannot be made.
    pub(super) fn made_for(address: &str) -> Result<Self, UsageError> {
        let path = known_for(address).ok_or(UsageError::NoFolderOfTokens)?;
        if let Some(folder) = path.parent() {
            let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
            made.map_err(|error| UsageError::KeptToken { path: path.clone(), why: error.to_string() })?;
        }
        // What a door at this address has left that was killed opens nothing.
        match fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(UsageError::KeptToken { path, why: error.to_string() })
            }
            _ => Self::made(path, true),
        }
    }

    fn made(path: PathBuf, is_passing: bool) -> Result<Self, UsageError> {
        let failed = |why: String| UsageError::DoorToken { path: path.clone(), why };
        let mut bytes = [0; 32];
        SystemRandom::new().fill(&mut bytes).map_err(|_| failed("there are no random bytes".to_owned()))?;
        let token = URL_SAFE_NO_PAD.encode(bytes);
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        let write = |mut file: File| writeln!(file, "{token}");
        file.and_then(write).map_err(|error| failed(error.to_string()))?;
        Ok(Self { test: TokenTest::of(&token), path, is_passing })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn test(&self) -> TokenTest {
        self.test.clone()
    }

    /// Whether others than its owner can read it.
    pub(super) fn is_readable_by_others(&self) -> bool {
        fs::metadata(&self.path).is_ok_and(|file| file.permissions().mode() & 0o077 != 0)
    }
}

impl Drop for TokenFile {
    fn drop(&mut self) {
        if self.is_passing {
            // Whoever runs next at this address makes it anew.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Where the token of a door at that address (`127.0.0.1:8080`) is, where nobody names a file: below `XDG_RUNTIME_DIR`, else in the user's
/// own cache. None where there is neither.
pub(crate) fn known_for(address: &str) -> Option<PathBuf> {
    let folder = |name: &str| env::var_os(name).filter(|path| !path.is_empty()).map(PathBuf::from);
    let folder = folder("XDG_RUNTIME_DIR").or_else(|| Some(folder("HOME")?.join(".cache")))?;
    let name: String =
        address.chars().map(|c| if c.is_ascii_alphanumeric() || c == '.' { c } else { '_' }).collect();
    Some(folder.join("hammer").join(format!("{name}.token")))
}

fn is_token(text: &str) -> bool {
    text.len() >= LEAST && text.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Letters that a token has at least.
const LEAST: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_made_once_for_its_owner_alone_and_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        let made = TokenFile::given(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let token = fs::read_to_string(&path).unwrap();
        assert_eq!((token.trim().len(), made.test()), (43, TokenTest::of(token.trim())));
        assert_eq!(TokenFile::given(&path).unwrap().test(), made.test());
        assert!(!format!("{made:?}").contains(token.trim()));
    }

    #[test]
    fn what_is_no_token_is_told_without_what_it_is() {
        let folder = tempfile::tempdir().unwrap();
        for text in ["", "short", "two words of a long enough line", "0123456789abcdef\n0123456789abcdef"] {
            let path = folder.path().join("token");
            fs::write(&path, text).unwrap();
            let error = TokenFile::given(&path).unwrap_err().to_string();
            assert!(
                error.contains("holds no token") && (text.is_empty() || !error.contains(text)),
                "{error}"
            );
        }
    }
}
