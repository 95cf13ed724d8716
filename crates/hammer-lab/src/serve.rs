//! The server below every target: HTTP/1.1 and HTTP/2 (prior knowledge, or ALPN under TLS) on one listener, with
//! the faults of a script between the wire and the target.

pub mod answer;
mod connection;
pub mod grpc;
mod tls;

use std::{future::Future, io, net::SocketAddr, sync::Arc, thread, time::Duration};

use bytes::Bytes;
use hammer_values::{ByteSize, Count, RenamedKey};
use http::{Method, Response, request::Parts};
use serde::{Deserialize, Serialize};
use tokio::{net::TcpListener, sync::watch, task::JoinSet, time};
use tokio_rustls::TlsAcceptor;

use crate::{clock::Clock, error::LabError, fault::FaultSession, stats::Counters};

use answer::AnswerBody;
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
        }
    }
}

/// What answers requests behind a server.
pub trait Target: Send + Sync + 'static {
    /// Name of the endpoint under which a request is counted and meets faults.
    fn endpoint(&self, method: &Method, path: &str) -> &'static str;

    /// The answer to one request whose body has been read whole.
    fn answer(
        self: Arc<Self>,
        endpoint: &'static str,
        parts: Parts,
        body: Bytes,
    ) -> impl Future<Output = Response<AnswerBody>> + Send;

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
    async fn accept(self: Arc<Self>, bound: BoundListener, stopped: watch::Receiver<bool>) {
        let BoundListener { listener, tls, .. } = bound;
        let Ok(listener) = TcpListener::from_std(listener) else { return };
        let mut connections = JoinSet::new();
        let mut stop = stopped.clone();
        loop {
            let full = connections.len() >= self.plan.max_connections.get();
            tokio::select! {
                _ = stop.wait_for(|stop| *stop) => break,
                Some(_) = connections.join_next(), if !connections.is_empty() => {}
                accepted = listener.accept(), if !full => match accepted {
                    Ok((stream, _)) => {
                        self.counters.connected();
                        connections.spawn(Arc::clone(&self).connection(stream, tls.clone(), stopped.clone()));
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
    }
}

fn runtime(name: &str, threads: Count) -> io::Result<tokio::runtime::Runtime> {
    let mut builder = match threads {
        Count::ONE => tokio::runtime::Builder::new_current_thread(),
        _ => tokio::runtime::Builder::new_multi_thread(),
    };
    builder.worker_threads(threads.get()).thread_name(name).max_blocking_threads(8).enable_all().build()
}

const DRAIN_LIMIT: Duration = Duration::from_secs(2);
