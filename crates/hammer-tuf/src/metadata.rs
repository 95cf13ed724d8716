//! What the metadata of each role says.

use std::collections::{BTreeMap, BTreeSet};

use hammer_values::Date;
use serde::Deserialize;

use crate::error::TufError;
use crate::file_claim::FileClaim;
use crate::key::{TufKey, WrittenKey};
use crate::role::Role;
use crate::signed::{RoleKeys, SignedMetadata};

/// A root that was read (specification section 4.3).
#[derive(Clone, Debug)]
pub struct RootMetadata {
    version: u64,
    expires: Expiry,
    is_consistent: bool,
    keys: BTreeMap<String, TufKey>,
    roles: BTreeMap<String, WrittenRole>,
}

/// A timestamp or a snapshot (specification sections 4.4 and 4.6): versions of other metadata.
#[derive(Clone, Debug)]
pub struct VersionedMetadata {
    pub(crate) role: Role,
    pub(crate) version: u64,
    pub(crate) expires: Expiry,
    pub(crate) files: BTreeMap<String, FileClaim>,
}

/// Targets (specification section 4.5).
#[derive(Clone, Debug)]
pub struct TargetsMetadata {
    pub(crate) version: u64,
    pub(crate) expires: Expiry,
    pub(crate) targets: BTreeMap<String, FileClaim>,
    pub(crate) delegated: Vec<String>,
}

/// Until when metadata is valid.
#[derive(Clone, Debug)]
pub(crate) struct Expiry {
    text: String,
    unix_seconds: u64,
}

#[derive(Deserialize)]
struct WrittenRoot {
    version: u64,
    expires: String,
    #[serde(default)]
    consistent_snapshot: bool,
    keys: BTreeMap<String, WrittenKey>,
    roles: BTreeMap<String, WrittenRole>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
struct WrittenRole {
    keyids: BTreeSet<String>,
    threshold: usize,
}

#[derive(Deserialize)]
struct WrittenVersions {
    version: u64,
    expires: String,
    meta: BTreeMap<String, FileClaim>,
}

#[derive(Deserialize)]
struct WrittenTargets {
    version: u64,
    expires: String,
    targets: BTreeMap<String, FileClaim>,
    #[serde(default)]
    delegations: Option<WrittenDelegations>,
}

#[derive(Deserialize)]
struct WrittenDelegations {
    #[serde(default)]
    roles: Vec<WrittenDelegation>,
}

#[derive(Deserialize)]
struct WrittenDelegation {
    name: String,
}

impl RootMetadata {
    pub(crate) fn of(signed: &SignedMetadata) -> Result<Self, TufError> {
        let written: WrittenRoot = signed.content()?;
        for name in SIGNERS {
            let name = name.name();
            let role = written.roles.get(name);
            let role =
                role.ok_or_else(|| TufError::malformed(Role::Root, format!("it has no role {name}")))?;
            if role.threshold == 0 || role.keyids.len() < role.threshold {
                let reason = format!("{name} needs {} of {} keys", role.threshold, role.keyids.len());
                return Err(TufError::malformed(Role::Root, reason));
            }
        }
        Ok(Self {
            version: written.version,
            expires: Expiry::of(Role::Root, written.expires)?,
            is_consistent: written.consistent_snapshot,
            keys: written.keys.iter().map(|(id, key)| (id.clone(), TufKey::of(key))).collect(),
            roles: written.roles,
        })
    }

    /// Its version.
    pub const fn version(&self) -> u64 {
        self.version
    }

    /// Whether files are asked for by their version or hash (specification section 6.2).
    pub const fn is_consistent(&self) -> bool {
        self.is_consistent
    }

    pub(crate) const fn expires(&self) -> &Expiry {
        &self.expires
    }

    /// Whose signatures the metadata of `role` needs.
    pub(crate) fn signers(&self, role: Role, is_by_new: bool) -> Result<RoleKeys<'_>, TufError> {
        let written = self.roles.get(role.name()).ok_or(TufError::OutOfOrder(role))?;
        Ok(RoleKeys { keys: &self.keys, ids: &written.keyids, threshold: written.threshold, is_by_new })
    }

    /// Whether the keys of timestamp and snapshot are those of `other`: where they are not, a client forgets what they signed
    /// (specification section 5.3.11).
    pub(crate) fn has_online_keys_of(&self, other: &Self) -> bool {
        let of = |root: &Self, role: Role| -> BTreeSet<Vec<u8>> {
            let ids = root.roles.get(role.name()).map(|role| role.keyids.clone()).unwrap_or_default();
            ids.iter().filter_map(|id| root.keys.get(id)).map(|key| key.identity().to_vec()).collect()
        };
        [Role::Timestamp, Role::Snapshot].into_iter().all(|role| of(self, role) == of(other, role))
    }
}

impl VersionedMetadata {
    pub(crate) fn of(role: Role, signed: &SignedMetadata) -> Result<Self, TufError> {
        let written: WrittenVersions = signed.content()?;
        let expires = Expiry::of(role, written.expires)?;
        Ok(Self { role, version: written.version, expires, files: written.meta })
    }

    /// Its version.
    pub const fn version(&self) -> u64 {
        self.version
    }

    pub(crate) fn file(&self, name: &str) -> Result<&FileClaim, TufError> {
        let unnamed =
            || TufError::Unnamed { name: name.to_owned(), within: self.role, delegated: Vec::new() };
        self.files.get(name).ok_or_else(unnamed)
    }
}

impl TargetsMetadata {
    pub(crate) fn of(signed: &SignedMetadata) -> Result<Self, TufError> {
        let written: WrittenTargets = signed.content()?;
        if let Some((name, _)) = written.targets.iter().find(|(_, claim)| !claim.has_hash()) {
            return Err(TufError::malformed(Role::Targets, format!("{name} has no hash that is known")));
        }
        let delegations = written.delegations.map(|delegations| delegations.roles).unwrap_or_default();
        Ok(Self {
            version: written.version,
            expires: Expiry::of(Role::Targets, written.expires)?,
            targets: written.targets,
            delegated: delegations.into_iter().map(|role| role.name).collect(),
        })
    }

    /// Its version.
    pub const fn version(&self) -> u64 {
        self.version
    }

    pub(crate) fn target(&self, name: &str) -> Result<&FileClaim, TufError> {
        self.targets.get(name).ok_or_else(|| TufError::Unnamed {
            name: name.to_owned(),
            within: Role::Targets,
            delegated: self.delegated.clone(),
        })
    }
}

impl Expiry {
    fn of(role: Role, text: String) -> Result<Self, TufError> {
        // A date alone is none here.
        let date = text.parse::<Date>().ok().filter(|_| text.contains('T'));
        let date = date.ok_or_else(|| TufError::malformed(role, format!("it expires at {text:?}")))?;
        Ok(Self { unix_seconds: date.unix_seconds(), text })
    }

    /// Whether it is still valid at `now`, in seconds since 1970.
    pub(crate) fn check(&self, role: Role, now: u64) -> Result<(), TufError> {
        if now < self.unix_seconds {
            Ok(())
        } else {
            Err(TufError::Expired { role, expires: self.text.clone() })
        }
    }
}

/// The roles that a root names keys of.
const SIGNERS: [Role; 4] = [Role::Root, Role::Timestamp, Role::Snapshot, Role::Targets];
