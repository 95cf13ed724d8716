use hammer_tlog::logs::merkle::path_is_enough;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// In which order a tree is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReadPattern {
    /// Anywhere: the tile of a leaf that is drawn.
    #[default]
    Random,
    /// From the first leaf to the last, over and over.
    Sequential,
    /// From the last leaf of the tree as it is to the first, over and over.
    NewestFirst,
}

/// Where in the tree a read is: of which leaf depends on the tree as it is.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// The order.
    pub pattern: ReadPattern,
    /// How many reads of the kind come before this one.
    pub rank: u64,
    /// Drawn for this read.
    pub draw: u64,
}

impl Place {
    /// The first leaf of what is read, in stretches of `width` leaves of a tree of `size`; neither is 0.
    pub fn first_leaf(self, width: u64, size: u64) -> u64 {
        let stretches = size.div_ceil(width);
        let stretch = match self.pattern {
            ReadPattern::Random => self.draw % size / width,
            ReadPattern::Sequential => self.rank % stretches,
            ReadPattern::NewestFirst => stretches - 1 - self.rank % stretches,
        };
        stretch * width
    }
}

/// The leaves whose audit paths lead `count` leaves from `start` on up to the root of a tree of `size`.
pub fn ends(start: u64, count: u64, size: u64) -> Vec<u64> {
    match start {
        _ if path_is_enough(start, count, size) => vec![start],
        0 => vec![count - 1],
        _ => vec![start, start + count - 1],
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
