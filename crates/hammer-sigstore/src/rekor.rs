//! Entries of Rekor v1: as they are sent and stored, and what the log answers (sigstore/rekor v1.5, `openapi.yaml`).

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use hammer_messages::rekor::{self as messages, Checkpoint, InclusionPromise, LogId, TransparencyLogEntry};
use hammer_tlog::encoding::{base64, from_base64, write_base64};
use hammer_tlog::hash::{Hash, from_hex};
use http::header::{self, HeaderName};
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::material::FlowMaterial;

/// Where entries are written and, by `logIndex`, read.
pub(crate) const ENTRIES: &str = "/api/v1/log/entries";

/// Where an entry is that the log has already: `/api/v1/log/entries/UUID`, beside a 409 (openapi.yaml).
pub(crate) const KNOWN_ENTRY: HeaderName = header::LOCATION;

/// The key of the log.
pub(crate) const PUBLIC_KEY: &str = "/api/v1/log/publicKey";

/// Where the index is asked for entries.
pub(crate) const SEARCH: &str = "/api/v1/index/retrieve";

/// Replaces `out` by the search for the entries of an artifact of that hash (`SearchIndex` of openapi.yaml).
pub(crate) fn write_search(out: &mut Vec<u8>, digest: &Hash) {
    out.clear();
    out.extend_from_slice(br#"{"hash":"sha256:"#);
    out.extend_from_slice(digest.to_hex().as_bytes());
    out.extend_from_slice(br#""}"#);
}

/// Replaces `out` by a hashedrekord 0.0.1 over the artifact of a flow, by the certificate of that PEM. It is written as the log keeps it
/// (canonical JSON, RFC 8785), so that what was sent is what has to be logged.
pub(crate) fn write_hashedrekord(out: &mut Vec<u8>, material: &FlowMaterial, certificate: &str) {
    out.clear();
    out.extend_from_slice(
        br#"{"apiVersion":"0.0.1","kind":"hashedrekord","spec":{"data":{"hash":{"algorithm":"sha256","value":""#,
    );
    out.extend_from_slice(material.digest.to_hex().as_bytes());
    out.extend_from_slice(br#""}},"signature":{"content":""#);
    write_base64(out, &material.signature);
    out.extend_from_slice(br#"","publicKey":{"content":""#);
    write_base64(out, certificate.as_bytes());
    out.extend_from_slice(br#""}}}}"#);
}

/// Replaces `out` by an rfc3161 0.0.1 of a `TimeStampResp`, likewise.
pub(crate) fn write_rfc3161(out: &mut Vec<u8>, response: &[u8]) {
    out.clear();
    out.extend_from_slice(br#"{"apiVersion":"0.0.1","kind":"rfc3161","spec":{"tsr":{"content":""#);
    write_base64(out, response);
    out.extend_from_slice(br#""}}}"#);
}

/// Replaces `out` by a dsse 0.0.1 of the envelope of a flow, by the certificate of that PEM.
pub(crate) fn write_dsse(out: &mut Vec<u8>, material: &FlowMaterial, certificate: &str) {
    out.clear();
    out.extend_from_slice(br#"{"apiVersion":"0.0.1","kind":"dsse","spec":{"proposedContent":{"envelope":""#);
    for byte in &material.envelope.json {
        if *byte == b'"' {
            out.push(b'\\');
        }
        out.push(*byte);
    }
    out.extend_from_slice(br#"","verifiers":[""#);
    write_base64(out, certificate.as_bytes());
    out.extend_from_slice(br#""]}}}"#);
}

/// Replaces `out` by what the log has to store for it, in canonical JSON: hashes, the signature, and who signed.
pub(crate) fn write_stored_dsse(out: &mut Vec<u8>, material: &FlowMaterial, certificate: &str) {
    out.clear();
    out.extend_from_slice(
        br#"{"apiVersion":"0.0.1","kind":"dsse","spec":{"envelopeHash":{"algorithm":"sha256","value":""#,
    );
    out.extend_from_slice(material.envelope.hash.to_hex().as_bytes());
    out.extend_from_slice(br#""},"payloadHash":{"algorithm":"sha256","value":""#);
    out.extend_from_slice(material.envelope.payload_hash.to_hex().as_bytes());
    out.extend_from_slice(br#""},"signatures":[{"signature":""#);
    write_base64(out, &material.signature);
    out.extend_from_slice(br#"","verifier":""#);
    write_base64(out, certificate.as_bytes());
    out.extend_from_slice(br#""}]}}"#);
}

/// What the log answers with: one entry under its UUID. An answer that has one UUID twice is none: who reads the first of both sees another
/// entry than who reads the last.
#[derive(Debug)]
pub(crate) struct LogEntries<'a> {
    entries: BTreeMap<LogText<'a>, LogEntry<'a>>,
}

impl<'de: 'a, 'a> Deserialize<'de> for LogEntries<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(DistinctEntries(PhantomData))
    }
}

struct DistinctEntries<'a>(PhantomData<LogEntries<'a>>);

impl<'de: 'a, 'a> Visitor<'de> for DistinctEntries<'a> {
    type Value = LogEntries<'a>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("entries by their UUIDs")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut answered: A) -> Result<LogEntries<'a>, A::Error> {
        let mut entries = BTreeMap::new();
        while let Some((uuid, entry)) = answered.next_entry()? {
            if entries.insert(uuid, entry).is_some() {
                return Err(A::Error::custom("an entry stands there twice"));
            }
        }
        Ok(LogEntries { entries })
    }
}

/// A text of an answer, borrowed wherever it stands as long as it has nothing escaped: of a `Cow` in a list serde makes a copy.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(transparent)]
pub(crate) struct LogText<'a>(#[serde(borrow)] Cow<'a, str>);

impl Deref for LogText<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for LogText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

impl From<String> for LogText<'_> {
    fn from(text: String) -> Self {
        Self(text.into())
    }
}

/// `LogEntry` of openapi.yaml.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LogEntry<'a> {
    /// Base64 of the stored entry.
    #[serde(borrow)]
    pub(crate) body: Cow<'a, str>,
    /// Seconds since 1970.
    pub(crate) integrated_time: i64,
    /// Hexadecimal SHA-256 of the log's `SubjectPublicKeyInfo`.
    #[serde(borrow, rename = "logID")]
    pub(crate) log_id: Cow<'a, str>,
    /// The index over all shards of the log.
    pub(crate) log_index: u64,
    #[serde(borrow)]
    pub(crate) verification: Option<Verification<'a>>,
}

/// What a verifier needs.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Verification<'a> {
    #[serde(borrow)]
    pub(crate) inclusion_proof: Option<InclusionProof<'a>>,
    /// Base64 of the signature over [`LogEntry::promised`].
    #[serde(borrow)]
    pub(crate) signed_entry_timestamp: Option<LogText<'a>>,
}

/// The place of the entry in the tree.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct InclusionProof<'a> {
    /// A signed note.
    #[serde(borrow)]
    pub(crate) checkpoint: Cow<'a, str>,
    #[serde(borrow)]
    pub(crate) hashes: Vec<LogText<'a>>,
    /// The index in the tree of its own shard.
    pub(crate) log_index: u64,
    #[serde(borrow)]
    pub(crate) root_hash: Cow<'a, str>,
    pub(crate) tree_size: u64,
}

impl<'a> LogEntries<'a> {
    /// The one entry of an answer, and its UUID.
    ///
    /// # Errors
    /// When it is no JSON of entries, or not of exactly one.
    pub(crate) fn only(body: &'a [u8]) -> Result<(LogText<'a>, LogEntry<'a>), &'static str> {
        let read: Self = serde_json::from_slice(body).map_err(|_| "answer is no log entry")?;
        let mut entries = read.entries.into_iter();
        match (entries.next(), entries.next()) {
            (Some(only), None) => Ok(only),
            _ => Err("answer is not one log entry"),
        }
    }
}

impl<'a> LogEntries<'a> {
    /// The entries of an answer to a retrieval, in a list of one each, or of an answer with one of them.
    ///
    /// # Errors
    /// When it is no JSON of entries.
    pub(crate) fn retrieved(body: &'a [u8]) -> Result<Vec<(LogText<'a>, LogEntry<'a>)>, String> {
        let start = body.iter().find(|byte| !byte.is_ascii_whitespace());
        let found: Vec<Self> = match start {
            Some(b'[') => serde_json::from_slice(body).map_err(|why| why.to_string())?,
            _ => vec![serde_json::from_slice(body).map_err(|why| why.to_string())?],
        };
        Ok(found.into_iter().flat_map(|one| one.entries).collect())
    }
}

impl LogEntry<'_> {
    /// An entry of Rekor v1 as a bundle holds it, in the words of the log's own answer.
    ///
    /// # Errors
    /// When it has an index that no log has.
    pub(crate) fn of_bundle(entry: &TransparencyLogEntry) -> Result<Self, String> {
        let index =
            |index: i64| u64::try_from(index).map_err(|_| format!("{index} is the index of no entry"));
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let proof = entry.inclusion_proof.as_ref().map(|proof| -> Result<_, String> {
            Ok(InclusionProof {
                checkpoint: proof.checkpoint.clone().unwrap_or_default().envelope.into(),
                hashes: proof.hashes.iter().map(|hash| hex(hash).into()).collect(),
                log_index: index(proof.log_index)?,
                root_hash: hex(&proof.root_hash).into(),
                tree_size: index(proof.tree_size)?,
            })
        });
        let promise = entry.inclusion_promise.as_ref();
        let verification = Verification {
            inclusion_proof: proof.transpose()?,
            signed_entry_timestamp: promise.map(|promise| base64(&promise.signed_entry_timestamp).into()),
        };
        Ok(Self {
            body: base64(&entry.canonicalized_body).into(),
            integrated_time: entry.integrated_time,
            log_id: hex(entry.log_id.as_ref().map_or(&[][..], |id| &id.key_id)).into(),
            log_index: index(entry.log_index)?,
            verification: Some(verification),
        })
    }

    /// The entry as a bundle holds it, but for its kind.
    ///
    /// # Errors
    /// What of it has no such form.
    pub(crate) fn into_bundle(self) -> Result<TransparencyLogEntry, String> {
        let index =
            |index: u64| i64::try_from(index).map_err(|_| format!("{index} is the index of no entry"));
        let bytes =
            |what: &str, text: &str| from_base64(text).map_err(|why| format!("{what}: failed to {why}"));
        let hash = |text: &str| Hash::from_hex(text).map(|hash| hash.0.to_vec()).ok_or("a hash of the entry");
        let verification = self.verification.ok_or("the entry has no verification")?;
        let proof = verification.inclusion_proof.ok_or("the entry has no inclusion proof")?;
        let promise = verification.signed_entry_timestamp;
        let promise = promise.map(|signed| bytes("the SET", &signed)).transpose()?;
        Ok(TransparencyLogEntry {
            log_index: index(self.log_index)?,
            log_id: Some(LogId { key_id: hash(&self.log_id)? }),
            kind_version: None,
            integrated_time: self.integrated_time,
            inclusion_promise: promise
                .map(|signed_entry_timestamp| InclusionPromise { signed_entry_timestamp }),
            inclusion_proof: Some(messages::InclusionProof {
                log_index: index(proof.log_index)?,
                root_hash: hash(&proof.root_hash)?,
                tree_size: index(proof.tree_size)?,
                hashes: proof.hashes.iter().map(|text| hash(text)).collect::<Result<_, _>>()?,
                checkpoint: Some(Checkpoint { envelope: proof.checkpoint.into_owned() }),
            }),
            canonicalized_body: bytes("the entry's body", &self.body)?,
        })
    }

    /// What the signed entry timestamp is over: these four in canonical JSON. None of the texts has what JSON would escape; one that
    /// has is not the log's.
    pub(crate) fn promised(&self) -> String {
        let Self { body, integrated_time, log_id, log_index, .. } = self;
        format!(
            r#"{{"body":"{body}","integratedTime":{integrated_time},"logID":"{log_id}","logIndex":{log_index}}}"#
        )
    }
}

/// The hash of the leaf that a UUID ends with: 64 hexadecimal digits, behind 16 of the tree or alone. None where it is no UUID: what a
/// server says is one is written into paths and files.
pub(crate) fn leaf_of(uuid: &str) -> Option<Hash> {
    UuidPlace::of(uuid).map(|place| place.leaf)
}

/// What a UUID says of its entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UuidPlace {
    /// The tree; none in a UUID that names none.
    pub(crate) tree: Option<u64>,
    pub(crate) leaf: Hash,
}

impl UuidPlace {
    /// None of a text that is no UUID.
    pub(crate) fn of(uuid: &str) -> Option<Self> {
        let (tree, leaf) = uuid.split_at_checked(uuid.len().checked_sub(2 * size_of::<Hash>())?)?;
        let tree = match tree {
            "" => None,
            tree => Some(u64::from_be_bytes(from_hex(tree)?.try_into().ok()?)),
        };
        Some(Self { tree, leaf: Hash::from_hex(leaf)? })
    }
}

/// How many entries a search found, and that of a leaf, where it is among them: by the first UUID that is it.
///
/// # Errors
/// When the answer is no list of UUIDs.
pub(crate) fn found_among(
    body: &[u8],
    leaf: Hash,
) -> Result<(usize, Option<LogText<'_>>), serde_json::Error> {
    let found: Vec<LogText<'_>> = serde_json::from_slice(body)?;
    let count = found.len();
    Ok((count, found.into_iter().find(|uuid| leaf_of(uuid) == Some(leaf))))
}

#[cfg(test)]
mod tests;
