//! The verifier of a workload that is made of parts.

use std::sync::Arc;

use hammer_measure::Nanos;

use crate::compose::parts::Parts;
use crate::compose::route::Route;
use crate::promise::{PromiseKind, Records, Verdicts, Verifier};

/// Judges each promise by the part that received it.
pub(super) struct PartsVerifier<R> {
    route: R,
    parts: Vec<PartOfVerifier>,
    /// Which of the records that are judged together are of each part.
    records: Vec<Records>,
}

struct PartOfVerifier {
    name: Arc<str>,
    kinds: Arc<[PromiseKind]>,
    /// None where the part receives no promises.
    verifier: Option<Box<dyn Verifier>>,
}

impl<R: Route> PartsVerifier<R> {
    /// A verifier of the parts that have one, in the order in which `route` counts them; none where none has.
    pub(super) fn of(
        route: R,
        parts: &Parts,
        verifiers: impl IntoIterator<Item = Option<Box<dyn Verifier>>>,
    ) -> Option<Box<dyn Verifier>> {
        let part = |(part, verifier)| PartOfVerifier {
            name: parts.name(part).clone(),
            kinds: parts.kinds_of(part),
            verifier,
        };
        let parts: Vec<_> = verifiers.into_iter().enumerate().map(part).collect();
        let is_needed = parts.iter().any(|part| part.verifier.is_some());
        let records = parts.iter().map(|_| Records::default()).collect();
        is_needed.then(|| Box::new(Self { route, parts, records }) as Box<dyn Verifier>)
    }
}

impl PartOfVerifier {
    fn judge(&mut self, verdicts: &mut Verdicts, judge: impl FnOnce(&mut dyn Verifier, &mut Verdicts)) {
        if let Some(verifier) = &mut self.verifier {
            verdicts.of_part(&self.name, &self.kinds, |verdicts| judge(verifier.as_mut(), verdicts));
        }
    }
}

impl<R: Route> Verifier for PartsVerifier<R> {
    fn check(&mut self, seq: u64, record: &[u8], now: Nanos, verdicts: &mut Verdicts) {
        let (part, _) = self.route.of(seq);
        self.parts[part].judge(verdicts, |verifier, verdicts| verifier.check(seq, record, now, verdicts));
    }

    fn check_all(&mut self, records: &Records, now: Nanos, verdicts: &mut Verdicts) {
        self.records.iter_mut().for_each(Records::clear);
        for record in records.iter() {
            self.records[self.route.of(record.seq).0].push(record);
        }
        for (part, records) in self.parts.iter_mut().zip(&self.records) {
            part.judge(verdicts, |verifier, verdicts| verifier.check_all(records, now, verdicts));
        }
    }

    fn tick(&mut self, now: Nanos, verdicts: &mut Verdicts) {
        for part in &mut self.parts {
            part.judge(verdicts, |verifier, verdicts| verifier.tick(now, verdicts));
        }
    }

    fn finish(&mut self, now: Nanos, verdicts: &mut Verdicts) {
        for part in &mut self.parts {
            part.judge(verdicts, |verifier, verdicts| verifier.finish(now, verdicts));
        }
    }
}
