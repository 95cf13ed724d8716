//! Recorded repositories are believed whole, and each alteration of them is found.

use std::path::{Path, PathBuf};

use hammer_mutate::{Mutator, cases};
use serde_json::Value;

use super::*;
use crate::canonical::canonical;

/// 2026-11-23T00:00:00Z, a few hours after the repositories of go-tuf were made.
const NOW: u64 = 1_795_392_000;

/// A repository as files, some of them altered.
struct Repository {
    folder: PathBuf,
    altered: Vec<(String, Option<Vec<u8>>)>,
}

impl Repository {
    fn of(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(name);
        Self { folder, altered: Vec::new() }
    }

    fn with(mut self, path: &str, body: Option<Vec<u8>>) -> Self {
        self.altered.push((path.to_owned(), body));
        self
    }

    fn file(&self, path: &str) -> Option<Vec<u8>> {
        match self.altered.iter().find(|(altered, _)| altered == path) {
            Some((_, body)) => body.clone(),
            None => std::fs::read(self.folder.join(path.trim_start_matches('/'))).ok(),
        }
    }

    /// The target, and the paths that a client asked for.
    fn refresh(&self, target: &str, now: u64) -> (Result<RefreshedTarget, TufError>, Vec<String>) {
        let mut asked = Vec::new();
        let mut refresh = Refresh::new(&self.file("/1.root.json").unwrap(), target).unwrap();
        while let Some(wanted) = refresh.wanted() {
            let path = wanted.path.clone();
            let body = self.file(&path);
            asked.push(path);
            if let Err(why) = refresh.answer(body.as_deref(), now) {
                return (Err(why), asked);
            }
        }
        (Ok(refresh.finish().unwrap()), asked)
    }

    fn error(&self, target: &str, now: u64) -> TufError {
        self.refresh(target, now).0.unwrap_err()
    }
}

fn signed(body: &[u8]) -> Option<Vec<u8>> {
    let value: Value = serde_json::from_slice(body).ok()?;
    let mut out = Vec::new();
    canonical(value.get("signed")?, &mut out).ok()?;
    Some(out)
}

const ROOT: &str = "trusted_root.json";
const FILES: [&str; 6] = [
    "/2.root.json",
    "/timestamp.json",
    "/2.snapshot.json",
    "/1.targets.json",
    "/1.root.json",
    "/targets/acb85a36c65690b1844960e8b3a82f6c51330b6e5ac84b581a420868849f3b2cf64043f110c62e606d2363edcd137194d891a480dfc616f9877ad6d0fede292e.trusted_root.json",
];

#[test]
fn a_repository_of_go_tuf_with_a_rotated_root_is_believed_whole() {
    let (refreshed, asked) = Repository::of("go-tuf").refresh(ROOT, NOW);
    let refreshed = refreshed.unwrap();
    assert!(refreshed.body.starts_with(b"{\"mediaType\":\"application/vnd.dev.sigstore.trustedroot"));
    let [root, timestamp, snapshot, targets, _, target] = FILES;
    assert_eq!(asked, [root, "/3.root.json", timestamp, snapshot, targets, target]);
    let versions: Vec<_> = Role::ALL.into_iter().map(|role| refreshed.trusted.version(role)).collect();
    assert_eq!(versions, [Some(2), Some(3), Some(2), Some(1), None]);
    assert_eq!(refreshed.trusted.online_since(), 1);
}

#[test]
fn every_altered_byte_that_matters_is_refused() {
    let repository = Repository::of("go-tuf");
    for path in FILES.into_iter().filter(|path| *path != "/1.root.json") {
        let body = repository.file(path).unwrap();
        let is_hashed = !["/2.root.json", "/timestamp.json"].contains(&path);
        // Of what stands below a hash every alteration is the same to a client.
        for place in (0..body.len()).step_by(if is_hashed { 29 } else { 1 }) {
            for bit in [1, 0x20] {
                let mut altered = body.clone();
                altered[place] ^= bit;
                let is_same = signed(&altered).is_some_and(|altered| Some(altered) == signed(&body));
                let refreshed =
                    Repository::of("go-tuf").with(path, Some(altered.clone())).refresh(ROOT, NOW).0;
                assert!(
                    refreshed.is_err() || is_same && !is_hashed,
                    "{path} at {place}: {}",
                    String::from_utf8_lossy(&altered)
                );
            }
        }
    }
}

#[test]
fn whatever_is_altered_at_random_nothing_else_than_what_was_signed_is_believed() {
    let repository = Repository::of("go-tuf");
    let mut mutator = Mutator::new(1);
    for case in 0..cases(2_000) {
        let path = FILES[case as usize % FILES.len()];
        let body = repository.file(path).unwrap();
        let altered = mutator.any(&body, &repository.file("/timestamp.json").unwrap());
        let altered_repository = Repository::of("go-tuf").with(path, Some(altered.clone()));
        if path == "/1.root.json" {
            let is_believed = Refresh::new(&altered, ROOT).is_ok();
            assert!(
                !is_believed || signed(&altered) == signed(&body),
                "{}",
                String::from_utf8_lossy(&altered)
            );
            continue;
        }
        if altered_repository.refresh(ROOT, NOW).0.is_ok() {
            let is_signed = signed(&altered) == signed(&body);
            assert!(altered == body || is_signed, "{path}: {}", String::from_utf8_lossy(&altered));
        }
    }
}

#[test]
fn what_is_wrong_is_named() {
    let of = || Repository::of("go-tuf");
    let expired = of().error(ROOT, NOW + 366 * 86_400);
    assert!(matches!(expired, TufError::Expired { role: Role::Root, .. }), "{expired}");
    // The second root lacks a signature of the first's key.
    let mut root: Value = serde_json::from_slice(&of().file("/2.root.json").unwrap()).unwrap();
    let first: Value = serde_json::from_slice(&of().file("/1.root.json").unwrap()).unwrap();
    let old = first["signatures"][0]["keyid"].as_str().unwrap().to_owned();
    let signatures = root["signatures"].as_array_mut().unwrap();
    assert_eq!(signatures.len(), 2);
    let new = signatures.iter().position(|signature| signature["keyid"] != old.as_str()).unwrap();
    let (mut by_new, mut by_old, mut twice) = (root.clone(), root.clone(), root.clone());
    by_new["signatures"].as_array_mut().unwrap().remove(1 - new);
    by_old["signatures"].as_array_mut().unwrap().remove(new);
    let same = twice["signatures"][1 - new].clone();
    twice["signatures"][new] = same;
    let error =
        |root: &Value| of().with("/2.root.json", Some(root.to_string().into_bytes())).error(ROOT, NOW);
    let (role, threshold) = (Role::Root, 1);
    assert_eq!(error(&by_new), TufError::Signatures { role, valid: 0, threshold, is_by_new: false });
    let threshold = 2;
    assert_eq!(error(&by_old), TufError::Signatures { role, valid: 1, threshold, is_by_new: true });
    assert_eq!(error(&twice), TufError::Signatures { role, valid: 1, threshold, is_by_new: true });
    let old_snapshot = of().file("/1.snapshot.json");
    let swapped = of().with("/2.snapshot.json", old_snapshot).error(ROOT, NOW);
    assert_eq!(swapped, TufError::Hash { role: Role::Snapshot, what: "its SHA-512" });
    let gone = of().with("/timestamp.json", None).error(ROOT, NOW);
    assert_eq!(gone, TufError::Missing(Role::Timestamp));
    let target = of().with(FILES[5], Some(b"{}".to_vec())).error(ROOT, NOW);
    assert!(
        matches!(target, TufError::TooLong { .. } | TufError::Hash { role: Role::Target, .. }),
        "{target}"
    );
    let unnamed = of().error("nothing.json", NOW);
    assert_eq!(unnamed.to_string(), "find nothing.json in the targets metadata");
    let again = of().with("/3.root.json", of().file("/2.root.json")).error(ROOT, NOW);
    assert_eq!(again, TufError::Version { role: Role::Root, found: 2, expected: 3 });
}

#[test]
fn what_cannot_be_verified_is_not_called_a_lie() {
    // go-tuf signs RSA-PSS with the longest salt that there is room for, which ring does not take.
    let error = Repository::of("go-tuf-keys").error("hello.txt", NOW);
    assert_eq!(error, TufError::Unverified { role: Role::Timestamp, unverified: 1 });
}

#[test]
fn sigstores_public_roots_timestamp_and_snapshot_are_believed_until_they_expire() {
    let file = |name: &str| Repository::of("sigstore").file(name).unwrap();
    // 2023-04-01T00:00:00Z.
    let then = 1_680_307_200;
    let mut trusted = Trusted::from_root(&file("5.root.json")).unwrap();
    trusted.take(Role::Timestamp, "", &file("timestamp.json"), then).unwrap();
    trusted.take(Role::Snapshot, "", &file("76.snapshot.json"), then).unwrap();
    assert_eq!((trusted.version(Role::Timestamp), trusted.version(Role::Snapshot)), (Some(76), Some(76)));
    let late = trusted.take(Role::Timestamp, "", &file("timestamp.json"), then + 5 * 86_400).unwrap_err();
    assert_eq!(late.to_string(), "believe the timestamp metadata: it expired at 2023-04-05T00:06:28Z");
    // Some of those who may sign have an empty signature.
    for (name, version) in [("12.root.json", 12), ("14.root.json", 14)] {
        let root = Trusted::from_root(&file(name)).unwrap();
        assert_eq!((root.root().version(), root.root().is_consistent()), (version, true));
        // Only the next root is the next.
        assert!(trusted.take(Role::Root, "", &file(name), then).is_err());
    }
}

#[test]
fn a_client_that_has_all_asks_for_the_next_root_and_the_timestamp_alone() {
    let repository = Repository::of("go-tuf");
    let known = KnownFiles { root: 1, is_consistent: true, ..KnownFiles::default() };
    let mut walk = Walk::new(known, ROOT);
    let mut asked = 0;
    while let Some(wanted) = walk.wanted() {
        let body = repository.file(&wanted.path.clone());
        walk.answer(body.as_deref()).unwrap();
        asked += 1;
    }
    assert_eq!(asked, 6);
    let known = walk.known().clone();
    let mut warm = Vec::new();
    walk.restart(&known);
    while let Some(wanted) = walk.wanted() {
        warm.push(wanted.path.clone());
        let body = repository.file(&wanted.path.clone());
        walk.answer(body.as_deref()).unwrap();
    }
    assert_eq!(warm, ["/3.root.json", "/timestamp.json"]);
    assert_eq!(walk.known(), &known);
}

#[test]
fn a_body_beyond_its_bound_is_not_read() {
    let mut refresh = Refresh::new(&Repository::of("go-tuf").file("/1.root.json").unwrap(), ROOT).unwrap();
    let error = refresh.answer(Some(&vec![b' '; 600 << 10]), NOW).unwrap_err();
    assert_eq!(error, TufError::TooLong { role: Role::Root, most: 512 << 10 });
    assert!(Trusted::from_root(&[b"[".repeat(100_000), b"]".repeat(100_000)].concat()).is_err());
}
