//! A mix by weights.

use crate::compose::route::Route;
use crate::draw::Draws;

/// Which kind each operation is of, and the how-manieth of its kind: in each round of as many operations as the weights sum up
/// to, every kind has exactly its weight, and each round starts elsewhere.
#[derive(Clone, Debug)]
pub struct WeightedMix {
    /// The places of each kind in a round, in order.
    places: Vec<Vec<u32>>,
    /// The kind at each place.
    slots: Vec<u8>,
    starts: Draws,
}

impl WeightedMix {
    /// The mix of kinds with these weights, at least one of which is not 0; 256 kinds at most.
    pub fn new(weights: &[u16], draws: Draws) -> Self {
        let common = weights.iter().fold(0, |common, weight| gcd(*weight, common)).max(1);
        let mut slots: Vec<u8> = (0..=u8::MAX)
            .zip(weights)
            .flat_map(|(kind, weight)| std::iter::repeat_n(kind, (weight / common).into()))
            .collect();
        for place in (1..slots.len()).rev() {
            slots.swap(place, (draws.bits(place as u64) % (place as u64 + 1)) as usize);
        }
        let mut places = vec![Vec::new(); weights.len()];
        (0..).zip(&slots).for_each(|(place, kind)| places[usize::from(*kind)].push(place));
        Self { places, starts: Draws::new(draws.bits(0), slots.len() as u64), slots }
    }

    /// Of a round, how many operations are of that kind.
    pub fn share_of(&self, kind: usize) -> usize {
        self.places[kind].len()
    }
}

impl Route for WeightedMix {
    fn of(&self, seq: u64) -> (usize, u64) {
        let length = self.slots.len() as u64;
        let (round, turn) = (seq / length, seq % length);
        let start = self.starts.bits(round) % length;
        let slot = (start + turn) % length;
        let kind = usize::from(self.slots[slot as usize]);
        let places = &self.places[kind];
        let before = |place: u64| places.partition_point(|other| u64::from(*other) < place) as u64;
        let weight = places.len() as u64;
        // Places from the start on come first, then those before it.
        let within = if slot >= start { before(slot) } else { before(slot) + weight } - before(start);
        (kind, round * weight + within)
    }
}

fn gcd(one: u16, other: u16) -> u16 {
    if other == 0 { one } else { gcd(other, one % other) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_round_has_each_kind_by_its_weight_and_counts_it_in_order() {
        let mix = WeightedMix::new(&[20, 60, 0, 100], Draws::new(7, 1));
        let mut seen = [0; 4];
        for round in 1..50 {
            for seq in (round - 1) * 9..round * 9 {
                let (kind, rank) = mix.of(seq);
                assert_eq!(rank, seen[kind], "{seq}");
                seen[kind] += 1;
            }
            assert_eq!(seen, [round, 3 * round, 0, 5 * round]);
        }
    }

    #[test]
    fn every_shard_meets_every_kind() {
        let mix = WeightedMix::new(&[1, 1], Draws::new(7, 1));
        for shard in 0..2 {
            let second = (0..100).filter(|turn| mix.of(2 * turn + shard).0 == 1).count();
            assert!((30..70).contains(&second), "{second}");
        }
    }
}
