//! How long a fill waits for verdicts.

use hammer_audit::LogPlace;
use hammer_measure::{Ledger, Nanos, Phase};

use crate::server::ToyLie;
use crate::{Audited, LONG_MS};

/// Thirty submissions, of which no more than ten are published: how long drain took, and what became of the promises.
fn drained(lie: ToyLie, drain_s: u64, patience: Option<Nanos>) -> (Nanos, Ledger) {
    let (log, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let drain = Nanos::from_secs(drain_s);
    let setup = Audited { lie: Some(lie), submissions: 30, delay_ms: LONG_MS, drain, patience };
    let result = setup.run_at(LogPlace::Folder(log.path().to_owned()), log.path(), folder.path());
    let (_, start, end) = result.phases.iter().find(|(phase, _, _)| *phase == Phase::Drain).unwrap();
    (end.since(*start), result.promises)
}

#[test]
fn a_fill_whose_log_is_gone_waits_for_it_as_long_as_its_patience_is() {
    let (took, promises) = drained(ToyLie::Gone, 120, Some(Nanos::from_secs(3)));
    assert!(took < Nanos::from_secs(60), "it drained for {took}");
    assert!(promises.unchecked >= 20 && promises.pending == 0, "{promises:?}");
}

#[test]
fn a_fill_whose_log_is_slow_and_a_run_whose_log_is_gone_wait_for_verdicts_until_drain_is_over() {
    for (lie, patience) in [(ToyLie::Withheld, Some(Nanos::from_millis(200))), (ToyLie::Gone, None)] {
        let (took, promises) = drained(lie, 3, patience);
        assert!(took >= Nanos::from_millis(2_900), "{lie:?}: it drained for {took}");
        assert!(promises.pending + promises.unchecked > 0, "{lie:?}: {promises:?}");
    }
}
