//! Promises of a run: what the verifiers count, and what observers found broken beside them.

use hammer_measure::Ledger;
use hammer_measure::promise::Breach;

/// The broken promises that are named, and the ledger of what was promised to everyone.
#[derive(Debug, Default)]
pub(super) struct Promises {
    breaches: Vec<Breach>,
    observed: Vec<(String, Ledger)>,
}

impl Promises {
    /// A broken promise, counted already by its verifier; whether it is among those that are named.
    pub(super) fn name(&mut self, breach: &Breach) -> bool {
        let is_named = self.breaches.len() < BREACHES_NAMED;
        if is_named {
            self.breaches.push(breach.clone());
        }
        is_named
    }

    /// A promise to everyone that an observer found broken: it is counted here.
    pub(super) fn observed(&mut self, breach: &Breach) {
        let place = self.observed.iter().position(|(name, _)| *name == breach.workload);
        let place = place.unwrap_or_else(|| {
            self.observed.push((breach.workload.clone(), Ledger::default()));
            self.observed.len() - 1
        });
        let broken = Ledger { made: 1, broken: 1, ..Ledger::default() };
        self.observed[place].1.add(&broken);
    }

    /// The verifiers' ledger and the observers' together.
    pub(super) fn with(&self, mut verified: Ledger) -> Ledger {
        self.observed.iter().for_each(|(_, ledger)| verified.add(ledger));
        verified
    }

    /// The same by workload; what observers saw stands under the name that they gave it.
    pub(super) fn by_workload(&self, mut verified: Vec<(String, Ledger)>) -> Vec<(String, Ledger)> {
        for (name, ledger) in &self.observed {
            match verified.iter_mut().find(|(workload, _)| workload == name) {
                Some((_, known)) => known.add(ledger),
                None => verified.push((name.clone(), *ledger)),
            }
        }
        verified
    }

    /// The named ones.
    pub(super) fn into_breaches(self) -> Vec<Breach> {
        self.breaches
    }
}

const BREACHES_NAMED: usize = 1_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_observer_finds_broken_is_counted_once() {
        let breach = Breach {
            workload: "log".into(),
            seq: None,
            kind: "shrinking-tree".into(),
            index: None,
            detail: "it shrank".into(),
        };
        let mut promises = Promises::default();
        assert!(promises.name(&breach));
        promises.observed(&breach);
        let kept = Ledger { made: 5, kept: 5, ..Ledger::default() };
        let all = promises.with(kept);
        assert!(all.balances());
        assert_eq!((all.made, all.kept, all.broken), (6, 5, 1));
        let by_workload = promises.by_workload(vec![("submit".into(), kept)]);
        assert_eq!(by_workload[1].0, "log");
        assert_eq!(by_workload[1].1.broken, 1);
    }
}
