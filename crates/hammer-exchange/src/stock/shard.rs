//! A shard's way to the tokens.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use hammer_core::runtime::Clock;
use hammer_core::workload::Ended;
use hammer_measure::{Nanos, Outcome};

use super::{StockedToken, TokenStock};
use crate::wall::WallTime;

/// The tokens of a stock, as one shard takes them: no lock is taken but where they were replaced.
pub struct ShardTokens {
    stock: Arc<TokenStock>,
    clock: Rc<dyn Clock>,
    wall: WallTime,
    seen: Cell<u64>,
    tokens: RefCell<Arc<[StockedToken]>>,
    next: Cell<usize>,
}

impl ShardTokens {
    /// A shard's way to `stock`.
    pub fn new(stock: Arc<TokenStock>, clock: Rc<dyn Clock>, wall: WallTime) -> Self {
        let tokens = RefCell::new(stock.tokens());
        Self { stock, clock, wall, seen: Cell::new(0), tokens, next: Cell::new(0) }
    }

    /// The next token in turn that is good now. Where there is none, it waits for one for a second: users of a closed loop would else
    /// come back at once, and again.
    ///
    /// # Errors
    /// How the operation ends that has to go without.
    pub async fn take(&self) -> Result<StockedToken, Ended> {
        self.taken(None).await
    }

    /// The same with the token at that place, counted again from the first behind the last, or the next behind it that is good now.
    ///
    /// # Errors
    /// How the operation ends that has to go without.
    pub async fn take_at(&self, place: u64) -> Result<StockedToken, Ended> {
        self.taken(Some(place)).await
    }

    async fn taken(&self, place: Option<u64>) -> Result<StockedToken, Ended> {
        let asked = self.clock.now();
        let give_up = asked.saturating_add(LONGEST_WAIT);
        let mut now = asked;
        loop {
            if let Some(token) = self.good_at(now, place) {
                return Ok(token);
            }
            if now >= give_up {
                self.stock.without.fetch_add(1, Ordering::Relaxed);
                return Err(NO_TOKEN);
            }
            self.clock.sleep_until(now.saturating_add(LOOK_EVERY).min(give_up)).await;
            now = self.clock.now();
        }
    }

    fn good_at(&self, now: Nanos, wanted: Option<u64>) -> Option<StockedToken> {
        let generation = self.stock.generation.load(Ordering::Acquire);
        if self.seen.replace(generation) != generation {
            *self.tokens.borrow_mut() = self.stock.tokens();
        }
        let tokens = self.tokens.borrow();
        let unix_ms = self.wall.unix_ms(now);
        let first = wanted
            .map_or(self.next.get(), |place| place.checked_rem(tokens.len() as u64).unwrap_or(0) as usize);
        let places = (first..tokens.len()).chain(0..first.min(tokens.len()));
        let place = places.into_iter().find(|place| tokens[*place].is_good_at(unix_ms))?;
        if wanted.is_none() {
            self.next.set(place + 1);
        }
        Some(tokens[place].clone())
    }
}

/// How long an operation waits for a token, and how often it looks.
const LONGEST_WAIT: Nanos = Nanos::from_secs(1);
const LOOK_EVERY: Nanos = Nanos::from_millis(50);
/// Nothing was sent.
const NO_TOKEN: Ended = Ended::failed(Outcome::Abandoned, "no valid token");

#[cfg(test)]
mod tests {
    use hammer_core::runtime::Runtime as _;
    use hammer_core::runtime::simulated::Simulation;
    use hammer_net::Secret;

    use super::super::TokenSubject;
    use super::*;

    fn token(text: &str, expires_at: i64) -> StockedToken {
        StockedToken::of(Secret::new(text).unwrap(), &TokenSubject::Unasked, Some(expires_at)).unwrap()
    }

    /// What is taken one after another, at these milliseconds.
    fn taken(stock: &Arc<TokenStock>, at_ms: &[u64]) -> Vec<(u64, Option<String>)> {
        let mut simulation = Simulation::new();
        let (runtime, clock) = (simulation.runtime(), simulation.runtime().clock());
        let found = Rc::new(RefCell::new(Vec::new()));
        let (told, at_ms, stock) = (found.clone(), at_ms.to_vec(), stock.clone());
        runtime.spawn(Box::pin(async move {
            let tokens = ShardTokens::new(stock, clock.clone(), WallTime { epoch_unix_ms: 0 });
            for at in at_ms {
                clock.sleep_until(Nanos::from_millis(at)).await;
                let token = tokens.take().await.ok().map(|token| token.token.expose().to_owned());
                told.borrow_mut().push((clock.now().0 / 1_000_000, token));
            }
        }));
        simulation.run();
        found.take()
    }

    #[test]
    fn tokens_are_taken_in_turn_and_those_that_are_over_are_passed_over() {
        let stock = TokenStock::new(vec![token("a", 10), token("b", 5), token("c", 10)]);
        let names = taken(&stock, &[0, 0, 0, 0, 6_000, 6_000, 6_000]);
        let names: Vec<_> = names.iter().filter_map(|(_, name)| name.as_deref()).collect();
        assert_eq!(names, ["a", "b", "c", "a", "c", "a", "c"]);
        assert_eq!(stock.without(), 0);
    }

    #[test]
    fn a_token_is_taken_by_its_place_or_the_next_that_is_good() {
        let mut simulation = Simulation::new();
        let (runtime, clock) = (simulation.runtime(), simulation.runtime().clock());
        let stock = TokenStock::new(vec![token("a", 10), token("b", 5), token("c", 10)]);
        let found = Rc::new(RefCell::new(Vec::new()));
        let told = found.clone();
        runtime.spawn(Box::pin(async move {
            let tokens = ShardTokens::new(stock, clock.clone(), WallTime { epoch_unix_ms: 0 });
            for (at, place) in [(0, 2), (0, 1), (6_000, 1), (6_000, 9)] {
                clock.sleep_until(Nanos::from_millis(at)).await;
                let taken = tokens.take_at(place).await.unwrap().token;
                told.borrow_mut().push(taken.expose().to_owned());
            }
        }));
        simulation.run();
        assert_eq!(found.take(), ["c", "b", "c", "a"]);
    }

    #[test]
    fn who_finds_no_token_waits_a_second_goes_without_and_is_counted() {
        let stock = TokenStock::new(vec![token("a", 10)]);
        assert_eq!(taken(&stock, &[9_499, 9_500]), [(9_499, Some("a".to_owned())), (10_500, None)]);
        assert_eq!(stock.without(), 1);
    }

    #[test]
    fn a_token_that_comes_meanwhile_is_taken() {
        let mut simulation = Simulation::new();
        let (runtime, clock) = (simulation.runtime(), simulation.runtime().clock());
        let stock = TokenStock::new(Vec::new());
        let tokens = ShardTokens::new(stock.clone(), clock.clone(), WallTime { epoch_unix_ms: 0 });
        let found = Rc::new(RefCell::new(None));
        let (told, at) = (found.clone(), clock.clone());
        runtime.spawn(Box::pin(async move {
            let token = tokens.take().await.unwrap().token;
            *told.borrow_mut() = Some((at.now(), token.expose().to_owned()));
        }));
        let comes = stock.clone();
        runtime.spawn(Box::pin(async move {
            clock.sleep_until(Nanos::from_millis(220)).await;
            comes.replace(vec![token("late", 10)]);
        }));
        simulation.run();
        assert_eq!(found.take(), Some((Nanos::from_millis(250), "late".to_owned())));
        assert_eq!(stock.without(), 0);
    }
}
