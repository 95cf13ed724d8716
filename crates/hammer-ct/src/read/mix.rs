use hammer_core::draw::Draws;

use crate::plan::ReadKind;

/// Which kind each read is of, and the how-manieth of its kind: in each round of as many reads as the weights sum up to,
/// every kind has exactly its weight, and each round begins elsewhere.
#[derive(Debug)]
pub(super) struct Mix {
    kinds: Vec<ReadKind>,
    /// The places of each kind in a round, in order.
    places: Vec<Vec<u32>>,
    /// The kind at each place.
    slots: Vec<u8>,
    begins: Draws,
}

impl Mix {
    /// The mix of these weights, each of 1 at least.
    pub(super) fn new(weights: Vec<(ReadKind, u16)>, draws: Draws) -> Self {
        let common = weights.iter().fold(0, |common, (_, weight)| gcd(*weight, common)).max(1);
        let mut slots: Vec<u8> = (0..)
            .zip(&weights)
            .flat_map(|(kind, (_, weight))| std::iter::repeat_n(kind, (weight / common).into()))
            .collect();
        for place in (1..slots.len()).rev() {
            slots.swap(place, (draws.bits(place as u64) % (place as u64 + 1)) as usize);
        }
        let mut places = vec![Vec::new(); weights.len()];
        (0..).zip(&slots).for_each(|(place, kind)| places[usize::from(*kind)].push(place));
        let kinds = weights.into_iter().map(|(kind, _)| kind).collect();
        Self { kinds, places, begins: Draws::new(draws.bits(0), slots.len() as u64), slots }
    }

    pub(super) fn kinds(&self) -> &[ReadKind] {
        &self.kinds
    }

    /// Which of the kinds the read `seq` is of, and how many of that kind come before it.
    pub(super) fn of(&self, seq: u64) -> (usize, u64) {
        let length = self.slots.len() as u64;
        let (round, turn) = (seq / length, seq % length);
        let begin = self.begins.bits(round) % length;
        let slot = (begin + turn) % length;
        let kind = usize::from(self.slots[slot as usize]);
        let places = &self.places[kind];
        let before = |place: u64| places.partition_point(|other| u64::from(*other) < place) as u64;
        let weight = places.len() as u64;
        // Places from the begin on come first, then those before it.
        let within = if slot >= begin { before(slot) } else { before(slot) + weight } - before(begin);
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
        let weights = vec![(ReadKind::Checkpoint, 20), (ReadKind::Tile, 60), (ReadKind::Bundle, 100)];
        let mix = Mix::new(weights, Draws::new(7, 1));
        let mut seen = [0; 3];
        for round in 1..50 {
            for seq in (round - 1) * 9..round * 9 {
                let (kind, rank) = mix.of(seq);
                assert_eq!(rank, seen[kind], "{seq}");
                seen[kind] += 1;
            }
            assert_eq!(seen, [round, 3 * round, 5 * round]);
        }
    }

    #[test]
    fn every_shard_meets_every_kind() {
        let mix = Mix::new(vec![(ReadKind::Checkpoint, 1), (ReadKind::Tile, 1)], Draws::new(7, 1));
        for shard in 0..2 {
            let tiles = (0..100).filter(|turn| mix.of(2 * turn + shard).0 == 1).count();
            assert!((30..70).contains(&tiles), "{tiles}");
        }
    }
}
