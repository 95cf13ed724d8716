//! Promises of a run: what the verifiers count, and what observers found broken beside them.

use std::sync::Arc;

use hammer_measure::Ledger;
use hammer_measure::promise::{Breach, BreachEvidence, KindLedger, add_kind};

/// The broken promises that are named, and the ledger of what was promised to everyone.
#[derive(Debug, Default)]
pub(super) struct Promises {
    breaches: Vec<Breach>,
    evidence: Vec<BreachEvidence>,
    observed: Vec<KindLedger>,
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

    /// What shows that a promise was broken, as long as it is among those that are named.
    pub(super) fn keep_evidence(&mut self, breach: &Breach, bytes: Option<Arc<[u8]>>) {
        if let (Some(seq), Some(bytes)) = (breach.seq, bytes)
            && self.evidence.len() < BREACHES_NAMED
        {
            let (workload, kind) = (breach.workload.clone(), breach.kind.clone());
            self.evidence.push(BreachEvidence { workload, seq, kind, bytes });
        }
    }

    /// A promise to everyone that an observer found broken: it is counted here.
    pub(super) fn observed(&mut self, breach: &Breach) {
        let ledger = Ledger { made: 1, broken: 1, ..Ledger::default() };
        let (workload, kind) = (breach.workload.clone(), breach.kind.clone());
        add_kind(&mut self.observed, &KindLedger { workload, kind, ledger });
    }

    /// The verifiers' ledger and the observers' together.
    pub(super) fn with(&self, mut verified: Ledger) -> Ledger {
        self.observed.iter().for_each(|known| verified.add(&known.ledger));
        verified
    }

    /// The same by workload and kind; what observers saw stands under the name that they gave it, by what was found.
    pub(super) fn by_kind(&self, mut verified: Vec<KindLedger>) -> Vec<KindLedger> {
        verified.extend(self.observed.iter().cloned());
        verified
    }

    pub(super) fn take_evidence(&mut self) -> Vec<BreachEvidence> {
        std::mem::take(&mut self.evidence)
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
        let sct = KindLedger { workload: "submit".into(), kind: "sct".into(), ledger: kept };
        let by_kind = promises.by_kind(vec![sct]);
        assert_eq!((by_kind[1].workload.as_str(), by_kind[1].kind.as_str()), ("log", "shrinking-tree"));
        assert_eq!(by_kind[1].ledger.broken, 1);
    }
}
