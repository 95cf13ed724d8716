//! Any order of events: what must hold after each of them.

use std::collections::VecDeque;

use super::*;

/// SplitMix64 (Steele, Lea and Flood, 2014).
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % bound.max(1) as u64) as usize
    }

    fn one_of<T>(&mut self, all: &mut Vec<T>) -> Option<T> {
        (!all.is_empty()).then(|| all.swap_remove(self.below(all.len())))
    }
}

/// What a world outside would know: who has what, and who waits since when.
struct World {
    admission: Admission<()>,
    draw: Draw,
    streams: Vec<ConnectionId>,
    dials: usize,
    waiting: VecDeque<Ticket>,
    connections: Vec<(ConnectionId, usize)>,
    most: usize,
}

impl World {
    fn new(seed: u64) -> Self {
        let most = 1 + seed as usize % 4;
        Self {
            admission: Admission::new(most, 1 + seed as usize / 4 % 3),
            draw: Draw(seed),
            streams: Vec::new(),
            dials: 0,
            waiting: VecDeque::new(),
            connections: Vec::new(),
            most,
        }
    }

    fn take(&mut self, admitted: &Admitted<()>) {
        match admitted {
            Admitted::Stream(id, ()) => self.streams.push(*id),
            Admitted::Dial => self.dials += 1,
        }
    }

    fn ask(&mut self) {
        match self.admission.ask() {
            Ok(admitted) => {
                assert!(self.waiting.iter().all(|ticket| self.is_served(ticket)), "somebody was overtaken");
                self.take(&admitted);
            }
            Err(ticket) => self.waiting.push_back(ticket),
        }
    }

    fn is_served(&self, ticket: &Ticket) -> bool {
        self.admission.waiters[ticket.0].admitted.is_some()
    }

    /// One of those who were given something looks at it.
    fn look(&mut self) {
        let served: Vec<_> =
            (0..self.waiting.len()).filter(|&place| self.is_served(&self.waiting[place])).collect();
        if served.is_empty() {
            return;
        }
        let ticket = self.waiting.remove(served[self.draw.below(served.len())]).unwrap();
        let Poll::Ready(admitted) = self.admission.poll(&ticket, &Context::from_waker(Waker::noop())) else {
            panic!("it was given something");
        };
        self.take(&admitted);
    }

    fn dial_ends(&mut self) {
        if self.dials == 0 {
            return;
        }
        self.dials -= 1;
        if self.draw.below(3) == 0 {
            return self.admission.give_back(&Admitted::Dial);
        }
        let id = self.admission.dialled((), 1);
        self.connections.push((id, 1));
        self.streams.push(id);
    }

    fn change_limit(&mut self) {
        let place = self.draw.below(self.connections.len());
        let limit = self.draw.below(4);
        if let Some(connection) = self.connections.get_mut(place) {
            connection.1 = limit;
            self.admission.set_limit(connection.0, limit);
        }
    }

    fn step(&mut self) {
        match self.draw.below(10) {
            0..=2 => self.ask(),
            3 | 4 => {
                if let Some(id) = self.draw.one_of(&mut self.streams) {
                    self.admission.release(id);
                }
            }
            5 => self.dial_ends(),
            6 => self.change_limit(),
            7 => {
                let place = self.draw.below(self.waiting.len());
                if let Some(ticket) = self.waiting.remove(place) {
                    self.admission.abandon(&ticket);
                }
            }
            8 if self.draw.below(4) == 0 => {
                if let Some((id, _)) = self.draw.one_of(&mut self.connections) {
                    assert!(self.admission.retire(id).is_some());
                }
            }
            _ => self.look(),
        }
    }

    fn check(&self) {
        let admission = &self.admission;
        let is_full = |streams: &OpenStreams<()>| streams.in_flight >= streams.limit;
        let is_idle_room = admission.count() < self.most || !admission.open.iter().all(is_full);
        assert!(admission.queue.is_empty() || !is_idle_room, "somebody waits in spite of room");
        assert!(admission.count() <= self.most);
        let given: Vec<_> =
            self.waiting.iter().filter_map(|ticket| admission.waiters[ticket.0].admitted.as_ref()).collect();
        let dials = given.iter().filter(|given| matches!(given, Admitted::Dial)).count();
        assert_eq!(admission.dialling, self.dials + dials);
        for streams in &admission.open {
            let has = |given: &&&Admitted<()>| matches!(given, Admitted::Stream(id, ()) if *id == streams.id);
            let held = self.streams.iter().filter(|id| **id == streams.id).count();
            assert_eq!(streams.in_flight, held + given.iter().filter(has).count());
        }
        let places: Vec<_> = self.waiting.iter().filter(|ticket| !self.is_served(ticket)).collect();
        assert!(places.iter().map(|ticket| ticket.0).eq(admission.queue.iter().copied()), "out of order");
    }
}

#[test]
fn whatever_happens_nobody_waits_beside_room_and_the_order_is_kept() {
    for seed in 0..400 {
        let mut world = World::new(seed);
        for _ in 0..400 {
            let before: Vec<_> =
                world.admission.open.iter().map(|streams| (streams.id, streams.in_flight)).collect();
            world.step();
            world.check();
            for (id, in_flight) in before {
                let grown = world.admission.open.iter().find(|now| now.id == id && now.in_flight > in_flight);
                assert!(grown.is_none_or(|now| now.in_flight <= now.limit), "a stream beyond the limit");
            }
        }
    }
}

#[test]
fn a_place_in_the_queue_is_used_again() {
    let mut admission = Admission::<()>::new(1, 1);
    assert!(matches!(admission.ask(), Ok(Admitted::Dial)));
    for _ in 0..100 {
        let ticket = admission.ask().unwrap_err();
        admission.abandon(&ticket);
    }
    assert_eq!((admission.waiters.len(), admission.queue.len()), (1, 0));
}

#[test]
fn streams_are_spread_evenly_over_as_many_connections_as_are_wanted() {
    let mut admission: Admission<()> = Admission::new(3, 3);
    let ids: Vec<ConnectionId> = (0..3)
        .map(|_| {
            assert!(matches!(admission.ask(), Ok(Admitted::Dial)), "before a connection has a second stream");
            admission.dialled((), 10)
        })
        .collect();
    assert_eq!(admission.count(), 3);
    let mut given: Vec<Admitted<()>> = Vec::new();
    let mut counts = [0; 3];
    for _ in 0..27 {
        let Ok(one) = admission.ask() else { panic!("there is room") };
        let Admitted::Stream(id, ()) = &one else { panic!("there are enough connections") };
        counts[ids.iter().position(|known| known == id).unwrap()] += 1;
        given.push(one);
    }
    assert_eq!(counts, [9; 3], "each has its own besides");
    assert!(admission.ask().is_err(), "all have as many as they may");
}

#[test]
fn who_comes_one_at_a_time_goes_round_where_streams_are_spread() {
    let mut admission: Admission<()> = Admission::new(4, 2);
    let ids = [admission.add((), 5), admission.add((), 5)];
    let mut counts = [0; 2];
    for _ in 0..10 {
        let Ok(Admitted::Stream(id, ())) = admission.ask() else { panic!("there is room") };
        counts[ids.iter().position(|known| *known == id).unwrap()] += 1;
        admission.release(id);
    }
    assert_eq!(counts, [5, 5]);
}
