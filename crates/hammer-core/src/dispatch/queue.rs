//! The bounded backlog.

use std::collections::VecDeque;

/// Operations that wait for a slot, first in, first out.
#[derive(Debug)]
pub(super) struct Backlog<J> {
    waiting: VecDeque<J>,
    capacity: usize,
}

impl<J> Backlog<J> {
    pub(super) fn with_capacity(capacity: usize) -> Self {
        Self { waiting: VecDeque::new(), capacity }
    }

    pub(super) fn is_full(&self) -> bool {
        self.waiting.len() >= self.capacity
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// The caller made sure that it is not full, or that it is taken out at once.
    pub(super) fn push(&mut self, job: J) {
        self.waiting.push_back(job);
    }

    pub(super) fn pop(&mut self) -> Option<J> {
        self.waiting.pop_front()
    }
}
