//! What was read, judged on a thread of its own.

use std::borrow::Cow;
use std::sync::Arc;

use hammer_audit::OpenedHead;
use hammer_core::promise::{Fault, Verdicts, Verifier};
use hammer_measure::Nanos;
use hammer_messages::json;
use hammer_read::{
    LogHeads, Part, ProvedTree, ProvedTrees, UNREADABLE_PROOF, UNVERIFIED, check_bundle, known_head,
    missing_tile, read_parts, unverified,
};
use hammer_tlog::keys::key::LogKey;
use hammer_tlog::logs::merkle::verify_consistency;
use serde::Deserialize;

use super::check::Check;
use super::log_info::open_log_info;
use super::promise::ReadPromise;
use crate::followed_heads::FollowedHeads;
use crate::fulcio;
use crate::judge::malformed::malformed;
use crate::judge::rekor_log::log_info::read_proof;
use crate::judge::search::{FoundEntry, FoundShards, judge_found};
use crate::judge::tiles_head::open_tiles_head;
use crate::judge::timestamp::judge_chain;
use crate::rekor::leaf_of;
use crate::rekor_tiles::audit::RekorTilesLeaves;
use crate::trust::Trust;

/// What verifiers of a workload are made from, one for each thread.
#[derive(Clone)]
pub(super) struct ReadJudge {
    trust: Arc<Trust>,
    /// By what was signed to any verifier of the workload.
    heads: Arc<LogHeads>,
    /// Likewise, by entries that searches found.
    shards: Arc<FoundShards>,
    /// Where heads go that were verified, of logs that somebody follows.
    followed: FollowedHeads,
}

/// Judges on a thread of its own.
struct ReadVerifier {
    judge: ReadJudge,
    /// Of Rekor v1, by their log info.
    infos: ProvedTrees,
    /// Of Rekor v2, by their checkpoints.
    trees: ProvedTrees,
    /// When what is judged was answered, or later.
    now: Nanos,
}

impl ReadJudge {
    pub(super) fn new(trust: Arc<Trust>) -> Self {
        Self { trust, heads: Arc::default(), shards: Arc::default(), followed: FollowedHeads::default() }
    }

    /// Hands the heads that were verified to whoever follows the logs.
    pub(super) fn following(self, followed: FollowedHeads) -> Self {
        Self { followed, ..self }
    }

    pub(super) fn verifier(&self) -> Box<dyn Verifier> {
        Box::new(ReadVerifier::of(self.clone()))
    }
}

impl ReadVerifier {
    fn of(judge: ReadJudge) -> Self {
        Self { judge, infos: ProvedTrees::default(), trees: ProvedTrees::default(), now: Nanos::ZERO }
    }

    fn judge(&mut self, check: Check, parts: &[Part<'_>]) -> Result<(), Fault> {
        match (check, parts) {
            (Check::LogInfo, [info]) => self.log_head(info).map(drop),
            (Check::LogProof, [older, newer, proof]) => {
                let (older, newer) = (known_head(self.log_head(older))?, known_head(self.log_head(newer))?);
                consistency(&older, &newer, proof.bytes)
            }
            (Check::Search, [found]) => uuids(found.bytes),
            (Check::FoundEntry, [found, asked, uuid, entry]) => {
                uuids(found.bytes)?;
                self.found(FoundEntry { asked: asked.bytes, uuid: uuid.bytes, answer: Some(entry.bytes) })
            }
            (Check::InventedEntry, [found, asked, uuid]) => {
                uuids(found.bytes)?;
                self.found(FoundEntry { asked: asked.bytes, uuid: uuid.bytes, answer: None })
            }
            (Check::PublicKey, [key]) => self.public_key(key.bytes),
            (Check::Certchain, [chain]) => judge_chain(&self.judge.trust, chain.bytes),
            (Check::TrustBundle, [bundle]) => trust_bundle(&self.judge.trust, bundle.bytes),
            (Check::Configuration, [configuration]) => issuers(configuration.bytes),
            (Check::Checkpoint, [head]) => self.tree(head).map(drop),
            (Check::Tile, [head, tiles @ ..]) => known_head(self.tree(head))?.prove(tiles).map(drop),
            (Check::Bundle, [head, bundle, tiles @ ..]) => {
                check_bundle::<RekorTilesLeaves>(known_head(self.tree(head))?, bundle, tiles)
            }
            (Check::Missing, [head, tile]) => Err(missing_tile(self.tree(head), tile.id())),
            (Check::Unreadable, [found]) => {
                Err(Fault::new(UNREADABLE_PROOF, String::from_utf8_lossy(found.bytes)))
            }
            _ => Err(unverified()),
        }
    }

    /// What a log info of Rekor v1 says, which is verified when it is met first.
    fn log_head(&mut self, info: &Part<'_>) -> Result<OpenedHead, Fault> {
        let Self { judge, infos, now, .. } = self;
        let tree = infos.of(info.bytes, |raw| {
            let head = open_log_info(&judge.trust, &judge.heads, raw)?;
            judge.followed.rekor.iter().for_each(|heads| heads.seen(&head, raw, *now));
            Ok(head)
        })?;
        Ok(tree.head.clone())
    }

    /// The tree of a checkpoint of Rekor v2, likewise.
    fn tree(&mut self, head: &Part<'_>) -> Result<&mut ProvedTree, Fault> {
        let Self { judge, trees, now, .. } = self;
        trees.of(head.bytes, |raw| {
            let head = open_tiles_head(&judge.trust, Some(&judge.heads), raw)?;
            judge.followed.tiles.iter().for_each(|heads| heads.seen(&head, raw, *now));
            Ok(head)
        })
    }

    fn found(&self, found: FoundEntry<'_>) -> Result<(), Fault> {
        judge_found(&self.judge.trust, &self.judge.shards, found)
    }

    fn public_key(&self, body: &[u8]) -> Result<(), Fault> {
        let text = std::str::from_utf8(body).map_err(|_| malformed("the key is no text"))?;
        let key = LogKey::from_pem(text).map_err(|why| malformed(format!("the key: failed to {why}")))?;
        match self.judge.trust.rekor_keys().iter().any(|known| known.log_id() == key.log_id()) {
            true => Ok(()),
            false => Err(Fault::new("log-key", format!("the key of log {} is not trusted", key.log_id()))),
        }
    }
}

impl Verifier for ReadVerifier {
    fn check(&mut self, seq: u64, bytes: &[u8], now: Nanos, verdicts: &mut Verdicts) {
        self.now = now;
        let read = read_parts(bytes).ok().and_then(|(check, parts)| Some((Check::of(check)?, parts)));
        // Records are this crate's own.
        let Some((check, parts)) = read else {
            return verdicts.unchecked(ReadPromise::Inclusion.into());
        };
        let kind = check.promise().into();
        match self.judge(check, &parts) {
            Ok(()) => verdicts.kept(kind),
            Err(Fault { kind: UNVERIFIED, detail, .. }) => verdicts.unverified(kind, &detail),
            Err(fault) => verdicts.broken(kind, seq, fault, Some(bytes)),
        }
    }
}

/// Rekor v1 has no head of an empty tree to prove anything from: sessions ask for none.
fn consistency(older: &OpenedHead, newer: &OpenedHead, proof: &[u8]) -> Result<(), Fault> {
    let unreadable = |why: String| Fault::new(UNREADABLE_PROOF, why);
    let hashes = read_proof(proof).map_err(|why| unreadable(format!("it cannot be read: {why}")))?;
    verify_consistency(older.size, newer.size, &older.root, &newer.root, &hashes).map_err(|why| {
        let told = |head: &OpenedHead| format!("the tree of size {} and root {}", head.size, head.root);
        Fault::new("consistency-proof", format!("{}, then {}: {why}", told(older), told(newer)))
    })
}

/// What a search finds: UUIDs with or without the id of their tree; none at all is an answer as well.
fn uuids(body: &[u8]) -> Result<(), Fault> {
    let found: Vec<Cow<'_, str>> =
        serde_json::from_slice(body).map_err(|why| malformed(format!("what was found is no list: {why}")))?;
    let is_uuid = |uuid: &str| {
        matches!(uuid.len(), 64 | 80)
            && uuid.bytes().all(|digit| digit.is_ascii_hexdigit())
            && leaf_of(uuid).is_some()
    };
    match found.iter().find(|uuid| !is_uuid(uuid)) {
        None => Ok(()),
        Some(other) => Err(malformed(format!("{other:?} is no UUID"))),
    }
}

/// Every certificate of every chain has to be a trusted one.
fn trust_bundle(trust: &Trust, body: &[u8]) -> Result<(), Fault> {
    for (place, chain) in fulcio::trust_bundle(body).map_err(malformed)?.into_iter().enumerate() {
        let Some(trusted) = trust.fulcio() else { return Err(unverified()) };
        let is_known = |der: &Vec<u8>| trusted.certificates().any(|known| known == der.as_slice());
        if let Some(other) = chain.iter().position(|der| !is_known(der)) {
            let told = format!("certificate {other} of chain {place} is none of the trusted ones");
            return Err(Fault::new("trust-bundle", told));
        }
    }
    Ok(())
}

/// `Configuration` (fulcio.proto).
#[derive(Deserialize)]
struct Configuration {
    #[serde(default, deserialize_with = "json::or_default")]
    issuers: Vec<OidcIssuer>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct OidcIssuer {
    #[serde(alias = "issuer_url", deserialize_with = "json::or_default")]
    issuer_url: String,
    #[serde(alias = "wildcard_issuer_url", deserialize_with = "json::or_default")]
    wildcard_issuer_url: String,
    #[serde(deserialize_with = "json::or_default")]
    audience: String,
}

/// Each issuer has a name and an audience.
fn issuers(body: &[u8]) -> Result<(), Fault> {
    let read: Configuration = serde_json::from_slice(body).map_err(|why| malformed(why.to_string()))?;
    if read.issuers.is_empty() {
        return Err(malformed("there is no issuer"));
    }
    let is_named =
        |issuer: &OidcIssuer| !issuer.issuer_url.is_empty() || !issuer.wildcard_issuer_url.is_empty();
    let is_whole = |issuer: &OidcIssuer| is_named(issuer) && !issuer.audience.is_empty();
    match read.issuers.iter().position(|issuer| !is_whole(issuer)) {
        None => Ok(()),
        Some(place) => Err(malformed(format!("issuer {place} has no URL or no audience"))),
    }
}

#[cfg(test)]
mod tests;
