//! One workload on several targets: each operation goes to one of them.

use std::fmt;
use std::rc::Rc;

use futures::future::try_join_all;

use crate::compose::parts::{PartWords, Parts};
use crate::compose::route::Route;
use crate::compose::verifier::PartsVerifier;
use crate::ended::Ended;
use crate::promise::Verifier;
use crate::record::{OperationRecord, PartPlaces};
use crate::workload::{FatalError, Preparation, SeriesSpec, ShardContext, Workload};

/// The same workload on each of several targets. Series stand under the target's name, as `<target>/add-chain`, and what is found
/// of a broken promise starts with it.
#[derive(Debug)]
pub struct Routed<W, R> {
    route: R,
    targets: Vec<W>,
    parts: Parts,
}

/// An operation on one of the targets.
#[derive(Debug)]
pub struct RoutedOp<O> {
    part: usize,
    op: O,
}

/// A shard's session with each target.
pub struct RoutedSession<S> {
    parts: Vec<(S, Rc<PartPlaces>)>,
}

/// What a user keeps for each target.
#[derive(Default)]
pub struct RoutedUser<U> {
    parts: Vec<U>,
}

impl<W: Workload, R: Route> Routed<W, R> {
    /// `targets` by name, in the order in which `route` counts them.
    pub fn new(route: R, targets: Vec<(String, W)>) -> Self {
        let words = |(name, workload): &(String, W)| PartWords::of(&name.as_str().into(), workload);
        let parts = Parts::new(&targets.iter().map(words).collect::<Vec<_>>());
        Self { route, targets: targets.into_iter().map(|(_, workload)| workload).collect(), parts }
    }
}

impl<W: Workload, R: Route + Clone> Workload for Routed<W, R> {
    type Op = RoutedOp<W::Op>;
    type Session = RoutedSession<W::Session>;
    type User = RoutedUser<W::User>;
    type Scratch = W::Scratch;

    fn series(&self) -> Vec<SeriesSpec> {
        self.parts.series()
    }

    fn series_of(&self, seq: u64) -> usize {
        let (part, seq) = self.route.of(seq);
        self.parts.place(part, self.targets[part].series_of(seq))
    }

    fn preparation(&self) -> Preparation {
        self.targets.first().map_or(Preparation::Inline, Workload::preparation)
    }

    fn preparation_of(&self, seq: u64) -> Preparation {
        let (part, seq) = self.route.of(seq);
        self.targets[part].preparation_of(seq)
    }

    fn scratch(&self, shards: usize) -> W::Scratch {
        self.targets.first().map_or_else(W::Scratch::default, |target| target.scratch(shards))
    }

    fn prepare(&self, scratch: &mut W::Scratch, seq: u64, reuse: Option<RoutedOp<W::Op>>) -> RoutedOp<W::Op> {
        let (part, seq) = self.route.of(seq);
        let op = self.targets[part].prepare(scratch, seq, reuse.map(|routed| routed.op));
        RoutedOp { part, op }
    }

    fn weight(&self, routed: &RoutedOp<W::Op>) -> usize {
        self.targets[routed.part].weight(&routed.op)
    }

    async fn open(&self, context: ShardContext) -> Result<RoutedSession<W::Session>, FatalError> {
        let open = async |(part, target): (usize, &W)| -> Result<_, FatalError> {
            Ok((target.open(context.clone()).await?, self.parts.places(part)))
        };
        Ok(RoutedSession { parts: try_join_all(self.targets.iter().enumerate().map(open)).await? })
    }

    /// A user enters at every target.
    async fn enter(
        &self,
        session: &RoutedSession<W::Session>,
        user: u64,
        record: &OperationRecord,
    ) -> Result<RoutedUser<W::User>, Ended> {
        let mut parts = Vec::with_capacity(self.targets.len());
        for (target, (session, places)) in self.targets.iter().zip(&session.parts) {
            record.enter_part(places.clone());
            let entered = target.enter(session, user, record).await;
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
        let (session, places) = &session.parts[*part];
        record.enter_part(places.clone());
        let ended = self.targets[*part].execute(session, &user.parts[*part], op, record).await;
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
        let (session, places) = &session.parts[*part];
        record.enter_part(places.clone());
        self.targets[*part].check(session, op, record).await;
        record.leave_part();
    }

    fn promise_kinds(&self) -> &[&'static str] {
        self.parts.kinds()
    }

    fn verifier(&self) -> Option<Box<dyn Verifier>> {
        PartsVerifier::of(self.route.clone(), &self.parts, self.targets.iter().map(Workload::verifier))
    }
}

impl<S> fmt::Debug for RoutedSession<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RoutedSession").field("targets", &self.parts.len()).finish_non_exhaustive()
    }
}
