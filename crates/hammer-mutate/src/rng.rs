/// Draws from a seed: SplitMix64 (Steele, Lea and Flood, 2014).
#[derive(Clone, Debug)]
pub struct Rng {
    state: u64,
}

impl Rng {
    pub(crate) fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next draw, uniform over all 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let value = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        value ^ (value >> 31)
    }

    /// A draw below `bound`; 0 where the bound is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.bits() % (bound.max(1) as u64)) as usize
    }

    /// Whether a draw of one in `many` hits.
    pub fn one_in(&mut self, many: usize) -> bool {
        self.below(many) == 0
    }

    /// One of `choices`, which are not none.
    pub fn of<'a, T: ?Sized>(&mut self, choices: &[&'a T]) -> &'a T {
        choices[self.below(choices.len())]
    }

    /// A stretch of a slice of `length`, mostly short.
    pub(crate) fn stretch(&mut self, length: usize) -> std::ops::Range<usize> {
        let start = self.below(length);
        let most = if self.one_in(8) { length } else { 16 };
        let end = (start + 1 + self.below(most)).min(length);
        start.min(end)..end
    }

    /// So many random bytes.
    pub fn some_bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.bits() as u8).collect()
    }
}
