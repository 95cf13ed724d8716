//! What goes wrong on purpose.

use std::time::Duration;

use hammer_lab::{
    Clock,
    fault::{DataKept, Restart},
};
use hammer_lab_attest::{AttestLabPlan, LateAnswer, LateStart, LostSessions, Processing, Release, StorePlan};
use hammer_values::{Count, Share, TimeSpan};
use tokio::time::timeout;

use crate::{
    client::{send, within},
    device::Device,
    service::{BOTH, EVIDENCE_TYPE, Service},
};

/// Lets the clock go on by steps until the future is over; the time that it took.
async fn stepped<T>(service: &Service, future: impl Future<Output = T>) -> (T, Duration) {
    let start = service.clock.elapsed();
    let mut future = std::pin::pin!(future);
    within(async {
        loop {
            // Time enough for an answer that waits for nothing; what comes later is only told as later.
            if let Ok(over) = timeout(Duration::from_millis(20), &mut future).await {
                return (over, service.clock.elapsed() - start);
            }
            service.clock.advance(Duration::from_millis(100));
        }
    })
    .await
}

async fn service_with_store(store: StorePlan) -> Service {
    Service::start(AttestLabPlan { store, ..AttestLabPlan::default() }).await
}

#[tokio::test]
async fn verification_takes_longer_the_more_rows_are_stored_and_provisioning_does_not() {
    let store = StorePlan {
        row_time: TimeSpan::from_millis(50),
        workers: Count::at_least_one(1),
        ..StorePlan::default()
    };
    let service = service_with_store(store).await;
    let device = Device::new("weight", 0);
    for rows in [4_u32, 8] {
        // It waits for nothing: the clock stands still.
        assert_eq!(service.provision(&device).await["status"], "success");
        assert_eq!(service.lab.stats().store_rows, u64::from(rows));
        let ((_, result), took) = stepped(&service, service.verify(|nonce| device.token(nonce))).await;
        assert_eq!(result.status(), "affirming");
        assert!(took >= Duration::from_millis(50) * rows, "{took:?}");
    }
    let both =
        async { tokio::join!(service.verify(|nonce| device.token(nonce)), service.verify(|_| vec![1])) };
    let (_, took) = stepped(&service, both).await;
    assert!(took >= Duration::from_millis(800), "one worker does one after the other: {took:?}");
}

#[tokio::test]
async fn beyond_its_connections_the_store_refuses_corims_and_evidence_in_their_own_ways() {
    let store = StorePlan {
        read_time: TimeSpan::from_secs(10),
        max_connections: Some(Count::at_least_one(1)),
        ..StorePlan::default()
    };
    let service = service_with_store(store).await;
    let device = Device::new("connections", 0);
    service.provision(&device).await;
    let (first, second) = (service.challenge().await, service.challenge().await);
    let token = device.token(&first.nonce);
    let evidence = |url: String, token: Vec<u8>| async move {
        send(("POST", &url), &[("content-type", EVIDENCE_TYPE)], token).await
    };
    let held = tokio::spawn(evidence(first.url.clone(), token));
    let failed = within(async {
        loop {
            let answer = service.provision(&device).await;
            if answer["status"] == "failed" {
                return answer["failure-reason"].as_str().unwrap().to_owned();
            }
        }
    })
    .await;
    assert!(failed.contains("submit endorsements failed: store operation failed"), "{failed}");
    assert!(failed.contains("too many clients already"), "{failed}");
    let refused = evidence(second.url.clone(), device.token(&second.nonce)).await;
    assert_eq!(refused.json(500)["detail"], "error encountered while processing evidence");
    assert_eq!(refused.header("content-type"), Some("application/problem+json"));
    assert_eq!(send(("GET", &second.url), &[], "").await.json(200)["status"], "failed");
    service.clock.advance(Duration::from_secs(10));
    assert_eq!(within(held).await.unwrap().json(200)["status"], "complete");
    assert_eq!(service.provision(&device).await["status"], "success");
}

#[tokio::test]
async fn until_it_is_ready_a_service_answers_as_its_plan_says() {
    for (answer, verification, session) in [
        (LateAnswer::Initializing, 200, 201),
        (LateAnswer::Unavailable, 503, 503),
        (LateAnswer::NoTrustedServices, 500, 500),
    ] {
        let starts_late = Some(LateStart { ready_after: TimeSpan::from_secs(3), answer });
        let service = Service::start(AttestLabPlan { starts_late, ..AttestLabPlan::default() }).await;
        let url = service.url("/challenge-response/v1/newSession");
        for (state, at) in [("INITIALIZING", 0), ("INITIALIZING", 2_999), ("READY", 3_000)] {
            service.clock.advance(Duration::from_millis(at) - service.clock.elapsed());
            // A restart of faults is none of the service.
            service.lab.restart_faults();
            let is_ready = state == "READY";
            let discovery = service.get("/.well-known/veraison/verification").await;
            assert_eq!(discovery.status, if is_ready { 200 } else { verification });
            if discovery.status == 200 {
                assert_eq!(discovery.json(200)["service-state"], state);
            }
            if discovery.status == 500 {
                let detail = discovery.json(500)["detail"].as_str().unwrap().to_owned();
                assert!(detail.contains("connection refused"), "{detail}");
            }
            let begun = send(("POST", &url), &[], "").await;
            assert_eq!(begun.status, if is_ready { 201 } else { session });
        }
    }
}

#[tokio::test]
async fn a_session_that_is_lost_is_answered_as_one_that_was_never_there() {
    let lost_sessions = Some(LostSessions { share: Share::ALL, at: None });
    let service = Service::start(AttestLabPlan { lost_sessions, ..AttestLabPlan::default() }).await;
    let challenge = service.challenge().await;
    let answer = service.evidence(&challenge, vec![1]).await;
    let id = challenge.url.rsplit('/').next().unwrap();
    assert_eq!(answer.json(404)["detail"], format!("session not found for (id, tenant)=({id}, 0)"));

    let lost_sessions = Some(LostSessions { share: Share::ALL, at: Some(TimeSpan::from_secs(1)) });
    let service = Service::start(AttestLabPlan { lost_sessions, ..AttestLabPlan::default() }).await;
    let told = service.lab.timed_faults();
    assert_eq!(told.len(), 1);
    assert_eq!(
        (told[0].at, told[0].text.as_str()),
        (Duration::from_secs(1), "attest: 100 % of its sessions lost")
    );
    let challenge = service.challenge().await;
    assert_eq!(send(("GET", &challenge.url), &[], "").await.status, 200);
    service.clock.advance(Duration::from_secs(1));
    assert_eq!(send(("GET", &challenge.url), &[], "").await.status, 404);
    let challenge = service.challenge().await;
    assert_eq!(send(("GET", &challenge.url), &[], "").await.status, 200);
}

#[tokio::test]
async fn a_session_is_over_after_two_and_a_half_minutes() {
    let service = Service::of(Release::V2502).await;
    let challenge = service.challenge().await;
    service.clock.advance(Duration::from_millis(149_999));
    assert_eq!(send(("GET", &challenge.url), &[], "").await.json(200)["status"], "waiting");
    service.clock.advance(Duration::from_millis(1));
    assert_eq!(send(("GET", &challenge.url), &[], "").await.status, 404);
}

#[tokio::test]
async fn what_is_processed_shows_its_result_after_so_many_looks_and_so_long() {
    for (processing, looks, wait) in [
        (Processing { polls: 2, time: TimeSpan::ZERO }, 2, Duration::ZERO),
        (Processing { polls: 0, time: TimeSpan::from_millis(50) }, 1, Duration::from_millis(50)),
    ] {
        let processing = Some(processing);
        let service = Service::start(AttestLabPlan { processing, ..AttestLabPlan::default() }).await;
        let device = Device::new("processing", 0);
        service.provision(&device).await;
        let challenge = service.challenge().await;
        let token = device.token(&challenge.nonce);
        let answer =
            send(("POST", &challenge.url), &[("content-type", EVIDENCE_TYPE)], token).await.json(202);
        assert_eq!((answer["status"].as_str(), answer.get("result")), (Some("processing"), None));
        assert_eq!(answer["evidence"]["type"], EVIDENCE_TYPE);
        for _ in 0..looks {
            assert_eq!(send(("GET", &challenge.url), &[], "").await.json(200)["status"], "processing");
        }
        service.clock.advance(wait);
        let complete = send(("GET", &challenge.url), &[], "").await.json(200);
        assert_eq!(complete["status"], "complete");
        let result = service.read(complete["result"].as_str().unwrap()).await;
        assert_eq!((result.status(), result.is_signed), ("affirming", true));
    }
}

#[tokio::test]
async fn a_device_with_two_keys_breaks_the_service_down() {
    for release in BOTH {
        let service = Service::of(release).await;
        let device = Device::new("keys", 0);
        service.provision(&device).await;
        let mut other = Device::new("keys", 1);
        (other.implementation, other.instance) = (device.implementation, device.instance.clone());
        assert_eq!(service.provision(&other).await["status"], "success");
        let challenge = service.challenge().await;
        let answer = service.evidence(&challenge, device.token(&challenge.nonce)).await;
        assert_eq!(answer.json(500)["detail"], "error encountered while processing evidence");
    }
}

#[tokio::test]
async fn a_corim_that_is_sent_again_is_stored_again_or_refused() {
    let device = Device::new("again", 0);
    for (release, again, rows) in [(Release::V2502, "success", 8), (Release::V2608, "failed", 4)] {
        let service = Service::of(release).await;
        assert_eq!(service.provision(&device).await["status"], "success");
        assert_eq!(service.provision(&device).await["status"], again);
        assert_eq!(service.lab.stats().store_rows, rows);
        let (_, result) = service.verify(|nonce| device.token(nonce)).await;
        assert_eq!(result.status(), "affirming");
    }
}

#[tokio::test]
async fn a_service_that_is_killed_with_its_data_knows_no_device_and_no_session() {
    let mut plan = AttestLabPlan::default();
    let (at, down) = (TimeSpan::from_secs(1), TimeSpan::from_secs(1));
    plan.faults.restarts = vec![Restart { at, down, data: DataKept::Lose }];
    let service = Service::start(plan).await;
    let device = Device::new("killed", 0);
    service.provision(&device).await;
    let challenge = service.challenge().await;
    within(async {
        while service.lab.stats().store_rows > 0 {
            service.clock.advance(Duration::from_millis(200));
            tokio::task::yield_now().await;
        }
    })
    .await;
    within(async {
        while std::net::TcpStream::connect(service.lab.url.strip_prefix("http://").unwrap()).is_err() {
            service.clock.advance(Duration::from_millis(200));
            tokio::task::yield_now().await;
        }
    })
    .await;
    assert_eq!(send(("GET", &challenge.url), &[], "").await.status, 404);
    let (_, result) = service.verify(|nonce| device.token(nonce)).await;
    assert_eq!(result.status(), "contraindicated");
}
