//! What goes wrong behind Rekor v1 is seen as behind the real one.

use std::{sync::Arc, time::Duration};

use futures::future::join_all;
use hammer_lab::{LabStats, ManualClock};
use hammer_lab_sigstore::rekor::{Hang, RekorLabHandle, RekorLabPlan};
use hammer_values::{Count, TimeSpan};

use crate::{
    client::{Answer, get, post, within},
    mint::hashedrekord,
    v1::{ENTRIES, at_once, start, submit},
};

const UNEXPECTED: &str = "{\"code\":500,\"message\":\"unexpected result from transparency log\"}\n";

fn is_unexpected(answer: &Answer) -> bool {
    answer.status == 500 && answer.text() == UNEXPECTED
}

#[tokio::test]
async fn a_full_storage_takes_nothing_more_and_still_answers_reads() {
    let lab = start(RekorLabPlan { storage_full_after: Some(2), ..at_once() }).await;
    submit(&lab, hashedrekord(b"1")).await.json(201);
    submit(&lab, hashedrekord(b"2")).await.json(201);
    assert!(is_unexpected(&submit(&lab, hashedrekord(b"3")).await));
    assert_eq!(get(&format!("{}/api/v1/log", lab.url)).await.json(200)["treeSize"], 2);
    lab.shutdown().await;
}

#[tokio::test]
async fn a_quota_refuses_what_finds_too_much_waiting() {
    let clock = ManualClock::at_unix_ms(1_800_000_000_000);
    let (quota, integration_delay) = (Some(Count::at_least_one(2)), TimeSpan::from_secs(1));
    let plan = RekorLabPlan { quota, integration_delay, ..RekorLabPlan::default() };
    let lab = Arc::new(RekorLabHandle::start_with_clock(plan, Arc::new(clock.clone())).await.unwrap());
    let waiting = [1u8, 2].map(|number| {
        let lab = Arc::clone(&lab);
        tokio::spawn(async move { submit(&lab, hashedrekord(&[number])).await })
    });
    until(&lab, |stats| stats.outstanding == 2).await;
    assert!(is_unexpected(&submit(&lab, hashedrekord(&[3])).await));
    // The log may not have begun to wait when the time moves, so that it is moved until the log has seen it.
    while !waiting.iter().all(tokio::task::JoinHandle::is_finished) {
        clock.advance(Duration::from_secs(1));
        get(&format!("{}/ping", lab.url)).await;
    }
    for answer in waiting {
        answer.await.unwrap().json(201);
    }
    assert_eq!(lab.stats().tree_size, 2);
}

async fn until(lab: &RekorLabHandle, condition: impl Fn(&LabStats) -> bool) {
    within(async {
        while !condition(&lab.stats()) {
            get(&format!("{}/ping", lab.url)).await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_hanging_log_answers_every_other_entry_and_the_rest_when_it_ends() {
    let hang = Some(Hang { every: Count::at_least_one(2), ..Hang::default() });
    let lab = start(RekorLabPlan { hang, ..at_once() }).await;
    let url = format!("{}{ENTRIES}", lab.url);
    let submissions = [1u8, 2, 3, 4].map(|number| {
        let (url, entry) = (url.clone(), hashedrekord(&[number]).to_string());
        tokio::spawn(async move { post(&url, entry).await })
    });
    let finished = || submissions.iter().filter(|submission| submission.is_finished()).count();
    until(&lab, |stats| stats.accepted == 2 && finished() == 2).await;
    assert_eq!(lab.stats().tree_size, 2);
    lab.shutdown().await;
    let answers = within(join_all(submissions)).await;
    let answers: Vec<Answer> = answers.into_iter().map(Result::unwrap).collect();
    assert_eq!(answers.iter().filter(|answer| answer.status == 201).count(), 2);
    assert_eq!(answers.iter().filter(|answer| is_unexpected(answer)).count(), 2);
}
