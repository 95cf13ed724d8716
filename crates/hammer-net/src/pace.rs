//! How much is read at once of a connection that carries many answers, so that each has the instant at which it came.
//!
//! The kernel stamps a read with the arrival of its last byte. A thread that is woken in time reads what came just now; one that was
//! held up finds answers of long ago and of just now in one buffer, and would have all of them come last.

use hammer_measure::Nanos;

use crate::receive::Received;

/// How a connection is read from now on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pace {
    /// A little, to see how long it has been there.
    Look,
    /// All that is there: it came just now.
    All,
    /// A little at a time, `most` bytes, each noted before the next: it has been there for long.
    Late { most: usize, arrived: Nanos, yields: bool },
}

impl Pace {
    /// The most that is to be read at once, in bytes.
    pub(crate) fn most(self) -> usize {
        match self {
            Self::Look => LITTLE,
            Self::All => usize::MAX,
            Self::Late { most, .. } => most,
        }
    }

    /// Whether the reader is to let others have their turn first; says so once behind each read.
    pub(crate) fn yields(&mut self) -> bool {
        match self {
            Self::Late { yields, .. } => std::mem::take(yields),
            _ => false,
        }
    }

    /// There is nothing more to read now.
    pub(crate) fn rests(&mut self) {
        *self = Self::Look;
    }

    pub(crate) fn read(&mut self, received: &Received) {
        if *self == Self::All {
            return;
        }
        let is_late = received.is_stamped && received.read.since(received.arrived) > LATE;
        *self = if is_late { self.late(received) } else { Self::All };
    }

    /// What came together is read in ever larger parts.
    fn late(self, received: &Received) -> Self {
        let most = match self {
            Self::Late { most, arrived, .. } if received.arrived.since(arrived) < TOGETHER => {
                (most * 2).min(MUCH)
            }
            _ => LITTLE,
        };
        Self::Late { most, arrived: received.arrived, yields: true }
    }
}

/// Less than two answers of any size, in bytes: a frame's head and its first fields.
const LITTLE: usize = 64;
/// In bytes; a read within one burst of a large answer.
const MUCH: usize = 16 << 10;
/// How long an answer may have lain there until each byte's arrival is looked at.
const LATE: Nanos = Nanos::from_millis(1);
/// What came within this span came at once.
const TOGETHER: Nanos = Nanos::from_micros(100);

#[cfg(test)]
mod tests {
    use super::*;

    const MICRO: u64 = 1_000;

    fn received(arrived: u64, read: u64) -> Received {
        Received { bytes: 64, arrived: Nanos(arrived), read: Nanos(read), is_stamped: true }
    }

    #[test]
    fn what_came_just_now_is_read_at_once() {
        let mut pace = Pace::Look;
        assert_eq!(pace.most(), LITTLE);
        pace.read(&received(10 * MICRO, 40 * MICRO));
        assert_eq!((pace.most(), pace.yields()), (usize::MAX, false));
        pace.rests();
        assert_eq!(pace, Pace::Look);
    }

    #[test]
    fn what_lay_there_for_long_is_read_by_little_and_noted_in_between() {
        let (mut pace, now) = (Pace::Look, 900_000 * MICRO);
        pace.read(&received(10_000 * MICRO, now));
        assert_eq!((pace.most(), pace.yields(), pace.yields()), (LITTLE, true, false));
        pace.read(&received(10_020 * MICRO, now));
        assert_eq!((pace.most(), pace.yields()), (LITTLE * 2, true), "it is of the same burst");
        pace.read(&received(60_000 * MICRO, now));
        assert_eq!(pace.most(), LITTLE, "another answer");
        pace.read(&received(899_500 * MICRO, now));
        assert_eq!(pace, Pace::All, "it has caught up");
    }

    #[test]
    fn without_stamps_nothing_is_gained_by_reading_little() {
        let mut pace = Pace::Look;
        pace.read(&Received { is_stamped: false, ..received(0, 900_000 * MICRO) });
        assert_eq!(pace, Pace::All);
    }
}
