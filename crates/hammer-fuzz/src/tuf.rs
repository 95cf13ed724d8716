//! The files of a TUF repository, as a client meets them.

use hammer_tuf::{KnownFiles, Role, Trusted, Walk, canonical};
use serde_json::Value;

/// Whatever comes in the place of a file of the recorded repository, no metadata is believed but what its keys signed.
pub(crate) fn metadata(data: &[u8]) -> bool {
    let mut is_believed = false;
    for (role, recorded) in [
        (Role::Root, ROOT),
        (Role::Timestamp, TIMESTAMP),
        (Role::Snapshot, SNAPSHOT),
        (Role::Targets, TARGETS),
    ] {
        let mut trusted = before(role);
        if trusted.take(role, TARGET, data, RECORDED_AT).is_ok() {
            assert_eq!(signed(data), signed(recorded), "{role}");
            is_believed = true;
        }
    }
    if Trusted::from_root(data).is_ok() {
        // Whoever makes a root up signs it as well: it is only ever one that somebody came with.
        assert!(signed(data).is_some());
    }
    is_believed
}

/// A client gets to its end from any answers, and never asks for a path that leads out of the repository.
pub(crate) fn walk(data: &[u8]) -> bool {
    let known = KnownFiles { root: 1, is_consistent: true, ..KnownFiles::default() };
    let mut walk = Walk::new(known, TARGET);
    let mut answers = data.split(|byte| *byte == 0);
    let mut asked = 0;
    while let Some(wanted) = walk.wanted() {
        asked += 1;
        assert!(asked <= 80 && wanted.path.starts_with('/') && !wanted.path.contains(".."), "{wanted:?}");
        assert!(wanted.most_bytes <= wanted.role.most_bytes(), "{wanted:?}");
        let body = answers.next().filter(|body| !body.is_empty());
        if walk.answer(body).is_err() {
            return false;
        }
    }
    true
}

/// What a client of the recorded repository trusts before it gets that file.
fn before(role: Role) -> Trusted {
    let mut trusted = Trusted::from_root(FIRST_ROOT).expect("the first root");
    for (earlier, body) in [
        (Role::Root, ROOT),
        (Role::Timestamp, TIMESTAMP),
        (Role::Snapshot, SNAPSHOT),
        (Role::Targets, TARGETS),
    ] {
        if earlier < role {
            trusted.take(earlier, TARGET, body, RECORDED_AT).expect("a recorded file");
        }
    }
    trusted
}

fn signed(body: &[u8]) -> Option<Vec<u8>> {
    let value: Value = serde_json::from_slice(body).ok()?;
    let mut out = Vec::new();
    canonical(value.get("signed")?, &mut out).ok()?;
    Some(out)
}

const FIRST_ROOT: &[u8] = include_bytes!("../../hammer-tuf/testdata/go-tuf/1.root.json");
const ROOT: &[u8] = include_bytes!("../../../fuzz/seeds/tuf_metadata/root.json");
const TIMESTAMP: &[u8] = include_bytes!("../../../fuzz/seeds/tuf_metadata/timestamp.json");
const SNAPSHOT: &[u8] = include_bytes!("../../../fuzz/seeds/tuf_metadata/snapshot.json");
const TARGETS: &[u8] = include_bytes!("../../../fuzz/seeds/tuf_metadata/targets.json");
const TARGET: &str = "trusted_root.json";
/// 2026-11-23T00:00:00Z.
const RECORDED_AT: u64 = 1_795_392_000;
