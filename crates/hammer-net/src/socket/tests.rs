use std::future::Future as _;
use std::hint;
use std::pin::pin;
use std::task::Waker;
use std::time::Duration;

use hammer_measure::{Nanos, Now as _};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
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

/// A socket, and what a server has of it.
async fn connected(reactor: &Rc<Reactor>) -> (Socket, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    let (socket, accepted) = tokio::join!(Socket::connect(reactor, addr), listener.accept());
    (socket.unwrap(), accepted.unwrap().0)
}

async fn recv(socket: &Socket, buf: &mut [u8]) -> io::Result<Received> {
    poll_fn(|cx| socket.poll_recv(cx, buf)).await
}

async fn send_all(socket: &Socket, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        let (head, tail) = bytes.split_at(bytes.len() / 2);
        let sent =
            poll_fn(|cx| socket.poll_send(cx, &[IoSlice::new(head), IoSlice::new(tail)])).await.unwrap();
        bytes = &bytes[sent..];
    }
}

/// What `recv` says without anybody turning the reactor.
fn recv_now(socket: &Socket) -> Poll<io::Result<Received>> {
    let mut buf = [0; 64];
    pin!(recv(socket, &mut buf)).as_mut().poll(&mut Context::from_waker(Waker::noop()))
}

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

#[test]
fn bytes_come_back_as_they_were_sent_though_the_peer_is_slow_to_read() {
    on_a_shard(async |reactor| {
        let (socket, mut server) = connected(&reactor).await;
        let socket = Rc::new(socket);
        let sent: Rc<[u8]> = (0..6_000_000_u32).map(|index| (index * 7 / 5) as u8).collect();
        let (writer, writing) = (Rc::clone(&socket), Rc::clone(&sent));
        spawn_local(async move { send_all(&writer, &writing).await });
        spawn_local(async move {
            let (mut read, mut write) = server.split();
            tokio::io::copy(&mut read, &mut write).await.unwrap();
        });
        let mut back = vec![0; sent.len()];
        let mut filled = 0;
        while filled < back.len() {
            let room = (filled + 50_000).min(back.len());
            filled += recv(&socket, &mut back[filled..room]).await.unwrap().bytes;
        }
        assert!(back == *sent);
        assert_eq!((socket.bytes_out(), socket.bytes_in()), (6_000_000, 6_000_000));
    });
}

#[test]
fn a_lazy_reactor_wakes_whoever_waits_for_room_to_write() {
    on_a_shard(async |reactor| {
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
fn who_refuses_a_connection_is_told_by_its_code() {
    on_a_shard(async |reactor| {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        drop(listener);
        let refused = Socket::connect(&reactor, addr).await.err().unwrap();
        assert_eq!(refused.kind(), io::ErrorKind::ConnectionRefused);
        assert_eq!(refused.raw_os_error(), Some(Errno::CONNREFUSED.raw_os_error()));
    });
}

#[test]
fn the_end_of_the_stream_is_seen_though_it_came_with_the_last_bytes() {
    on_a_shard(async |reactor| {
        let (socket, mut server) = connected(&reactor).await;
        assert!(socket.is_quiet());
        server.write_all(b"end").await.unwrap();
        drop(server);
        reactor.turn();
        assert!(!socket.is_quiet());
        assert_eq!(recv(&socket, &mut [0; 64]).await.unwrap().bytes, 3);
        for _ in 0..2 {
            let end = recv(&socket, &mut [0; 64]).await.unwrap();
            assert_eq!((end.bytes, end.is_stamped), (0, false));
        }
        assert_eq!(socket.last_received().unwrap().bytes, 3);
    });
}

#[test]
fn a_connection_that_the_peer_closed_while_it_was_idle_is_not_quiet() {
    on_a_shard(async |reactor| {
        let (socket, mut server) = connected(&reactor).await;
        server.write_all(b"answer").await.unwrap();
        assert_eq!(recv(&socket, &mut [0; 64]).await.unwrap().bytes, 6);
        assert!(socket.is_quiet());
        drop(server);
        reactor.turn();
        assert!(!socket.is_quiet());
    });
}

#[test]
fn a_reset_is_an_error_of_reading_and_of_writing() {
    on_a_shard(async |reactor| {
        let (socket, server) = connected(&reactor).await;
        send_all(&socket, b"request").await;
        drop(server);
        let reset = recv(&socket, &mut [0; 64]).await.unwrap_err();
        assert_eq!(reset.kind(), io::ErrorKind::ConnectionReset);
        let broken = poll_fn(|cx| socket.poll_send(cx, &[IoSlice::new(b"more")])).await.unwrap_err();
        assert_eq!(broken.kind(), io::ErrorKind::BrokenPipe);
    });
}

#[test]
fn an_answer_does_not_wake_a_lazy_reactor_and_its_turn_reads_it() {
    on_a_shard(async |reactor| {
        let (socket, mut server) = connected(&reactor).await;
        let socket = Rc::new(socket);
        reactor.set_lazy(true);
        let found = reading(&socket);
        server.write_all(b"answer").await.unwrap();
        let_tokio_look().await;
        assert_eq!(found.get(), None);
        reactor.turn();
        tokio::task::yield_now().await;
        assert_eq!(found.get().unwrap().bytes, 6);
    });
}

#[test]
fn an_answer_wakes_a_lazy_reactor_while_somebody_demands_it() {
    on_a_shard(async |reactor| {
        let (socket, mut server) = connected(&reactor).await;
        let socket = Rc::new(socket);
        reactor.set_lazy(true);
        let demands = [reactor.demand(), reactor.demand()];
        let found = reading(&socket);
        server.write_all(b"answer").await.unwrap();
        let_tokio_look().await;
        assert_eq!(found.get().unwrap().bytes, 6);
        drop(demands);
        let found = reading(&socket);
        server.write_all(b"answer").await.unwrap();
        let_tokio_look().await;
        assert_eq!(found.get(), None);
    });
}

#[test]
fn what_came_while_a_reactor_was_lazy_is_read_once_it_is_eager() {
    on_a_shard(async |reactor| {
        let (socket, mut server) = connected(&reactor).await;
        let socket = Rc::new(socket);
        for _ in 0..3 {
            reactor.set_lazy(true);
            let found = reading(&socket);
            server.write_all(b"answer").await.unwrap();
            let_tokio_look().await;
            assert_eq!(found.get(), None);
            reactor.set_lazy(false);
            tokio::task::yield_now().await;
            assert_eq!(found.get().unwrap().bytes, 6);
        }
    });
}

#[test]
fn an_event_of_a_socket_that_is_gone_is_not_taken_for_one_of_its_successor() {
    on_a_shard(async |reactor| {
        let (first, mut first_server) = connected(&reactor).await;
        reactor.set_lazy(true);
        // As a hook that was just forked holds it: the descriptor stays in the epoll though its number is closed.
        let held = rustix::io::dup(&first.fd).unwrap();
        drop(first);
        let (second, _second_server) = connected(&reactor).await;
        first_server.write_all(b"for the first").await.unwrap();
        reactor.turn();
        assert!(second.is_quiet());
        assert!(recv_now(&second).is_pending());
        drop(held);
    });
}

#[test]
fn bytes_arrive_when_the_kernel_receives_them_not_when_they_are_read() {
    on_a_shard(async |reactor| {
        let (socket, mut server) = connected(&reactor).await;
        // The kernel may begin to stamp a while after it was first asked to.
        loop {
            let before = MachineClock.now();
            server.write_all(b"answer").await.unwrap();
            let blocked_until = MachineClock.now() + Nanos::from_millis(20);
            while MachineClock.now() < blocked_until {
                hint::spin_loop();
            }
            let received = recv(&socket, &mut [0; 64]).await.unwrap();
            assert!(received.read >= blocked_until);
            if received.is_stamped {
                assert!(received.arrived + Nanos::from_millis(1) >= before);
                assert!(received.arrived < blocked_until);
                assert_eq!(socket.last_received(), Some(received));
                return;
            }
        }
    });
}

#[test]
fn a_read_that_found_less_than_it_had_room_for_is_followed_by_no_call_in_vain() {
    on_a_shard(async |reactor| {
        let (socket, mut server) = connected(&reactor).await;
        server.write_all(b"answer").await.unwrap();
        assert_eq!(recv(&socket, &mut [0; 6]).await.unwrap().bytes, 6);
        assert!(!socket.is_quiet(), "it took all that there was room for: there may be more");
        assert!(recv_now(&socket).is_pending());
        assert!(socket.is_quiet());
        server.write_all(b"answer").await.unwrap();
        assert_eq!(recv(&socket, &mut [0; 64]).await.unwrap().bytes, 6);
        assert!(socket.is_quiet());
        server.write_all(b"answer").await.unwrap();
        assert!(recv_now(&socket).is_pending(), "nobody has turned the reactor");
        assert_eq!(recv(&socket, &mut [0; 64]).await.unwrap().bytes, 6);
    });
}

#[test]
fn it_is_a_stream_of_tokios_that_can_be_shut_down() {
    on_a_shard(async |reactor| {
        let (mut socket, mut server) = connected(&reactor).await;
        socket.write_all(b"request").await.unwrap();
        socket.shutdown().await.unwrap();
        let mut request = Vec::new();
        server.read_to_end(&mut request).await.unwrap();
        assert_eq!(request, b"request");
        server.write_all(b"answer").await.unwrap();
        drop(server);
        let mut answer = Vec::new();
        socket.read_to_end(&mut answer).await.unwrap();
        assert_eq!(answer, b"answer");
    });
}
