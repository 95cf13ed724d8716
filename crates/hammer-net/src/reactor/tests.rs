use std::cell::Cell;
use std::future::poll_fn;
use std::time::Duration;

use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpListener;
use tokio::task::{LocalSet, spawn_local};

use super::*;
use crate::clock::MachineClock;

/// Runs a test as a shard would run it, and for a minute at most.
fn on_a_shard(test: impl AsyncFnOnce(Rc<Reactor>)) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let minute = Duration::from_secs(60);
    LocalSet::new().block_on(&runtime, async {
        let reactor = Reactor::new(Rc::new(MachineClock)).unwrap();
        tokio::time::timeout(minute, test(reactor)).await.unwrap();
    });
}

async fn pipe(reactor: &Rc<Reactor>) -> (Registration, std::net::TcpStream, tokio::net::TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    (reactor.register(&client).unwrap(), client, listener.accept().await.unwrap().0)
}

#[test]
fn more_events_than_one_call_takes_wake_all_who_wait() {
    on_a_shard(async |reactor| {
        let woken = Rc::new(Cell::new(0));
        let mut open = Vec::new();
        for _ in 0..EVENTS + 10 {
            open.push(pipe(&reactor).await);
        }
        for (registration, ..) in &open {
            let (readiness, woken) = (Rc::clone(&registration.readiness), Rc::clone(&woken));
            spawn_local(async move {
                poll_fn(|cx| readiness.poll_readable(cx)).await;
                woken.set(woken.get() + 1);
            });
        }
        tokio::task::yield_now().await;
        assert_eq!(woken.get(), 0);
        for (.., server) in &mut open {
            server.write_all(b"x").await.unwrap();
        }
        while woken.get() < EVENTS + 10 {
            tokio::task::yield_now().await;
        }
    });
}

#[test]
fn the_slots_of_sockets_that_are_gone_are_used_again() {
    on_a_shard(async |reactor| {
        let first = pipe(&reactor).await.0.token;
        let second = pipe(&reactor).await.0.token;
        assert_eq!((second as u32, second >> 32), (first as u32, (first >> 32) + 1));
        assert!(reactor.slots.borrow().get(first).is_none() && reactor.slots.borrow().get(second).is_none());
        let held = pipe(&reactor).await;
        let beside = pipe(&reactor).await;
        assert_ne!(held.0.token as u32, beside.0.token as u32);
    });
}

#[test]
fn the_task_of_a_reactor_ends_with_it() {
    on_a_shard(async |reactor| {
        drop(pipe(&reactor).await);
        let nesting = Rc::downgrade(&reactor.nesting);
        tokio::task::yield_now().await;
        assert_eq!(nesting.strong_count(), 2);
        drop(reactor);
        while nesting.strong_count() > 0 {
            tokio::task::yield_now().await;
        }
    });
}

#[test]
fn a_reactor_is_lazy_where_it_is_asked_for_and_nobody_demands_otherwise() {
    on_a_shard(async |reactor| {
        let demand = reactor.demand();
        reactor.set_lazy(true);
        assert!(!reactor.is_lazy());
        drop(demand);
        assert!(reactor.is_lazy());
        reactor.set_lazy(false);
        assert!(!reactor.is_lazy());
    });
}
