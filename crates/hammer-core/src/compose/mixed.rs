//! Two unlike workloads in one, by weight; nested for more.

use std::rc::Rc;

use crate::compose::parts::{PartWords, Parts};
use crate::compose::route::Route as _;
use crate::compose::verifier::PartsVerifier;
use crate::compose::weighted::WeightedMix;
use crate::draw::Draws;
use crate::ended::Ended;
use crate::promise::Verifier;
use crate::record::{OperationRecord, PartPlaces};
use crate::workload::{FatalError, Preparation, SeriesSpec, ShardContext, Workload};

/// A mix of two workloads, whose operations share one schedule, its slots and its users. Series stand under the part's name, as
/// `sign/add-entry`.
#[derive(Debug)]
pub struct Mixed<A, B> {
    mix: WeightedMix,
    first: A,
    second: B,
    parts: Parts,
}

/// An operation of one of the two.
#[derive(Debug)]
pub enum MixedOp<A, B> {
    /// Of the first.
    First(A),
    /// Of the second.
    Second(B),
}

/// A shard's sessions of both.
pub struct MixedSession<A, B> {
    first: (A, Rc<PartPlaces>),
    second: (B, Rc<PartPlaces>),
}

/// One of the two workloads, its name in series, and its weight in the mix.
#[derive(Debug)]
pub struct MixedPart<W> {
    /// Its name in series.
    pub name: String,
    /// Of so many operations as both weights sum up to, this many are its.
    pub weight: u16,
    /// What is sent.
    pub workload: W,
}

impl<A: Workload, B: Workload> Mixed<A, B> {
    /// A mix of two, at least one of which has a weight; which operation is of which is drawn from `draws`.
    pub fn new(first: MixedPart<A>, second: MixedPart<B>, draws: Draws) -> Self {
        let mix = WeightedMix::new(&[first.weight, second.weight], draws);
        let words = [
            PartWords::of(&first.name.into(), &first.workload),
            PartWords::of(&second.name.into(), &second.workload),
        ];
        Self { mix, first: first.workload, second: second.workload, parts: Parts::new(&words) }
    }
}

impl<A: Workload, B: Workload> Workload for Mixed<A, B> {
    type Op = MixedOp<A::Op, B::Op>;
    type Session = MixedSession<A::Session, B::Session>;
    type User = (A::User, B::User);
    type Scratch = (A::Scratch, B::Scratch);

    fn series(&self) -> Vec<SeriesSpec> {
        self.parts.series()
    }

    fn series_of(&self, seq: u64) -> usize {
        match self.mix.of(seq) {
            (0, seq) => self.parts.place(0, self.first.series_of(seq)),
            (part, seq) => self.parts.place(part, self.second.series_of(seq)),
        }
    }

    fn preparation(&self) -> Preparation {
        let is_ahead =
            |part: usize, own: Preparation| own == Preparation::Ahead && self.mix.share_of(part) > 0;
        match is_ahead(0, self.first.preparation()) || is_ahead(1, self.second.preparation()) {
            true => Preparation::Ahead,
            false => Preparation::Inline,
        }
    }

    fn preparation_of(&self, seq: u64) -> Preparation {
        match self.mix.of(seq) {
            (0, seq) => self.first.preparation_of(seq),
            (_, seq) => self.second.preparation_of(seq),
        }
    }

    fn scratch(&self, shards: usize) -> Self::Scratch {
        (self.first.scratch(shards), self.second.scratch(shards))
    }

    fn prepare(&self, scratch: &mut Self::Scratch, seq: u64, reuse: Option<Self::Op>) -> Self::Op {
        match (self.mix.of(seq), reuse) {
            ((0, seq), Some(MixedOp::First(reuse))) => {
                MixedOp::First(self.first.prepare(&mut scratch.0, seq, Some(reuse)))
            }
            ((0, seq), _) => MixedOp::First(self.first.prepare(&mut scratch.0, seq, None)),
            ((_, seq), Some(MixedOp::Second(reuse))) => {
                MixedOp::Second(self.second.prepare(&mut scratch.1, seq, Some(reuse)))
            }
            ((_, seq), _) => MixedOp::Second(self.second.prepare(&mut scratch.1, seq, None)),
        }
    }

    fn weight(&self, op: &Self::Op) -> usize {
        match op {
            MixedOp::First(op) => self.first.weight(op),
            MixedOp::Second(op) => self.second.weight(op),
        }
    }

    async fn open(&self, context: ShardContext) -> Result<Self::Session, FatalError> {
        let first = (self.first.open(context.clone()).await?, self.parts.places(0));
        let second = (self.second.open(context).await?, self.parts.places(1));
        Ok(MixedSession { first, second })
    }

    /// A user enters with both, since its next operation may be of either.
    async fn enter(
        &self,
        session: &Self::Session,
        user: u64,
        record: &OperationRecord,
    ) -> Result<Self::User, Ended> {
        let MixedSession { first, second } = session;
        record.enter_part(first.1.clone());
        let entered = self.first.enter(&first.0, user, record).await;
        record.leave_part();
        let of_first = entered?;
        record.enter_part(second.1.clone());
        let entered = self.second.enter(&second.0, user, record).await;
        record.leave_part();
        Ok((of_first, entered?))
    }

    async fn execute(
        &self,
        session: &Self::Session,
        user: &Self::User,
        op: &mut Self::Op,
        record: &OperationRecord,
    ) -> Ended {
        let ended = match op {
            MixedOp::First(op) => {
                record.enter_part(session.first.1.clone());
                self.first.execute(&session.first.0, &user.0, op, record).await
            }
            MixedOp::Second(op) => {
                record.enter_part(session.second.1.clone());
                self.second.execute(&session.second.0, &user.1, op, record).await
            }
        };
        record.leave_part();
        ended
    }

    async fn check(&self, session: &Self::Session, op: &mut Self::Op, record: &OperationRecord) {
        match op {
            MixedOp::First(op) => {
                record.enter_part(session.first.1.clone());
                self.first.check(&session.first.0, op, record).await;
            }
            MixedOp::Second(op) => {
                record.enter_part(session.second.1.clone());
                self.second.check(&session.second.0, op, record).await;
            }
        }
        record.leave_part();
    }

    fn promise_kinds(&self) -> &[&'static str] {
        self.parts.kinds()
    }

    fn verifier(&self) -> Option<Box<dyn Verifier>> {
        let verifiers = [self.first.verifier(), self.second.verifier()];
        PartsVerifier::of(self.mix.clone(), &self.parts, verifiers)
    }
}
