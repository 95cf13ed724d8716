use proptest::prelude::*;

use super::*;

fn of([kept, broken, pending, unchecked]: [u64; 4]) -> Ledger {
    Ledger { made: kept + broken + pending + unchecked, kept, broken, pending, unchecked }
}

fn any_states() -> impl Strategy<Value = [[u64; 4]; 3]> {
    prop::array::uniform3(prop::array::uniform4(0..1_000_000u64))
}

fn sum(one: Ledger, other: &Ledger) -> Ledger {
    let mut all = one;
    all.add(other);
    all
}

proptest! {
    #[test]
    fn ledgers_that_balance_add_up_to_one_that_balances(states in any_states()) {
        let [a, b, c] = states.map(of);
        prop_assert!(a.balances() && sum(a, &b).balances());
        prop_assert_eq!(sum(a, &b), sum(b, &a));
        prop_assert_eq!(sum(sum(a, &b), &c), sum(a, &sum(b, &c)));
        prop_assert_eq!(sum(a, &Ledger::default()), a);
        prop_assert_eq!(sum(a, &b).made, a.made + b.made);
    }

    #[test]
    fn the_ledgers_of_workloads_are_the_sums_of_their_kinds(
        kinds in prop::collection::vec((0..3usize, 0..3usize, prop::array::uniform4(0..1_000u64)), 0..12),
    ) {
        let kinds: Vec<KindLedger> = kinds.into_iter().map(|(workload, kind, states)| KindLedger {
            workload: ["submit", "reads", "late"][workload].to_owned(),
            kind: ["sct", "tree-head", "inclusion"][kind].to_owned(),
            ledger: of(states),
        }).collect();
        let workloads = by_workload(&kinds);
        let mut names: Vec<&str> = kinds.iter().map(|kind| kind.workload.as_str()).collect();
        let mut met = std::collections::BTreeSet::new();
        names.retain(|name| met.insert(*name));
        prop_assert_eq!(workloads.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), names, "in their order");
        for (name, ledger) in &workloads {
            let of_name = kinds.iter().filter(|kind| kind.workload == *name);
            let expected = of_name.fold(Ledger::default(), |all, kind| sum(all, &kind.ledger));
            prop_assert_eq!(*ledger, expected);
            prop_assert!(ledger.balances());
        }
    }

    #[test]
    fn judging_a_pending_promise_keeps_the_balance(states in prop::array::uniform4(0..1_000u64), fate in 0..3usize) {
        let mut ledger = of(states);
        ledger.made += 1;
        prop_assert!(!ledger.balances(), "a promise without a state");
        ledger.pending += 1;
        prop_assert!(ledger.balances());
        ledger.pending -= 1;
        *[&mut ledger.kept, &mut ledger.broken, &mut ledger.unchecked][fate] += 1;
        prop_assert!(ledger.balances());
    }
}

#[test]
fn a_count_too_many_of_any_state_does_not_balance() {
    let alterations: [fn(&mut Ledger); 5] = [
        |ledger| ledger.made += 1,
        |ledger| ledger.kept += 1,
        |ledger| ledger.broken += 1,
        |ledger| ledger.pending += 1,
        |ledger| ledger.unchecked += 1,
    ];
    for (index, alter) in alterations.into_iter().enumerate() {
        let mut ledger = of([5, 1, 2, 3]);
        assert!(ledger.balances());
        alter(&mut ledger);
        assert!(!ledger.balances(), "alteration {index}");
    }
}

#[test]
fn a_breach_names_the_operation_unless_everyone_was_promised() {
    let breach = Breach {
        workload: "submit".to_owned(),
        seq: Some(41),
        kind: "lost-leaf".to_owned(),
        index: None,
        detail: "not in the tree".to_owned(),
    };
    assert_eq!(breach.subject(), "submit 41");
    assert_eq!(Breach { seq: None, ..breach }.subject(), "submit");
}

#[test]
fn what_was_found_is_told_at_a_length_that_somebody_reads() {
    let breach = |detail: String| Breach {
        workload: "sign".into(),
        seq: Some(1),
        kind: "entry-of-another-log".into(),
        index: None,
        detail,
    };
    assert_eq!(breach("short".into()).shortened(), breach("short".into()));
    // A character of two bytes stands across the place where it is cut.
    let long = breach(format!("x{}", "é".repeat(2_000_000))).shortened();
    assert!(long.detail.len() < 2_100 && long.detail.capacity() < 4_200, "{}", long.detail.len());
    assert!(long.detail.ends_with("... (4000001 bytes)"), "{}", long.detail);
}
