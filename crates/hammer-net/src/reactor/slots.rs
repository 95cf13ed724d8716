//! Which socket an event belongs to.

use std::rc::Rc;

use super::readiness::Readiness;

/// The sockets of an epoll by their tokens: an index, and above it the generation of that index.
#[derive(Default)]
pub(super) struct Slots {
    slots: Vec<Slot>,
    free: Vec<u32>,
}

#[derive(Default)]
struct Slot {
    /// How often the slot was emptied. An event that an earlier socket left behind has an earlier one.
    generation: u32,
    readiness: Option<Rc<Readiness>>,
}

impl Slots {
    /// The token for a new socket.
    pub(super) fn insert(&mut self, readiness: Rc<Readiness>) -> u64 {
        let index = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot::default());
            self.slots.len() as u32 - 1
        });
        let slot = &mut self.slots[index as usize];
        slot.readiness = Some(readiness);
        u64::from(slot.generation) << 32 | u64::from(index)
    }

    /// The socket of that token, unless it is gone.
    pub(super) fn get(&self, token: u64) -> Option<&Rc<Readiness>> {
        let slot = self.slots.get(index(token))?;
        slot.readiness.as_ref().filter(|_| u64::from(slot.generation) == token >> 32)
    }

    pub(super) fn remove(&mut self, token: u64) {
        let slot = &mut self.slots[index(token)];
        slot.readiness = None;
        slot.generation = slot.generation.wrapping_add(1);
        self.free.push(index(token) as u32);
    }
}

fn index(token: u64) -> usize {
    token as u32 as usize
}
