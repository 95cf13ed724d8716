use hammer_lab_sigstore::{
    LieRule, TsaLabPlan,
    tsa::TsaLieKind::{self, *},
};

use crate::tsa::{query, stamp, text, tsa, verify};

#[tokio::test]
async fn each_lie_is_found_by_its_own_fault_and_is_owned_up_to() {
    for (kind, fault) in [
        (TimestampOverAnotherImprint, "message imprint mismatch"),
        (TimestampWithAnotherNonce, "nonce mismatch"),
        (TimestampByAnUntrustedChain, "certificate verify error"),
        (BadTimestampSignature, "signature failure"),
    ] {
        let lies = vec![LieRule { after: 1, times: Some(1), ..LieRule::of(kind) }];
        let tsa = tsa(TsaLabPlan { lies, ..TsaLabPlan::default() }).await;
        let query = query(&["-sha256", "-cert"]);
        let mut verdicts = Vec::new();
        for _ in 0..3 {
            let answer = stamp(&tsa, query.clone()).await;
            verdicts.push(verify(&tsa, &query, &answer.body).await);
        }
        assert!(verdicts[0].is_ok() && verdicts[2].is_ok(), "{verdicts:?}");
        assert!(verdicts[1].as_ref().is_err_and(|told| told.contains(fault)), "{kind:?}: {verdicts:?}");
        let (told, unlisted) = tsa.target().told_lies();
        assert_eq!((told.len(), unlisted), (1, 0));
        assert_eq!(told[0].kind, kind);
        // SHA-256 of "an artifact".
        let imprint = hammer_tlog::hash::sha256(b"an artifact").to_hex();
        assert_eq!(told[0].subject, imprint);
    }
}

#[tokio::test]
async fn a_timestamp_in_the_past_is_an_hour_old_and_verifies() {
    let tsa = tsa(TsaLabPlan { lies: vec![LieRule::of(TimestampInThePast)], ..TsaLabPlan::default() }).await;
    let query = query(&["-sha256", "-cert"]);
    let answer = stamp(&tsa, query.clone()).await;
    verify(&tsa, &query, &answer.body).await.unwrap();
    let text = text(&answer.body);
    assert!(text.contains("Time stamp: Nov 21 05:48:10 2026 GMT"), "{text}");
    let (told, _) = tsa.target().told_lies();
    let serial = told[0].serial.trim_start_matches('0').to_ascii_uppercase();
    assert!(
        text.contains(&format!("Serial number: 0x{serial}")) || text.contains(&serial),
        "{text} {serial}"
    );
}

#[tokio::test]
async fn a_nonce_that_nobody_asked_for_is_a_lie_as_well() {
    let lies = vec![LieRule::of(TimestampWithAnotherNonce)];
    let tsa = tsa(TsaLabPlan { lies, ..TsaLabPlan::default() }).await;
    let answer = stamp(&tsa, query(&["-sha256", "-no_nonce"])).await;
    assert!(text(&answer.body).contains("Nonce: 0x0101"), "{}", text(&answer.body));
}

#[tokio::test]
async fn another_chain_is_served_as_often_as_the_rule_says_and_timestamps_are_none_of_its_affair() {
    let lies = vec![LieRule { after: 1, times: Some(1), ..LieRule::of(AnotherChain) }];
    let tsa = tsa(TsaLabPlan { lies, ..TsaLabPlan::default() }).await;
    let query = query(&["-sha256", "-cert"]);
    let mut verdicts = Vec::new();
    for _ in 0..3 {
        let answer = stamp(&tsa, query.clone()).await;
        // By the chain that is served then.
        verdicts.push(verify(&tsa, &query, &answer.body).await);
    }
    assert!(verdicts[0].is_ok() && verdicts[2].is_ok(), "{verdicts:?}");
    assert!(
        verdicts[1].as_ref().is_err_and(|told| told.contains("certificate verify error")),
        "{verdicts:?}"
    );
    let (told, unlisted) = tsa.target().told_lies();
    assert_eq!((told.len(), told[0].kind, unlisted), (1, AnotherChain, 0));
}

#[test]
fn lies_have_names_of_their_field() {
    let kinds = [
        TimestampOverAnotherImprint,
        TimestampWithAnotherNonce,
        TimestampByAnUntrustedChain,
        BadTimestampSignature,
        TimestampInThePast,
        AnotherChain,
    ];
    let names = kinds.map(|kind: TsaLieKind| serde_json::to_value(kind).unwrap());
    assert_eq!(
        names,
        [
            "timestamp-over-another-imprint",
            "timestamp-with-another-nonce",
            "timestamp-by-an-untrusted-chain",
            "bad-timestamp-signature",
            "timestamp-in-the-past",
            "another-chain",
        ]
    );
}
