//! What a log serves in place of a tile.

use hammer_net::{Answer, Failure, FailureKind};

use crate::answer_bound::AnswerBound;
use crate::trouble::Trouble;

/// What became of a request for a tile.
pub enum ServedTile {
    /// Its bytes, not compressed.
    Bytes(Vec<u8>),
    /// It is not served.
    Missing,
}

impl ServedTile {
    /// What an answer serves. An issuer or a bundle of a format with a longest one that is longer than any is empty here: it is of the wrong length, and its log's fault.
    pub(crate) fn of(
        path: &str,
        bound: AnswerBound,
        answer: Result<Answer, Trouble>,
    ) -> Result<Self, Trouble> {
        let answer = match answer {
            Err(Trouble::Failure(Failure { kind: FailureKind::TooLarge, .. }))
                if bound != AnswerBound::ENTRIES =>
            {
                // Of no tile's length.
                let length = if bound == AnswerBound::HASH_TILE { bound.bytes() + 1 } else { 0 };
                Answer { body: vec![0; length], ..Answer::new() }
            }
            answer => answer?,
        };
        match answer.status.as_u16() {
            200 => Ok(Self::Bytes(answer.body)),
            // What a file server or an object store says of a name that it does not have.
            403 | 404 | 410 => Ok(Self::Missing),
            status => Err(Trouble::Status { path: path.to_owned(), status }),
        }
    }
}
