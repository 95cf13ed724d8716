//! Which of several logs an operation goes to: a pure function of its sequence number.

use std::sync::Arc;

use hammer_core::compose::{InTurn, Route};

use crate::error::CtError;
use crate::log::LogTarget;
use crate::submit::chains::Chains;
use crate::window::Window;

/// Which of several logs an operation goes to.
#[derive(Clone, Debug)]
pub struct LogRoute(Choice);

#[derive(Clone, Debug)]
enum Choice {
    InTurn(InTurn),
    ByNotAfter { windows: Arc<[Window]>, chains: Arc<Chains> },
}

impl LogRoute {
    /// To so many logs in turn. The operations of each are numbered from 0 without a hole.
    pub fn in_turn(logs: usize) -> Self {
        Self(Choice::InTurn(InTurn::among(logs)))
    }

    /// Each chain to a log whose window holds its NotAfter; in turn where several do.
    ///
    /// # Errors
    /// [`CtError::NoLog`] when there may be a leaf that no log takes.
    pub fn by_not_after(chains: Arc<Chains>, logs: &[Arc<LogTarget>]) -> Result<Self, CtError> {
        let windows: Arc<[Window]> = logs.iter().map(|log| log.window).collect();
        match chains.outside(&windows) {
            Some(not_after) => Err(CtError::no_log(not_after)),
            None => Ok(Self(Choice::ByNotAfter { windows, chains })),
        }
    }
}

impl Route for LogRoute {
    fn of(&self, seq: u64) -> (usize, u64) {
        match &self.0 {
            Choice::InTurn(logs) => logs.of(seq),
            Choice::ByNotAfter { windows, chains } => (place(windows, chains.not_after(seq), seq), seq),
        }
    }
}

/// The log that the leaf goes to. Whether there is one was looked at before.
fn place(windows: &[Window], not_after: u64, seq: u64) -> usize {
    let takes = |(_, window): &(usize, &Window)| window.holds(not_after);
    let logs = windows.iter().enumerate().filter(takes).count().max(1);
    let mut takers = windows.iter().enumerate().filter(takes);
    takers.nth((seq % logs as u64) as usize).map_or(0, |(place, _)| place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_leaf_goes_to_the_logs_that_take_it_in_turn() {
        let window = |start, limit| Window { start, limit };
        let windows =
            [window(None, Some(10)), window(Some(10), Some(20)), window(Some(15), None), Window::ALL];
        let places = |not_after| (0..4).map(|seq| place(&windows, not_after, seq)).collect::<Vec<_>>();
        assert_eq!(places(9), [0, 3, 0, 3]);
        assert_eq!(places(10), [1, 3, 1, 3]);
        assert_eq!(places(15), [1, 2, 3, 1]);
        assert_eq!(places(20), [2, 3, 2, 3]);
    }
}
