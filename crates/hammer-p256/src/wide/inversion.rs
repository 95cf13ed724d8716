//! Inverses of all lanes by one inversion.

use super::element::{Wide, WideModulus};

/// The inverse of each lane; none if one is 0.
#[inline(always)]
pub(super) fn invert<M: WideModulus>(value: Wide<M>) -> Option<Wide<M>> {
    let pairs = value * value.swap(1);
    let fours = pairs * pairs.swap(2);
    let all = (fours * fours.swap(4)).lane(0);
    // From the product of all lanes the others are taken out again.
    if all.is_zero() {
        return None;
    }
    let inverse = Wide::splat_residue(value.ifma(), all.invert());
    Some(inverse * fours.swap(4) * pairs.swap(2) * value.swap(1))
}
