//! Draws as pure functions of a seed and an index, so that any shard can make any of them.

/// A stream of draws.
#[derive(Clone, Copy, Debug)]
pub struct Draws {
    key: u64,
}

impl Draws {
    /// The stream of that seed and label.
    pub fn new(seed: u64, label: u64) -> Self {
        Self { key: mix(seed ^ mix(label)) }
    }

    /// The `index`-th draw, uniform over all 64 bits.
    pub fn bits(self, index: u64) -> u64 {
        mix(self.key.wrapping_add(index.wrapping_mul(GOLDEN)))
    }

    /// The `index`-th draw, uniform in [0, 1).
    pub fn unit(self, index: u64) -> f64 {
        (self.bits(index) >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// How popular the first, second and so on of a number of things are.
#[derive(Clone, Debug)]
pub struct Popularity {
    /// The shares of the first so many, added up: the last is 1.
    up_to: Vec<f64>,
}

impl Popularity {
    /// The r-th of `count`, at least one, is drawn in proportion to r to the power of minus `exponent`.
    pub fn zipf(count: usize, exponent: f64) -> Self {
        let mut sum = 0.0;
        let mut up_to: Vec<f64> = (1..=count)
            .map(|rank| {
                sum += (rank as f64).powf(-exponent);
                sum
            })
            .collect();
        up_to.iter_mut().for_each(|share| *share /= sum);
        Self { up_to }
    }

    /// The place, from 0, that a uniform draw in [0, 1) stands for.
    pub fn place(&self, unit: f64) -> usize {
        self.up_to.partition_point(|share| *share <= unit).min(self.up_to.len().saturating_sub(1))
    }
}

/// The finaliser of SplitMix64 (Steele, Lea and Flood, 2014).
const fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(GOLDEN);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_uniform_in_the_long_run() {
        let draws = Draws::new(7, 1);
        let below = (0..100_000).filter(|index| draws.unit(*index) < 0.3).count();
        assert!((29_500..30_500).contains(&below), "{below}");
    }

    #[test]
    fn streams_differ_by_seed_and_label() {
        let first: Vec<u64> = (0..8).map(|index| Draws::new(1, 1).bits(index)).collect();
        let other: Vec<u64> = (0..8).map(|index| Draws::new(1, 2).bits(index)).collect();
        let third: Vec<u64> = (0..8).map(|index| Draws::new(2, 1).bits(index)).collect();
        assert!(first != other && first != third && other != third);
    }
}
