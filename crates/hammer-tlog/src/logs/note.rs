//! Signed notes and the checkpoints in them (C2SP signed-note, tlog-checkpoint, static-ct-api).

mod checkpoint;
mod verifier;

pub use checkpoint::{Checkpoint, open_checkpoint};
pub use verifier::{Verified, Verifier, ed25519_key_id, rfc6962_key_id, rfc6962_signature};

use crate::encoding::{base64, from_base64};
use crate::keys::key::{KeyError, SignatureError};
use crate::tls::TlsError;

/// Signature lines that a note may have: more are refused, as in the Go implementation.
const MAX_SIGNATURES: usize = 100;

/// Why a note or checkpoint cannot be read, or is not verified.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoteError {
    /// The bytes are not a note.
    #[error("read the note: {what}")]
    Malformed {
        /// What is wrong.
        what: &'static str,
    },
    /// The note's text is not a checkpoint.
    #[error("read the checkpoint: {what}")]
    Checkpoint {
        /// What is wrong.
        what: &'static str,
    },
    /// The checkpoint is of another log.
    #[error("read the checkpoint: its origin is {got:?}, not {expected:?}")]
    Origin {
        /// The origin in the checkpoint.
        got: String,
        /// The verifier's name.
        expected: String,
    },
    /// No line has the verifier's name and key id.
    #[error("verify the note: no signature by {name} with key id {key_id:08x}")]
    NoSignature {
        /// The verifier's name.
        name: String,
        /// The verifier's key id.
        key_id: u32,
    },
    /// The verifier's line does not hold its kind of signature.
    #[error("read the note's signature: {0}")]
    Signature(#[from] TlsError),
    /// The verifier's line does not verify.
    #[error("verify the note: {0}")]
    BadSignature(#[from] SignatureError),
    /// The verifier's key cannot be read.
    #[error("read the note's verifier: {0}")]
    Key(#[from] KeyError),
    /// The verifier's text is not `name+id+key`, or its id is not that of its key.
    #[error("read the note's verifier: {what}")]
    Verifier {
        /// What is wrong.
        what: &'static str,
    },
}

/// A note: its text, which is signed, and all of its signature lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note<'a> {
    /// The text, its last newline included.
    pub text: &'a str,
    /// The lines, in order, by known keys and by others.
    pub signatures: Vec<NoteSignature<'a>>,
}

/// One signature line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoteSignature<'a> {
    /// Who claims to have signed.
    pub name: &'a str,
    /// The first four bytes of a hash over name, algorithm and key, big-endian.
    pub key_id: u32,
    /// What follows the key id; its form depends on the key.
    pub signature: Vec<u8>,
}

impl<'a> Note<'a> {
    /// Reads a whole note. Nothing is verified.
    pub fn parse(note: &'a [u8]) -> Result<Self, NoteError> {
        let note = std::str::from_utf8(note).map_err(|_| malformed("it is not UTF-8"))?;
        if note.chars().any(|character| character < ' ' && character != '\n') {
            return Err(malformed("it has control characters"));
        }
        let split = note.rfind("\n\n").ok_or(malformed("no empty line before the signatures"))?;
        let (text, lines) = (&note[..=split], &note[split + 2..]);
        if lines.is_empty() {
            return Err(malformed("no signature"));
        }
        let lines = lines.strip_suffix('\n').ok_or(malformed("no newline at its end"))?;
        let signatures = lines.split('\n').take(MAX_SIGNATURES + 1).map(parse_line);
        let signatures = signatures.collect::<Result<Vec<_>, _>>()?;
        if signatures.len() > MAX_SIGNATURES {
            return Err(malformed("it has too many signatures"));
        }
        Ok(Self { text, signatures })
    }
}

fn malformed(what: &'static str) -> NoteError {
    NoteError::Malformed { what }
}

/// Reads `— name base64`.
fn parse_line(line: &str) -> Result<NoteSignature<'_>, NoteError> {
    let (name, signature) =
        line.strip_prefix("— ").and_then(|line| line.split_once(' ')).ok_or(malformed("a signature line"))?;
    if !is_name(name) {
        return Err(malformed("the name in a signature line"));
    }
    let bytes = from_base64(signature).map_err(|_| malformed("the base64 of a signature line"))?;
    let (key_id, signature) =
        bytes.split_first_chunk().ok_or(malformed("a signature line without a key id"))?;
    if signature.is_empty() {
        return Err(malformed("a signature line without a signature"));
    }
    Ok(NoteSignature { name, key_id: u32::from_be_bytes(*key_id), signature: signature.to_vec() })
}

/// Whether this can be a key's name (C2SP signed-note): not empty, no white space, no plus.
pub fn is_name(name: &str) -> bool {
    !name.is_empty() && !name.chars().any(|character| character.is_whitespace() || character == '+')
}

/// The note of a text and its signatures. `text` must end in a newline.
pub fn format(text: &str, signatures: &[NoteSignature<'_>]) -> String {
    let lines = signatures.iter().map(|line| {
        let bytes = [line.key_id.to_be_bytes().as_slice(), &line.signature].concat();
        format!("— {} {}\n", line.name, base64(&bytes))
    });
    std::iter::once(format!("{text}\n")).chain(lines).collect()
}

#[cfg(test)]
mod tests;
