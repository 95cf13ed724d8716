//! A workload on several logs: each operation goes to one of them.

use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use futures::future::try_join_all;
use hammer_core::promise::{Records, Verdicts, Verifier};
use hammer_core::record::OperationRecord;
use hammer_core::workload::{Ended, FatalError, Preparation, SeriesSpec, ShardContext, Workload};
use hammer_measure::Nanos;

use crate::route::Route;

/// The same workload on each of several logs. Series stand under the log's name, as `<log>/add-chain`, and what is found of
/// a broken promise begins with it.
#[derive(Debug)]
pub struct Routed<W> {
    route: Route,
    parts: Vec<Part<W>>,
    series: Vec<SeriesSpec>,
}

#[derive(Debug)]
struct Part<W> {
    log: Arc<str>,
    workload: W,
    /// Where each of its series stands among all.
    series: Vec<usize>,
}

/// An operation of one of the logs.
#[derive(Debug)]
pub struct RoutedOp<O> {
    part: usize,
    op: O,
}

/// A shard's session with each log.
pub struct RoutedSession<S> {
    parts: Vec<(S, Rc<[usize]>)>,
}

/// Judges each promise by the log that made it.
struct RoutedVerifier {
    route: Route,
    parts: Vec<(Arc<str>, PartVerifier)>,
    /// Which of the records that are judged together are of each part.
    records: Vec<Records>,
}

/// None where the log makes no promises.
type PartVerifier = Option<Box<dyn Verifier>>;

impl<W: Workload> Routed<W> {
    /// `logs` by name, in the order in which `route` counts them.
    pub fn new(route: Route, logs: Vec<(String, W)>) -> Self {
        let all: Vec<(String, Vec<SeriesSpec>)> =
            logs.iter().map(|(log, workload)| (log.clone(), workload.series())).collect();
        // Operations come first, as everywhere.
        let mut series = Vec::new();
        let mut places: Vec<Vec<usize>> = all.iter().map(|(_, specs)| vec![0; specs.len()]).collect();
        for operation in [true, false] {
            for ((log, specs), places) in all.iter().zip(&mut places) {
                for (spec, place) in specs.iter().zip(places).filter(|(spec, _)| spec.operation == operation)
                {
                    *place = series.len();
                    series.push(SeriesSpec { name: format!("{log}/{}", spec.name), operation });
                }
            }
        }
        let part = |((log, workload), series): ((String, W), _)| Part { log: log.into(), workload, series };
        Self { route, parts: logs.into_iter().zip(places).map(part).collect(), series }
    }

    fn part(&self, seq: u64) -> (usize, &Part<W>, u64) {
        let (part, seq) = self.route.of(seq);
        (part, &self.parts[part], seq)
    }
}

impl<W: Workload> Workload for Routed<W> {
    type Op = RoutedOp<W::Op>;
    type Session = RoutedSession<W::Session>;
    type User = W::User;
    type Scratch = W::Scratch;

    fn series(&self) -> Vec<SeriesSpec> {
        self.series.clone()
    }

    fn series_of(&self, seq: u64) -> usize {
        let (_, part, seq) = self.part(seq);
        part.series[part.workload.series_of(seq)]
    }

    fn preparation(&self) -> Preparation {
        self.parts.first().map_or(Preparation::Inline, |part| part.workload.preparation())
    }

    fn scratch(&self, shards: usize) -> W::Scratch {
        self.parts.first().map_or_else(W::Scratch::default, |part| part.workload.scratch(shards))
    }

    fn prepare(&self, scratch: &mut W::Scratch, seq: u64, reuse: Option<RoutedOp<W::Op>>) -> RoutedOp<W::Op> {
        let (place, part, seq) = self.part(seq);
        let op = part.workload.prepare(scratch, seq, reuse.map(|routed| routed.op));
        RoutedOp { part: place, op }
    }

    fn weight(&self, routed: &RoutedOp<W::Op>) -> usize {
        self.parts[routed.part].workload.weight(&routed.op)
    }

    async fn open(&self, context: ShardContext) -> Result<RoutedSession<W::Session>, FatalError> {
        let open = async |part: &Part<W>| -> Result<_, FatalError> {
            Ok((part.workload.open(context.clone()).await?, part.series.as_slice().into()))
        };
        Ok(RoutedSession { parts: try_join_all(self.parts.iter().map(open)).await? })
    }

    async fn execute(
        &self,
        session: &RoutedSession<W::Session>,
        user: &W::User,
        routed: &mut RoutedOp<W::Op>,
        record: &OperationRecord,
    ) -> Ended {
        let (session, series) = &session.parts[routed.part];
        record.of_part(series.clone());
        self.parts[routed.part].workload.execute(session, user, &mut routed.op, record).await
    }

    async fn check(
        &self,
        session: &RoutedSession<W::Session>,
        routed: &mut RoutedOp<W::Op>,
        record: &OperationRecord,
    ) {
        let (session, _) = &session.parts[routed.part];
        self.parts[routed.part].workload.check(session, &mut routed.op, record).await;
    }

    fn verifier(&self) -> Option<Box<dyn Verifier>> {
        let parts: Vec<_> =
            self.parts.iter().map(|part| (part.log.clone(), part.workload.verifier())).collect();
        let is_needed = parts.iter().any(|(_, verifier)| verifier.is_some());
        let records = parts.iter().map(|_| Records::default()).collect();
        let route = self.route.clone();
        is_needed.then(|| Box::new(RoutedVerifier { route, parts, records }) as Box<dyn Verifier>)
    }
}

impl Verifier for RoutedVerifier {
    fn check(&mut self, seq: u64, record: &[u8], now: Nanos, verdicts: &mut Verdicts) {
        let (part, _) = self.route.of(seq);
        match &mut self.parts[part] {
            (log, Some(verifier)) => {
                verdicts.of_target(log, |verdicts| verifier.check(seq, record, now, verdicts));
            }
            (_, None) => verdicts.unchecked(),
        }
    }

    fn check_all(&mut self, records: &Records, now: Nanos, verdicts: &mut Verdicts) {
        self.records.iter_mut().for_each(Records::clear);
        for (seq, record) in records.iter() {
            self.records[self.route.of(seq).0].push(seq, record);
        }
        for ((log, verifier), records) in self.parts.iter_mut().zip(&self.records) {
            match verifier {
                Some(verifier) => {
                    verdicts.of_target(log, |verdicts| verifier.check_all(records, now, verdicts));
                }
                None => (0..records.len()).for_each(|_| verdicts.unchecked()),
            }
        }
    }

    fn tick(&mut self, now: Nanos, verdicts: &mut Verdicts) {
        for (log, verifier) in &mut self.parts {
            if let Some(verifier) = verifier {
                verdicts.of_target(log, |verdicts| verifier.tick(now, verdicts));
            }
        }
    }
}

impl<S> fmt::Debug for RoutedSession<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RoutedSession").field("logs", &self.parts.len()).finish_non_exhaustive()
    }
}
