use hammer_tlog::logs::merkle::Hash;

/// Hashes that were seen, so many that draws differ.
#[derive(Debug, Default)]
pub struct SeenHashes(Vec<Hash>);

impl SeenHashes {
    /// Keeps a hash, in the place of one that `draw` says where there is no more room.
    pub fn add(&mut self, hash: Hash, draw: u64) {
        if self.0.contains(&hash) {
            return;
        }
        match self.0.len() {
            MOST_SEEN => self.0[(draw % MOST_SEEN as u64) as usize] = hash,
            _ => self.0.push(hash),
        }
    }

    /// The hash that `draw` says; none where none was seen.
    pub fn any(&self, draw: u64) -> Option<Hash> {
        self.0.get((draw % (self.0.len() as u64).max(1)) as usize).copied()
    }
}

const MOST_SEEN: usize = 512;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_seen_is_drawn_and_no_more_than_its_bound_is_kept() {
        let mut seen = SeenHashes::default();
        assert_eq!(seen.any(7), None);
        for number in 0..2 * MOST_SEEN as u64 {
            let mut hash = [0; 32];
            hash[..8].copy_from_slice(&number.to_be_bytes());
            seen.add(Hash(hash), number);
            seen.add(Hash(hash), number);
        }
        assert_eq!(seen.0.len(), MOST_SEEN);
        assert_eq!(seen.any(3), seen.any(3 + MOST_SEEN as u64));
    }
}
