//! When an answer wakes the thread.

use super::*;

/// Lets tokio look at its epoll a few times, which is what an eager reactor needs to wake who waits. Each byte needs a look, since
/// the read before it found less than it had room for.
async fn let_tokio_look() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    let (client, accepted) = tokio::join!(TcpStream::connect(addr), listener.accept());
    let (mut client, mut server) = (client.unwrap(), accepted.unwrap().0);
    for _ in 0..5 {
        client.write_all(b"x").await.unwrap();
        assert_eq!(server.read(&mut [0; 2]).await.unwrap(), 1);
    }
}

/// A task that reads one message, and what it will have read.
fn reading(socket: &Rc<Socket>) -> Rc<Cell<Option<Received>>> {
    let found = Rc::new(Cell::new(None));
    let (socket, finding) = (Rc::clone(socket), Rc::clone(&found));
    spawn_local(async move { finding.set(Some(recv(&socket, &mut [0; 64]).await.unwrap())) });
    found
}

/// A socket that tasks can share, and what a server has of it.
async fn shared(reactor: &Rc<Reactor>) -> (Rc<Socket>, TcpStream) {
    let (socket, server) = connected(reactor).await;
    (Rc::new(socket), server)
}

/// The server answers, and whoever is woken by that has run.
async fn answer(server: &mut TcpStream) {
    server.write_all(b"answer").await.unwrap();
    let_tokio_look().await;
}

/// Whoever was woken just now has read the answer.
async fn is_read(found: &Cell<Option<Received>>) {
    tokio::task::yield_now().await;
    assert_eq!(found.get().unwrap().bytes, 6);
}

#[test]
fn a_lazy_reactor_wakes_whoever_waits_for_room_to_write() {
    on_a_shard(async |reactor| {
        use_own_epoll(&reactor);
        let (socket, mut server) = connected(&reactor).await;
        reactor.set_lazy(true);
        let sending = spawn_local(async move {
            send_all(&socket, &vec![1; 20_000_000]).await;
            socket
        });
        let mut buf = vec![0; 100_000];
        let mut read = 0;
        while read < 20_000_000 {
            read += server.read(&mut buf).await.unwrap();
        }
        let _socket = sending.await.unwrap();
        assert!(reactor.is_lazy());
    });
}

#[test]
fn an_answer_does_not_wake_a_lazy_reactor_and_its_turn_reads_it() {
    on_a_shard(async |reactor| {
        use_own_epoll(&reactor);
        let (socket, mut server) = shared(&reactor).await;
        reactor.set_lazy(true);
        let found = reading(&socket);
        answer(&mut server).await;
        assert_eq!(found.get(), None);
        reactor.turn();
        is_read(&found).await;
    });
}

#[test]
fn an_answer_wakes_a_lazy_reactor_while_somebody_demands_it() {
    on_a_shard(async |reactor| {
        use_own_epoll(&reactor);
        let (socket, mut server) = shared(&reactor).await;
        reactor.set_lazy(true);
        let demands = [reactor.demand(), reactor.demand()];
        let found = reading(&socket);
        answer(&mut server).await;
        assert_eq!(found.get().unwrap().bytes, 6);
        drop(demands);
        let found = reading(&socket);
        answer(&mut server).await;
        assert_eq!(found.get(), None);
    });
}

#[test]
fn what_came_while_a_reactor_was_lazy_is_read_once_it_is_eager() {
    on_a_shard(async |reactor| {
        use_own_epoll(&reactor);
        let (socket, mut server) = shared(&reactor).await;
        for _ in 0..3 {
            reactor.set_lazy(true);
            let found = reading(&socket);
            answer(&mut server).await;
            assert_eq!(found.get(), None);
            reactor.set_lazy(false);
            is_read(&found).await;
        }
    });
}

#[test]
fn an_event_of_a_socket_that_is_gone_is_not_taken_for_one_of_its_successor() {
    on_a_shard(async |reactor| {
        use_own_epoll(&reactor);
        let (first, mut first_server) = connected(&reactor).await;
        reactor.set_lazy(true);
        // As a hook that was just forked holds it: the descriptor stays in the epoll though its number is closed.
        let held = rustix::io::dup(first.registration.fd()).unwrap();
        drop(first);
        let (second, _second_server) = connected(&reactor).await;
        first_server.write_all(b"for the first").await.unwrap();
        reactor.turn();
        assert!(second.is_quiet(CLOCK.now()));
        assert!(recv_now(&second).is_pending());
        drop(held);
    });
}

#[test]
fn the_sockets_of_a_reactor_that_becomes_lazy_follow_with_their_next_write() {
    on_a_shard(async |reactor| {
        let (socket, mut server) = shared(&reactor).await;
        reactor.set_lazy(true);
        let found = reading(&socket);
        answer(&mut server).await;
        assert_eq!(found.get().unwrap().bytes, 6, "it was in tokio's epoll");
        send_all(&socket, b"request").await;
        assert_eq!(server.read(&mut [0; 64]).await.unwrap(), 7);
        let found = reading(&socket);
        answer(&mut server).await;
        assert_eq!(found.get(), None);
        reactor.turn();
        is_read(&found).await;
    });
}

#[test]
fn a_socket_that_somebody_reads_stays_where_that_waits() {
    on_a_shard(async |reactor| {
        let (socket, mut server) = shared(&reactor).await;
        let found = reading(&socket);
        tokio::task::yield_now().await;
        reactor.set_lazy(true);
        send_all(&socket, b"request").await;
        answer(&mut server).await;
        assert_eq!(found.get().unwrap().bytes, 6);
    });
}
