//! Seeded draws: a pure function of the seed, the number of the request and the purpose.

/// A uniform number in [0, 1).
#[must_use]
pub fn uniform(seed: u64, request: u64, purpose: u64) -> f64 {
    let mixed = mix(mix(mix(seed) ^ request) ^ purpose);
    // 53 bits fill a double's mantissa.
    (mixed >> 11) as f64 / (1_u64 << 53) as f64
}

/// The finalizer of SplitMix64 (Steele, Lea, Flood 2014).
const fn mix(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
