//! Servers on loopback that do as a test says.

use std::cell::{Cell, RefCell};
use std::convert::Infallible;
use std::net::SocketAddr;
use std::rc::Rc;

use bytes::Bytes;
use futures::future::LocalBoxFuture;
use http_body_util::{BodyExt as _, Collected, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

/// What a server saw so far.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) connections: Cell<usize>,
    pub(crate) closed: Cell<usize>,
    pub(crate) requests: RefCell<Vec<Recorded>>,
    pub(crate) at_work: Cell<usize>,
    pub(crate) most_at_work: Cell<usize>,
}

/// A request as received.
pub(crate) struct Recorded {
    pub(crate) path: String,
    pub(crate) headers: http::HeaderMap,
    pub(crate) body: Bytes,
}

/// A listening server; it ends when dropped.
pub(crate) struct Server {
    pub(crate) addr: SocketAddr,
    pub(crate) seen: Rc<Seen>,
    task: JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

pub(crate) type Reply = http::Response<Full<Bytes>>;
pub(crate) type Script = Rc<dyn Fn(http::Request<()>) -> LocalBoxFuture<'static, Reply>>;

/// What a server speaks.
#[derive(Clone)]
pub(crate) enum Speaks {
    Http1,
    Http2 { streams: u32 },
    Tls(TlsAcceptor),
}

impl Server {
    /// A server that answers every request with `ok`.
    pub(crate) async fn ok(speaks: Speaks) -> Self {
        Self::start(speaks, |_| Box::pin(async { reply(200, "ok") })).await
    }

    /// The same over HTTP/1.1, at an address where one has been before.
    pub(crate) async fn ok_at(addr: SocketAddr) -> Self {
        let script: Script = Rc::new(|_| Box::pin(async { reply(200, "ok") }));
        let listener = TcpListener::bind(addr).await.unwrap();
        Self::raw_on(listener, move |seen, _, tcp| {
            Box::pin(serve(Speaks::Http1, tcp, seen, Rc::clone(&script)))
        })
    }

    pub(crate) async fn start(
        speaks: Speaks,
        script: impl Fn(http::Request<()>) -> LocalBoxFuture<'static, Reply> + 'static,
    ) -> Self {
        let script: Script = Rc::new(script);
        Self::raw(move |seen, _, tcp| {
            let (speaks, script) = (speaks.clone(), Rc::clone(&script));
            Box::pin(serve(speaks, tcp, seen, script))
        })
        .await
    }

    /// A server whose n-th connection is what `connection` makes of it.
    pub(crate) async fn raw(
        connection: impl Fn(Rc<Seen>, usize, TcpStream) -> LocalBoxFuture<'static, ()> + 'static,
    ) -> Self {
        Self::raw_on(TcpListener::bind("127.0.0.1:0").await.unwrap(), connection)
    }

    fn raw_on(
        listener: TcpListener,
        connection: impl Fn(Rc<Seen>, usize, TcpStream) -> LocalBoxFuture<'static, ()> + 'static,
    ) -> Self {
        let addr = listener.local_addr().unwrap();
        let seen = Rc::new(Seen::default());
        let accepted = Rc::clone(&seen);
        let task = tokio::task::spawn_local(async move {
            loop {
                let (tcp, _) = listener.accept().await.unwrap();
                let number = accepted.connections.get();
                accepted.connections.set(number + 1);
                let served = connection(Rc::clone(&accepted), number, tcp);
                let seen = Rc::clone(&accepted);
                tokio::task::spawn_local(async move {
                    served.await;
                    seen.closed.set(seen.closed.get() + 1);
                });
            }
        });
        Self { addr, seen, task }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.addr)
    }

    pub(crate) fn connections(&self) -> usize {
        self.seen.connections.get()
    }

    pub(crate) fn requests(&self) -> usize {
        self.seen.requests.borrow().len()
    }

    /// Waits until `condition` holds; the test's own deadline bounds it.
    pub(crate) async fn until(&self, condition: impl Fn(&Seen) -> bool) {
        while !condition(&self.seen) {
            tokio::task::yield_now().await;
        }
    }
}

pub(crate) fn reply(status: u16, body: impl Into<Bytes>) -> Reply {
    http::Response::builder().status(status).body(Full::new(body.into())).unwrap()
}

pub(crate) fn redirect(to: &str) -> Reply {
    http::Response::builder().status(302).header("location", to).body(Full::default()).unwrap()
}

/// Reads one request head without a body; `None` when the connection ended before.
pub(crate) async fn read_head(tcp: &mut TcpStream) -> Option<Vec<u8>> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(tcp.read_u8().await.ok()?);
    }
    Some(head)
}

async fn serve(speaks: Speaks, tcp: TcpStream, seen: Rc<Seen>, script: Script) {
    match speaks {
        Speaks::Http1 => serve_http1(tcp, seen, script).await,
        Speaks::Http2 { streams } => serve_http2(tcp, streams, seen, script).await,
        Speaks::Tls(acceptor) => {
            let Ok(tls) = acceptor.accept(tcp).await else { return };
            if tls.get_ref().1.alpn_protocol() == Some(b"h2") {
                serve_http2(tls, 100, seen, script).await;
            } else {
                serve_http1(tls, seen, script).await;
            }
        }
    }
}

pub(crate) async fn serve_http1(
    io: impl AsyncRead + AsyncWrite + Unpin + 'static,
    seen: Rc<Seen>,
    script: Script,
) {
    let service = service_fn(move |request| answer(request, Rc::clone(&seen), Rc::clone(&script)));
    let _ = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(io), service).await;
}

pub(crate) async fn serve_http2(
    io: impl AsyncRead + AsyncWrite + Unpin + 'static,
    streams: u32,
    seen: Rc<Seen>,
    script: Script,
) {
    let service = service_fn(move |request| answer(request, Rc::clone(&seen), Rc::clone(&script)));
    let mut builder = hyper::server::conn::http2::Builder::new(Local);
    let _ = builder.max_concurrent_streams(streams).serve_connection(TokioIo::new(io), service).await;
}

async fn answer(
    request: http::Request<Incoming>,
    seen: Rc<Seen>,
    script: Script,
) -> Result<Reply, Infallible> {
    let work = AtWork::start(&seen);
    let (head, body) = request.into_parts();
    let body = body.collect().await.map(Collected::to_bytes).unwrap_or_default();
    seen.requests.borrow_mut().push(Recorded {
        path: head.uri.path().to_owned(),
        headers: head.headers.clone(),
        body,
    });
    let reply = script(http::Request::from_parts(head, ())).await;
    drop(work);
    Ok(reply)
}

struct AtWork(Rc<Seen>);

impl AtWork {
    fn start(seen: &Rc<Seen>) -> Self {
        seen.at_work.set(seen.at_work.get() + 1);
        seen.most_at_work.set(seen.most_at_work.get().max(seen.at_work.get()));
        Self(Rc::clone(seen))
    }
}

impl Drop for AtWork {
    fn drop(&mut self) {
        self.0.at_work.set(self.0.at_work.get() - 1);
    }
}

#[derive(Clone)]
struct Local;

impl<F: Future + 'static> hyper::rt::Executor<F> for Local {
    fn execute(&self, future: F) {
        tokio::task::spawn_local(async move { drop(future.await) });
    }
}
