//! One workload on several targets: each operation goes to one of them.

use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use futures::future::try_join_all;

use crate::compose::parts::PartSeries;
use crate::compose::route::Route;
use crate::compose::verifier::PartsVerifier;
use crate::promise::Verifier;
use crate::record::OperationRecord;
use crate::workload::{Ended, FatalError, Preparation, SeriesSpec, ShardContext, Workload};

/// The same workload on each of several targets. Series stand under the target's name, as `<target>/add-chain`, and what is found
/// of a broken promise starts with it.
#[derive(Debug)]
pub struct Routed<W, R> {
    route: R,
    parts: Vec<(Arc<str>, W)>,
    series: PartSeries,
}

/// An operation on one of the targets.
#[derive(Debug)]
pub struct RoutedOp<O> {
    part: usize,
    op: O,
}

/// A shard's session with each target.
pub struct RoutedSession<S> {
    parts: Vec<(S, Rc<[usize]>)>,
}

/// What a user keeps for each target.
#[derive(Default)]
pub struct RoutedUser<U> {
    parts: Vec<U>,
}

impl<W: Workload, R: Route> Routed<W, R> {
    /// `targets` by name, in the order in which `route` counts them.
    pub fn new(route: R, targets: Vec<(String, W)>) -> Self {
        let parts: Vec<(Arc<str>, W)> =
            targets.into_iter().map(|(name, workload)| (name.into(), workload)).collect();
        let series: Vec<_> = parts.iter().map(|(name, workload)| (name.clone(), workload.series())).collect();
        Self { route, parts, series: PartSeries::new(&series) }
    }
}

impl<W: Workload, R: Route + Clone> Workload for Routed<W, R> {
    type Op = RoutedOp<W::Op>;
    type Session = RoutedSession<W::Session>;
    type User = RoutedUser<W::User>;
    type Scratch = W::Scratch;

    fn series(&self) -> Vec<SeriesSpec> {
        self.series.all()
    }

    fn series_of(&self, seq: u64) -> usize {
        let (part, seq) = self.route.of(seq);
        self.series.place(part, self.parts[part].1.series_of(seq))
    }

    fn preparation(&self) -> Preparation {
        self.parts.first().map_or(Preparation::Inline, |(_, workload)| workload.preparation())
    }

    fn preparation_of(&self, seq: u64) -> Preparation {
        let (part, seq) = self.route.of(seq);
        self.parts[part].1.preparation_of(seq)
    }

    fn scratch(&self, shards: usize) -> W::Scratch {
        self.parts.first().map_or_else(W::Scratch::default, |(_, workload)| workload.scratch(shards))
    }

    fn prepare(&self, scratch: &mut W::Scratch, seq: u64, reuse: Option<RoutedOp<W::Op>>) -> RoutedOp<W::Op> {
        let (part, seq) = self.route.of(seq);
        let op = self.parts[part].1.prepare(scratch, seq, reuse.map(|routed| routed.op));
        RoutedOp { part, op }
    }

    fn weight(&self, routed: &RoutedOp<W::Op>) -> usize {
        self.parts[routed.part].1.weight(&routed.op)
    }

    async fn open(&self, context: ShardContext) -> Result<RoutedSession<W::Session>, FatalError> {
        let open = async |(part, (_, workload)): (usize, &(Arc<str>, W))| -> Result<_, FatalError> {
            Ok((workload.open(context.clone()).await?, self.series.of_part(part)))
        };
        Ok(RoutedSession { parts: try_join_all(self.parts.iter().enumerate().map(open)).await? })
    }

    /// A user enters at every target.
    async fn enter(
        &self,
        session: &RoutedSession<W::Session>,
        user: u64,
        record: &OperationRecord,
    ) -> Result<RoutedUser<W::User>, Ended> {
        let mut parts = Vec::with_capacity(self.parts.len());
        for ((_, workload), (session, series)) in self.parts.iter().zip(&session.parts) {
            record.enter_part(series.clone());
            let entered = workload.enter(session, user, record).await;
            record.leave_part();
            parts.push(entered?);
        }
        Ok(RoutedUser { parts })
    }

    async fn execute(
        &self,
        session: &RoutedSession<W::Session>,
        user: &RoutedUser<W::User>,
        routed: &mut RoutedOp<W::Op>,
        record: &OperationRecord,
    ) -> Ended {
        let RoutedOp { part, op } = routed;
        let (session, series) = &session.parts[*part];
        record.enter_part(series.clone());
        let ended = self.parts[*part].1.execute(session, &user.parts[*part], op, record).await;
        record.leave_part();
        ended
    }

    async fn check(
        &self,
        session: &RoutedSession<W::Session>,
        routed: &mut RoutedOp<W::Op>,
        record: &OperationRecord,
    ) {
        let RoutedOp { part, op } = routed;
        let (session, series) = &session.parts[*part];
        record.enter_part(series.clone());
        self.parts[*part].1.check(session, op, record).await;
        record.leave_part();
    }

    fn verifier(&self) -> Option<Box<dyn Verifier>> {
        let parts = self.parts.iter().map(|(name, workload)| (name.clone(), workload.verifier()));
        PartsVerifier::of(self.route.clone(), parts.collect())
    }
}

impl<S> fmt::Debug for RoutedSession<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RoutedSession").field("targets", &self.parts.len()).finish_non_exhaustive()
    }
}
