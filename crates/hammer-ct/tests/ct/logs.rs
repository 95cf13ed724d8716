//! Several logs of one load.

use std::sync::Arc;

use hammer_core::compose::Routed;
use hammer_core::observe::Named;
use hammer_core::workload::Workload;
use hammer_ct::{
    AuditInterval, Auditor, Chains, CtError, CtRun, LogRoute, LogTarget, SubmitPlan, SubmitWorkload, Window,
};
use hammer_lab::ct::{Flavour, Lie, LieKind};
use hammer_lab::{CtLabHandle, CtLabPlan};
use hammer_measure::Fate;
use hammer_tlog::keys::key::LogKey;
use hammer_values::Count;

use crate::canned;
use crate::harness::{TestRun, client, lab, target, whole_percent};

const NAMES: [&str; 2] = ["early", "late"];
/// Where the window of the one ends and that of the other starts.
const MIDDLE: u64 = 1_830_000_000;
const FIRST: &str = "2027-10-01";
const LAST: &str = "2028-05-01";

fn spread() -> SubmitPlan {
    SubmitPlan {
        precert_percent: whole_percent(30),
        not_after: FIRST.parse().unwrap(),
        not_after_until: LAST.parse().ok(),
        ..SubmitPlan::default()
    }
}

fn windows() -> [Window; 2] {
    [Window { start: None, limit: Some(MIDDLE) }, Window { start: Some(MIDDLE), limit: None }]
}

fn shards(flavour: Flavour) -> [CtLabHandle; 2] {
    let date = "2027-12-28T13:20:00Z".parse().ok();
    let shard = |key_seed, not_after_start, not_after_limit| {
        let plan = CtLabPlan { flavour, key_seed, not_after_start, not_after_limit, ..CtLabPlan::default() };
        lab(&spread(), plan)
    };
    [shard(1, None, date), shard(2, date, None)]
}

fn targets(labs: &[CtLabHandle; 2], flavour: Flavour) -> [LogTarget; 2] {
    let [early, late] = windows();
    [
        LogTarget { window: early, ..target(&labs[0], flavour) },
        LogTarget { window: late, ..target(&labs[1], flavour) },
    ]
}

/// Submissions to both logs, each with its auditor.
fn routed(
    logs: &[Arc<LogTarget>],
    auditors: &mut [Auditor],
    run: &CtRun,
) -> Result<Routed<SubmitWorkload, LogRoute>, CtError> {
    let chains = Arc::new(Chains::new(&spread(), run)?);
    let route = LogRoute::by_not_after(chains.clone(), logs)?;
    let parts = logs.iter().zip(NAMES).enumerate().map(|(place, (log, name))| {
        let made = SubmitWorkload::of_chains(&spread(), chains.clone(), log.clone(), client(log), run)?;
        let made = match auditors.get_mut(place) {
            Some(auditor) => made.audited(auditor.link("w0")),
            None => made,
        };
        Ok((name.to_owned(), made))
    });
    Ok(Routed::new(route, parts.collect::<Result<_, CtError>>()?))
}

#[test]
fn the_log_of_an_operation_is_the_one_that_takes_its_leaf() {
    let run = TestRun::new().ct();
    let logs = windows().map(|window| {
        let log = canned::log(hammer_ct::LogKind::StaticCt, 404, "");
        Arc::new(LogTarget { window, ..log })
    });
    let (one, other) = (routed(&logs, &mut [], &run).unwrap(), routed(&logs, &mut [], &run).unwrap());
    let series: Vec<String> = one.series().into_iter().map(|series| series.name).collect();
    assert_eq!(
        series[..4],
        ["early/add-chain", "early/add-pre-chain", "late/add-chain", "late/add-pre-chain"]
    );
    let minter = hammer_synth::ChainMinter::new(&spread().minter_spec(&run).unwrap()).unwrap();
    let (mut minted, mut early) = (hammer_synth::Minted::new(), 0);
    // In any order, and by whichever of two that were made alike.
    for seq in (0..400).rev() {
        minter.mint(seq, &mut hammer_synth::MintScratch::new(), &mut minted);
        let log = if minted.not_after() < MIDDLE { "early/" } else { "late/" };
        assert!(series[one.series_of(seq)].starts_with(log), "{seq}: {}", minted.not_after());
        assert_eq!(one.series_of(seq), other.series_of(seq));
        early += u64::from(minted.not_after() < MIDDLE);
    }
    // 88 of 213 days, within five standard deviations.
    assert!((116..215).contains(&early), "{early}");
}

#[test]
fn every_chain_is_in_its_shard_and_found_there() {
    for flavour in [Flavour::StaticCt, Flavour::Rfc6962] {
        let labs = shards(flavour);
        let logs = targets(&labs, flavour).map(Arc::new);
        let mut run = TestRun::new();
        run.shards = 2;
        let mut auditors: Vec<Auditor> = logs
            .iter()
            .zip(NAMES)
            .map(|(log, name)| Auditor::new(name, log.clone(), client(log), run.epoch_unix_ms))
            .map(|auditor| auditor.every(AuditInterval::LEAST))
            .collect();
        let workload = routed(&logs, &mut auditors, &run.ct()).unwrap();
        run.load(workload, 200.0, 300);
        let named = NAMES.into_iter().zip(auditors);
        run.observers =
            named.map(|(name, auditor)| Box::new(Named::new(name, Box::new(auditor))) as _).collect();
        let outcome = run.run();
        outcome.assert_kept(300);
        let accepted = |series| outcome.fate(series, Fate::Accepted);
        let observed = |name: &str| {
            outcome.result.observations.iter().find(|seen| seen.name == name).map(|seen| seen.value)
        };
        for (place, (lab, name)) in labs.into_iter().zip(NAMES).enumerate() {
            let here = accepted(2 * place) + accepted(2 * place + 1);
            assert!(here > 80, "{name}: {here}");
            assert_eq!(observed(&format!("{name}/audited")), Some(here as f64));
            assert_eq!(lab.stop().distinct, here);
        }
        assert_eq!((0..4).map(accepted).sum::<u64>(), 300);
        assert!(outcome.result.breaches.is_empty(), "{:?}", outcome.result.breaches);
    }
}

#[test]
fn the_sct_of_another_log_is_a_broken_promise_of_the_one_that_gave_it() {
    let labs = shards(Flavour::StaticCt);
    let [early, late] = targets(&labs, Flavour::StaticCt);
    // What the second signs is held against its own key, which is not the first one's.
    let key = LogKey::from_der(labs[0].log_key_spki()).unwrap();
    let logs = [early, LogTarget { key, ..late }].map(Arc::new);
    let mut run = TestRun::new();
    let workload = routed(&logs, &mut [], &run.ct()).unwrap();
    run.load(workload, 200.0, 100);
    let outcome = run.run();
    let here: u64 = [2, 3].map(|series| outcome.fate(series, Fate::Accepted)).iter().sum();
    let ledger = outcome.result.promises;
    assert_eq!((ledger.broken, ledger.kept), (here, 100 - here), "{ledger:?}");
    assert!(here > 20, "{here}");
    for breach in &outcome.result.breaches {
        assert!(breach.detail.starts_with("late: "), "{breach:?}");
        let seq = breach.seq.unwrap();
        let minter = hammer_synth::ChainMinter::new(&spread().minter_spec(&TestRun::new().ct()).unwrap());
        assert!(minter.unwrap().not_after(seq) >= MIDDLE, "{breach:?}");
    }
}

#[test]
fn the_receipt_of_a_broken_promise_names_the_log_as_the_breach_does() {
    let folder = tempfile::tempdir().unwrap();
    let honest = shards(Flavour::StaticCt);
    let lies = vec![Lie { after: 5, every: Count::at_least_one(10), ..Lie::of(LieKind::LostLeaf) }];
    let [early, _] = honest;
    let lying = CtLabPlan { key_seed: 2, lies, ..CtLabPlan::default() };
    let labs = [early, lab(&spread(), lying)];
    // What the first one signs is held against another key.
    let [early, late] = targets(&labs, Flavour::StaticCt);
    let key = late.key.clone();
    let logs = [LogTarget { key, ..early }, late].map(Arc::new);
    let mut run = TestRun::new();
    let mut auditors: Vec<Auditor> = logs
        .iter()
        .zip(NAMES)
        .map(|(log, name)| Auditor::new(name, log.clone(), client(log), run.epoch_unix_ms))
        .map(|auditor| auditor.every(AuditInterval::LEAST).folder(folder.path().to_owned()))
        .collect();
    let workload = routed(&logs, &mut auditors, &run.ct()).unwrap();
    run.load(workload, 200.0, 100);
    let named = NAMES.into_iter().zip(auditors);
    run.observers = named.map(|(name, auditor)| Box::new(Named::new(name, Box::new(auditor))) as _).collect();
    let outcome = run.run();
    let mut seen = [0, 0];
    for file in std::fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().path()) {
        for line in std::fs::read_to_string(&file).unwrap().lines() {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            let detail = line["detail"].as_str().unwrap();
            let breach = outcome.result.breaches.iter().find(|breach| breach.seq == line["seq"].as_u64());
            assert!(breach.is_none_or(|breach| breach.detail == detail), "{line} {breach:?}");
            let of = NAMES.iter().position(|name| detail.starts_with(&format!("{name}: "))).unwrap();
            seen[of] += 1;
        }
    }
    assert!(seen.iter().all(|lines| *lines >= 2), "{seen:?}");
}

#[test]
fn a_leaf_that_no_log_takes_is_known_before_the_run() {
    let run = TestRun::new().ct();
    let log = canned::log(hammer_ct::LogKind::StaticCt, 404, "");
    let [early, late] = windows();
    let late = Window { start: Some(MIDDLE + 1), ..late };
    let logs = [early, late].map(|window| Arc::new(LogTarget { window, ..log.clone() }));
    let error = routed(&logs, &mut [], &run).unwrap_err().to_string();
    assert!(error.contains("2027-12-28T13:20:00Z"), "{error}");
    assert!(matches!(spread().check_windows(&[early, late], &run), Err(CtError::NoLog { .. })));
    assert!(spread().check_windows(&windows(), &run).is_ok());
}
