//! The client of the CT log: add-chain and add-pre-chain over HTTP/1.1 on kept connections, tried again as Go's CT client does.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use hammer_lab::{LabError, clock::Clock};
use hammer_tlog::ct::{
    rfc6962::{AddChainRequest, EntryType},
    sct::{Sct, SctError},
};
use http::{
    Request, StatusCode, Uri,
    header::{CONTENT_TYPE, HOST},
};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

/// The log that Fulcio submits precertificates to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CtLogForFulcio {
    /// `http://` URL below which `ct/v1/add-pre-chain` lies.
    pub url: String,
}

/// A log, with the connections to it that nobody uses at present.
#[derive(Debug)]
pub(super) struct CtLogClient {
    /// `host:port`.
    authority: String,
    /// What stands before the last part of each path.
    base: String,
    /// As many at most as there were requests at once.
    idle: Mutex<Vec<SendRequest<Full<Bytes>>>>,
    clock: Arc<dyn Clock>,
}

/// Why the log gave no SCT; the texts complete "failed to ...".
#[derive(Debug, thiserror::Error)]
pub(super) enum CtLogFault {
    /// The log refused the certificate for good.
    #[error("submit a certificate: the log answered {status}: {reason}")]
    Refused {
        /// The status of its answer.
        status: StatusCode,
        /// The start of the answer's body.
        reason: String,
    },
    /// The answer is none of add-chain.
    #[error("submit a certificate: {0}")]
    Sct(#[from] SctError),
}

/// The connection broke, or there was none.
struct Disconnected;

impl CtLogClient {
    /// # Errors
    /// A URL that is not `http://` with a host.
    pub(super) fn new(log: &CtLogForFulcio, clock: Arc<dyn Clock>) -> Result<Self, LabError> {
        let failed = |reason: &str| LabError::Plan { key: "ct_log.url".into(), reason: reason.to_owned() };
        let url: Uri = log.url.parse().map_err(|_| failed("it is no URL"))?;
        let (Some("http"), Some(authority)) = (url.scheme_str(), url.authority()) else {
            return Err(failed("it is no http:// URL with a host"));
        };
        let port = authority.port_u16().unwrap_or(80);
        let base = format!("{}/ct/v1/", url.path().trim_end_matches('/'));
        let authority = format!("{}:{port}", authority.host());
        Ok(Self { authority, base, idle: Mutex::default(), clock })
    }

    /// The SCT for a certificate or precertificate and its issuers. While the log is down or overloaded this tries again, without end: Fulcio
    /// itself has no deadline, and hangs until its own client gives up.
    pub(super) async fn add(&self, chain: &[Vec<u8>], entry: EntryType) -> Result<Sct, CtLogFault> {
        let endpoint = match entry {
            EntryType::X509 => "add-chain",
            EntryType::Precert => "add-pre-chain",
        };
        let path = format!("{}{endpoint}", self.base);
        let mut body = Vec::new();
        AddChainRequest::write(&mut body, chain);
        let body = Bytes::from(body);
        let mut pause = FIRST_PAUSE;
        loop {
            match self.exchange(&path, body.clone()).await {
                Ok((StatusCode::OK, answer)) => return Ok(Sct::from_json(&answer)?),
                Ok((status, answer)) if !is_retried(status) => {
                    let reason = String::from_utf8_lossy(&answer[..answer.len().min(200)]).into_owned();
                    return Err(CtLogFault::Refused { status, reason });
                }
                Ok(_) | Err(Disconnected) => {}
            }
            self.clock.sleep_until(self.clock.elapsed() + pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// One request, on a kept connection while there are any, else on a new one.
    async fn exchange(&self, path: &str, body: Bytes) -> Result<(StatusCode, Bytes), Disconnected> {
        while let Some(kept) = self.take_idle() {
            // The log closes what was idle for long: that says nothing about the log.
            if let Ok(answer) = self.send(kept, path, body.clone()).await {
                return Ok(answer);
            }
        }
        let stream = TcpStream::connect(&self.authority).await.map_err(|_| Disconnected)?;
        // The log's answer does not wait for more of ours; a socket that refuses this only gets slower.
        let _ = stream.set_nodelay(true);
        let (sender, connection) = handshake(TokioIo::new(stream)).await.map_err(|_| Disconnected)?;
        // It ends with the connection, or when the sender is dropped.
        tokio::spawn(connection);
        self.send(sender, path, body).await
    }

    async fn send(
        &self,
        mut sender: SendRequest<Full<Bytes>>,
        path: &str,
        body: Bytes,
    ) -> Result<(StatusCode, Bytes), Disconnected> {
        sender.ready().await.map_err(|_| Disconnected)?;
        let request = Request::post(path)
            .header(HOST, &self.authority)
            .header(CONTENT_TYPE, "application/json")
            .body(Full::new(body))
            .map_err(|_| Disconnected)?;
        let answer = sender.send_request(request).await.map_err(|_| Disconnected)?;
        let status = answer.status();
        let body = answer.into_body().collect().await.map_err(|_| Disconnected)?.to_bytes();
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(sender);
        Ok((status, body))
    }

    fn take_idle(&self) -> Option<SendRequest<Full<Bytes>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }
}

fn is_retried(status: StatusCode) -> bool {
    [StatusCode::REQUEST_TIMEOUT, StatusCode::TOO_MANY_REQUESTS, StatusCode::SERVICE_UNAVAILABLE]
        .contains(&status)
}

const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(128);
