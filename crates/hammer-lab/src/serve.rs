//! The server below every target: HTTP/1.1 and HTTP/2 (prior knowledge, or ALPN under TLS) on one listener, with
//! the faults of a script between the wire and the target.

pub mod answer;
mod connection;
pub mod grpc;
mod link;
mod tls;

use std::{
    future::Future,
    io,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use bytes::Bytes;
use hammer_values::{ByteSize, Count, RenamedKey};
use http::{Method, Response, request::Parts};
use serde::{Deserialize, Serialize};
use tokio::{
    net::{TcpListener, TcpSocket},
    sync::watch,
    task::JoinSet,
    time,
};
use tokio_rustls::TlsAcceptor;

use crate::{
    clock::Clock,
    error::LabError,
    fault::{DataKept, FaultSession, Restart},
    stats::Counters,
};

use answer::AnswerBody;
use link::Link;
pub use link::LinkPlan;
pub use tls::TlsFiles;

/// What every target of a plan can say about its server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ServePlan {
    /// Address to listen on; port 0 lets the system choose.
    pub listen: SocketAddr,
    /// Threads of the target's own runtime.
    pub threads: Count,
    /// PEM files; without them the target speaks plain HTTP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls: Option<TlsFiles>,
    /// Longest request body; a longer one is answered with 413.
    pub max_body: ByteSize,
    /// Connections served at once; more wait in the listener's queue.
    pub max_connections: Count,
    /// The slow link that all its connections share; none without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<LinkPlan>,
}

impl ServePlan {
    /// What the key of the longest body was called before, in a plan that has this one as `serve`.
    pub(crate) const RENAMED_MAX_BODY: RenamedKey =
        RenamedKey { old: "serve.max_body_bytes", new: "max_body", unit: "B" };
}

impl Default for ServePlan {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            threads: Count::ONE,
            tls: None,
            max_body: ByteSize::from_mib(32),
            max_connections: Count::at_least_one(16_384),
            link: None,
        }
    }
}

/// What answers requests behind a server.
pub trait Target: Send + Sync + 'static {
    /// Every name that [`Target::endpoint`] gives, by which a rule of faults can name it.
    const ENDPOINTS: &'static [&'static str];

    /// Name of the endpoint under which a request is counted and meets faults.
    fn endpoint(&self, method: &Method, path: &str) -> &'static str;

    /// The answer to one request whose body has been read whole.
    fn answer(
        self: Arc<Self>,
        endpoint: &'static str,
        parts: Parts,
        body: Bytes,
    ) -> impl Future<Output = Response<AnswerBody>> + Send;

    /// Whether the names of its headers leave as `Content-Type` over HTTP/1.1, as Go's servers write them, and not in lower case.
    fn has_title_case_headers(&self) -> bool {
        false
    }

    /// Forgets what it holds, as when it is killed and its data are lost.
    fn lose_data(&self) {}

    /// What the target does beside answering, until it is stopped.
    fn work(self: Arc<Self>, _stopped: watch::Receiver<bool>) -> impl Future<Output = ()> + Send {
        async {}
    }
}

/// Everything that the connections of one target share.
#[derive(Debug)]
pub(crate) struct Server<T> {
    pub(crate) target: Arc<T>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) faults: FaultSession,
    pub(crate) counters: Counters,
    pub(crate) plan: ServePlan,
}

/// A listener that has its address, and answers nobody yet.
pub(crate) struct BoundListener {
    listener: std::net::TcpListener,
    address: SocketAddr,
    tls: Option<TlsAcceptor>,
}

impl BoundListener {
    pub(crate) fn bind(plan: &ServePlan) -> Result<Self, LabError> {
        let failed = |source| LabError::Listen { address: plan.listen, source };
        let listener = std::net::TcpListener::bind(plan.listen).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        tracing::info!(%address, "listens");
        let tls = plan.tls.as_ref().map(TlsFiles::acceptor).transpose()?;
        Ok(Self { listener, address, tls })
    }

    /// `http(s)://address`.
    pub(crate) fn origin(&self) -> String {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{}", self.address)
    }
}

/// The threads of a target that runs.
#[derive(Debug)]
pub(crate) struct Running {
    stop: watch::Sender<bool>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Running {
    /// Serves on a new thread with its own runtime, beside the target's work, until it is stopped.
    pub(crate) fn spawn<T: Target>(
        name: &str,
        listener: BoundListener,
        server: Arc<Server<T>>,
    ) -> Result<Self, LabError> {
        let runtime = runtime(name, server.plan.threads).map_err(LabError::Thread)?;
        let (stop, stopped) = watch::channel(false);
        let thread = thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || {
                runtime.block_on(async move {
                    let work = tokio::spawn(Arc::clone(&server.target).work(stopped.clone()));
                    server.accept(listener, stopped).await;
                    let _ = work.await;
                });
                runtime.shutdown_timeout(DRAIN_LIMIT);
            })
            .map_err(LabError::Thread)?;
        Ok(Self { stop, thread: Some(thread) })
    }

    /// Stops accepting, lets what is under way finish within two seconds, and waits for the threads to end.
    pub(crate) fn stop(mut self) {
        self.stop.send_replace(true);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.send_replace(true);
    }
}

impl<T: Target> Server<T> {
    /// Serves until it is stopped, in lives that the restarts of the script end.
    async fn accept(self: Arc<Self>, bound: BoundListener, stopped: watch::Receiver<bool>) {
        let BoundListener { listener, address, tls } = bound;
        let Ok(mut listener) = TcpListener::from_std(listener) else { return };
        while let LifeEnd::Killed(restart) = self.life(listener, tls.clone(), stopped.clone()).await {
            tracing::info!(%address, down = %restart.down, "is killed");
            let Some(held) = self.held(address, stopped.clone()).await else { return };
            if restart.data == DataKept::Lose {
                self.target.lose_data();
            }
            let mut stop = stopped.clone();
            tokio::select! {
                () = self.clock.sleep_until(self.clock.elapsed() + restart.down.duration()) => {}
                _ = stop.wait_for(|stop| *stop) => return,
            }
            self.faults.cool_down();
            listener = match held.listen(BACKLOG) {
                Ok(listener) => listener,
                Err(error) => return tracing::error!(%address, "failed to listen again: {error}"),
            };
            tracing::info!(%address, "is up again");
        }
    }

    /// From one start to the next.
    async fn life(
        self: &Arc<Self>,
        listener: TcpListener,
        tls: Option<TlsAcceptor>,
        stopped: watch::Receiver<bool>,
    ) -> LifeEnd {
        let mut connections = JoinSet::new();
        let link = Link::new(self.plan.link.unwrap_or_default());
        let killed = Arc::new(AtomicBool::new(false));
        let mut stop = stopped.clone();
        loop {
            let full = connections.len() >= self.plan.max_connections.get();
            tokio::select! {
                _ = stop.wait_for(|stop| *stop) => break,
                restart = self.restart_due() => {
                    drop(listener);
                    // Each connection resets itself as it is dropped.
                    killed.store(true, Ordering::Relaxed);
                    connections.shutdown().await;
                    return LifeEnd::Killed(restart);
                }
                Some(_) = connections.join_next(), if !connections.is_empty() => {}
                accepted = listener.accept(), if !full => match accepted {
                    Ok((stream, _)) => {
                        self.counters.connected();
                        let way = (link.clone(), tls.clone());
                        let served = Arc::clone(self).connection(stream, way, stopped.clone(), killed.clone());
                        connections.spawn(served);
                    }
                    // Out of descriptors, most likely: let some connections end before the next try.
                    Err(error) => {
                        tracing::warn!("failed to accept a connection: {error}");
                        time::sleep(Duration::from_millis(10)).await;
                    }
                },
            }
        }
        drop(listener);
        let _ = time::timeout(DRAIN_LIMIT, async { while connections.join_next().await.is_some() {} }).await;
        connections.shutdown().await;
        LifeEnd::Stopped
    }

    /// Completes when the next restart of the script is due; never without one.
    async fn restart_due(&self) -> Restart {
        loop {
            let Some((at, restart)) = self.faults.next_restart() else { return std::future::pending().await };
            let now = self.clock.elapsed();
            if now >= at {
                self.faults.restarts();
                return restart;
            }
            // The instant moves where faults are counted anew.
            self.clock.sleep_until(at.min(now + LONGEST_LOOK)).await;
        }
    }

    /// The address, bound and not listened on: who dials is refused, and nobody else can have it.
    async fn held(&self, address: SocketAddr, mut stopped: watch::Receiver<bool>) -> Option<TcpSocket> {
        loop {
            let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() };
            let bound = socket.and_then(|socket| {
                socket.set_reuseaddr(true)?;
                socket.bind(address)?;
                Ok(socket)
            });
            match bound {
                Ok(socket) => return Some(socket),
                // Whoever dials from this very port at this instant has it for a moment.
                Err(error) => tracing::warn!(%address, "failed to bind again: {error}"),
            }
            tokio::select! {
                () = self.clock.sleep_until(self.clock.elapsed() + REBIND_AFTER) => {}
                _ = stopped.wait_for(|stop| *stop) => return None,
            }
        }
    }
}

/// How a life of a server ended.
enum LifeEnd {
    /// It was stopped.
    Stopped,
    /// The script killed it.
    Killed(Restart),
}

fn runtime(name: &str, threads: Count) -> io::Result<tokio::runtime::Runtime> {
    let mut builder = match threads {
        Count::ONE => tokio::runtime::Builder::new_current_thread(),
        _ => tokio::runtime::Builder::new_multi_thread(),
    };
    builder.worker_threads(threads.get()).thread_name(name).max_blocking_threads(8).enable_all().build()
}

const DRAIN_LIMIT: Duration = Duration::from_secs(2);
/// Connections that wait to be accepted; what std's listener has.
const BACKLOG: u32 = 128;
const REBIND_AFTER: Duration = Duration::from_millis(10);
const LONGEST_LOOK: Duration = Duration::from_millis(100);
