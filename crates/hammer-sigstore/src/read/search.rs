//! What of a search of Rekor v1 is read back.

use bytes::Bytes;

/// An entry that was found, and still has to be read.
#[derive(Debug)]
pub(super) struct OwedEntry {
    /// What was searched for, as it was sent.
    pub(super) asked: Bytes,
    pub(super) uuid: String,
}

/// One of the UUIDs that were found, by a draw: the first behind some place of the list, which need not be read for it.
pub fn one_found(list: &[u8], draw: u64) -> Option<&str> {
    let from = (draw % (list.len() as u64).max(1)) as usize;
    let texts = |list: &'_ [u8]| -> Option<(usize, usize)> {
        let mut quotes = list.iter().enumerate().filter(|(_, byte)| **byte == b'"').map(|(place, _)| place);
        let mut open = quotes.next()?;
        for close in quotes {
            // Between two quotes stand a text, or what stands between two texts.
            if list[open + 1..close].iter().any(u8::is_ascii_hexdigit) {
                return Some((open + 1, close));
            }
            open = close;
        }
        None
    };
    let found = texts(&list[from..]).map(|(open, close)| &list[from + open..from + close]);
    let found = found.or_else(|| texts(list).map(|(open, close)| &list[open..close]))?;
    let is_uuid = matches!(found.len(), LEAF | TREE_AND_LEAF) && found.iter().all(u8::is_ascii_hexdigit);
    std::str::from_utf8(found).ok().filter(|_| is_uuid)
}

/// Digits of a UUID: of the leaf's hash, or of that behind the id of its tree.
const LEAF: usize = 64;
const TREE_AND_LEAF: usize = 80;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_the_uuids_is_drawn_and_each_by_some_draw() {
        let uuids: Vec<String> = (0..4).map(|digit| digit.to_string().repeat(80)).collect();
        for list in [serde_json::to_string(&uuids), serde_json::to_string_pretty(&uuids)] {
            let list = list.unwrap();
            let mut drawn = [0; 4];
            for draw in 0..list.len() as u64 {
                let found = one_found(list.as_bytes(), draw).unwrap();
                drawn[uuids.iter().position(|uuid| uuid == found).unwrap()] += 1;
            }
            assert!(drawn.iter().all(|count| *count > 60), "{drawn:?} of {}", list.len());
        }
    }

    #[test]
    fn of_a_list_without_a_uuid_none_is_drawn() {
        for list in ["", "[]", "[]\n", "null", "[\"\"]", "[\"x y\"]", "[\"0a", "\"", "[\"0a/../..\"]"] {
            for draw in 0..20 {
                assert_eq!(one_found(list.as_bytes(), draw), None, "{list:?} {draw}");
            }
        }
    }
}
