use super::*;

const PLAN: PoolPlan = PoolPlan { size: 3, refresh_percent: 80, first_backoff: 2, longest_backoff: 5 };

fn grant(name: &str, expires_at: Option<i64>) -> GrantedToken {
    GrantedToken { token: BearerToken::new(name), expires_at }
}

/// A pool whose tokens "0", "1" and "2" were granted at 1,000 and are good until 1,100.
fn filled() -> TokenPool {
    let mut pool = TokenPool::new(PLAN);
    while let Some(slot) = pool.take_due(1_000) {
        pool.granted(slot, grant(&slot.0.to_string(), Some(1_100)), 1_000);
    }
    pool
}

fn used(pool: &mut TokenPool, now: i64) -> Option<String> {
    pool.token(now).map(|token| token.expose().to_owned())
}

#[test]
fn an_empty_pool_asks_for_each_of_its_tokens_once() {
    let mut pool = TokenPool::new(PLAN);
    assert!(pool.next_change().is_some_and(|at| at <= 1_000));
    let asked: Vec<usize> = std::iter::from_fn(|| pool.take_due(1_000)).map(|slot| slot.0).collect();
    assert_eq!(asked, [0, 1, 2]);
    assert_eq!((pool.next_change(), pool.token(1_000), pool.good(1_000)), (None, None, 0));
}

#[test]
fn tokens_are_used_one_after_another() {
    let mut pool = filled();
    let names: Vec<String> = (0..5).filter_map(|_| used(&mut pool, 1_001)).collect();
    assert_eq!(names, ["0", "1", "2", "0", "1"]);
    assert_eq!(pool.good(1_001), 3);
}

#[test]
fn a_token_is_refreshed_at_its_share_of_its_life_and_used_meanwhile() {
    let mut pool = filled();
    assert_eq!(pool.next_change(), Some(1_080));
    assert_eq!(pool.take_due(1_079), None);
    let slot = pool.take_due(1_080).unwrap();
    assert_eq!(used(&mut pool, 1_080).as_deref(), Some("0"));
    pool.granted(slot, grant("new", Some(1_180)), 1_081);
    let names: Vec<String> = (0..3).filter_map(|_| used(&mut pool, 1_082)).collect();
    assert_eq!(names, ["1", "2", "new"]);
}

#[test]
fn after_a_failure_the_next_try_waits_longer_and_longer() {
    let mut pool = filled();
    let mut now = 1_080;
    let mut waits = Vec::new();
    for _ in 0..4 {
        let slot = pool.take_due(now).unwrap();
        assert_eq!(slot, PoolSlot(0));
        pool.failed(slot, now);
        // The other tokens are asked for too, and are not in question here.
        while let Some(other) = pool.take_due(now) {
            pool.granted(other, grant("other", Some(100_000)), now);
        }
        let due = pool.slots[0].due_at().unwrap();
        assert_eq!(pool.take_due(due - 1), None);
        waits.push(due - now);
        now = due;
    }
    assert_eq!(waits, [2, 4, 5, 5]);
}

#[test]
fn a_token_that_is_over_and_not_refreshed_is_told_once() {
    let mut pool = filled();
    let slot = pool.take_due(1_080).unwrap();
    pool.failed(slot, 1_081);
    for place in [1, 2] {
        assert_eq!(pool.take_due(1_081), Some(PoolSlot(place)));
        pool.granted(PoolSlot(place), grant("good", None), 1_081);
    }
    assert_eq!(pool.sweep(1_099), []);
    let told = [PoolEvent::Expired { slot: PoolSlot(0), at: 1_100, failures: 1 }];
    // Uses before the sweep do not see the token that is over, and do not tell it either.
    assert_eq!(used(&mut pool, 1_105).as_deref(), Some("good"));
    assert_eq!(pool.sweep(1_105), told);
    assert_eq!(pool.sweep(1_106), []);
    assert_eq!((pool.good(1_106), used(&mut pool, 1_106).as_deref()), (2, Some("good")));
}

#[test]
fn a_pool_that_cannot_refresh_has_no_token_and_recovers() {
    let mut pool = filled();
    while let Some(slot) = pool.take_due(1_090) {
        pool.failed(slot, 1_090);
    }
    assert_eq!((used(&mut pool, 1_100), pool.sweep(1_100).len()), (None, 3));
    let slot = pool.take_due(1_100).unwrap();
    pool.granted(slot, grant("back", Some(1_200)), 1_100);
    assert_eq!(used(&mut pool, 1_101).as_deref(), Some("back"));
    assert_eq!(pool.slots[slot.0].failures(), 0);
}

#[test]
fn a_token_without_an_end_is_never_asked_for_again() {
    let mut pool = TokenPool::new(PoolPlan { size: 0, ..PLAN });
    let slot = pool.take_due(0).unwrap();
    pool.granted(slot, grant("ever", None), 0);
    assert_eq!((pool.next_change(), pool.take_due(i64::MAX)), (None, None));
    assert_eq!(used(&mut pool, i64::MAX).as_deref(), Some("ever"));
}

#[test]
fn a_token_that_is_over_when_it_comes_is_a_failure() {
    let mut pool = TokenPool::new(PLAN);
    let slot = pool.take_due(1_000).unwrap();
    pool.granted(slot, grant("late", Some(1_000)), 1_000);
    assert_eq!((pool.token(1_000), pool.slots[0].due_at()), (None, Some(1_002)));
}

#[test]
fn the_shortest_life_is_not_asked_for_twice_in_a_second() {
    let mut pool = TokenPool::new(PoolPlan { size: 1, ..PLAN });
    let slot = pool.take_due(1_000).unwrap();
    pool.granted(slot, grant("short", Some(1_001)), 1_000);
    assert_eq!((pool.take_due(1_000), pool.next_change()), (None, Some(1_001)));
    assert_eq!(pool.next_due(), Some(1_001));
    let _ = pool.take_due(1_001);
    assert_eq!((pool.next_due(), pool.next_change()), (None, Some(1_001)), "it is asked for, and can expire");
}

#[test]
fn many_failures_do_not_overflow_the_wait() {
    let plan = PoolPlan { longest_backoff: i64::MAX, first_backoff: 3, ..PLAN };
    let mut slot = TokenSlot::default();
    for _ in 0..200 {
        slot.fail(&plan, 0);
        assert!(slot.due_at().unwrap() >= 3);
    }
    assert_eq!(slot.due_at(), Some(i64::MAX));
}
