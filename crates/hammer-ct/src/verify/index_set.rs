//! Which indices were promised, in little memory however long the run.

use std::collections::{BTreeMap, HashMap};

/// Indices, a bit each in pages, and what is complete as ranges. A log gives them out one after another, so that few pages
/// are incomplete at a time.
#[derive(Debug, Default)]
pub(super) struct IndexSet {
    pages: HashMap<u64, Page>,
    /// Pages of which every index is in the set: first of each range, and the one behind its last.
    full: BTreeMap<u64, u64>,
}

#[derive(Debug)]
struct Page {
    words: Box<[u64; PAGE_WORDS]>,
    missing: u64,
}

impl IndexSet {
    /// Whether `index` is new. One for which there is no room left counts as new.
    pub(super) fn insert(&mut self, index: u64) -> bool {
        let number = index / PAGE_INDICES;
        if self.is_full(number) {
            return false;
        }
        if self.pages.len() >= MOST_PAGES && !self.pages.contains_key(&number) {
            return true;
        }
        let page = self.pages.entry(number).or_insert_with(Page::empty);
        let is_new = page.insert(index % PAGE_INDICES);
        if page.missing == 0 && self.full.len() < MOST_PAGES {
            self.pages.remove(&number);
            self.fill(number);
        }
        is_new
    }

    fn is_full(&self, page: u64) -> bool {
        self.full.range(..=page).next_back().is_some_and(|(_, end)| page < *end)
    }

    /// Adds a page to the ranges, and joins those that it closes up.
    fn fill(&mut self, page: u64) {
        let end = self.full.remove(&(page + 1)).unwrap_or(page + 1);
        match self.full.range_mut(..page).next_back().filter(|(_, before)| **before == page) {
            Some((_, before)) => *before = end,
            None => {
                self.full.insert(page, end);
            }
        }
    }
}

impl Page {
    fn empty() -> Self {
        Self { words: Box::new([0; PAGE_WORDS]), missing: PAGE_INDICES }
    }

    fn insert(&mut self, place: u64) -> bool {
        let word = &mut self.words[(place / 64) as usize];
        let bit = 1 << (place % 64);
        let is_new = *word & bit == 0;
        *word |= bit;
        self.missing -= u64::from(is_new);
        is_new
    }
}

const PAGE_WORDS: usize = 512;
const PAGE_INDICES: u64 = 64 * PAGE_WORDS as u64;
/// 64 MiB.
const MOST_PAGES: usize = 16_384;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_is_new_once() {
        let mut set = IndexSet::default();
        for index in [0, 1, 63, 64, PAGE_INDICES - 1, PAGE_INDICES, u64::MAX] {
            assert!(set.insert(index) && !set.insert(index), "{index}");
        }
        assert_eq!(set.pages.len(), 3);
    }

    #[test]
    fn scattered_indices_do_not_fill_the_memory() {
        let mut set = IndexSet::default();
        for page in 0..2 * MOST_PAGES as u64 {
            assert!(set.insert(page * PAGE_INDICES));
        }
        assert_eq!(set.pages.len(), MOST_PAGES);
        assert!(!set.insert(0));
    }

    #[test]
    fn two_million_indices_that_come_nearly_in_order_take_a_page_or_two() {
        let mut set = IndexSet::default();
        let pages_at_once = (0..2_000_896_u64).map(|index| {
            // Batches of 256 that come in any order within a thousand.
            assert!(set.insert(index ^ 0x2ff), "{index}");
            set.pages.len()
        });
        assert!(pages_at_once.max() <= Some(2));
        assert!(!set.insert(0) && !set.insert(2_000_895) && !set.insert(1_234_567));
        assert_eq!(set.full.len(), 1);
    }

    #[test]
    fn complete_pages_are_joined_in_whatever_order_they_are_completed() {
        let mut set = IndexSet::default();
        for page in [4, 2, 0, 3, 1, 9] {
            assert!((0..PAGE_INDICES).all(|place| set.insert(page * PAGE_INDICES + place)), "{page}");
        }
        assert_eq!(set.full, BTreeMap::from([(0, 5), (9, 10)]));
        assert!(set.pages.is_empty() && !set.insert(5 * PAGE_INDICES - 1) && set.insert(5 * PAGE_INDICES));
    }
}
