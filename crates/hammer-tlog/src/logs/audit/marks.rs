use std::collections::VecDeque;

use super::verdict::Published;

/// The heads that first covered the leaves that are still of interest, in order.
#[derive(Debug, Default)]
pub(super) struct Marks {
    marks: VecDeque<Published>,
    /// Leaves below this were covered by a head that is forgotten, or was never seen.
    since: u64,
}

impl Marks {
    pub(super) fn new(since: u64) -> Self {
        Self { marks: VecDeque::new(), since }
    }

    pub(super) fn push(&mut self, mark: Published) {
        self.marks.push_back(mark);
    }

    /// The first head that covers the leaf.
    pub(super) fn covering(&self, index: u64) -> Option<Published> {
        if index < self.since {
            return None;
        }
        self.marks.get(self.marks.partition_point(|mark| mark.size <= index)).copied()
    }

    /// Forgets the heads that cover only leaves below `index`.
    pub(super) fn forget(&mut self, index: u64) {
        while let Some(mark) = self.marks.front().filter(|mark| mark.size <= index) {
            self.since = mark.size;
            self.marks.pop_front();
        }
    }
}
