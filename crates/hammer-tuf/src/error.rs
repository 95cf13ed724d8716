//! Why a file of a repository is not believed.

use crate::role::Role;

/// A fragment that completes "failed to ...".
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TufError {
    /// It is not what the role's metadata has to be.
    #[error("read the {role} metadata: {reason}")]
    Malformed {
        /// Whose it is.
        role: Role,
        /// What is wrong with it.
        reason: String,
    },
    /// Too few keys of the role signed it.
    #[error("believe the {role} metadata: {valid} of the {threshold} keys that it needs signed it{}", by_whom(*.is_by_new))]
    Signatures {
        /// Whose it is.
        role: Role,
        /// Distinct keys of the role whose signature holds.
        valid: usize,
        /// How many of them it takes.
        threshold: usize,
        /// Of a new root: whether these are its own keys, and not those of the root before it.
        is_by_new: bool,
    },
    /// Whether enough keys signed it cannot be said here: it is signed by an algorithm that is not verified.
    #[error(
        "verify the {role} metadata: {unverified} of its signatures are of algorithms that are not verified here (RSA-PSS is where its salt is as long as its hash)"
    )]
    Unverified {
        /// Whose it is.
        role: Role,
        /// Signatures of that kind.
        unverified: usize,
    },
    /// It has another version than what was asked for, or than what is signed above it.
    #[error("believe the {role} metadata: it has version {found}, and not {expected}")]
    Version {
        /// Whose it is.
        role: Role,
        /// Its version.
        found: u64,
        /// The version that it has to have.
        expected: u64,
    },
    /// It is older than what the client already trusts.
    #[error("believe the {role} metadata: version {found} came after version {known}")]
    Rollback {
        /// Whose it is.
        role: Role,
        /// Its version.
        found: u64,
        /// The newest version before.
        known: u64,
    },
    /// It expired before it was received.
    #[error("believe the {role} metadata: it expired at {expires}")]
    Expired {
        /// Whose it is.
        role: Role,
        /// When, as it says.
        expires: String,
    },
    /// It has another length or hash than what is signed above it.
    #[error("believe the {role}: {what} is not what is signed above it")]
    Hash {
        /// What it is.
        role: Role,
        /// Its length, or which hash of it.
        what: &'static str,
    },
    /// The metadata above it does not name it.
    #[error("find {name} in the {within} metadata{}", not_followed(.delegated))]
    Unnamed {
        /// What was looked for.
        name: String,
        /// Where.
        within: Role,
        /// Roles that the targets are delegated to, which are not followed.
        delegated: Vec<String>,
    },
    /// A client got it before what is signed above it.
    #[error("believe the {0}: what is signed above it was not read")]
    OutOfOrder(Role),
    /// It is longer than any client reads.
    #[error("read the {role}: it has more than {most} bytes")]
    TooLong {
        /// What it is.
        role: Role,
        /// The most that is read.
        most: u64,
    },
    /// The repository has one root behind the other without an end.
    #[error("read the root metadata: there are more than {0} new ones")]
    Roots(usize),
    /// The repository does not have it.
    #[error("read the {0}: the repository does not have it")]
    Missing(Role),
}

impl TufError {
    /// The version that it is about, where there is one.
    pub const fn version(&self) -> Option<u64> {
        match self {
            Self::Version { found, .. } | Self::Rollback { found, .. } => Some(*found),
            _ => None,
        }
    }

    pub(crate) fn malformed(role: Role, reason: impl Into<String>) -> Self {
        Self::Malformed { role, reason: reason.into() }
    }
}

const fn by_whom(is_by_new: bool) -> &'static str {
    if is_by_new { " (by what it says itself)" } else { "" }
}

fn not_followed(delegated: &[String]) -> String {
    match delegated {
        [] => String::new(),
        names => format!(" (its delegations, {}, are not followed)", names.join(", ")),
    }
}
