use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use hammer_lab::ManualClock;
use hammer_lab_authority::certificate::name;
use hammer_lab_authority::der::UTF8_STRING;
use hammer_lab_authority::{Authority, LabSigner};
use hammer_values::TimeSpan;

use super::*;

const NOW: u64 = 1_795_737_600;

fn caller(common_name: &str) -> Caller {
    let key = LabSigner::p256(common_name, 1).unwrap();
    let own = Authority::root(key, name(UTF8_STRING, "test", common_name), None, NOW);
    Caller::of(own.certificate().to_vec(), None, NOW).unwrap()
}

fn is_there(check: impl Future<Output = Result<(), RevocationFault>>) -> bool {
    pin!(check).poll(&mut Context::from_waker(Waker::noop())) == Poll::Ready(Ok(()))
}

#[tokio::test]
async fn a_list_is_waited_for_once_by_all_who_need_it_and_again_when_it_is_old() {
    let (delay, kept) = (TimeSpan::from_secs(2), TimeSpan::from_secs(10));
    let lists = RevocationLists::new(Some(RevocationPlan { fetch: false, delay, kept }));
    let clock = ManualClock::at_unix_ms(NOW * 1000);
    let (one, other) = (caller("one"), caller("other"));
    let check = |caller| lists.check(caller, None, &clock);
    assert!(!is_there(check(&one)));
    let waited = tokio::join!(check(&one), check(&one), async { clock.advance(Duration::from_secs(2)) });
    assert_eq!((waited.0, waited.1), (Ok(()), Ok(())));
    assert!(is_there(check(&one)));
    assert!(!is_there(check(&other)));
    clock.advance(Duration::from_secs(9));
    assert!(is_there(check(&one)));
    clock.advance(Duration::from_secs(1));
    assert!(!is_there(check(&one)));
    assert!(is_there(RevocationLists::new(None).check(&one, None, &clock)));
}

#[tokio::test]
async fn a_list_that_nobody_can_find_is_looked_for_again_by_who_comes_later() {
    let plan = RevocationPlan { fetch: true, delay: TimeSpan::ZERO, kept: TimeSpan::from_secs(10) };
    let (lists, clock) = (RevocationLists::new(Some(plan)), ManualClock::at_unix_ms(NOW * 1000));
    let caller = caller("one");
    let found = lists.check(&caller, None, &clock).await;
    assert_eq!(found, Err(RevocationFault::Unknown(ListUnavailable::NoPlace)));
    assert!(lists.list(&caller, clock.elapsed()).get().is_none());
    assert_eq!(lists.fetched(), 0);
}
