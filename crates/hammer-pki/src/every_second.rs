//! What counts are told by.

use std::rc::Rc;

use hammer_core::runtime::{Clock, LocalFuture};
use hammer_measure::Nanos;

/// Tells now, every second, as the run ends, and once more behind that.
pub(crate) async fn every_second(clock: Rc<dyn Clock>, mut ending: LocalFuture<()>, tell: impl Fn(Nanos)) {
    let mut ended = false;
    while !ended {
        let now = clock.now();
        tell(now);
        tokio::select! {
            () = &mut ending => ended = true,
            () = clock.sleep_until(now.saturating_add(EVERY)) => {}
        }
    }
    tell(clock.now());
}

const EVERY: Nanos = Nanos(1_000_000_000);
