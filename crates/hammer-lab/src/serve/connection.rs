//! One connection: its bytes, its idle time, its requests one after another.

use std::{
    fmt, io,
    pin::{Pin, pin},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Limited};
use hyper::{body::Incoming, service::service_fn};
use hyper_util::{
    rt::{TokioExecutor, TokioIo},
    server::conn::auto,
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
    sync::watch,
};
use tokio_rustls::TlsAcceptor;

use super::{
    Server, Target,
    answer::{self, AnswerBody},
    grpc::{self, GrpcCode},
    link::{Link, LinkedStream},
};
use crate::{
    clock::Clock,
    fault::{FaultScript, Verdict},
    stats::Counters,
};

impl<T: Target> Server<T> {
    pub(super) async fn connection(
        self: Arc<Self>,
        stream: TcpStream,
        (link, tls): (Link, Option<TlsAcceptor>),
        stopped: watch::Receiver<bool>,
        killed: Arc<AtomicBool>,
    ) {
        let _ = stream.set_nodelay(true);
        let life = Arc::new(Life::new(self.clock.elapsed(), killed));
        let stream = Resettable { stream, life: Arc::clone(&life) };
        let stream = LinkedStream::new(stream, link, Arc::clone(&self.clock));
        match tls {
            None => self.serve(stream, life, stopped).await,
            // A failed handshake is the client's affair: it sees the alert, and nothing is counted.
            Some(acceptor) => {
                if let Ok(stream) = acceptor.accept(stream).await {
                    self.serve(stream, life, stopped).await;
                }
            }
        }
    }

    async fn serve<S>(self: Arc<Self>, stream: S, life: Arc<Life>, mut stopped: watch::Receiver<bool>)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let mut builder = auto::Builder::new(TokioExecutor::new());
        builder.http1().pipeline_flush(true).title_case_headers(self.target.has_title_case_headers());
        builder.http2().max_concurrent_streams(MAX_CONCURRENT_STREAMS);
        let service = service_fn(|request| {
            let (server, life) = (Arc::clone(&self), Arc::clone(&life));
            async move { server.respond(request, &life).await }
        });
        let mut served = pin!(builder.serve_connection(TokioIo::new(stream), service));
        let mut expired = pin!(life.expired(&*self.clock, self.faults.script()));
        let mut stopping = false;
        loop {
            tokio::select! {
                // An error here is a client that went away, or a reset on purpose.
                _ = served.as_mut() => return,
                () = expired.as_mut() => return,
                _ = stopped.wait_for(|stop| *stop), if !stopping => {
                    stopping = true;
                    served.as_mut().graceful_shutdown();
                }
            }
        }
    }

    async fn respond(
        &self,
        request: Request<Incoming>,
        life: &Life,
    ) -> Result<Response<AnswerBody>, ResetOnPurpose> {
        let _busy = Busy::new(life, &*self.clock);
        let (parts, body) = request.into_parts();
        let endpoint = self.target.endpoint(&parts.method, parts.uri.path());
        debug_assert!(T::ENDPOINTS.contains(&endpoint), "{endpoint} is among the target's endpoints");
        let unanswered = UnansweredRequest { counters: &self.counters, endpoint, life, is_told: false };
        let Ok(body) = Limited::new(body, self.plan.max_body.in_memory()).collect().await else {
            unanswered.answered(413);
            return Ok(answer::error(StatusCode::PAYLOAD_TOO_LARGE, "request body too large or cut off"));
        };
        let answer = match self.faults.verdict(endpoint, self.clock.elapsed()) {
            Verdict::Reset => {
                unanswered.answered(0);
                life.reset.store(true, Ordering::Relaxed);
                return Err(ResetOnPurpose);
            }
            Verdict::Refuse { status, retry_after_s } => answer::refusal(status, retry_after_s),
            Verdict::Overloaded { status } if grpc::is_call(&parts) => {
                grpc::error(code_of(status), "the service is overloaded")
            }
            Verdict::Overloaded { status } => answer::refusal(status, None),
            Verdict::Serve(delay) => {
                let answer = Arc::clone(&self.target).answer(endpoint, parts, body.to_bytes()).await;
                if !delay.is_zero() {
                    self.clock.sleep_until(self.clock.elapsed() + delay).await;
                }
                answer
            }
        };
        while let Some(end) = self.faults.held_until(endpoint, self.clock.elapsed()) {
            self.clock.sleep_until(end).await;
        }
        unanswered.answered(answer.status().as_u16());
        Ok(answer)
    }
}

/// What is known about a connection while it lives.
struct Life {
    reset: AtomicBool,
    /// Of all connections of the server at once.
    killed: Arc<AtomicBool>,
    requests: AtomicU64,
    under_way: AtomicUsize,
    quiet_since_ns: AtomicU64,
}

impl Life {
    fn new(now: Duration, killed: Arc<AtomicBool>) -> Self {
        Self {
            reset: AtomicBool::new(false),
            killed,
            requests: AtomicU64::new(0),
            under_way: AtomicUsize::new(0),
            quiet_since_ns: AtomicU64::new(nanos(now)),
        }
    }

    /// Whether the connection ends by RST.
    fn is_reset(&self) -> bool {
        self.reset.load(Ordering::Relaxed) || self.is_killed()
    }

    fn is_killed(&self) -> bool {
        self.killed.load(Ordering::Relaxed)
    }

    /// Completes when the script closes this connection for its silence; never without such a script.
    async fn expired(&self, clock: &dyn Clock, script: &FaultScript) {
        if script.close_idle_after.is_none() && script.close_unused_after.is_none() {
            return std::future::pending().await;
        }
        loop {
            let now = clock.elapsed();
            let used = self.requests.load(Ordering::Relaxed) > 0;
            let busy = self.under_way.load(Ordering::Relaxed) > 0;
            let quiet_since = Duration::from_nanos(self.quiet_since_ns.load(Ordering::Relaxed));
            let limit = if used { script.close_idle_after } else { script.close_unused_after };
            if limit.is_some_and(|limit| !busy && now >= quiet_since + limit.duration()) {
                return;
            }
            // Which limit holds, and since when, changes with every request.
            clock.sleep_until(now + RECHECK).await;
        }
    }
}

/// Marks a request as under way while it lives.
struct Busy<'a> {
    life: &'a Life,
    clock: &'a dyn Clock,
}

impl<'a> Busy<'a> {
    fn new(life: &'a Life, clock: &'a dyn Clock) -> Self {
        life.requests.fetch_add(1, Ordering::Relaxed);
        life.under_way.fetch_add(1, Ordering::Relaxed);
        Self { life, clock }
    }
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.life.quiet_since_ns.store(nanos(self.clock.elapsed()), Ordering::Relaxed);
        self.life.under_way.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A request until it is counted. What the server was killed with is one without an answer; what a client gave up is none.
struct UnansweredRequest<'a> {
    counters: &'a Counters,
    endpoint: &'static str,
    life: &'a Life,
    is_told: bool,
}

impl UnansweredRequest<'_> {
    fn answered(mut self, status: u16) {
        self.is_told = true;
        self.counters.answered(self.endpoint, if self.life.is_killed() { 0 } else { status });
    }
}

impl Drop for UnansweredRequest<'_> {
    fn drop(&mut self) {
        if !self.is_told && self.life.is_killed() {
            self.counters.answered(self.endpoint, 0);
        }
    }
}

/// A TCP stream that ends with RST once its connection is marked for it.
struct Resettable {
    stream: TcpStream,
    life: Arc<Life>,
}

impl Resettable {
    fn check(&self) -> io::Result<()> {
        match self.life.is_reset() {
            true => Err(io::ErrorKind::ConnectionReset.into()),
            false => Ok(()),
        }
    }
}

impl Drop for Resettable {
    fn drop(&mut self) {
        if self.life.is_reset() {
            let _ = self.stream.set_zero_linger();
        }
    }
}

impl AsyncRead for Resettable {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Resettable {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.check()?;
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.check()?;
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.check()?;
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// What a call of gRPC is refused with above a rate, where REST has that status.
const fn code_of(status: u16) -> GrpcCode {
    match status {
        429 => GrpcCode::ResourceExhausted,
        504 => GrpcCode::DeadlineExceeded,
        500 => GrpcCode::Internal,
        400..=499 => GrpcCode::FailedPrecondition,
        _ => GrpcCode::Unavailable,
    }
}

#[derive(Debug)]
struct ResetOnPurpose;

impl fmt::Display for ResetOnPurpose {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("the script resets this connection")
    }
}

impl std::error::Error for ResetOnPurpose {}

fn nanos(elapsed: Duration) -> u64 {
    u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX)
}

const MAX_CONCURRENT_STREAMS: u32 = 4096;
const RECHECK: Duration = Duration::from_millis(50);
