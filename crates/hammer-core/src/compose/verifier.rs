//! The verifier of a workload that is made of parts.

use std::sync::Arc;

use hammer_measure::Nanos;

use crate::compose::route::Route;
use crate::promise::{Records, Verdicts, Verifier};

/// Judges each promise by the part that received it.
pub(super) struct PartsVerifier<R> {
    route: R,
    parts: Vec<(Arc<str>, PartVerifier)>,
    /// Which of the records that are judged together are of each part.
    records: Vec<Records>,
}

/// None where the part receives no promises.
pub(super) type PartVerifier = Option<Box<dyn Verifier>>;

impl<R: Route> PartsVerifier<R> {
    /// A verifier of these parts by name, in the order in which `route` counts them; none where no part receives promises.
    pub(super) fn of(route: R, parts: Vec<(Arc<str>, PartVerifier)>) -> Option<Box<dyn Verifier>> {
        let is_needed = parts.iter().any(|(_, verifier)| verifier.is_some());
        let records = parts.iter().map(|_| Records::default()).collect();
        is_needed.then(|| Box::new(Self { route, parts, records }) as Box<dyn Verifier>)
    }
}

impl<R: Route> Verifier for PartsVerifier<R> {
    fn check(&mut self, seq: u64, record: &[u8], now: Nanos, verdicts: &mut Verdicts) {
        let (part, _) = self.route.of(seq);
        match &mut self.parts[part] {
            (name, Some(verifier)) => {
                verdicts.of_target(name, |verdicts| verifier.check(seq, record, now, verdicts));
            }
            (_, None) => verdicts.unchecked(),
        }
    }

    fn check_all(&mut self, records: &Records, now: Nanos, verdicts: &mut Verdicts) {
        self.records.iter_mut().for_each(Records::clear);
        for (seq, record) in records.iter() {
            self.records[self.route.of(seq).0].push(seq, record);
        }
        for ((name, verifier), records) in self.parts.iter_mut().zip(&self.records) {
            match verifier {
                Some(verifier) => {
                    verdicts.of_target(name, |verdicts| verifier.check_all(records, now, verdicts));
                }
                None => (0..records.len()).for_each(|_| verdicts.unchecked()),
            }
        }
    }

    fn tick(&mut self, now: Nanos, verdicts: &mut Verdicts) {
        for (name, verifier) in &mut self.parts {
            if let Some(verifier) = verifier {
                verdicts.of_target(name, |verdicts| verifier.tick(now, verdicts));
            }
        }
    }
}
