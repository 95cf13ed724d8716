//! How an operation's endpoint is chosen.

use std::cell::Cell;

/// How an operation's endpoint is chosen; the names are gRPC's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Balancing {
    /// One after the other.
    #[default]
    RoundRobin,
    /// Each draw is independent, from the client's seed.
    Random,
    /// The one with the fewest operations in flight from this client; among equals one after the other.
    LeastInFlight,
    /// The first, until a dial to it fails or it is passed over; then the next one, and the first again once names were looked up again.
    PickFirst,
}

impl Balancing {
    /// The policy of that name in a plan.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "round_robin" => Self::RoundRobin,
            "random" => Self::Random,
            "least_in_flight" => Self::LeastInFlight,
            "pick_first" => Self::PickFirst,
            _ => return None,
        })
    }

    /// Its name in a plan.
    pub const fn name(self) -> &'static str {
        match self {
            Self::RoundRobin => "round_robin",
            Self::Random => "random",
            Self::LeastInFlight => "least_in_flight",
            Self::PickFirst => "pick_first",
        }
    }
}

/// A policy and where it stands.
pub(crate) struct Balancer {
    balancing: Balancing,
    turn: Cell<usize>,
    /// It left the first endpoint, whose dial failed.
    has_fallen: Cell<bool>,
    draw: Cell<u64>,
}

impl Balancer {
    pub(crate) fn new(balancing: Balancing, seed: u64) -> Self {
        Self { balancing, turn: Cell::new(0), has_fallen: Cell::new(false), draw: Cell::new(seed) }
    }

    /// The place of the next operation's endpoint among `count` (at least one), of which each has `in_flight` operations.
    pub(crate) fn pick(&self, count: usize, in_flight: impl Fn(usize) -> usize) -> usize {
        if count == 1 {
            return 0;
        }
        match self.balancing {
            Balancing::RoundRobin => self.next_turn() % count,
            Balancing::Random => (self.next_draw() % count as u64) as usize,
            Balancing::LeastInFlight => {
                let first = self.turn.get();
                let places = (0..count).map(|step| (first + step) % count);
                let place = places.min_by_key(|&place| in_flight(place)).unwrap_or(0);
                self.turn.set(place + 1);
                place
            }
            Balancing::PickFirst => self.turn.get() % count,
        }
    }

    /// A dial to the endpoint at `place` of `count` failed.
    pub(crate) fn dial_failed(&self, place: usize, count: usize) {
        if self.balancing == Balancing::PickFirst && self.turn.get() % count == place {
            self.turn.set((place + 1) % count);
            self.has_fallen.set(true);
        }
    }

    /// The endpoints were looked up again: the first of them may be tried again.
    pub(crate) fn looked_up(&self) {
        if self.has_fallen.take() {
            self.turn.set(0);
        }
    }

    /// What follows goes to the next of `count` endpoints; says whether it does.
    pub(crate) fn pass_over(&self, count: usize) -> bool {
        let moves = self.balancing == Balancing::PickFirst && count > 1;
        if moves {
            self.turn.set((self.turn.get() + 1) % count);
            self.has_fallen.set(false);
        }
        moves
    }

    fn next_turn(&self) -> usize {
        let turn = self.turn.get();
        self.turn.set(turn.wrapping_add(1));
        turn
    }

    /// SplitMix64 (Steele, Lea and Flood, 2014).
    fn next_draw(&self) -> u64 {
        let state = self.draw.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.draw.set(state);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(balancer: &Balancer, picks: usize) -> [usize; 4] {
        let mut shares = [0; 4];
        for _ in 0..picks {
            shares[balancer.pick(4, |_| 0)] += 1;
        }
        shares
    }

    #[test]
    fn round_robin_serves_all_alike() {
        assert_eq!(shares(&Balancer::new(Balancing::RoundRobin, 0), 4_000), [1_000; 4]);
    }

    #[test]
    fn random_serves_all_about_alike_and_the_same_for_the_same_seed() {
        let draw = |seed| shares(&Balancer::new(Balancing::Random, seed), 4_000);
        // Five standard deviations of a binomial share of 4,000 draws at 1/4.
        assert!(draw(7).into_iter().all(|share| share.abs_diff(1_000) < 137), "{:?}", draw(7));
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
    }

    #[test]
    fn least_in_flight_takes_the_idlest() {
        let balancer = Balancer::new(Balancing::LeastInFlight, 0);
        let load = [3, 1, 2, 1];
        let picks: Vec<_> = (0..4).map(|_| balancer.pick(4, |place| load[place])).collect();
        assert!(picks.contains(&1) && picks.contains(&3), "{picks:?}");
        assert!(picks.iter().all(|&place| load[place] == 1), "{picks:?}");
    }

    #[test]
    fn pick_first_stays_until_a_dial_to_it_fails() {
        let balancer = Balancer::new(Balancing::PickFirst, 0);
        assert_eq!(shares(&balancer, 10), [10, 0, 0, 0]);
        balancer.dial_failed(2, 4);
        assert_eq!(balancer.pick(4, |_| 0), 0);
        balancer.dial_failed(0, 4);
        assert_eq!(shares(&balancer, 10), [0, 10, 0, 0]);
        assert!(balancer.pass_over(4) && !balancer.pass_over(1));
        assert_eq!(shares(&balancer, 10), [0, 0, 10, 0]);
        assert!(!Balancer::new(Balancing::RoundRobin, 0).pass_over(4));
    }

    #[test]
    fn pick_first_starts_over_with_a_look_up_where_a_dial_had_moved_it() {
        let balancer = Balancer::new(Balancing::PickFirst, 0);
        balancer.dial_failed(0, 4);
        balancer.looked_up();
        assert_eq!(shares(&balancer, 10), [10, 0, 0, 0]);
        balancer.pass_over(4);
        balancer.looked_up();
        assert_eq!(shares(&balancer, 10), [0, 10, 0, 0], "what passed one over has its reasons");
    }

    #[test]
    fn every_policy_is_found_by_its_name() {
        for policy in
            [Balancing::RoundRobin, Balancing::Random, Balancing::LeastInFlight, Balancing::PickFirst]
        {
            assert_eq!(Balancing::from_name(policy.name()), Some(policy));
        }
        assert_eq!(Balancing::from_name("sticky"), None);
    }
}
