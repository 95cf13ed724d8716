//! What a log signs about its tree.

use hammer_tlog::logs::{
    merkle::{EMPTY_ROOT, Hash, NodeReader, root_at, sha256},
    note::{self, Checkpoint, NoteSignature},
};

use hammer_lab_authority::{LabSigner, SignerAlgorithm};

/// A tree's size and root, and the signed note that says them (C2SP tlog-checkpoint).
#[derive(Debug, Clone)]
pub(crate) struct SignedHead {
    pub(crate) size: u64,
    pub(crate) root: Hash,
    pub(crate) note: String,
}

/// Who signs checkpoints: its origin line, and the name in the signature line.
#[derive(Debug)]
pub(crate) struct CheckpointSigner {
    pub(crate) signer: LabSigner,
    pub(crate) origin: String,
    pub(crate) name: String,
    key_hash: Hash,
}

impl CheckpointSigner {
    pub(crate) fn new(signer: LabSigner, origin: String, name: String) -> Self {
        let key_hash = key_hash(&signer, &name);
        Self { signer, origin, name, key_hash }
    }

    /// The hash whose first bytes are the key id of the signature line.
    pub(crate) fn key_hash(&self) -> Hash {
        self.key_hash
    }

    pub(crate) fn sign(&self, size: u64, root: Hash) -> SignedHead {
        let text = Checkpoint::new(self.origin.clone(), size, root).to_string();
        let [first, second, third, fourth, ..] = self.key_hash.0;
        let signature = NoteSignature {
            name: &self.name,
            key_id: u32::from_be_bytes([first, second, third, fourth]),
            signature: self.signer.sign(text.as_bytes()),
        };
        SignedHead { size, root, note: note::format(&text, &[signature]) }
    }

    /// The head of the first `size` leaves.
    pub(crate) fn sign_tree(&self, tree: &impl NodeReader, size: u64) -> SignedHead {
        // A tree in memory holds all of its own nodes.
        self.sign(size, root_at(tree, size).unwrap_or(EMPTY_ROOT))
    }

    /// The head with another root, and the signature that it had.
    pub(crate) fn forge(&self, head: &SignedHead, root: Hash) -> SignedHead {
        let text = |root| Checkpoint::new(self.origin.clone(), head.size, root).to_string();
        SignedHead { size: head.size, root, note: head.note.replacen(&text(head.root), &text(root), 1) }
    }
}

/// The hash whose first four bytes are the key id of a note's line (C2SP signed-note, "Signature types"): of ECDSA that of
/// the `SubjectPublicKeyInfo`, of Ed25519 that of name, newline, 0x01 and key.
fn key_hash(signer: &LabSigner, name: &str) -> Hash {
    match signer.algorithm() {
        SignerAlgorithm::P256 | SignerAlgorithm::P384 => sha256(signer.spki()),
        SignerAlgorithm::Ed25519 => sha256(&[name.as_bytes(), b"\n\x01", signer.public_key()].concat()),
    }
}
