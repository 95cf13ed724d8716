//! The leaves that a log takes, by their NotAfter.

/// From `start` to before `limit`, in seconds since the Unix epoch; a side that is `None` has no bound. It is the
/// `temporal_interval` of log lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// The first second that the log takes.
    pub start: Option<u64>,
    /// The first after it that it does not take any more.
    pub limit: Option<u64>,
}

impl Window {
    /// All leaves.
    pub const ALL: Self = Self { start: None, limit: None };

    /// Whether the log takes a leaf whose last valid second is `not_after`.
    pub fn holds(&self, not_after: u64) -> bool {
        self.start.is_none_or(|start| start <= not_after) && self.limit.is_none_or(|limit| not_after < limit)
    }
}

/// The first second from `from` through `to` that none of the windows holds.
pub(crate) fn gap(windows: &[Window], from: u64, to: u64) -> Option<u64> {
    let mut second = from;
    while second <= to {
        let held = windows.iter().filter(|window| window.holds(second));
        match held.map(|window| window.limit.unwrap_or(u64::MAX)).max() {
            None => return Some(second),
            Some(u64::MAX) => return None,
            Some(limit) => second = limit,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(start: u64, limit: u64) -> Window {
        Window { start: Some(start), limit: Some(limit) }
    }

    #[test]
    fn a_window_begins_with_its_start_and_ends_before_its_limit() {
        let held: Vec<u64> = (0..9).filter(|second| window(3, 6).holds(*second)).collect();
        assert_eq!(held, [3, 4, 5]);
        assert!(Window::ALL.holds(0) && Window::ALL.holds(u64::MAX));
    }

    #[test]
    fn a_gap_is_found_whatever_the_order_of_the_windows() {
        assert_eq!(gap(&[window(10, 20), window(0, 10)], 0, 19), None);
        assert_eq!(gap(&[window(10, 20), window(0, 10)], 0, 20), Some(20));
        assert_eq!(gap(&[window(11, 20), window(0, 10)], 0, 19), Some(10));
        assert_eq!(gap(&[window(5, 15), window(0, 10), window(12, 30)], 0, 29), None);
        assert_eq!(gap(&[window(5, 15)], 4, 4), Some(4));
        assert_eq!(gap(&[Window { start: Some(5), limit: None }], 5, u64::MAX), None);
        assert_eq!(gap(&[], 7, 7), Some(7));
    }
}
