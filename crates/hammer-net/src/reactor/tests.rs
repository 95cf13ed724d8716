use std::cell::Cell;
use std::future::poll_fn;
use std::time::Duration;

use hammer_core::clock::MonotonicClock;
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{LocalSet, spawn_local};

use super::own_epoll::EVENTS;
use super::registration::Place;
use super::slots::Slots;
use super::*;

/// Runs a test as a shard would run it, and for a minute at most.
fn on_a_shard(test: impl AsyncFnOnce(Rc<Reactor>)) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let minute = Duration::from_secs(60);
    LocalSet::new().block_on(&runtime, async {
        let reactor = Reactor::new(Rc::new(MonotonicClock::starting_now())).unwrap();
        reactor.set_lazy(true);
        reactor.set_lazy(false);
        tokio::time::timeout(minute, test(reactor)).await.unwrap();
    });
}

/// A socket in the reactor's epoll, and what a server has of it.
async fn connected(reactor: &Rc<Reactor>) -> (Registration, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    (reactor.register(client.into()).unwrap(), listener.accept().await.unwrap().0)
}

fn token(registration: &Registration) -> u64 {
    match &*registration.place() {
        Place::Own(socket) => socket.token,
        Place::Tokio(_) => panic!("it is in tokio's epoll"),
    }
}

fn slots(reactor: &Reactor) -> &RefCell<Slots> {
    &reactor.own.slots
}

#[test]
fn more_events_than_one_call_takes_wake_all_who_wait() {
    on_a_shard(async |reactor| {
        let woken = Rc::new(Cell::new(0));
        let mut open = Vec::new();
        for _ in 0..EVENTS + 10 {
            open.push(connected(&reactor).await);
        }
        let mut servers = Vec::new();
        for (socket, server) in open {
            servers.push(server);
            let woken = Rc::clone(&woken);
            spawn_local(async move {
                poll_fn(|cx| socket.place().poll_readable(cx).map(drop)).await;
                woken.set(woken.get() + 1);
            });
        }
        tokio::task::yield_now().await;
        assert_eq!(woken.get(), 0);
        for server in &mut servers {
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
        let first = token(&connected(&reactor).await.0);
        let second = token(&connected(&reactor).await.0);
        assert_eq!((second as u32, second >> 32), (first as u32, (first >> 32) + 1));
        assert!(
            slots(&reactor).borrow().get(first).is_none() && slots(&reactor).borrow().get(second).is_none()
        );
        let held = connected(&reactor).await;
        let beside = connected(&reactor).await;
        assert_ne!(token(&held.0) as u32, token(&beside.0) as u32);
    });
}

#[test]
fn the_task_of_a_reactor_ends_with_it() {
    on_a_shard(async |reactor| {
        drop(connected(&reactor).await);
        let nesting = Rc::downgrade(&reactor.own.nesting);
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
