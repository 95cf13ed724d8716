//! The heads that first covered leaves.

use std::collections::VecDeque;

use super::verdict::Published;

/// The heads that first covered the leaves that are still of interest, in order.
#[derive(Debug, Default)]
pub(super) struct Publications {
    heads: VecDeque<Published>,
    /// Leaves below this were covered by a head that is forgotten, or was never seen.
    since: u64,
}

impl Publications {
    pub(super) fn new(since: u64) -> Self {
        Self { heads: VecDeque::new(), since }
    }

    pub(super) fn push(&mut self, head: Published) {
        self.heads.push_back(head);
    }

    /// The first head that covers the leaf.
    pub(super) fn covering(&self, index: u64) -> Option<Published> {
        if index < self.since {
            return None;
        }
        self.heads.get(self.heads.partition_point(|head| head.size <= index)).copied()
    }

    /// Forgets the heads that cover only leaves below `index`.
    pub(super) fn forget(&mut self, index: u64) {
        while let Some(head) = self.heads.front().filter(|head| head.size <= index) {
            self.since = head.size;
            self.heads.pop_front();
        }
    }
}
