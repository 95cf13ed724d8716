//! The text of a checkpoint.

use std::fmt;

use super::verifier::{Verified, Verifier};
use super::{Note, NoteError};
use crate::hash::Hash;

/// A checkpoint: a tree's origin, size and root (C2SP tlog-checkpoint). `Display` is the note's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// The log, as host and path without scheme.
    pub origin: String,
    /// Leaves in the tree.
    pub size: u64,
    /// The root.
    pub root: Hash,
    /// Lines after the root, in order; none in static-ct-api.
    pub extensions: Vec<String>,
}

impl Checkpoint {
    /// A checkpoint without extension lines.
    pub fn new(origin: impl Into<String>, size: u64, root: Hash) -> Self {
        Self { origin: origin.into(), size, root, extensions: Vec::new() }
    }

    /// Reads the text of a note, its last newline included.
    pub fn parse(text: &str) -> Result<Self, NoteError> {
        let malformed = |what| NoteError::Checkpoint { what };
        let text = text.strip_suffix('\n').ok_or(malformed("no newline at its end"))?;
        let mut lines = text.split('\n');
        let origin = lines.next().filter(|origin| !origin.is_empty()).ok_or(malformed("its origin"))?;
        let size = lines.next().and_then(decimal).ok_or(malformed("its size"))?;
        let root = lines.next().and_then(Hash::from_base64).ok_or(malformed("its root"))?;
        let extensions = lines.map(str::to_owned).collect::<Vec<_>>();
        if extensions.iter().any(String::is_empty) {
            return Err(malformed("an empty extension line"));
        }
        Ok(Self { origin: origin.to_owned(), size, root, extensions })
    }
}

/// The number, without sign and leading zeros.
fn decimal(digits: &str) -> Option<u64> {
    let number = digits.parse::<u64>().ok()?;
    (number.to_string() == digits).then_some(number)
}

impl fmt::Display for Checkpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n{}\n{}\n", self.origin, self.size, self.root.to_base64())?;
        self.extensions.iter().try_for_each(|line| writeln!(f, "{line}"))
    }
}

/// Reads a served checkpoint, verifies the line of `verifier`, and that the origin is the verifier's name. Lines by
/// other keys are ignored.
pub fn open_checkpoint(note: &[u8], verifier: &Verifier) -> Result<(Checkpoint, Verified), NoteError> {
    let note = Note::parse(note)?;
    let checkpoint = Checkpoint::parse(note.text)?;
    if checkpoint.origin != verifier.name() {
        return Err(NoteError::Origin { got: checkpoint.origin, expected: verifier.name().to_owned() });
    }
    let verified = verifier.verify(&note)?;
    Ok((checkpoint, verified))
}
