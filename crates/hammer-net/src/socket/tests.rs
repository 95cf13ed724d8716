use std::future::Future as _;
use std::hint;
use std::pin::pin;
use std::sync::LazyLock;
use std::task::Waker;
use std::time::Duration;

use hammer_core::clock::MonotonicClock;
use hammer_measure::{Nanos, Now as _};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{LocalSet, spawn_local};

use super::*;

mod lazy;

static CLOCK: LazyLock<MonotonicClock> = LazyLock::new(MonotonicClock::starting_now);

/// Runs a test as a shard would run it, for a minute at most.
fn on_a_shard(test: impl AsyncFnOnce(Rc<Reactor>)) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let minute = Duration::from_secs(60);
    LocalSet::new().block_on(&runtime, async {
        let reactor = Reactor::new(Rc::new(*CLOCK)).unwrap();
        tokio::time::timeout(minute, test(reactor)).await.unwrap();
    });
}

/// Runs a test with sockets in tokio's epoll, and in one of the thread's own.
fn on_either_shard(test: impl AsyncFn(Rc<Reactor>)) {
    on_a_shard(&test);
    on_a_shard(async |reactor: Rc<Reactor>| {
        use_own_epoll(&reactor);
        test(reactor).await;
    });
}

/// From now on, sockets are in the thread's own epoll.
fn use_own_epoll(reactor: &Reactor) {
    reactor.set_lazy(true);
    reactor.set_lazy(false);
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

#[test]
fn bytes_come_back_as_they_were_sent_though_the_peer_is_slow_to_read() {
    on_either_shard(async |reactor| {
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
fn who_refuses_a_connection_is_told_by_its_code() {
    on_either_shard(async |reactor| {
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
    on_either_shard(async |reactor| {
        let (socket, mut server) = connected(&reactor).await;
        assert!(socket.is_quiet(CLOCK.now()));
        server.write_all(b"end").await.unwrap();
        drop(server);
        assert!(!socket.is_quiet(Nanos::MAX));
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
    on_either_shard(async |reactor| {
        let (socket, mut server) = connected(&reactor).await;
        server.write_all(b"answer").await.unwrap();
        assert_eq!(recv(&socket, &mut [0; 64]).await.unwrap().bytes, 6);
        assert!(socket.is_quiet(CLOCK.now()));
        drop(server);
        assert!(!socket.is_quiet(Nanos::MAX));
    });
}

#[test]
fn a_reset_is_an_error_of_reading_and_of_writing() {
    on_either_shard(async |reactor| {
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
fn bytes_arrive_when_the_kernel_receives_them_not_when_they_are_read() {
    on_either_shard(async |reactor| {
        let (socket, mut server) = connected(&reactor).await;
        // The kernel may begin to stamp a while after it was first asked to.
        loop {
            let before = CLOCK.now();
            server.write_all(b"answer").await.unwrap();
            let blocked_until = CLOCK.now() + Nanos::from_millis(20);
            while CLOCK.now() < blocked_until {
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
    on_either_shard(async |reactor| {
        let (socket, mut server) = connected(&reactor).await;
        server.write_all(b"answer").await.unwrap();
        assert_eq!(recv(&socket, &mut [0; 6]).await.unwrap().bytes, 6);
        assert!(!socket.is_quiet(CLOCK.now()), "it took all that there was room for: there may be more");
        assert!(recv_now(&socket).is_pending());
        assert!(socket.is_quiet(CLOCK.now()));
        server.write_all(b"answer").await.unwrap();
        assert_eq!(recv(&socket, &mut [0; 64]).await.unwrap().bytes, 6);
        assert!(socket.is_quiet(CLOCK.now()));
        server.write_all(b"answer").await.unwrap();
        assert!(recv_now(&socket).is_pending(), "nobody has looked at the epoll");
        assert_eq!(recv(&socket, &mut [0; 64]).await.unwrap().bytes, 6);
    });
}

#[test]
fn it_is_a_stream_of_tokios_that_can_be_shut_down() {
    on_either_shard(async |reactor| {
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

#[test]
fn once_the_kernel_stamps_it_does_so_for_the_first_bytes_of_every_connection() {
    on_a_shard(async |reactor| {
        let mut stamped = 0;
        while stamped < 20 {
            let (socket, mut server) = connected(&reactor).await;
            server.write_all(b"answer").await.unwrap();
            let received = recv(&socket, &mut [0; 64]).await.unwrap();
            assert!(received.is_stamped || stamped == 0, "not after {stamped} that were");
            stamped += u32::from(received.is_stamped);
        }
    });
}

#[test]
fn a_connection_at_hand_is_known_at_once_and_its_first_write_waits_for_no_turn() {
    on_either_shard(async |reactor| {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let mut connecting = pin!(Socket::connect(&reactor, listener.local_addr().unwrap()));
        let mut cx = Context::from_waker(Waker::noop());
        let Poll::Ready(Ok(socket)) = connecting.as_mut().poll(&mut cx) else {
            panic!("it waits for what the kernel knows");
        };
        let sent = socket.poll_send(&mut cx, &[IoSlice::new(b"first")]);
        assert!(matches!(sent, Poll::Ready(Ok(5))), "{sent:?}");
    });
}

#[test]
fn what_follows_a_first_write_is_not_held_back_for_its_acknowledgement() {
    on_either_shard(async |reactor| {
        let (socket, _server) = connected(&reactor).await;
        let is_nodelay = || net::sockopt::tcp_nodelay(socket.registration.fd()).unwrap();
        send_all(&socket, b"1").await;
        assert!(!is_nodelay(), "a call for nothing");
        send_all(&socket, b"2").await;
        assert!(is_nodelay());
    });
}

#[test]
fn who_accepted_and_reset_at_once_is_connected_to_and_has_reset() {
    on_either_shard(async |reactor| {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let addr = listener.local_addr().unwrap();
        let fd = open(addr).unwrap();
        assert_eq!(net::connect(&fd, &addr), Err(Errno::INPROGRESS));
        // With it goes the connection that nobody took.
        drop(listener);
        let socket = Socket::connecting(&reactor, addr, fd).await.unwrap();
        let sent = poll_fn(|cx| socket.poll_send(cx, &[IoSlice::new(b"request")])).await;
        assert_eq!(sent.unwrap_err().kind(), io::ErrorKind::ConnectionReset);
    });
}

#[test]
fn a_socket_that_meets_itself_was_accepted_by_nobody() {
    on_either_shard(async |reactor| {
        let own = open("127.0.0.1:0".parse().unwrap()).unwrap();
        let any: SocketAddr = "127.0.0.1:0".parse().unwrap();
        net::bind(&own, &any).unwrap();
        let addr = SocketAddr::try_from(net::getsockname(&own).unwrap()).unwrap();
        assert_eq!(net::connect(&own, &addr), Err(Errno::INPROGRESS));
        let connected = Socket::connecting(&reactor, addr, own).await;
        assert_eq!(connected.err().unwrap().kind(), io::ErrorKind::ConnectionRefused);
    });
}
