//! Which file of a repository a client asks for next, by what the files before it say. Nothing is verified here, so that whoever sends
//! can go on at once, and verify elsewhere.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::error::TufError;
use crate::file_claim::FileClaim;
use crate::role::Role;
use crate::trusted::{SNAPSHOT, TARGETS};

/// What a client has of a repository before it asks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownFiles {
    /// The version of its root.
    pub root: u64,
    /// Whether files are asked for by their version or hash.
    pub is_consistent: bool,
    /// The version of its timestamp.
    pub timestamp: Option<u64>,
    /// The version of its snapshot.
    pub snapshot: Option<u64>,
    /// The version of its targets.
    pub targets: Option<u64>,
    /// The target that it has.
    pub target: Option<FileClaim>,
}

/// A file that is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WantedFile {
    /// What it is.
    pub role: Role,
    /// Its path below that of the repository, with a slash before it.
    pub path: String,
    /// The most bytes that a client reads of it.
    pub most_bytes: u64,
}

/// A client's way through a repository, from a root that it knows to a target.
#[derive(Clone, Debug)]
pub struct Walk {
    known: KnownFiles,
    target: String,
    wanted: WantedFile,
    is_done: bool,
    /// Roots that were new.
    roots: usize,
}

#[derive(Deserialize)]
struct Claimed<T> {
    signed: T,
}

#[derive(Deserialize)]
struct ClaimedRoot {
    version: u64,
    #[serde(default)]
    consistent_snapshot: bool,
}

#[derive(Deserialize)]
struct ClaimedVersions {
    version: u64,
    meta: BTreeMap<String, FileClaim>,
}

#[derive(Deserialize)]
struct ClaimedTargets {
    targets: BTreeMap<String, FileClaim>,
    #[serde(default)]
    delegations: Value,
}

impl Walk {
    /// The way of a client with `known` to the target of that name.
    pub fn new(known: KnownFiles, target: &str) -> Self {
        let wanted = WantedFile { role: Role::Root, path: String::new(), most_bytes: 0 };
        let mut walk = Self { known, target: target.to_owned(), wanted, is_done: false, roots: 0 };
        walk.want_root();
        walk
    }

    /// The same walk again, of a client with `known`.
    pub fn restart(&mut self, known: &KnownFiles) {
        self.known.clone_from(known);
        (self.is_done, self.roots) = (false, 0);
        self.want_root();
    }

    /// The file that is asked for next; none at the end.
    pub fn wanted(&self) -> Option<&WantedFile> {
        (!self.is_done).then_some(&self.wanted)
    }

    /// What the client has by now.
    pub const fn known(&self) -> &KnownFiles {
        &self.known
    }

    /// Goes on from the body of the wanted file; none where the repository does not have it.
    ///
    /// # Errors
    /// When there is no way on.
    pub fn answer(&mut self, body: Option<&[u8]>) -> Result<(), TufError> {
        let role = self.wanted.role;
        let Some(body) = body else {
            if role != Role::Root {
                return Err(TufError::Missing(role));
            }
            self.want(Role::Timestamp, None, |path, _| path.push_str("/timestamp.json"));
            return Ok(());
        };
        if body.len() as u64 > self.wanted.most_bytes {
            return Err(TufError::TooLong { role, most: self.wanted.most_bytes });
        }
        match role {
            Role::Root => self.root(body),
            Role::Timestamp => self.timestamp(body),
            Role::Snapshot => self.snapshot(body),
            Role::Targets => self.targets(body),
            Role::Target => {
                self.is_done = true;
                Ok(())
            }
        }
    }

    fn root(&mut self, body: &[u8]) -> Result<(), TufError> {
        let root: ClaimedRoot = claimed(Role::Root, body)?;
        let expected = self.known.root.saturating_add(1);
        if root.version != expected {
            return Err(TufError::Version { role: Role::Root, found: root.version, expected });
        }
        self.roots += 1;
        if self.roots > MOST_ROOTS {
            return Err(TufError::Roots(MOST_ROOTS));
        }
        // A client forgets what keys signed that are no longer the repository's. Which those are is not known here: it asks anew.
        self.known = KnownFiles {
            root: root.version,
            is_consistent: root.consistent_snapshot,
            timestamp: None,
            snapshot: None,
            ..std::mem::take(&mut self.known)
        };
        self.want_root();
        Ok(())
    }

    fn timestamp(&mut self, body: &[u8]) -> Result<(), TufError> {
        let timestamp: ClaimedVersions = claimed(Role::Timestamp, body)?;
        let snapshot = named(Role::Timestamp, &timestamp, SNAPSHOT)?;
        if self.known.timestamp.is_some_and(|known| timestamp.version < known) {
            // A client refuses it, and keeps what it has.
            self.is_done = true;
            return Ok(());
        }
        self.known.timestamp = Some(timestamp.version);
        if snapshot.version.is_some() && snapshot.version == self.known.snapshot {
            self.is_done = true;
            return Ok(());
        }
        self.known.snapshot = snapshot.version;
        self.want_metadata(Role::Snapshot, snapshot, SNAPSHOT)
    }

    fn snapshot(&mut self, body: &[u8]) -> Result<(), TufError> {
        let snapshot: ClaimedVersions = claimed(Role::Snapshot, body)?;
        let targets = named(Role::Snapshot, &snapshot, TARGETS)?;
        if targets.version.is_some() && targets.version == self.known.targets && self.known.target.is_some() {
            self.is_done = true;
            return Ok(());
        }
        self.known.targets = targets.version;
        self.want_metadata(Role::Targets, targets, TARGETS)
    }

    fn targets(&mut self, body: &[u8]) -> Result<(), TufError> {
        let mut targets: ClaimedTargets = claimed(Role::Targets, body)?;
        let Some(claim) = targets.targets.remove(&self.target) else {
            let roles = targets.delegations.get("roles").and_then(Value::as_array).into_iter().flatten();
            let delegated = roles.filter_map(|role| role.get("name")?.as_str()).map(str::to_owned).collect();
            return Err(TufError::Unnamed { name: self.target.clone(), within: Role::Targets, delegated });
        };
        if self.known.target.as_ref() == Some(&claim) {
            self.is_done = true;
            return Ok(());
        }
        let prefix = match self.known.is_consistent {
            true => Some(claim.prefix().ok_or_else(|| {
                TufError::malformed(Role::Targets, format!("{} has no hash that is known", self.target))
            })?),
            false => None,
        };
        let (folder, name) = self.target.rsplit_once('/').map_or(("", self.target.as_str()), |parts| parts);
        let path = &mut self.wanted.path;
        path.clear();
        path.push_str("/targets/");
        if !folder.is_empty() {
            path.extend([folder, "/"]);
        }
        if let Some(prefix) = prefix {
            path.extend([prefix, "."]);
        }
        path.push_str(name);
        self.wanted.role = Role::Target;
        let most = Role::Target.most_bytes();
        self.wanted.most_bytes = claim.length.unwrap_or(most).min(most);
        self.known.target = Some(claim);
        Ok(())
    }

    fn want_root(&mut self) {
        let next = self.known.root.saturating_add(1);
        self.want(Role::Root, None, |path, _| path.extend(["/", &next.to_string(), ".root.json"]));
    }

    fn want_metadata(&mut self, role: Role, claim: &FileClaim, name: &str) -> Result<(), TufError> {
        let reason = "what is signed above it names no version of it";
        let version = claim.version.ok_or_else(|| TufError::malformed(role, reason))?;
        self.want(role, claim.length, |path, is_consistent| match is_consistent {
            true => path.extend(["/", &version.to_string(), ".", name]),
            false => path.extend(["/", name]),
        });
        Ok(())
    }

    fn want(&mut self, role: Role, length: Option<u64>, write: impl FnOnce(&mut String, bool)) {
        self.wanted.role = role;
        self.wanted.most_bytes = length.unwrap_or(u64::MAX).min(role.most_bytes());
        self.wanted.path.clear();
        write(&mut self.wanted.path, self.known.is_consistent);
    }
}

fn claimed<T: for<'de> Deserialize<'de>>(role: Role, body: &[u8]) -> Result<T, TufError> {
    let read = serde_json::from_slice::<Claimed<T>>(body);
    read.map(|claimed| claimed.signed).map_err(|why| TufError::malformed(role, why.to_string()))
}

fn named<'a>(role: Role, above: &'a ClaimedVersions, name: &str) -> Result<&'a FileClaim, TufError> {
    let unnamed = || TufError::Unnamed { name: name.to_owned(), within: role, delegated: Vec::new() };
    above.meta.get(name).ok_or_else(unnamed)
}

/// More new roots than that in one walk are a repository without an end (specification section 5.3.3).
const MOST_ROOTS: usize = 64;
