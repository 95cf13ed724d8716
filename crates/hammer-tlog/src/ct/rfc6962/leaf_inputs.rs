use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::encoding::Base64;
use crate::hash::Hash;
use crate::logs::audit::{EntryFault, LeafFormat};
use crate::logs::merkle::leaf_hash;

/// The leaves of RFC 6962, as an answer of get-entries has them.
#[derive(Debug, Clone, Copy)]
pub struct Rfc6962Leaves;

/// The answer of get-entries (RFC 6962 section 4.6), of which the chains do not matter to a leaf.
#[derive(Deserialize)]
struct LeafInputs {
    entries: Vec<LeafInput>,
}

#[derive(Deserialize)]
struct LeafInput {
    leaf_input: Base64,
    #[serde(rename = "extra_data")]
    _extra_data: IgnoredAny,
}

impl LeafFormat for Rfc6962Leaves {
    /// A `leaf_input`: a [`MerkleTreeLeaf`](super::MerkleTreeLeaf).
    type Entry<'a> = Vec<u8>;

    fn entries(bytes: &[u8]) -> impl Iterator<Item = Result<Vec<u8>, EntryFault>> {
        let (entries, fault) = match serde_json::from_slice::<LeafInputs>(bytes) {
            Ok(answer) => (answer.entries, None),
            Err(why) => (Vec::new(), Some(Err(EntryFault::new(why.to_string())))),
        };
        entries.into_iter().map(|entry| Ok(entry.leaf_input.0)).chain(fault)
    }

    fn leaf_hash(leaf_input: &Vec<u8>) -> Result<Hash, EntryFault> {
        Ok(leaf_hash(leaf_input))
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
