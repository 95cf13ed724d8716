use crate::plan::ReadPattern;

/// Where in the tree a read is: of which leaf depends on the tree as it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) pattern: ReadPattern,
    /// How many reads of the kind come before this one.
    pub(super) rank: u64,
    pub(super) draw: u64,
}

impl Place {
    /// The first leaf of what is read, in stretches of `width` leaves of a tree of `size`; neither is 0.
    pub(super) fn first_leaf(self, width: u64, size: u64) -> u64 {
        let stretches = size.div_ceil(width);
        let stretch = match self.pattern {
            ReadPattern::Random => self.draw % size / width,
            ReadPattern::Sequential => self.rank % stretches,
            ReadPattern::NewestFirst => stretches - 1 - self.rank % stretches,
        };
        stretch * width
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaves(pattern: ReadPattern) -> Vec<u64> {
        (0..6).map(|rank| Place { pattern, rank, draw: rank * 3 }.first_leaf(4, 11)).collect()
    }

    #[test]
    fn a_tree_is_read_from_end_to_end_over_and_over() {
        assert_eq!(leaves(ReadPattern::Sequential), [0, 4, 8, 0, 4, 8]);
        assert_eq!(leaves(ReadPattern::NewestFirst), [8, 4, 0, 8, 4, 0]);
        assert_eq!(leaves(ReadPattern::Random), [0, 0, 4, 8, 0, 4]);
    }
}
