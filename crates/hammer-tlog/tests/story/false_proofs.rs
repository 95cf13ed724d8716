//! Consistency proofs that do not hold: what a log is accused of by them, and what it is not.

use hammer_tlog::ct::bundle::StaticCtLeaves;
use hammer_tlog::logs::audit::bundles;
use hammer_tlog::logs::follow::{Event, Evidence, Follower, Head, Need, ProofMethod};
use hammer_tlog::logs::merkle::{Hash, MerkleError, sha256};

use crate::log::Log;
use crate::watch::{follow, proved};

/// A follower that trusts the head of a log of ten leaves; the log has five more by now.
fn grown() -> (Log, Follower) {
    let mut log = Log::of(10);
    let follower = trusting(&log);
    log.grow(0..5);
    (log, follower)
}

fn trusting(log: &Log) -> Follower {
    let mut follower = Follower::new(ProofMethod::Proofs, bundles::<StaticCtLeaves>());
    assert!(matches!(&follow(&mut follower, log, log.head())[..], [Event::First { .. }]));
    follower
}

/// Another log of the same size, with other leaves from the first on.
fn twin(log: &Log) -> Log {
    let mut twin = Log::of(0);
    twin.grow(5_000_000..5_000_000 + log.tree.size());
    twin
}

/// A proof that leads nowhere.
fn mixed_up(log: &Log, first: u64, second: u64) -> Vec<Hash> {
    let mut proof = log.consistency(first, second);
    proof[0] = sha256(b"of another answer");
    proof
}

/// Feeds a head that is proved by `proof`, so often, until whoever is asked refuses.
fn refused(follower: &mut Follower, head: &Head, proof: &[Hash], times: usize) -> Vec<Event> {
    follower.head(head.clone());
    for _ in 0..times {
        let Some(Need::ConsistencyProof { first, second, .. }) = follower.need() else { break };
        follower.consistency_proof(first, second, proof);
    }
    if follower.need().is_some() {
        follower.set_aside();
    }
    follower.events()
}

#[test]
fn a_proof_of_the_wrong_length_is_asked_for_again_and_proves_nothing() {
    let mut log = Log::of(10);
    let mut follower = trusting(&log);
    log.submit(1);
    follower.head(log.head());
    for refused in 0..4 {
        assert_eq!(follower.need(), Some(Need::ConsistencyProof { first: 10, second: 11, refused }));
        assert_eq!(follower.events(), []);
        follower.consistency_proof(10, 11, &[]);
    }
    assert_eq!(follower.need(), None);
    assert!(matches!(follower.events()[..], [Event::Unproved { .. }]));
    assert_eq!(follower.trusted().unwrap().size, 10);
}

#[test]
fn a_proof_that_holds_once_it_is_asked_for_again_is_no_fork_and_the_false_one_is_told() {
    let mut log = Log::of(10);
    let earlier = log.head_at(7);
    let mut follower = trusting(&log);
    log.grow(0..5);
    let (older, newer) = (follower.trusted().unwrap().clone(), log.head());
    let shown = |follower: &mut Follower, first, second| {
        let mut mixed_up = log.consistency(first, second);
        mixed_up[0] = sha256(b"of another answer");
        follower.consistency_proof(first, second, &mixed_up);
        follower.consistency_proof(first, second, &[]);
        assert_eq!(follower.events(), []);
        assert!(matches!(follower.need(), Some(Need::ConsistencyProof { refused: 2, .. })));
        proved(follower, &log)
    };
    follower.head(newer.clone());
    let events = shown(&mut follower, 10, 15);
    let [Event::BadProof { older: one, newer: other, error, is_proved: true }, Event::Grew { .. }] =
        &events[..]
    else {
        panic!("{events:?}")
    };
    assert_eq!((one, other), (&older, &newer));
    assert!(!matches!(error, MerkleError::ProofLength { .. }), "what was wrong with the first: {error}");

    // And so with a head of an earlier state.
    follower.earlier(earlier);
    let events = shown(&mut follower, 7, 15);
    assert!(matches!(&events[..], [Event::BadProof { .. }, Event::Stale { .. }]), "{events:?}");
}

#[test]
fn a_false_proof_after_which_none_is_to_be_had_is_told_at_the_end_and_once() {
    let (log, mut follower) = grown();
    let newer = log.head();
    for _ in 0..2 {
        assert_eq!(refused(&mut follower, &newer, &mixed_up(&log, 10, 15), 1), []);
    }
    // What has the wrong length says nothing of the tree.
    let larger = Head { size: 16, ..newer.clone() };
    assert_eq!(refused(&mut follower, &larger, &[], 1), []);
    follower.end();
    let events = follower.events();
    let [Event::BadProof { older, newer, error, is_proved: false }] = &events[..] else {
        panic!("{events:?}")
    };
    assert_eq!((older.size, newer.size), (10, 15));
    assert!(!matches!(error, MerkleError::ProofLength { .. }), "{error}");
    follower.end();
    assert_eq!(follower.events(), []);
}

#[test]
fn a_false_proof_of_an_earlier_look_is_told_once_another_holds() {
    let (log, mut follower) = grown();
    assert_eq!(refused(&mut follower, &log.head(), &mixed_up(&log, 10, 15), 1), []);
    let events = follow(&mut follower, &log, log.head());
    assert!(
        matches!(&events[..], [Event::BadProof { is_proved: true, .. }, Event::Grew { .. }]),
        "{events:?}"
    );
    follower.end();
    assert_eq!(follower.events(), []);
}

#[test]
fn proofs_that_lead_nowhere_are_a_fork_by_their_count_whoever_refuses_between() {
    let (log, mut follower) = grown();
    let proof = mixed_up(&log, 10, 15);
    let told: Vec<Event> = (0..6).flat_map(|_| refused(&mut follower, &log.head(), &proof, 1)).collect();
    assert!(matches!(&told[..], [Event::Forked { evidence: Evidence::Proof(_), .. }]), "{told:?}");
}

#[test]
fn one_proof_of_another_tree_of_the_larger_size_is_a_fork() {
    // The proof of either log leads to the root of its own.
    for (older, newer) in [(10, 15), (7, 9), (5, 6)] {
        let log = Log::of(older);
        let mut twin = twin(&log);
        twin.grow(0..newer - older);
        let mut follower = trusting(&log);
        let events = refused(&mut follower, &twin.head(), &twin.consistency(older, newer), 1);
        let [Event::Forked { older: one, newer: other, evidence: Evidence::Prefix(_) }] = &events[..] else {
            panic!("{older} {newer}: {events:?}")
        };
        assert_eq!((one, other), (&log.head(), &twin.head()));

        // And so with a smaller head than that which is trusted.
        let mut follower = trusting(&twin);
        follower.earlier(log.head());
        follower.consistency_proof(older, newer, &twin.consistency(older, newer));
        let events = follower.events();
        assert!(matches!(&events[..], [Event::Forked { evidence: Evidence::Prefix(_), .. }]), "{events:?}");
    }
}

#[test]
fn a_root_that_no_proof_has_is_a_fork_by_the_count_of_proofs() {
    // The root of a power of two is in no proof.
    let log = Log::of(8);
    let mut twin = twin(&log);
    twin.grow(0..4);
    let mut follower = trusting(&log);
    let events: Vec<Event> =
        (0..20).flat_map(|_| refused(&mut follower, &twin.head(), &twin.consistency(8, 12), 1)).collect();
    assert!(matches!(&events[..], [Event::Forked { evidence: Evidence::Proof(_), .. }]), "{events:?}");
}

#[test]
fn proofs_of_another_size_as_of_a_server_that_lags_behind_are_no_fork_before_it_had_time_to_catch_up() {
    for (older, lags, newer) in [
        (10, 13, 15),
        (10, 12, 60),
        (7, 8, 300),
        (100, 101, 102),
        (5, 300, 301),
        (8, 10, 12),
        (64, 70, 100),
        (16, 17, 31),
    ] {
        let mut log = Log::of(older);
        let mut follower = trusting(&log);
        log.grow(0..newer - older);
        let proof = log.consistency(older, lags);
        for _ in 0..3 {
            assert_eq!(refused(&mut follower, &log.head(), &proof, 9), [], "{older} {lags} {newer}");
        }
        // It has caught up.
        let events = follow(&mut follower, &log, log.head());
        let [Event::BadProof { is_proved: true, .. }, Event::Grew { .. }] = &events[..] else {
            panic!("{older} {lags} {newer}: {events:?}")
        };
    }
}

#[test]
fn proofs_that_have_the_length_of_another_size_are_told_at_the_end_and_are_no_fork() {
    let mut log = Log::of(10);
    let mut follower = trusting(&log);
    log.grow(0..50);
    for _ in 0..9 {
        assert_eq!(refused(&mut follower, &log.head(), &log.consistency(10, 12), 9), []);
    }
    follower.end();
    let events = follower.events();
    assert!(matches!(&events[..], [Event::BadProof { is_proved: false, .. }]), "{events:?}");
}

#[test]
fn a_root_that_is_not_that_of_the_tree_whose_growth_is_proved_is_a_fork_in_the_end() {
    let (log, mut follower) = grown();
    let newer = Head { root: sha256(b"fork"), ..log.head() };
    let proof = log.consistency(10, 15);
    let told: Vec<Event> = (0..6).flat_map(|_| refused(&mut follower, &newer, &proof, 9)).collect();
    assert!(matches!(&told[..], [Event::Forked { evidence: Evidence::Proof(_), .. }]), "{told:?}");
}

#[test]
fn proofs_of_a_server_that_lags_behind_and_one_that_was_mixed_up_are_no_fork() {
    let (log, mut follower) = grown();
    for _ in 0..3 {
        assert_eq!(refused(&mut follower, &log.head(), &log.consistency(10, 12), 9), []);
    }
    assert_eq!(refused(&mut follower, &log.head(), &mixed_up(&log, 10, 15), 1), []);
}

#[test]
fn who_never_proves_how_a_tree_went_on_is_told_once_however_often_it_grew_since() {
    let mut log = Log::of(10);
    let mut follower = trusting(&log);
    for round in 1..50_u64 {
        log.grow(round * 10..round * 10 + 5);
        let size = log.head().size;
        let head = Head { size, root: sha256(&size.to_be_bytes()), ..log.head() };
        assert_eq!(refused(&mut follower, &head, &log.consistency(10, size), 9), []);
        assert_eq!(follower.doubted(), round);
    }
    follower.end();
    let events = follower.events();
    assert!(matches!(&events[..], [Event::BadProof { is_proved: false, .. }]), "{events:?}");
}

/// A head of `log` with another root, which its log never proves.
fn forged(log: &Log, root: &[u8]) -> Head {
    Head { root: sha256(root), ..log.head() }
}

#[test]
fn two_roots_of_one_size_are_a_fork_though_neither_was_ever_proved() {
    let (log, mut follower) = grown();
    let [one, other] = [b"one", b"two"].map(|root| forged(&log, root));
    let proof = log.consistency(10, 15);
    assert_eq!(refused(&mut follower, &one, &proof, 9), []);
    assert_eq!(refused(&mut follower, &one, &proof, 9), [], "it is served again");
    let told = refused(&mut follower, &other, &proof, 9);
    let [Event::Forked { older, newer, evidence: Evidence::SameSize }] = &told[..] else {
        panic!("{told:?}")
    };
    assert_eq!((older, newer), (&one, &other));
    follower.end();
    assert_eq!(follower.events(), [], "no proof of such a log can hold");
}

#[test]
fn a_forged_head_that_the_tree_outgrew_is_a_fork() {
    for grows_by in [0, 5] {
        let (mut log, mut follower) = grown();
        let head = forged(&log, b"forged");
        assert_eq!(refused(&mut follower, &head, &log.consistency(10, 15), 9), []);
        log.grow(0..grows_by);
        let told = follow(&mut follower, &log, log.head());
        let forks: Vec<_> = told.iter().filter(|event| matches!(event, Event::Forked { .. })).collect();
        let expected = if grows_by == 0 { (&head, &log.head()) } else { (&log.head(), &head) };
        let [Event::Forked { older, newer, .. }] = &forks[..] else { panic!("{grows_by}: {told:?}") };
        assert_eq!((older, newer), expected);
        assert!(
            told.iter().any(|event| matches!(event, Event::Grew { .. })),
            "the tree is followed: {told:?}"
        );
    }
}

#[test]
fn an_honest_head_of_which_no_proof_held_is_silently_found_to_be_of_the_tree() {
    let (mut log, mut follower) = grown();
    assert_eq!(refused(&mut follower, &log.head(), &log.consistency(10, 12), 9), []);
    let doubted = log.head();
    log.grow(0..5);
    let told = follow(&mut follower, &log, log.head());
    assert!(matches!(&told[..], [Event::Grew { .. }]), "{told:?}");
    assert!(follower.knows(&doubted));
}
