//! Broken promises, a line for each kind.

use super::number::grouped;
use crate::report::Breach;

/// Those of one workload and one kind, of which that of the first operation stands for them.
struct BrokenKind<'a> {
    first: &'a Breach,
    count: u64,
}

/// A sentence for each kind of these, of so many at most; how many they stand for.
pub(super) fn sentences(breaches: &[Breach]) -> (Vec<String>, u64) {
    let mut kinds: Vec<BrokenKind<'_>> = Vec::new();
    for breach in breaches {
        let is_same = |kind: &&mut BrokenKind<'_>| {
            (&kind.first.workload, &kind.first.kind) == (&breach.workload, &breach.kind)
        };
        match kinds.iter_mut().find(is_same) {
            Some(kind) => {
                kind.count += 1;
                // They were told as they were found, by several verifiers.
                if breach.seq.is_some_and(|seq| kind.first.seq.is_none_or(|first| seq < first)) {
                    kind.first = breach;
                }
            }
            None => kinds.push(BrokenKind { first: breach, count: 1 }),
        }
    }
    kinds.truncate(MOST_KINDS);
    (kinds.iter().map(sentence).collect(), kinds.iter().map(|kind| kind.count).sum())
}

fn sentence(BrokenKind { first, count }: &BrokenKind<'_>) -> String {
    let Breach { workload, kind, detail, .. } = first;
    let seq = first.seq.map_or_else(String::new, |seq| format!(" #{seq}"));
    match count {
        1 => format!("{kind} of {workload}{seq}: {detail}"),
        count => format!("{} {kind} of {workload}, the first{seq}: {detail}", grouped(*count)),
    }
}

const MOST_KINDS: usize = 8;
