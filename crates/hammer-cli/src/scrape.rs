//! A page that is read again and again beside the load.

use std::rc::Rc;
use std::time::Duration;

use hammer_core::runtime::Clock;
use hammer_measure::Nanos;
use hammer_measure::connection::ConnectionLog;
use hammer_net::{Answer, Client, ClientConfig, ConfigError, Failure, Request, Resend};
use http::{StatusCode, Uri};

use crate::plan::contact::nameless;

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
    /// A reader of the page at `url`, which is dialled when it is read first. `authorized` says who allowed a peer that is
    /// neither loopback nor private.
    ///
    /// # Errors
    /// Those of [`Client::new`].
    pub(crate) fn open(
        url: &Uri,
        authorized: Option<String>,
        clock: Rc<dyn Clock>,
    ) -> Result<Self, ScrapeError> {
        let config = ClientConfig {
            connections: 1,
            read_within: Duration::ZERO,
            resend: Resend::Idle,
            authorized,
            user_agent: Some(nameless()),
            ..ClientConfig::new(url.clone())
        };
        let client = Client::new(config, clock.clone(), ConnectionLog::default())?;
        let request = Request::get(client.path("")?);
        Ok(Self { client, request, answer: Answer::new(), clock })
    }

    /// The page as it is now.
    ///
    /// # Errors
    /// When there is none within that time.
    pub(crate) async fn read(&mut self, within: Nanos) -> Result<&str, ScrapeError> {
        let deadline = self.clock.now().saturating_add(within);
        let too_late = self.clock.sleep_until(deadline);
        tokio::select! {
            sent = self.client.send(&self.request, &mut self.answer) => sent?,
            () = too_late => return Err(ScrapeError::TimedOut(within)),
        }
        match self.answer.status {
            StatusCode::OK => std::str::from_utf8(&self.answer.body).map_err(|_| ScrapeError::NoText),
            status => Err(ScrapeError::Status(status)),
        }
    }
}
