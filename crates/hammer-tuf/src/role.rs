//! The files of a repository, by the role that signs them.

use std::fmt;

/// What a file of a repository is: the metadata of a top-level role, or a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Whose keys sign what, the root itself included.
    Root = 0,
    /// Which snapshot is the newest.
    Timestamp = 1,
    /// Which version of every other metadata there is.
    Snapshot = 2,
    /// Which targets there are.
    Targets = 3,
    /// A target.
    Target = 4,
}

impl Role {
    /// All of them, in the order in which a client reads them.
    pub const ALL: [Self; 5] = [Self::Root, Self::Timestamp, Self::Snapshot, Self::Targets, Self::Target];

    /// What the specification calls it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Root => "root",
            Self::Timestamp => "timestamp",
            Self::Snapshot => "snapshot",
            Self::Targets => "targets",
            Self::Target => "target",
        }
    }

    /// The most bytes of such a file that a client reads, where nothing signed says how long it is.
    pub const fn most_bytes(self) -> u64 {
        match self {
            Self::Root => 512 << 10,
            Self::Timestamp => 16 << 10,
            Self::Snapshot => 2 << 20,
            Self::Targets => 5 << 20,
            Self::Target => 64 << 20,
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
