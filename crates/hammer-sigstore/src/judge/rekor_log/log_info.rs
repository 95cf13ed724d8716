//! What Rekor v1 says of its log (`LogInfo` and `ConsistencyProof` of openapi.yaml).

use std::sync::Arc;

use hammer_audit::{HeadFault, HeadId, InactiveShard, OpenedHead, Shards};
use hammer_measure::peer_text;
use hammer_tlog::hash::Hash;
use hammer_tlog::keys::key::LogKey;
use hammer_tlog::logs::note::{Checkpoint, Note, NoteSignature, Verifier};
use serde::Deserialize;

use crate::judge::entry::open;
use crate::judge::shards::tree_of;

/// `GET /api/v1/log`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct LogInfo {
    /// The oldest first; null where there are none.
    inactive_shards: Option<Vec<TreeInfo>>,
    #[serde(flatten)]
    active: TreeInfo,
}

/// A tree.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct TreeInfo {
    root_hash: String,
    /// A signed note.
    signed_tree_head: String,
    /// In digits.
    #[serde(rename = "treeID")]
    tree_id: String,
    tree_size: u64,
}

/// `GET /api/v1/log/proof`.
#[derive(Debug, Deserialize)]
struct ConsistencyProof {
    hashes: Vec<String>,
}

/// The head of an answer to log information, by keys of the log, and its shards.
///
/// # Errors
/// When it cannot be read, or is not the log's.
pub(crate) fn open_head(body: &[u8], keys: &[LogKey]) -> Result<OpenedHead, HeadFault> {
    let info: LogInfo = serde_json::from_slice(body).map_err(|why| unreadable(&why))?;
    let inactive = info.inactive_shards.unwrap_or_default();
    let inactive: Result<Vec<InactiveShard>, HeadFault> =
        inactive.iter().map(|shard| ended(shard, keys)).collect();
    let active = opened(&info.active, keys)?;
    let shards = Shards { active: active.tree, inactive: inactive? };
    Ok(OpenedHead { size: active.size, root: active.root, timestamp_ms: 0, cosigners: Vec::new(), shards })
}

/// The hashes of a consistency proof.
///
/// # Errors
/// When it cannot be read.
pub(crate) fn read_proof(body: &[u8]) -> Result<Vec<Hash>, String> {
    let proof: ConsistencyProof = serde_json::from_slice(body).map_err(|why| why.to_string())?;
    let read = |text: &String| Hash::from_hex(text).ok_or_else(|| format!("{text:?} is no hash"));
    proof.hashes.iter().map(read).collect()
}

/// A shard that has ended. Its key may have been another, which nobody trusts any more: that is no fault of the log's.
fn ended(shard: &TreeInfo, keys: &[LogKey]) -> Result<InactiveShard, HeadFault> {
    let (head, unverified) = match opened(shard, keys) {
        Ok(head) => (head, None),
        Err(fault) if is_of_another_key(&shard.signed_tree_head, keys) => {
            let root = Hash::from_hex(&shard.root_hash).unwrap_or_default();
            let tree = shard.tree_id.parse().unwrap_or_default();
            (HeadId { tree, size: shard.tree_size, root }, Some(fault.why.into()))
        }
        Err(fault) => return Err(fault),
    };
    Ok(InactiveShard { head, raw: Arc::from(shard.signed_tree_head.as_bytes()), unverified })
}

/// Whether no line of the note says that it is of one of the keys.
fn is_of_another_key(note: &str, keys: &[LogKey]) -> bool {
    Note::parse(note.as_bytes()).is_ok_and(|note| {
        let is_known = |line: &NoteSignature<'_>| {
            keys.iter().any(|key| Verifier::spki(line.name, key.clone()).key_id() == line.key_id)
        };
        !note.signatures.iter().any(is_known)
    })
}

/// The signed head of a tree, which is what is said of it beside.
fn opened(info: &TreeInfo, keys: &[LogKey]) -> Result<HeadId, HeadFault> {
    let broken = |why: String| HeadFault { breach: Some(CHECKPOINT), why };
    let checkpoint = verified(&info.signed_tree_head, keys).map_err(broken)?;
    let tree = tree_of(&checkpoint.origin);
    let tree =
        tree.ok_or_else(|| broken(format!("read the tree of the checkpoint of {:?}", checkpoint.origin)))?;
    let said = (info.tree_id.parse().ok(), info.tree_size, Hash::from_hex(&info.root_hash));
    if said != (Some(tree), checkpoint.size, Some(checkpoint.root)) {
        let TreeInfo { tree_id, tree_size, root_hash, .. } = info;
        return Err(broken(format!(
            "read log information: it says tree {tree_id}, {tree_size} leaves and root {root_hash}, and its checkpoint tree {tree}, \
             {} leaves and root {}",
            checkpoint.size,
            checkpoint.root.to_hex()
        )));
    }
    Ok(HeadId { tree, size: checkpoint.size, root: checkpoint.root })
}

/// The checkpoint of a note that one of the keys signed.
fn verified(note: &str, keys: &[LogKey]) -> Result<Checkpoint, String> {
    let mut last = "no key of the log is trusted".to_owned();
    for key in keys {
        match open(key, note) {
            Ok(checkpoint) => return Ok(checkpoint),
            Err(why) => last = why,
        }
    }
    Err(last)
}

fn unreadable(why: &serde_json::Error) -> HeadFault {
    HeadFault { breach: None, why: format!("read log information: {}", peer_text(&why.to_string())) }
}

/// As of the checkpoint of an entry.
const CHECKPOINT: &str = "checkpoint";

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use serde_json::{Value, json};

    use super::*;
    use crate::plan::SigstoreTargetPlan;
    use crate::trust::{Trust, TrustedRoot};

    const INFO: &[u8] = include_bytes!("../../../testdata/rekor-v1-log-info.json");
    const PROOF: &[u8] = include_bytes!("../../../testdata/rekor-v1-log-proof.json");
    const ENTRY: &str = include_str!("../../../testdata/rekor-v1-hashedrekord-response.json");

    static TRUST: LazyLock<Trust> = LazyLock::new(|| {
        let root = TrustedRoot::parse(include_str!("../../../testdata/trusted_root.json")).unwrap();
        let plan = r#"{"rekor_tiles_url":"http://127.0.0.1:13003"}"#;
        Trust::of(&serde_json::from_str::<SigstoreTargetPlan>(plan).unwrap(), Some(&root)).unwrap()
    });

    /// Log information by the recorded checkpoint of a tree of one leaf.
    fn information() -> Value {
        let answer: Value = serde_json::from_str(ENTRY).unwrap();
        let (uuid, entry) = answer.as_object().unwrap().iter().next().unwrap();
        let proof = &entry["verification"]["inclusionProof"];
        let tree = u64::from_str_radix(&uuid[..16], 16).unwrap();
        json!({
            "inactiveShards": null,
            "rootHash": proof["rootHash"],
            "signedTreeHead": proof["checkpoint"],
            "treeID": tree.to_string(),
            "treeSize": 1,
        })
    }

    fn opened(information: &Value) -> Result<OpenedHead, Option<&'static str>> {
        let opened = open_head(information.to_string().as_bytes(), TRUST.rekor_keys());
        opened.map_err(|fault| fault.breach)
    }

    #[test]
    fn a_recorded_answer_is_read_and_is_not_believed_by_another_key() {
        assert_eq!(serde_json::from_slice::<LogInfo>(INFO).unwrap().active.tree_size, 2);
        let refused = open_head(INFO, TRUST.rekor_keys()).unwrap_err();
        assert_eq!(refused.breach, Some("checkpoint"), "{refused}");
        assert_eq!(read_proof(PROOF).unwrap().len(), 1);
        assert!(read_proof(b"{\"hashes\":[\"00\"]}").is_err() && read_proof(b"{}").is_err());
    }

    #[test]
    fn a_head_is_what_its_checkpoint_says_and_nothing_beside_it_may_say_otherwise() {
        let head = opened(&information()).unwrap();
        assert_eq!((head.size, head.shards.active), (1, 6_626_240_131_106_251_881));
        assert!(head.shards.inactive.is_empty());
        for (key, value) in [
            ("treeSize", json!(2)),
            ("treeID", json!("7")),
            ("treeID", json!("seven")),
            ("rootHash", json!("00")),
            ("signedTreeHead", json!("")),
        ] {
            let mut altered = information();
            altered[key] = value;
            assert_eq!(opened(&altered), Err(Some("checkpoint")), "{key}");
        }
        assert_eq!(opened(&json!({ "treeSize": 1 })), Err(None));
    }

    #[test]
    fn inactive_shards_are_verified_too_and_say_where_the_active_one_begins() {
        let mut sharded = information();
        let mut shard = information();
        shard.as_object_mut().unwrap().remove("inactiveShards");
        sharded["inactiveShards"] = json!([shard]);
        let shards = opened(&sharded).unwrap().shards;
        assert_eq!(shards.inactive.len(), 1);
        sharded["inactiveShards"][0]["treeSize"] = 9.into();
        assert_eq!(opened(&sharded), Err(Some("checkpoint")));
    }

    #[test]
    fn a_shard_that_another_key_signed_before_is_told_and_does_not_stand_in_the_way() {
        let mut sharded = information();
        let mut shard: Value = serde_json::from_slice(INFO).unwrap();
        shard.as_object_mut().unwrap().remove("inactiveShards");
        sharded["inactiveShards"] = json!([shard]);
        let head = opened(&sharded).unwrap();
        let [shard] = &head.shards.inactive[..] else { panic!("{head:?}") };
        assert!(shard.unverified.as_ref().unwrap().contains("no signature"), "{shard:?}");
        assert_eq!((shard.head.size, head.shards.offset(head.shards.active)), (2, None));
    }
}
