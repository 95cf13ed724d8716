//! Which parts of its walks a thread keeps at hand, and when it is worth making one.

use crate::scalar::Scalar;
use crate::steps::{BLOCK, BlockScratch, BlockSteps, StrideMultiples};

/// What 256 numbers of a walk have in common, computed together.
pub(crate) trait Block: Default {
    /// Becomes the block whose scalars are `steps.before` and 1, 2, ... 256 strides more.
    fn fill(&mut self, steps: &BlockSteps<'_>, scratch: &mut BlockScratch);
}

/// A few blocks of any walks. A block takes the numbers of one remainder by the stride: 256 neighbours where that is 1.
#[derive(Debug)]
pub(crate) struct Blocks<B> {
    stride: u64,
    /// Of the stride; the base point's own where it is 1.
    multiples: Option<StrideMultiples>,
    held: Vec<Held<B>>,
    /// The place in `held` that was asked for last.
    latest: usize,
    /// Blocks that were asked for and not made, and how often.
    missed: [(Option<Place>, u32); MISSED],
    oldest_missed: usize,
    asked: u64,
    scratch: BlockScratch,
}

#[derive(Debug)]
struct Held<B> {
    place: Place,
    used: u64,
    last_used: u64,
    block: B,
}

/// A block of a walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    start: Scalar,
    remainder: u64,
    number: u64,
}

impl<B: Block> Blocks<B> {
    /// None yet, for numbers that mostly are `stride` apart.
    pub(crate) fn striding(stride: u64) -> Self {
        let stride = stride.max(1);
        Self {
            stride,
            multiples: (stride > 1).then(|| StrideMultiples::of(Scalar::from_u64(stride))),
            held: Vec::new(),
            latest: 0,
            missed: [(None, 0); MISSED],
            oldest_missed: 0,
            asked: 0,
            scratch: BlockScratch::default(),
        }
    }

    /// The block of number `index` of the walk that starts at `start`, and its place there. None where too few numbers near
    /// it were asked for to make up for a block; then the number is to be worked out alone.
    pub(crate) fn find(&mut self, start: Scalar, index: u64) -> Option<(&B, usize)> {
        let (row, remainder) = (index / self.stride, index % self.stride);
        let place = Place { start, remainder, number: row / BLOCK as u64 };
        self.asked += 1;
        let is_latest = self.held.get(self.latest).is_some_and(|held| held.place == place);
        if !is_latest {
            self.latest = match self.held.iter().position(|held| held.place == place) {
                Some(at) => at,
                None => self.make(place)?,
            };
        }
        let held = &mut self.held[self.latest];
        held.used += 1;
        held.last_used = self.asked;
        Some((&held.block, row as usize % BLOCK))
    }

    /// Makes a block if that is worth it: at once where the block before it was, else when it was asked for often enough.
    fn make(&mut self, place: Place) -> Option<usize> {
        let follows = |held: &Held<B>| {
            held.used >= WORTH_IT.into()
                && held.place.number.wrapping_add(1) == place.number
                && (held.place.start, held.place.remainder) == (place.start, place.remainder)
        };
        if !self.held.iter().any(follows) && self.count_miss(place) < WORTH_IT {
            return None;
        }
        let at = self.room(place);
        let Self { held, scratch, multiples, .. } = self;
        let multiples = multiples.as_ref().unwrap_or(StrideMultiples::of_one());
        let stride = Scalar::from_u64(self.stride);
        let first = place.remainder + place.number * BLOCK as u64 * self.stride;
        let before = place.start + Scalar::from_u64(first) - stride;
        held[at].block.fill(&BlockSteps { before, stride, multiples }, scratch);
        Some(at)
    }

    /// How often this block was missed of late, this time included.
    fn count_miss(&mut self, place: Place) -> u32 {
        let known = self.missed.iter().position(|(missed, _)| *missed == Some(place));
        let at = known.unwrap_or_else(|| {
            let at = self.oldest_missed;
            self.oldest_missed = (at + 1) % MISSED;
            self.missed[at] = (Some(place), 0);
            at
        });
        let (_, times) = &mut self.missed[at];
        *times += 1;
        *times
    }

    /// A place for another block: a new one, or that of the one which was not used for longest.
    fn room(&mut self, place: Place) -> usize {
        if self.held.len() < HELD {
            self.held.push(Held { place, used: 0, last_used: 0, block: B::default() });
            return self.held.len() - 1;
        }
        let oldest = self.held.iter().enumerate().min_by_key(|(_, held)| held.last_used);
        let at = oldest.map_or(0, |(at, _)| at);
        (self.held[at].place, self.held[at].used) = (place, 0);
        at
    }
}

impl<B: Block> Default for Blocks<B> {
    fn default() -> Self {
        Self::striding(1)
    }
}

/// Blocks at hand: those of several streams and of callers who are not all equally far.
const HELD: usize = 4;
const MISSED: usize = 8;
/// A block takes as long as some eight numbers that are worked out alone.
const WORTH_IT: u32 = 4;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::Entry;
    use crate::table;

    /// The scalars of its numbers, and how often it was made.
    #[derive(Debug, Default)]
    struct Counted {
        scalars: Vec<Scalar>,
        made: u64,
    }

    impl Block for Counted {
        fn fill(&mut self, steps: &BlockSteps<'_>, scratch: &mut BlockScratch) {
            scratch.walk(steps);
            self.scalars = steps.scalars().collect();
            let expected = table::generator().multiply(self.scalars[7]);
            assert_eq!(scratch.points[7], Entry::new(expected.x.to_limbs(), expected.y.to_limbs()));
            self.made += 1;
        }
    }

    fn start() -> Scalar {
        Scalar::from_limbs([1, 2, 3, 4])
    }

    /// Asks for these numbers; how many were in no block, and how many blocks were made.
    fn ask(blocks: &mut Blocks<Counted>, indices: impl IntoIterator<Item = u64>) -> (u64, u64) {
        let mut alone = 0;
        for index in indices {
            match blocks.find(start(), index) {
                Some((block, at)) => assert_eq!(block.scalars[at], start() + Scalar::from_u64(index)),
                None => alone += 1,
            }
        }
        (alone, blocks.held.iter().map(|held| held.block.made).sum())
    }

    #[test]
    fn numbers_in_order_find_their_blocks_but_for_the_first_few() {
        let few = u64::from(WORTH_IT) - 1;
        assert_eq!(ask(&mut Blocks::striding(1), 0..2_560), (few, 10));
        assert_eq!(ask(&mut Blocks::striding(3), (1..7_680).step_by(3)), (few, 10));
        assert_eq!(ask(&mut Blocks::striding(3), 0..7_680), (3 * few, 30));
        assert_eq!(ask(&mut Blocks::striding(0), 0..256), (few, 1));
        let last = u64::MAX - 300;
        for stride in [1, 2, 3, 1 << 40, u64::MAX] {
            let (alone, _) = ask(&mut Blocks::striding(stride), last..=u64::MAX);
            assert!(alone <= 301);
        }
    }

    #[test]
    fn numbers_far_from_each_other_make_no_block() {
        assert_eq!(ask(&mut Blocks::striding(1), (0..100).map(|far| far * 1_000)), (100, 0));
    }

    #[test]
    fn callers_of_four_blocks_in_turn_keep_them_all() {
        let in_turn = (0..256).flat_map(|index| [0, 3, 6, 9].map(|block| block * 256 + index));
        assert_eq!(ask(&mut Blocks::striding(1), in_turn), (4 * (u64::from(WORTH_IT) - 1), 4));
    }
}
