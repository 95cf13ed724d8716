//! Entries as get-entries answers them.

use std::borrow::Cow;

use serde::Deserialize;

use super::get_entries::ExtraData;
use super::leaf::MerkleTreeLeaf;
use crate::encoding::{Base64, from_base64};
use crate::hash::{Hash, sha256};
use crate::logs::audit::{Beside, EntryFault, LeafFormat};
use crate::logs::merkle::leaf_hash;

/// The leaves of RFC 6962, as an answer of get-entries has them.
#[derive(Debug, Clone, Copy)]
pub struct Rfc6962Leaves;

/// The answer of get-entries (RFC 6962 section 4.6).
#[derive(Deserialize)]
struct LeafInputs<'a> {
    #[serde(borrow)]
    entries: Vec<LeafInput<'a>>,
}

#[derive(Deserialize)]
struct LeafInput<'a> {
    leaf_input: Base64,
    #[serde(borrow)]
    extra_data: Cow<'a, str>,
}

/// An entry as get-entries has it.
#[derive(Debug)]
pub struct ServedLeaf<'a> {
    /// A [`MerkleTreeLeaf`].
    pub leaf_input: Vec<u8>,
    /// An [`ExtraData`] in base64, which the leaf does not commit to.
    pub extra_data: Cow<'a, str>,
}

impl ServedLeaf<'_> {
    /// What was submitted beside what the leaf has; none where that cannot be read.
    fn submitted(&self) -> Option<Beside> {
        let kind = MerkleTreeLeaf::parse(&self.leaf_input).ok()?.entry.entry_type();
        let bytes = from_base64(&*self.extra_data).ok()?;
        let extra = ExtraData::parse(kind, &bytes).ok()?;
        let fingerprints: Vec<[u8; 32]> = extra.chain().map(|certificate| sha256(certificate).0).collect();
        let precertificate = match extra {
            ExtraData::X509 { .. } => None,
            ExtraData::Precert { pre_certificate, .. } => Some(pre_certificate),
        };
        Some(Beside::of(Beside::digest(&fingerprints), precertificate))
    }
}

impl LeafFormat for Rfc6962Leaves {
    type Entry<'a> = ServedLeaf<'a>;

    fn entries(bytes: &[u8]) -> impl Iterator<Item = Result<ServedLeaf<'_>, EntryFault>> {
        let (entries, fault) = match serde_json::from_slice::<LeafInputs<'_>>(bytes) {
            Ok(answer) => (answer.entries, None),
            Err(why) => (Vec::new(), Some(Err(EntryFault::new(why.to_string())))),
        };
        let served =
            |LeafInput { leaf_input, extra_data }| ServedLeaf { leaf_input: leaf_input.0, extra_data };
        entries.into_iter().map(move |entry| Ok(served(entry))).chain(fault)
    }

    fn leaf_hash(entry: &ServedLeaf<'_>) -> Result<Hash, EntryFault> {
        Ok(leaf_hash(&entry.leaf_input))
    }

    fn beside(entry: &ServedLeaf<'_>) -> Option<Beside> {
        Some(entry.submitted().unwrap_or_else(|| Beside::of(Beside::digest(&[]), None)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_entries_of_an_answer_have_the_hashes_of_their_leaf_inputs() {
        let answer =
            br#"{"entries":[{"leaf_input":"AAE=","extra_data":"AA=="},{"leaf_input":"","extra_data":""}]}"#;
        assert_eq!(Rfc6962Leaves::leaf_hashes(answer, 256), [leaf_hash(&[0, 1]), leaf_hash(&[])]);
        assert_eq!(Rfc6962Leaves::leaf_hashes(answer, 1).len(), 1);
        for broken in [&answer[1..], br#"{"entries":[{"leaf_input":"AAE="}]}"#, b""] {
            let [Err(_)] = &Rfc6962Leaves::entries(broken).collect::<Vec<_>>()[..] else {
                panic!("it is no answer")
            };
        }
    }
}
