//! Changes to texts that both implementations are asked about.

use proptest::prelude::*;

/// One change to a text of bytes.
#[derive(Debug, Clone)]
pub(crate) enum Edit {
    Replace(usize, u8),
    Insert(usize, u8),
    /// Before a word or a line, where a sign or a zero would mean something.
    Lead(usize, u8),
    Remove(usize),
    Cut(usize),
    /// What stands between the two places stands there twice.
    Repeat(usize, usize),
}

/// Bytes that mean something in notes, checkpoints and paths, and any others.
fn byte() -> impl Strategy<Value = u8> {
    prop_oneof![3 => prop::sample::select(b"\n\n +=/.xp019AaZ\t\r\0\x7f\xe2\x80\x94".to_vec()), 1 => any::<u8>()]
}

/// Up to three changes; often none.
pub(crate) fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let edit = prop_oneof![
        3 => (any::<usize>(), byte()).prop_map(|(at, byte)| Edit::Replace(at, byte)),
        3 => (any::<usize>(), byte()).prop_map(|(at, byte)| Edit::Insert(at, byte)),
        3 => (any::<usize>(), byte()).prop_map(|(word, byte)| Edit::Lead(word, byte)),
        2 => any::<usize>().prop_map(Edit::Remove),
        1 => any::<usize>().prop_map(Edit::Cut),
        1 => any::<(usize, usize)>().prop_map(|(from, to)| Edit::Repeat(from, to)),
    ];
    prop::collection::vec(edit, 0..4)
}

pub(crate) fn altered(bytes: &[u8], edits: &[Edit]) -> Vec<u8> {
    edits.iter().fold(bytes.to_vec(), |mut bytes, edit| {
        let (length, end) = (bytes.len(), bytes.len() + 1);
        match *edit {
            Edit::Insert(at, byte) => bytes.insert(at % end, byte),
            Edit::Lead(word, byte) => {
                let ends = |byte: &u8| b"\n /+".contains(byte);
                let words = std::iter::once(0).chain((1..end).filter(|at| ends(&bytes[at - 1])));
                let words: Vec<usize> = words.collect();
                bytes.insert(words[word % words.len()], byte);
            }
            Edit::Cut(at) => bytes.truncate(at % end),
            _ if length == 0 => {}
            Edit::Replace(at, byte) => bytes[at % length] = byte,
            Edit::Remove(at) => {
                bytes.remove(at % length);
            }
            Edit::Repeat(one, other) => {
                let (one, other) = (one % end, other % end);
                let repeated = bytes[one.min(other)..one.max(other)].to_vec();
                bytes.splice(one.max(other)..one.max(other), repeated);
            }
        }
        bytes
    })
}
