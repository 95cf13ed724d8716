//! Scripted faults, seen from the client's side.

use std::{sync::Arc, time::Duration};

use hammer_lab::{
    Clock, CtLabHandle, CtLabPlan, FaultScript, HttpLabHandle, HttpLabPlan, LogConfig, ManualClock,
    fault::{FaultRule, Latency, Refusal, RetryAfter, Stall},
};
use hammer_values::{Share, Status, TimeSpan};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::{
    chains::{Mint, body},
    client::{Connection, dial, get, post, request, until, within},
    ct_log::quick_plan,
};

fn script(rule: FaultRule) -> FaultScript {
    FaultScript { seed: 3, rules: vec![rule], ..FaultScript::default() }
}

fn start(faults: FaultScript) -> (HttpLabHandle, ManualClock) {
    let clock = ManualClock::at_unix_ms(0);
    let plan = HttpLabPlan { faults, ..HttpLabPlan::default() };
    (HttpLabHandle::spawn_with_clock(plan, Arc::new(clock.clone())).unwrap(), clock)
}

/// Advances the clock step by step until `condition` holds, and fails after a minute.
pub(crate) async fn advance_until(clock: &ManualClock, step: Duration, condition: impl Fn() -> bool) {
    within(async {
        while !condition() {
            clock.advance(step);
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_stall_holds_every_answer_until_its_end_while_connections_are_accepted() {
    let stalls = vec![Stall { at: TimeSpan::from_millis(1000), duration: TimeSpan::from_millis(2000) }];
    let (lab, clock) = start(script(FaultRule { stalls, ..FaultRule::default() }));
    assert_eq!(get(&lab.url).await.status, 200);
    clock.advance(Duration::from_millis(1500));
    let held: Vec<_> = (0..3)
        .map(|_| {
            tokio::spawn({
                let url = lab.url.clone();
                async move { get(&url).await }
            })
        })
        .collect();
    until(|| lab.stats().connections == 4).await;
    clock.advance(Duration::from_millis(1499));
    assert_eq!(lab.stats().requests["get"][&200], 1, "none leaves before the end");
    assert!(held.iter().all(|request| !request.is_finished()));
    clock.advance(Duration::from_millis(1));
    for request in held {
        assert_eq!(request.await.unwrap().status, 200);
    }
    lab.shutdown().await;
}

#[tokio::test]
async fn latency_delays_each_answer_by_the_clock() {
    let latency = Some(Latency::Constant(TimeSpan::from_millis(40)));
    let (lab, clock) = start(script(FaultRule { latency, ..FaultRule::default() }));
    let url = lab.url.clone();
    let held = tokio::spawn(async move { get(&url).await });
    until(|| lab.stats().connections == 1).await;
    // The request may arrive after the first step, so that it is due only after the second.
    advance_until(&clock, Duration::from_millis(40), || held.is_finished()).await;
    assert_eq!(held.await.unwrap().status, 200);
    lab.shutdown().await;
}

#[tokio::test]
async fn refusals_carry_status_and_retry_after() {
    let refuse = Some(Refusal {
        share: Share::ALL,
        status: Status::nearest(503),
        retry_after: Some(RetryAfter::from_secs(30)),
    });
    let (lab, _clock) = start(script(FaultRule { refuse, ..FaultRule::default() }));
    let answer = get(&lab.url).await;
    assert_eq!((answer.status.as_u16(), answer.header("retry-after")), (503, Some("30")));
    assert_eq!(lab.stop().requests["get"][&503], 1);
}

#[tokio::test]
async fn a_reset_reaches_the_client_as_a_reset() {
    let (lab, _clock) = start(script(FaultRule { reset_share: Share::ALL, ..FaultRule::default() }));
    let mut stream = dial(&lab.url).await;
    stream.write_all(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n").await.unwrap();
    let error = stream.read(&mut [0; 16]).await.expect_err("the connection was not reset");
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
    let mut http2 = Connection::http2(&lab.url).await;
    assert!(http2.send(request("GET", &lab.url, "")).await.is_err());
    assert_eq!(lab.stop().requests["get"][&0], 2);
}

#[tokio::test]
async fn idle_and_unused_connections_are_closed_after_their_time() {
    let faults = FaultScript {
        close_idle_after: Some(TimeSpan::from_millis(3000)),
        close_unused_after: Some(TimeSpan::from_millis(3_600_000)),
        ..FaultScript::default()
    };
    let (lab, clock) = start(faults);
    let (mut used, mut unused) = (dial(&lab.url).await, dial(&lab.url).await);
    used.write_all(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n").await.unwrap();
    let mut answer = [0; 4096];
    assert_ne!(used.read(&mut answer).await.unwrap(), 0);
    until(|| lab.stats().connections == 2).await;
    let closed = tokio::spawn(async move {
        let mut rest = Vec::new();
        used.read_to_end(&mut rest).await.map(|_| ())
    });
    advance_until(&clock, Duration::from_millis(10), || closed.is_finished()).await;
    closed.await.unwrap().unwrap();
    let elapsed_ms = clock.elapsed().as_millis();
    assert!((3000..3_600_000).contains(&elapsed_ms), "{elapsed_ms}");
    let still_open = tokio::time::timeout(Duration::from_millis(20), unused.read(&mut answer)).await;
    assert!(still_open.is_err(), "an unused connection has an hour");
    clock.advance(Duration::from_millis(3_600_000));
    assert_eq!(within(unused.read(&mut answer)).await.unwrap(), 0);
    lab.shutdown().await;
}

#[tokio::test]
async fn slow_integration_delays_the_checkpoint_and_with_it_the_answer() {
    let (mint, clock) = (Mint::new(), ManualClock::at_unix_ms(1_800_000_000_000));
    let plan = CtLabPlan {
        batch_max_age: TimeSpan::from_millis(10),
        checkpoint_interval: TimeSpan::from_millis(100),
        http_deadline: TimeSpan::from_millis(3_600_000),
        faults: FaultScript {
            publication_delay: Some(TimeSpan::from_millis(5000)),
            ..FaultScript::default()
        },
        ..quick_plan()
    };
    let mut config = LogConfig::from_plan(plan).unwrap();
    config.add_root_der(mint.root.clone());
    let lab = CtLabHandle::start_with_clock(config, Arc::new(clock.clone())).await.unwrap();
    let url = format!("{}/ct/v1/add-chain", lab.url);
    let submission = body(&mint.chain(1));
    let answer = tokio::spawn(async move { post(&url, submission).await });
    let begin = clock.elapsed();
    advance_until(&clock, Duration::from_millis(50), || lab.stats().tree_size > 0).await;
    assert_eq!(lab.stats().published_size, 0);
    advance_until(&clock, Duration::from_millis(50), || answer.is_finished()).await;
    let waited_ms = (clock.elapsed() - begin).as_millis();
    assert!(waited_ms >= 5000, "{waited_ms}");
    assert_eq!(answer.await.unwrap().status, 200);
    assert_eq!(lab.stats().published_size, 1);
    lab.shutdown().await;
}

#[tokio::test]
async fn a_submission_that_outlives_its_deadline_is_answered_with_500() {
    let (mint, clock) = (Mint::new(), ManualClock::at_unix_ms(1_800_000_000_000));
    let never = TimeSpan::from_secs(3600);
    let mut config = LogConfig::from_plan(CtLabPlan { checkpoint_interval: never, ..quick_plan() }).unwrap();
    config.add_root_der(mint.root.clone());
    let lab = CtLabHandle::start_with_clock(config, Arc::new(clock.clone())).await.unwrap();
    let url = format!("{}/ct/v1/add-chain", lab.url);
    let submission = body(&mint.chain(1));
    let answer = tokio::spawn(async move { post(&url, submission).await });
    advance_until(&clock, Duration::from_secs(1), || answer.is_finished()).await;
    let answer = answer.await.unwrap();
    assert_eq!(answer.status, 500);
    assert!(answer.text().contains("context deadline exceeded"), "{}", answer.text());
    lab.shutdown().await;
}

/// The plain target's address.
fn address(lab: &HttpLabHandle) -> String {
    lab.url.trim_start_matches("http://").trim_end_matches('/').to_owned()
}

#[tokio::test]
async fn a_target_that_is_killed_resets_its_connections_refuses_dials_and_is_up_again_under_its_address() {
    let restarts = serde_json::from_str(r#"[{"at": "10s", "down": "5s"}]"#).unwrap();
    let latency = Some(Latency::Constant(TimeSpan::from_secs(60)));
    let slow = FaultRule { endpoints: vec!["post".into()], latency, ..FaultRule::default() };
    let (lab, clock) = start(FaultScript { restarts, rules: vec![slow], ..FaultScript::default() });
    let mut idle = dial(&lab.url).await;
    idle.write_all(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n").await.unwrap();
    assert_ne!(idle.read(&mut [0; 4096]).await.unwrap(), 0);
    let mut under_way = dial(&lab.url).await;
    let post = b"POST / HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\ncontent-length: 1\r\n\r\n";
    under_way.write_all(post).await.unwrap();
    // It is under way once its body is asked for.
    assert_ne!(under_way.read(&mut [0; 4096]).await.unwrap(), 0);
    let killed = tokio::spawn(async move {
        let mut bytes = [0; 16];
        let ends = [idle.read(&mut bytes).await, under_way.read(&mut bytes).await];
        ends.map(|end| end.expect_err("a reset and no answer").kind())
    });
    // One step beyond the instant, which is in the time that it is down.
    clock.advance(Duration::from_millis(9_999));
    advance_until(&clock, Duration::from_millis(1), || killed.is_finished()).await;
    assert_eq!(killed.await.unwrap(), [std::io::ErrorKind::ConnectionReset; 2]);
    within(async {
        while tokio::net::TcpStream::connect(address(&lab)).await.is_ok() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    let (at, url) = (address(&lab), lab.url.clone());
    let up = tokio::spawn(async move {
        while tokio::net::TcpStream::connect(&at).await.is_err() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    });
    let down_since = clock.elapsed();
    advance_until(&clock, Duration::from_millis(100), || up.is_finished()).await;
    assert!(clock.elapsed() - down_since >= Duration::from_millis(4_900), "{:?}", clock.elapsed());
    assert_eq!(get(&url).await.status, 200);
    let requests = lab.stop().requests;
    assert_eq!(requests["get"][&200], 2);
    assert_eq!(requests["post"].values().sum::<u64>(), 1, "{requests:?}");
    assert_eq!(requests["post"][&0], 1, "what was under way is counted as a reset");
}

#[tokio::test]
async fn a_throttled_target_answers_in_its_share_of_each_period() {
    let throttle = serde_json::from_str(r#"[{"duty": "50%", "period": "10s"}]"#).unwrap();
    let (lab, clock) = start(script(FaultRule { throttle, ..FaultRule::default() }));
    assert_eq!(get(&lab.url).await.status, 200);
    clock.advance(Duration::from_secs(5));
    let url = lab.url.clone();
    let held = tokio::spawn(async move { get(&url).await });
    until(|| lab.stats().connections == 2).await;
    clock.advance(Duration::from_millis(4_999));
    assert!(!held.is_finished());
    advance_until(&clock, Duration::from_millis(1), || held.is_finished()).await;
    assert!(clock.elapsed() >= Duration::from_secs(10));
    lab.shutdown().await;
}

#[test]
fn a_rule_about_an_endpoint_that_is_not_there_is_refused_with_the_names_of_those_that_are() {
    let faults = |json: &str| serde_json::from_str::<FaultScript>(json).unwrap();
    let plan = |faults| HttpLabPlan { faults, ..HttpLabPlan::default() };
    let unknown = faults(r#"{"rules": [{}, {"endpoints": ["get", "add-chain"]}]}"#);
    let error = HttpLabHandle::spawn(plan(unknown)).unwrap_err().to_string();
    let said = "use the plan's faults.rules[1].endpoints[1]: there is no endpoint `add-chain`; there are get, post, put, delete, other";
    assert_eq!(error, said);
    let lost = faults(r#"{"restarts": [{"at": "1s"}, {"at": "2s", "data": "lose"}]}"#);
    let error = HttpLabHandle::spawn(plan(lost)).unwrap_err().to_string();
    assert!(error.starts_with("use the plan's faults.restarts[1].data: "), "{error}");
}
