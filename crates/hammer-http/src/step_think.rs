//! The time that a user takes before a step of a flow.

use hammer_core::dispatch::Think;
use hammer_core::draw::Draws;
use hammer_core::runtime::Clock;

/// The think time before a step, which is drawn by the operation's number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepThink {
    think: Think,
    draws: Draws,
}

impl StepThink {
    pub(crate) const fn new(think: Think, draws: Draws) -> Self {
        Self { think, draws }
    }

    /// Ends when the user of the operation `seq` goes on, to the precision of the clock. No exchange is under way meanwhile.
    pub(crate) async fn pass(&self, clock: &dyn Clock, seq: u64) {
        clock.sleep_until(clock.now() + self.think.after(self.draws, seq)).await;
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use hammer_core::runtime::Runtime as _;
    use hammer_core::runtime::simulated::Simulation;
    use hammer_measure::Nanos;

    use super::*;

    /// How long the operations 0 to 99 think.
    fn passed(think: Think, seed: u64) -> Vec<Nanos> {
        let mut simulation = Simulation::new();
        let (runtime, clock) = (simulation.runtime(), simulation.runtime().clock());
        let passed = Rc::new(RefCell::new(Vec::new()));
        let told = passed.clone();
        runtime.spawn(Box::pin(async move {
            let think = StepThink::new(think, Draws::new(seed, 0));
            for seq in 0..100 {
                let before = clock.now();
                think.pass(clock.as_ref(), seq).await;
                told.borrow_mut().push(clock.now().since(before));
            }
        }));
        simulation.run();
        passed.take()
    }

    #[test]
    fn think_time_is_as_long_as_it_is_drawn_by_seed_and_number() {
        let millis = Nanos::from_millis;
        assert_eq!(passed(Think::Constant(millis(200)), 1), vec![millis(200); 100]);
        let drawn = Think::between(millis(100), Some(millis(300))).unwrap();
        let times = passed(drawn, 1);
        assert!(times.iter().all(|time| (millis(100)..=millis(300)).contains(time)), "{times:?}");
        let mean = times.iter().map(|time| time.0).sum::<u64>() / 100;
        assert!((170_000_000..230_000_000).contains(&mean), "{mean}");
        assert_eq!(passed(drawn, 1), times);
        assert_ne!(passed(drawn, 2), times);
        assert_eq!(Think::between(millis(2), Some(millis(1))), None);
    }
}
