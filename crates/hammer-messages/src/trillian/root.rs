//! `LogRoot` in the encoding of TLS (Trillian's `types/logroot.go`; RFC 5246 section 4).

/// The root of a tree at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogRootV1<'a> {
    /// The tree's leaves.
    pub tree_size: u64,
    /// The root's hash: 32 bytes of every tree that can be made today, at most 128.
    pub root_hash: &'a [u8],
    /// When the root was made, in nanoseconds since the Unix epoch.
    pub timestamp_nanos: u64,
    /// A number of the store's own, deprecated.
    pub revision: u64,
    /// What a personality adds; empty as a rule.
    pub metadata: &'a [u8],
}

/// Why bytes are no `LogRoot`. The texts complete "failed to ...".
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LogRootError {
    /// The bytes end inside of a field.
    #[error("read a log root: its {field} is cut off")]
    Cut {
        /// The field's name in the specification.
        field: &'static str,
    },
    /// The version is not 1.
    #[error("read a log root of the version {0}")]
    Version(u16),
    /// The hash has more bytes than the specification allows.
    #[error("read a log root: its root_hash has {0} bytes, and 128 are the most")]
    LongHash(usize),
    /// Bytes follow where the root ends.
    #[error("read a log root: {0} bytes follow it")]
    Trailing(usize),
}

impl<'a> LogRootV1<'a> {
    /// Reads a `LogRoot`: the version, and what it says.
    ///
    /// # Errors
    /// Another version, bytes that are cut off, or bytes behind.
    pub fn from_tls(bytes: &'a [u8]) -> Result<Self, LogRootError> {
        let mut rest = bytes;
        let version = u16::from_be_bytes(take(&mut rest, "version")?);
        if version != VERSION {
            return Err(LogRootError::Version(version));
        }
        let tree_size = u64::from_be_bytes(take(&mut rest, "tree_size")?);
        let [length] = take(&mut rest, "root_hash")?;
        if usize::from(length) > LONGEST_HASH {
            return Err(LogRootError::LongHash(length.into()));
        }
        let root_hash = opaque(&mut rest, length.into(), "root_hash")?;
        let timestamp_nanos = u64::from_be_bytes(take(&mut rest, "timestamp_nanos")?);
        let revision = u64::from_be_bytes(take(&mut rest, "revision")?);
        let length = u16::from_be_bytes(take(&mut rest, "metadata")?);
        let metadata = opaque(&mut rest, length.into(), "metadata")?;
        match rest.len() {
            0 => Ok(Self { tree_size, root_hash, timestamp_nanos, revision, metadata }),
            count => Err(LogRootError::Trailing(count)),
        }
    }
}

fn take<const N: usize>(rest: &mut &[u8], field: &'static str) -> Result<[u8; N], LogRootError> {
    let (bytes, behind) = rest.split_first_chunk().ok_or(LogRootError::Cut { field })?;
    *rest = behind;
    Ok(*bytes)
}

fn opaque<'a>(rest: &mut &'a [u8], length: usize, field: &'static str) -> Result<&'a [u8], LogRootError> {
    let (bytes, behind) = rest.split_at_checked(length).ok_or(LogRootError::Cut { field })?;
    *rest = behind;
    Ok(bytes)
}

const VERSION: u16 = 1;
const LONGEST_HASH: usize = 128;
