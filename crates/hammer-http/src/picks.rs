//! Which of a number of things an operation has: by its numbers alone.

use hammer_core::compose::{Route as _, WeightedMix};
use hammer_core::draw::{Draws, Popularity};
use hammer_values::ZipfExponent;

use crate::error::{HttpError, ValueFault};
use crate::plan::{DrawPlan, ValueOrder};

/// Which of a number of things an operation has.
#[derive(Debug)]
pub(crate) struct Picks {
    /// What all are drawn from, or the hot ones.
    first: Class,
    /// What the cold ones are drawn from, and which operations have one.
    cold: Option<(Class, WeightedMix)>,
}

/// Things from a place on, and their order.
#[derive(Debug)]
struct Class {
    from: u64,
    count: u64,
    order: Order,
}

#[derive(Debug)]
enum Order {
    RoundRobin,
    Random(Draws),
    Zipf(Popularity, Draws),
}

/// An operation's numbers, by which it has its values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    /// Among all operations of the workload.
    pub(crate) seq: u64,
    /// Among those of its flow.
    pub(crate) rank: u64,
}

impl Picks {
    /// Of `count` things, at least one; draws follow from `draws`.
    pub(crate) fn new(count: u64, plan: &DrawPlan, draws: Draws) -> Result<Self, HttpError> {
        let class = |from, count, label| Class::new((from, count), plan, Draws::new(draws.bits(label), 0));
        let Some(hot) = &plan.hot else { return Ok(Self { first: class(0, count, 0)?, cold: None }) };
        let of_hot = hot.values.get() as u64;
        if of_hot >= count {
            let fault = ValueFault::NothingCold { hot: of_hot, values: count };
            return Err(HttpError::Value { key: "hot.values", fault });
        }
        // To a hundredth of a percent: a share in a plan is rarely written any finer.
        let share = (hot.share.of_1() * 10_000.0).round() as u16;
        let mix = WeightedMix::new(&[share, 10_000 - share], Draws::new(draws.bits(2), 0));
        let cold = class(of_hot, count - of_hot, 1)?;
        Ok(Self { first: class(0, of_hot, 0)?, cold: Some((cold, mix)) })
    }

    /// Whether hot and cold ones are told apart.
    pub(crate) fn has_cold(&self) -> bool {
        self.cold.is_some()
    }

    /// Whether an operation has a cold one.
    pub(crate) fn is_cold(&self, turn: Turn) -> bool {
        self.cold.as_ref().is_some_and(|(_, mix)| mix.of(turn.rank).0 == 1)
    }

    /// Which one an operation has, from 0.
    pub(crate) fn place(&self, turn: Turn) -> u64 {
        match &self.cold {
            None => self.first.place(turn),
            Some((cold, mix)) => match mix.of(turn.rank) {
                (0, rank) => self.first.place(Turn { rank, ..turn }),
                (_, rank) => cold.place(Turn { rank, ..turn }),
            },
        }
    }
}

impl Class {
    fn new((from, count): (u64, u64), plan: &DrawPlan, draws: Draws) -> Result<Self, HttpError> {
        let order = match plan.order {
            ValueOrder::RoundRobin => Order::RoundRobin,
            ValueOrder::Random => Order::Random(draws),
            ValueOrder::Zipf if count > MOST_POPULAR => {
                let fault = ValueFault::TooMany { values: count, most: MOST_POPULAR };
                return Err(HttpError::Value { key: "order", fault });
            }
            ValueOrder::Zipf => {
                let exponent = plan.exponent.unwrap_or(ZipfExponent::ONE).value();
                Order::Zipf(Popularity::zipf(count as usize, exponent), draws)
            }
        };
        Ok(Self { from, count, order })
    }

    fn place(&self, turn: Turn) -> u64 {
        let within = match &self.order {
            Order::RoundRobin => turn.rank % self.count,
            Order::Random(draws) => draws.bits(turn.seq) % self.count,
            Order::Zipf(popularity, draws) => popularity.place(draws.unit(turn.seq)) as u64,
        };
        self.from + within
    }
}

/// Of each its share is held.
const MOST_POPULAR: u64 = 10_000_000;
