//! A page that is read again and again beside the load.

use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use hammer_core::runtime::Clock;
use hammer_exchange::token::TokenPlan;
use hammer_measure::Nanos;
use hammer_measure::connection::ConnectionLog;
use hammer_net::{Answer, Client, ClientConfig, ConfigError, Failure, Request, Resend, Secret, TlsConfig};
use hammer_pages::promql;
use http::{StatusCode, Uri};

use crate::plan::contact::nameless;
use crate::plan::error::{PlanError, PlanFault};
use crate::plan::path::PlanPath;
use crate::plan::target_url::TargetUrl;

/// What a page is, and how it is reached.
#[derive(Clone, Debug)]
pub(crate) struct PageSource {
    /// Its server, or the page itself.
    pub(crate) url: Uri,
    /// What is behind the URL: a path and a query, or nothing.
    pub(crate) path: String,
    /// Who allowed a peer that is neither loopback nor private.
    pub(crate) authorized: Option<String>,
    /// The token that is sent.
    pub(crate) bearer: Option<Secret>,
    /// PEM files of roots that are trusted beside the system's.
    pub(crate) roots: Vec<PathBuf>,
}

impl PageSource {
    /// A page that is open to whoever reaches it.
    pub(crate) fn open(url: Uri, authorized: Option<String>) -> Self {
        Self { url, path: String::new(), authorized, bearer: None, roots: Vec::new() }
    }

    /// An answer to an instant query of a Prometheus, asked as the plan says at `at`.
    ///
    /// # Errors
    /// A token that cannot be read, or roots, where they stand.
    pub(crate) fn promql(
        (url, query): (&TargetUrl, &str),
        (token, roots): (Option<&TokenPlan>, &[PathBuf]),
        authorized: Option<String>,
        at: &PlanPath,
    ) -> Result<Self, PlanError> {
        let bearer = token.map(TokenPlan::read).transpose();
        let bearer = bearer.map_err(|error| PlanFault::from(error).at(at.clone().key("token")))?;
        let (url, path) = (url.url().clone(), promql::path(query));
        let source = Self { url, path, authorized, bearer, roots: roots.to_vec() };
        source.client().check().map_err(|error| PlanFault::from(error).at(at.clone()))?;
        Ok(source)
    }

    /// How it is reached.
    pub(crate) fn client(&self) -> ClientConfig {
        ClientConfig {
            connections: 1,
            read_within: Duration::ZERO,
            resend: Resend::Idle,
            response_limit: MOST_BYTES,
            authorized: self.authorized.clone(),
            bearer: self.bearer.clone(),
            tls: TlsConfig { roots: self.roots.clone(), ..TlsConfig::default() },
            user_agent: Some(nameless()),
            ..ClientConfig::new(self.url.clone())
        }
    }
}

/// Reads one page, on the thread that opened it, within a `LocalSet` or a runtime of one thread.
pub(crate) struct PageReader {
    client: Client,
    request: Request,
    answer: Answer,
    clock: Rc<dyn Clock>,
}

/// Why a page was not read: a fragment that completes "failed to ...".
#[derive(Debug, thiserror::Error)]
pub(crate) enum ScrapeError {
    /// Nobody can be asked.
    #[error(transparent)]
    Client(#[from] ConfigError),
    /// No answer, or none that can be understood.
    #[error(transparent)]
    Failed(#[from] Failure),
    /// No answer in time.
    #[error("read the page within {0}")]
    TimedOut(Nanos),
    /// Another status than 200.
    #[error("read the page: the answer is {0}")]
    Status(StatusCode),
    /// The body is no text.
    #[error("read the page: it is no text in UTF-8")]
    NoText,
}

impl PageReader {
    /// A reader of the page, which is dialled when it is read first.
    ///
    /// # Errors
    /// Those of [`Client::new`].
    pub(crate) fn open(source: &PageSource, clock: Rc<dyn Clock>) -> Result<Self, ScrapeError> {
        let client = Client::new(source.client(), clock.clone(), ConnectionLog::default())?;
        let request = Request::get(client.path(&source.path)?);
        Ok(Self { client, request, answer: Answer::new(), clock })
    }

    /// The page as it is now.
    ///
    /// # Errors
    /// When there is none within that time.
    pub(crate) async fn read(&mut self, within: Nanos) -> Result<&str, ScrapeError> {
        match self.ask(within).await? {
            (StatusCode::OK, body) => std::str::from_utf8(body).map_err(|_| ScrapeError::NoText),
            (status, _) => Err(ScrapeError::Status(status)),
        }
    }

    /// The status and the body of whatever is answered.
    ///
    /// # Errors
    /// When nothing is within that time.
    pub(crate) async fn ask(&mut self, within: Nanos) -> Result<(StatusCode, &[u8]), ScrapeError> {
        let deadline = self.clock.now().saturating_add(within);
        let too_late = self.clock.sleep_until(deadline);
        tokio::select! {
            sent = self.client.send(&self.request, &mut self.answer) => sent?,
            () = too_late => return Err(ScrapeError::TimedOut(within)),
        }
        Ok((self.answer.status, &self.answer.body[..]))
    }
}

/// Of a page.
const MOST_BYTES: usize = 16 << 20;
