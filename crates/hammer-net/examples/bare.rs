//! What a rate costs at least: a client that sleeps until an instant, sends, and reads what has come by then.
//!
//! `bare <url> <connections> <rate> <seconds>` prints JSON: requests sent, answers read, and seconds. It has a thread, no runtime
//! and no epoll, takes what one read brings for an answer, 4 KB at most, and records nothing: what it costs is the kernel's alone, and no
//! client that sends as promptly costs less. `scripts/peers.sh` takes it where BARE names it.

use std::collections::VecDeque;
use std::error::Error;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::num::NonZeroU64;

use hammer_core::clock::MonotonicClock;
use hammer_measure::{Nanos, Now as _};
use http::Uri;
use rustix::thread::{NanosleepRelativeResult, Timespec, clock_nanosleep_relative, set_current_timer_slack};
use rustix::time::ClockId;

type Failed = Box<dyn Error>;

fn main() -> Result<(), Failed> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [url, connections, rate, seconds] = &arguments[..] else {
        return Err("usage: bare <url> <connections> <rate> <seconds>".into());
    };
    let (connections, rate, seconds): (usize, u64, u64) =
        (connections.parse()?, rate.parse()?, seconds.parse()?);
    let mut bare = Bare::connected(&url.parse()?, connections)?;
    // As prompt as hammer's timers, which the kernel does not put off either.
    set_current_timer_slack(NonZeroU64::new(1))?;
    let clock = MonotonicClock::starting_now();
    for number in 0..rate * seconds {
        sleep_until(&clock, Nanos(number * 1_000_000_000 / rate));
        bare.read_what_has_come()?;
        bare.send()?;
    }
    bare.read_all()?;
    let took = clock.now().0 as f64 / 1e9;
    writeln!(io::stdout(), r#"{{"sent": {}, "answered": {}, "seconds": {took}}}"#, bare.sent, bare.answered)?;
    Ok(())
}

struct Bare {
    streams: Vec<TcpStream>,
    /// Which have an answer to come, in the order of their requests.
    waiting: VecDeque<usize>,
    request: Vec<u8>,
    sent: usize,
    answered: usize,
}

impl Bare {
    fn connected(url: &Uri, connections: usize) -> Result<Self, Failed> {
        let authority = url.authority().ok_or("no host")?.as_str();
        let streams = (0..connections).map(|_| {
            let stream = TcpStream::connect(authority)?;
            stream.set_nodelay(true)?;
            stream.set_nonblocking(true)?;
            Ok(stream)
        });
        Ok(Self {
            streams: streams.collect::<io::Result<_>>()?,
            waiting: VecDeque::with_capacity(connections),
            request: format!("GET {} HTTP/1.1\r\nhost: {authority}\r\n\r\n", url.path()).into_bytes(),
            sent: 0,
            answered: 0,
        })
    }

    /// On the connection that has rested for longest; its answer is waited for where it is late.
    fn send(&mut self) -> io::Result<()> {
        let next = self.sent % self.streams.len();
        while self.waiting.contains(&next) {
            self.read_what_has_come()?;
        }
        self.streams[next].write_all(&self.request)?;
        self.waiting.push_back(next);
        self.sent += 1;
        Ok(())
    }

    fn read_what_has_come(&mut self) -> io::Result<()> {
        while let Some(&oldest) = self.waiting.front() {
            match self.streams[oldest].read(&mut [0; 4096]) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(_) => self.answered += 1,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
            self.waiting.pop_front();
        }
        Ok(())
    }

    fn read_all(&mut self) -> io::Result<()> {
        while !self.waiting.is_empty() {
            self.read_what_has_come()?;
        }
        Ok(())
    }
}

fn sleep_until(clock: &MonotonicClock, at: Nanos) {
    let left = at.since(clock.now()).0;
    let left = Timespec { tv_sec: (left / 1_000_000_000) as i64, tv_nsec: (left % 1_000_000_000) as i64 };
    // A signal that ends it early makes one request early.
    let _: NanosleepRelativeResult = clock_nanosleep_relative(ClockId::Monotonic, &left);
}
