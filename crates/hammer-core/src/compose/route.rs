//! Which part an operation belongs to.

/// Says which part each operation belongs to: a pure function of its sequence number.
pub trait Route: Send + Sync + 'static {
    /// The part's place, and the operation's number there.
    fn of(&self, seq: u64) -> (usize, u64);
}

/// To so many parts in turn: the operations of each are numbered from 0 without a hole.
#[derive(Clone, Copy, Debug)]
pub struct InTurn {
    parts: u64,
}

impl InTurn {
    /// To so many parts, one at least.
    pub fn among(parts: usize) -> Self {
        Self { parts: parts.max(1) as u64 }
    }
}

impl Route for InTurn {
    fn of(&self, seq: u64) -> (usize, u64) {
        ((seq % self.parts) as usize, seq / self.parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_turn_each_part_gets_a_row_without_holes() {
        let route = InTurn::among(3);
        let rows: Vec<_> = (0..7).map(|seq| route.of(seq)).collect();
        assert_eq!(rows, [(0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (2, 1), (0, 2)]);
    }
}
