//! What a client trusts of a repository, one file after another.

use crate::error::TufError;
use crate::metadata::{RootMetadata, TargetsMetadata, VersionedMetadata};
use crate::role::Role;
use crate::signed::SignedMetadata;

/// The metadata that a client trusts. A file that is refused leaves it as it was.
#[derive(Clone, Debug)]
pub struct Trusted {
    root: RootMetadata,
    /// The root at which the keys of timestamp and snapshot were last others: versions of those are compared from there.
    online_since: u64,
    timestamp: Option<VersionedMetadata>,
    snapshot: Option<VersionedMetadata>,
    targets: Option<TargetsMetadata>,
}

impl Trusted {
    /// A root that the client came with. Its expiry does not matter: newer ones follow (specification section 5.3).
    ///
    /// # Errors
    /// When it is none, or is not signed by its own keys.
    pub fn from_root(body: &[u8]) -> Result<Self, TufError> {
        let signed = SignedMetadata::read(Role::Root, body)?;
        let root = RootMetadata::of(&signed)?;
        signed.check(&root.signers(Role::Root, true)?)?;
        Ok(Self { online_since: root.version(), root, timestamp: None, snapshot: None, targets: None })
    }

    /// The root.
    pub const fn root(&self) -> &RootMetadata {
        &self.root
    }

    /// The version of the root since which the keys of timestamp and snapshot are the same.
    pub const fn online_since(&self) -> u64 {
        self.online_since
    }

    /// The version of a role's metadata; none of what is not there, and of targets themselves.
    pub fn version(&self, role: Role) -> Option<u64> {
        match role {
            Role::Root => Some(self.root.version()),
            Role::Timestamp => self.timestamp.as_ref().map(VersionedMetadata::version),
            Role::Snapshot => self.snapshot.as_ref().map(VersionedMetadata::version),
            Role::Targets => self.targets.as_ref().map(TargetsMetadata::version),
            Role::Target => None,
        }
    }

    /// Believes a file that was received at `now`, in seconds since 1970; a target is that of `name`.
    ///
    /// # Errors
    /// Why it is not believed.
    pub fn take(&mut self, role: Role, name: &str, body: &[u8], now: u64) -> Result<(), TufError> {
        match role {
            Role::Root => self.take_root(body),
            Role::Timestamp => self.take_timestamp(body, now),
            Role::Snapshot => self.take_snapshot(body, now),
            Role::Targets => self.take_targets(body, now),
            Role::Target => self.check_target(name, body),
        }
    }

    /// Whether the last root is still valid, once there is no newer one (specification section 5.3.10).
    ///
    /// # Errors
    /// When it expired.
    pub fn check_root(&self, now: u64) -> Result<(), TufError> {
        self.root.expires().check(Role::Root, now)
    }

    /// Specification sections 5.3.4, 5.3.5 and 5.3.11.
    fn take_root(&mut self, body: &[u8]) -> Result<(), TufError> {
        let signed = SignedMetadata::read(Role::Root, body)?;
        let root = RootMetadata::of(&signed)?;
        signed.check(&self.root.signers(Role::Root, false)?)?;
        signed.check(&root.signers(Role::Root, true)?)?;
        let (found, expected) = (root.version(), self.root.version().saturating_add(1));
        if found != expected {
            return Err(TufError::Version { role: Role::Root, found, expected });
        }
        if !root.has_online_keys_of(&self.root) {
            self.online_since = found;
            self.timestamp = None;
            self.snapshot = None;
        }
        self.root = root;
        Ok(())
    }

    /// Specification section 5.4.
    fn take_timestamp(&mut self, body: &[u8], now: u64) -> Result<(), TufError> {
        let timestamp = self.versions(Role::Timestamp, body)?;
        let named = |timestamp: &VersionedMetadata| timestamp.file(SNAPSHOT).map(|file| file.version);
        let snapshot = named(&timestamp)?;
        if let Some(known) = &self.timestamp {
            not_before(Role::Timestamp, timestamp.version, known.version)?;
            if let (Some(found), Some(known)) = (snapshot, named(known)?) {
                not_before(Role::Snapshot, found, known)?;
            }
        }
        timestamp.expires.check(Role::Timestamp, now)?;
        self.timestamp = Some(timestamp);
        Ok(())
    }

    /// Specification section 5.5.
    fn take_snapshot(&mut self, body: &[u8], now: u64) -> Result<(), TufError> {
        let above = self.timestamp.as_ref().ok_or(TufError::OutOfOrder(Role::Snapshot))?.file(SNAPSHOT)?;
        above.check(Role::Snapshot, body)?;
        let snapshot = self.versions(Role::Snapshot, body)?;
        named_version(Role::Snapshot, snapshot.version, above.version)?;
        let targets = snapshot.file(TARGETS)?.version;
        if let Some(known) = &self.snapshot {
            for (name, known) in &known.files {
                let found = snapshot.file(name)?.version;
                not_before(Role::Targets, found.unwrap_or_default(), known.version.unwrap_or_default())?;
            }
        }
        if let (Some(found), Some(known)) = (targets, &self.targets) {
            not_before(Role::Targets, found, known.version)?;
        }
        snapshot.expires.check(Role::Snapshot, now)?;
        self.snapshot = Some(snapshot);
        Ok(())
    }

    /// Specification section 5.6.
    fn take_targets(&mut self, body: &[u8], now: u64) -> Result<(), TufError> {
        let above = self.snapshot.as_ref().ok_or(TufError::OutOfOrder(Role::Targets))?.file(TARGETS)?;
        above.check(Role::Targets, body)?;
        let signed = SignedMetadata::read(Role::Targets, body)?;
        signed.check(&self.root.signers(Role::Targets, false)?)?;
        let targets = TargetsMetadata::of(&signed)?;
        named_version(Role::Targets, targets.version, above.version)?;
        targets.expires.check(Role::Targets, now)?;
        self.targets = Some(targets);
        Ok(())
    }

    /// Specification section 5.7.
    fn check_target(&self, name: &str, body: &[u8]) -> Result<(), TufError> {
        let targets = self.targets.as_ref().ok_or(TufError::OutOfOrder(Role::Target))?;
        targets.target(name)?.check(Role::Target, body)
    }

    fn versions(&self, role: Role, body: &[u8]) -> Result<VersionedMetadata, TufError> {
        let signed = SignedMetadata::read(role, body)?;
        signed.check(&self.root.signers(role, false)?)?;
        VersionedMetadata::of(role, &signed)
    }
}

fn not_before(role: Role, found: u64, known: u64) -> Result<(), TufError> {
    if found < known { Err(TufError::Rollback { role, found, known }) } else { Ok(()) }
}

fn named_version(role: Role, found: u64, named: Option<u64>) -> Result<(), TufError> {
    let reason = "what is signed above it names no version of it";
    let expected = named.ok_or_else(|| TufError::malformed(role, reason))?;
    if found == expected { Ok(()) } else { Err(TufError::Version { role, found, expected }) }
}

pub(crate) const SNAPSHOT: &str = "snapshot.json";
pub(crate) const TARGETS: &str = "targets.json";
