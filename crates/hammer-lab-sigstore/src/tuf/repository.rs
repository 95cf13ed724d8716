//! The files of a repository. Each follows from its version alone, so that nothing is kept but keys and targets.

use std::{collections::BTreeMap, time::Duration};

use bytes::Bytes;
use hammer_lab::{LabError, date::rfc3339};
use hammer_tlog::hash::sha256;
use serde_json::{Value, json};

use super::plan::TufLabPlan;
use hammer_lab_authority::{LabSigner, hex};

/// A repository that began at an instant.
#[derive(Debug)]
pub(super) struct Repository {
    /// Of the roots: the root of version n has the keys n - 1 and n.
    root_keys: Vec<LabSigner>,
    /// Signs timestamps and snapshots.
    online: LabSigner,
    targets_key: LabSigner,
    targets: BTreeMap<String, Bytes>,
    began_unix_s: u64,
    sign_every: Duration,
    valid_for_s: u64,
    rotate_root_every: Option<Duration>,
}

/// A file that was asked for by its version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Versioned {
    Root(u64),
    Snapshot(u64),
    Targets(u64),
}

impl Versioned {
    /// What a path below the repository names, without the slash before it.
    pub(super) fn of(path: &str) -> Option<Self> {
        let (version, name) = path.split_once('.')?;
        let version = version.parse().ok()?;
        match name {
            "root.json" => Some(Self::Root(version)),
            "snapshot.json" => Some(Self::Snapshot(version)),
            "targets.json" => Some(Self::Targets(version)),
            _ => None,
        }
    }
}

impl Repository {
    /// # Errors
    /// A span of no time, or a key that the signature library refuses.
    pub(super) fn new(
        plan: &TufLabPlan,
        targets: BTreeMap<String, Bytes>,
        began_unix_s: u64,
    ) -> Result<Self, LabError> {
        let some_time = |key: &'static str, span: Duration| match span {
            Duration::ZERO => Err(LabError::Plan { key: key.into(), reason: "no time at all".into() }),
            span => Ok(span),
        };
        let root_keys =
            (0..=MOST_ROOTS).map(|number| LabSigner::ed25519(&format!("tuf root {number}"), plan.key_seed));
        let rotated = plan.rotate_root_every.map(|every| some_time("rotate_root_every", every.duration()));
        Ok(Self {
            root_keys: root_keys.collect::<Result<_, _>>()?,
            online: LabSigner::ed25519("tuf online", plan.key_seed)?,
            targets_key: LabSigner::ed25519("tuf targets", plan.key_seed)?,
            targets,
            began_unix_s,
            sign_every: some_time("sign_every", plan.sign_every.duration())?,
            valid_for_s: some_time("valid_for", plan.valid_for.duration())?.as_secs().max(1),
            rotate_root_every: rotated.transpose()?,
        })
    }

    /// The version of the newest root, so long after the beginning.
    pub(super) fn root_version(&self, elapsed: Duration) -> u64 {
        self.rotate_root_every.map_or(1, |every| 1 + times(elapsed, every)).min(MOST_ROOTS)
    }

    /// The version of the newest timestamp.
    pub(super) fn timestamp_version(&self, elapsed: Duration) -> u64 {
        1 + times(elapsed, self.sign_every)
    }

    /// The root of a version; signed by all who have to, or without whose place the key of the root before it is taken.
    pub(super) fn root(&self, version: u64, by_too_few: bool) -> Option<Vec<u8>> {
        let key = |number: u64| self.root_keys.get(usize::try_from(number).ok()?);
        let own = [key(version.checked_sub(1)?)?, key(version)?];
        let keys: serde_json::Map<String, Value> = own
            .into_iter()
            .chain([&self.online, &self.targets_key])
            .map(|signer| (key_id(signer), public(signer)))
            .collect();
        let role = |signers: &[&LabSigner]| {
            let ids: Vec<String> = signers.iter().map(|signer| key_id(signer)).collect();
            json!({ "keyids": ids, "threshold": ids.len() })
        };
        let signed = json!({
            "_type": "root",
            "spec_version": SPEC,
            "version": version,
            "expires": rfc3339(self.began_unix_s + YEAR_S),
            "consistent_snapshot": true,
            "keys": keys,
            "roles": {
                "root": role(&own),
                "timestamp": role(&[&self.online]),
                "snapshot": role(&[&self.online]),
                "targets": role(&[&self.targets_key]),
            },
        });
        let before = version.checked_sub(2).and_then(key).filter(|_| !by_too_few);
        Some(written(&signed, &before.into_iter().chain(own).collect::<Vec<_>>()))
    }

    /// The timestamp of a version; it names `snapshot`, where that is another than its own, and is past its time where it `is_late`.
    pub(super) fn timestamp(&self, version: u64, snapshot: Option<u64>, is_late: bool) -> Vec<u8> {
        let snapshot = snapshot.unwrap_or_else(|| snapshot_of(version));
        let expires = match is_late {
            true => self.began_unix_s.saturating_sub(3600),
            false => self.signed_at(version) + self.valid_for_s,
        };
        let meta = json!({ "snapshot.json": claim(snapshot, &self.snapshot(snapshot)) });
        self.versions("timestamp", version, expires, &meta)
    }

    /// The snapshot of a version. It is valid as long again as a timestamp that names it is signed.
    pub(super) fn snapshot(&self, version: u64) -> Vec<u8> {
        let last = self.signed_at(version.saturating_mul(TIMESTAMPS_A_SNAPSHOT));
        let meta = json!({ "targets.json": claim(1, &self.targets()) });
        self.versions("snapshot", version, last + self.valid_for_s + YEAR_S, &meta)
    }

    /// The targets, which there are in one version.
    pub(super) fn targets(&self) -> Vec<u8> {
        let targets: serde_json::Map<String, Value> = self
            .targets
            .iter()
            .map(|(name, body)| {
                let hashes = json!({ "sha256": sha256(body).to_hex() });
                (name.clone(), json!({ "length": body.len(), "hashes": hashes }))
            })
            .collect();
        let signed = json!({
            "_type": "targets",
            "spec_version": SPEC,
            "version": 1,
            "expires": rfc3339(self.began_unix_s + YEAR_S),
            "targets": targets,
        });
        written(&signed, &[&self.targets_key])
    }

    /// The target that a path below `targets/` names: its hash before its name.
    pub(super) fn target(&self, path: &str) -> Option<&Bytes> {
        let (hash, name) = path.split_once('.')?;
        self.targets.get(name).filter(|body| sha256(body).to_hex() == hash)
    }

    fn versions(&self, role: &str, version: u64, expires: u64, meta: &Value) -> Vec<u8> {
        let signed = json!({
            "_type": role,
            "spec_version": SPEC,
            "version": version,
            "expires": rfc3339(expires),
            "meta": meta,
        });
        written(&signed, &[&self.online])
    }

    /// When the timestamp of a version was signed, in seconds since 1970.
    fn signed_at(&self, version: u64) -> u64 {
        let count = u32::try_from(version.saturating_sub(1)).unwrap_or(u32::MAX);
        self.began_unix_s + self.sign_every.saturating_mul(count).as_secs()
    }
}

/// The snapshot that the timestamp of a version names.
pub(super) const fn snapshot_of(timestamp: u64) -> u64 {
    1 + timestamp.saturating_sub(1) / TIMESTAMPS_A_SNAPSHOT
}

fn times(elapsed: Duration, every: Duration) -> u64 {
    u64::try_from(elapsed.as_nanos() / every.as_nanos().max(1)).unwrap_or(u64::MAX)
}

fn public(signer: &LabSigner) -> Value {
    json!({ "keytype": "ed25519", "scheme": "ed25519", "keyval": { "public": hex(signer.public_key()) } })
}

/// SHA-256 of the key's canonical JSON (specification section 4.2).
fn key_id(signer: &LabSigner) -> String {
    sha256(public(signer).to_string().as_bytes()).to_hex()
}

fn claim(version: u64, body: &[u8]) -> Value {
    json!({ "version": version, "length": body.len(), "hashes": { "sha256": sha256(body).to_hex() } })
}

/// A file of metadata. What is signed is its canonical JSON, which is that of serde_json, since its keys are sorted and no text of
/// it holds anything that would be escaped.
fn written(signed: &Value, signers: &[&LabSigner]) -> Vec<u8> {
    let message = signed.to_string();
    let signature = |signer: &&LabSigner| json!({ "keyid": key_id(signer), "sig": hex(&signer.sign(message.as_bytes())) });
    json!({ "signed": signed, "signatures": signers.iter().map(signature).collect::<Vec<_>>() })
        .to_string()
        .into_bytes()
}

const SPEC: &str = "1.0.31";
const YEAR_S: u64 = 365 * 86_400;
const TIMESTAMPS_A_SNAPSHOT: u64 = 4;
/// Clients do not follow roots without an end.
const MOST_ROOTS: u64 = 32;
