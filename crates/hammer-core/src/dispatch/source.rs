//! Where the next operation of a user of a closed loop comes from.

use std::collections::VecDeque;
use std::iter::StepBy;
use std::ops::Range;
use std::sync::Arc;

use hammer_measure::Outcome;

use crate::ended::Ended;
use crate::runtime::Runtime;
use crate::supply::{Supply, SupplyBounds};
use crate::workload::{Preparation, Workload};

use super::context::LaneContext;
use super::fill_goal::FillShare;
use super::load::Iterations;

/// The operations of a closed loop on one shard.
pub(super) struct OperationSource<W: Workload> {
    workload: Arc<W>,
    order: Order,
    /// Where some of them are prepared ahead.
    ahead: Option<Ahead<W>>,
}

/// What a user got when it asked for an operation.
pub(super) enum NextOperation<Op> {
    /// Its number, and the operation itself where the slot need not prepare it.
    Operation(u64, Option<Op>),
    /// Supply has not brought it yet.
    NotReady,
    /// There is none now; there is another once one that is under way fails.
    MayCome,
    /// There is none left.
    Done,
}

/// Which operation comes next.
enum Order {
    /// Each user has operations of its own, named by user and iteration.
    OfUsers { most_users: u64, shards: u64 },
    /// Those that all users share, in their order.
    Shared(StepBy<Range<u64>>),
    /// The same until enough of them are accepted.
    Accepted(FillShare),
}

/// Operations prepared ahead.
struct Ahead<W: Workload> {
    supply: Supply<W>,
    /// Of each user, what is ready for it.
    of_users: Vec<Option<(u64, W::Op)>>,
    /// Of those that are shared, the ones that nobody took yet, in their order, whether they are prepared ahead or not.
    shared: VecDeque<u64>,
    most_shared: usize,
}

impl<W: Workload> OperationSource<W> {
    pub(super) fn new<R: Runtime>(
        context: &LaneContext<W, R>,
        iterations: Iterations,
        users: usize,
        most_users: usize,
        bounds: SupplyBounds,
    ) -> Self {
        // Shards without a user take no operation.
        let takers = context.shards.min(most_users).max(1);
        let order = match iterations {
            Iterations::Endless => {
                Order::OfUsers { most_users: most_users as u64, shards: context.shards as u64 }
            }
            Iterations::Shared(count) => {
                Order::Shared(((context.shard as u64).min(count)..count).step_by(takers))
            }
            Iterations::Accepted(goal) if users > 0 => {
                Order::Accepted(FillShare::new(goal, context.shard as u64, takers as u64))
            }
            // A shard without a user has no part in it.
            Iterations::Accepted(_) => Order::Shared((0..0).step_by(1)),
        };
        let bounds = match order {
            // Each user has one operation ready or asked for, so the ring must hold all of them.
            Order::OfUsers { .. } => SupplyBounds { operations: users.max(1), bytes: usize::MAX },
            Order::Shared(_) | Order::Accepted(_) => bounds,
        };
        let ahead = (context.workload.preparation() == Preparation::Ahead).then(|| {
            let (mut supply, worker) = Supply::new(context.workload.clone(), takers, bounds);
            supply.served_by(context.supply.add(context.shard, worker));
            let of_users = (0..users).map(|_| None).collect();
            Ahead { supply, of_users, shared: VecDeque::new(), most_shared: bounds.operations }
        });
        let mut source = Self { workload: context.workload.clone(), order, ahead };
        if let Order::OfUsers { .. } = source.order {
            (context.shard..most_users)
                .step_by(context.shards)
                .for_each(|user| source.request(user as u64, &mut None));
        }
        source.refill(&mut None);
        source.wake();
        source
    }

    /// The next operation of the user in that slot, which is `seq` where each has its own; `kept` lends its memory to a later one.
    pub(super) fn next(&mut self, slot: usize, seq: u64, kept: &mut Option<W::Op>) -> NextOperation<W::Op> {
        match &mut self.order {
            Order::OfUsers { most_users, .. } => {
                let next = seq + *most_users;
                let found = self.of_user(slot, seq);
                if matches!(found, NextOperation::Operation(..)) {
                    self.request(next, kept);
                }
                found
            }
            Order::Shared(left) if self.ahead.is_none() => {
                left.next().map_or(NextOperation::Done, |seq| NextOperation::Operation(seq, None))
            }
            Order::Accepted(share) if self.ahead.is_none() => match share.next() {
                Some(seq) => {
                    share.started();
                    NextOperation::Operation(seq, None)
                }
                None if share.may_grow() => NextOperation::MayCome,
                None => NextOperation::Done,
            },
            Order::Shared(_) | Order::Accepted(_) => {
                let found = self.of_all();
                if matches!(found, NextOperation::Operation(..)) {
                    if let Order::Accepted(share) = &mut self.order {
                        share.started();
                    }
                    self.refill(kept);
                }
                found
            }
        }
    }

    /// The operation `seq` has ended; whether its user is to wait a moment.
    pub(super) fn ended(&mut self, seq: u64, ended: Ended) -> bool {
        let Order::Accepted(share) = &mut self.order else { return false };
        share.ended(seq, ended);
        let has_failed = ended.outcome != Outcome::Accepted;
        if has_failed {
            self.refill(&mut None);
            self.wake();
        }
        has_failed
    }

    fn of_user(&mut self, slot: usize, seq: u64) -> NextOperation<W::Op> {
        let Order::OfUsers { most_users, shards } = self.order else { return NextOperation::Done };
        let Some(ahead) = &mut self.ahead else { return NextOperation::Operation(seq, None) };
        if self.workload.preparation_of(seq) == Preparation::Inline {
            return NextOperation::Operation(seq, None);
        }
        while let Some((seq, op)) = ahead.supply.pop(&self.workload) {
            ahead.of_users[(seq % most_users / shards) as usize] = Some((seq, op));
        }
        let Some((ready, op)) = ahead.of_users[slot].take() else {
            ahead.supply.wake();
            return NextOperation::NotReady;
        };
        debug_assert_eq!(ready, seq, "each user's operations come in their order");
        NextOperation::Operation(seq, Some(op))
    }

    fn of_all(&mut self) -> NextOperation<W::Op> {
        let Some(ahead) = &mut self.ahead else { return NextOperation::Done };
        if let Order::Accepted(share) = &self.order
            && (share.has_given_up() || ahead.shared.is_empty())
        {
            return if share.may_grow() { NextOperation::MayCome } else { NextOperation::Done };
        }
        let Some(seq) = ahead.shared.front().copied() else { return NextOperation::Done };
        let op = match self.workload.preparation_of(seq) {
            Preparation::Inline => None,
            Preparation::Ahead => match ahead.supply.pop(&self.workload) {
                Some((_, op)) => Some(op),
                None => {
                    ahead.supply.wake();
                    return NextOperation::NotReady;
                }
            },
        };
        ahead.shared.pop_front();
        NextOperation::Operation(seq, op)
    }

    /// Asks for an operation of a user, unless its slot prepares it.
    fn request(&mut self, seq: u64, reuse: &mut Option<W::Op>) {
        if let Some(ahead) = &mut self.ahead
            && self.workload.preparation_of(seq) == Preparation::Ahead
        {
            ahead.supply.request(seq, reuse.take());
        }
    }

    /// Asks for as many of those that are shared as the bounds allow.
    fn refill(&mut self, reuse: &mut Option<W::Op>) {
        let Some(ahead) = &mut self.ahead else { return };
        while ahead.supply.has_room() && ahead.shared.len() < ahead.most_shared {
            let next = match &mut self.order {
                Order::OfUsers { .. } => None,
                Order::Shared(left) => left.next(),
                Order::Accepted(share) => share.next(),
            };
            let Some(seq) = next else { break };
            if self.workload.preparation_of(seq) == Preparation::Ahead {
                ahead.supply.request(seq, reuse.take());
            }
            ahead.shared.push_back(seq);
        }
    }

    /// Prepares as much ahead as it may; whether all of that is there.
    pub(super) fn fill(&mut self) -> bool {
        if let Some(ahead) = &mut self.ahead {
            ahead.supply.weigh(&self.workload);
        }
        self.refill(&mut None);
        self.wake();
        self.ahead.as_ref().is_none_or(|ahead| ahead.supply.is_filled())
    }

    /// Wakes the preparing thread, if it was asked for anything.
    pub(super) fn wake(&mut self) {
        if let Some(ahead) = &mut self.ahead {
            ahead.supply.wake();
        }
    }

    /// Whether there is no operation left for any user.
    pub(super) fn is_exhausted(&self) -> bool {
        let is_asked = match &self.order {
            Order::OfUsers { .. } => return false,
            Order::Shared(left) => left.size_hint().0 == 0,
            // What was prepared ahead and is not sent any more is nobody's.
            Order::Accepted(share) if share.has_given_up() => return true,
            Order::Accepted(share) => share.is_asked() && !share.may_grow(),
        };
        is_asked && self.ahead.as_ref().is_none_or(|ahead| ahead.shared.is_empty())
    }
}
